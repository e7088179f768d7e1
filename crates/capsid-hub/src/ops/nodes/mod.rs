//! Nodes: hello, heartbeat, list and reputation.

pub mod heartbeat;
pub mod hello;
pub mod list;
pub mod reputation;
