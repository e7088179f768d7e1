//! The hub itself: health, statistics, policy and guide.

pub mod guide;
pub mod health;
pub mod live_stats;
pub mod policy;
pub mod stats;
