//! Publishing, usage and purchases.

pub mod bundles;
pub mod sales;
pub mod usage;
pub mod use_days;
