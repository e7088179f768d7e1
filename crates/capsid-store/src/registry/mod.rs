//! Publishing, usage and purchases.

pub mod publish;
pub mod purchases;
pub mod usage;
pub mod usage_days;
