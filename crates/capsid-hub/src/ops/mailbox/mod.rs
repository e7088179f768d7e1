//! Batches of messages from a proxy that works for a node.

pub mod send;
