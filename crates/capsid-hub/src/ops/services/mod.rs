//! Services that nodes offer to each other.

pub mod order;
pub mod publish;
