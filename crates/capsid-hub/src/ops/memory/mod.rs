//! Memories of a node.

pub mod memory;
