//! Publishing, usage and purchases.

pub mod batch;
pub mod publish;
pub mod purchases;
pub mod quotas;
mod sketches;
pub mod usage;
pub mod usage_days;
