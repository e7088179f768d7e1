//! The hub itself: health, statistics, policy and guide.

pub mod discover;
pub mod health;
pub mod live;
pub mod openapi;
pub mod stats;
