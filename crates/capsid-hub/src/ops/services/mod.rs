//! Services that nodes offer to each other.

pub mod orders;
pub mod service;
