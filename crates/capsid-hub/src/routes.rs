//! The endpoints, one file for each verb or noun.

pub mod account;
pub mod admin_users;
pub mod auth;
pub mod claim;
pub mod discover;
pub mod health;
pub mod hello;
pub mod openapi;
pub mod publish;
pub mod revoke;
