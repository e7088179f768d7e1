//! Reports, decisions, scores, the lifecycle of assets and their promotion.

pub mod assignments;
pub mod decisions;
pub mod demotion;
pub mod evidence;
pub mod lifecycle;
pub mod list_reports;
pub mod penalties;
pub mod promotion;
pub mod reports;
pub mod reviews;
pub mod rewards;
pub mod scoring;
pub mod stakes;
pub mod trials;
pub mod voices;
pub mod votes;
mod weighted_reports;
