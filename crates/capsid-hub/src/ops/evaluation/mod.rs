//! Evaluation of assets: reports, decisions, votes, reviews and stakes.

pub mod admin;
pub mod decision;
pub mod report;
pub mod reports;
pub mod reviews;
pub mod stake;
pub mod votes;
