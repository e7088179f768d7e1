//! Publishing, usage and purchases.

pub mod publish;
pub mod purchases;
pub mod quotas;
pub mod usage;
pub mod usage_days;
