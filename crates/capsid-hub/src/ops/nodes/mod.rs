//! Nodes: hello, heartbeat, list and reputation.

pub mod heartbeat;
pub mod hello;
pub mod nodes;
pub mod reputation;
