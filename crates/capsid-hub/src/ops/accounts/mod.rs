//! Accounts of people: register, log in, API keys, and claiming a node.

pub mod account;
pub mod admin_users;
pub mod auth;
pub mod claim;
