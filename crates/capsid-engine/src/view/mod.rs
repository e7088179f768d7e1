//! Looking at what happened: pure helpers behind the reading commands.

pub mod evolution;
pub mod filter;
pub mod lineage;
pub mod stats;
pub mod status;
pub mod tree;
