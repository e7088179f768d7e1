//! Memories of a node.

pub mod recall;
pub mod record;
