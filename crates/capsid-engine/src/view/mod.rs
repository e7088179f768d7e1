//! Looking at what happened: pure helpers behind the reading commands.

pub mod filter;
pub mod lineage;
pub mod stats;
pub mod tree;
