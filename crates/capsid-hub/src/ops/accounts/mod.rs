//! Accounts of people: register, log in, API keys, and claiming a node.

pub mod admin;
pub mod agents;
pub mod api_keys;
pub mod claim;
pub mod login;
pub mod password;
pub mod profile;
pub mod register;
pub mod view;
pub mod welcome;
