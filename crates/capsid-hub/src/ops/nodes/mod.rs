//! Nodes: hello, heartbeat, list, reputation and identity.

pub mod audit;
pub mod detail;
pub mod heartbeat;
pub mod hello;
pub mod identity;
pub mod list;
pub mod refuse_claim;
pub mod reputation;
pub mod view;
