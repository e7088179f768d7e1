//! The endpoints, one file for each verb or noun.

pub mod discover;
pub mod health;
pub mod hello;
pub mod openapi;
pub mod publish;
pub mod revoke;
