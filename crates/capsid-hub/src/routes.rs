//! The endpoints, one file for each verb or noun.

pub mod account;
pub mod admin_users;
pub mod auth;
pub mod claim;
pub mod hello;
