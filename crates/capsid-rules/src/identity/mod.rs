//! Rules about secrets and accounts.

pub mod accounts;
pub mod secrets;
