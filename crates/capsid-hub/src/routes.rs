//! The endpoints, one file for each verb or noun.

pub mod events;
pub mod heartbeat;
pub mod hello;
pub mod solidify;
pub mod stake;
