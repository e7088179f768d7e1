//! The endpoints, one file for each verb or noun.

pub mod hello;
pub mod publish;
pub mod revoke;
