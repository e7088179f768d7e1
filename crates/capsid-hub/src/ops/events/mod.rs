//! Events of a node, streamed or polled.

pub mod stream;
