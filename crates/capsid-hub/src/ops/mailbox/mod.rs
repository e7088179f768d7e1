//! Batches of messages from a proxy, and what waits for its nodes.

mod batch;
mod direct_message;
mod item;
mod item_response;
pub mod receive;
pub mod send;
