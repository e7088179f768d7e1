//! Memories of a node.

pub mod record;
