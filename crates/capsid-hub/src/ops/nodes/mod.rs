//! Nodes: hello, heartbeat, list and reputation.

pub mod detail;
pub mod heartbeat;
pub mod hello;
pub mod list;
pub mod reputation;
pub mod view;
