//! The endpoints, one file for each verb or noun.

pub mod events;
pub mod heartbeat;
pub mod hello;
pub mod mailbox;
pub mod memory;
pub mod publish;
pub mod revoke;
pub mod service;
pub mod signal;
pub mod skill_store;
pub mod solidify;
pub mod stake;
pub mod tasks;
