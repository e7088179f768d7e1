//! Rules about secrets and accounts.

pub mod access;
pub mod account;
