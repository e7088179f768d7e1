//! Reports, decisions, scores, the lifecycle of assets and their promotion.

pub mod assignments;
pub mod decisions;
pub mod lifecycle;
pub mod promotion;
pub mod report_list;
pub mod reports;
pub mod reviews;
pub mod rewards;
pub mod scoring;
pub mod stakes;
pub mod strikes;
pub mod votes;
