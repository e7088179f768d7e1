//! Batches of messages from a proxy, and what waits for its nodes.

mod direct_message;
pub mod receive;
pub mod send;
