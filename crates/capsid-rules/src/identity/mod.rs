//! Rules about secrets, accounts and owners.

pub mod accounts;
pub mod owner_level;
pub mod secrets;
