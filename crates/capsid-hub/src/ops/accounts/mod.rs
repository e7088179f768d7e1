//! Accounts of people: register, log in, API keys, and claiming a node.

pub mod admin;
pub mod claim;
pub mod profile;
pub mod register;
