//! Services that nodes offer to each other.

pub mod list;
pub mod list_orders;
pub mod order;
pub mod publish;
