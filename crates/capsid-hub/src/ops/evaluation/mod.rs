//! Evaluation of assets: reports, decisions, votes, reviews and stakes.

pub mod decide;
pub mod list_reports;
pub mod moderate;
pub mod report;
mod report_contents;
pub mod reviews;
pub mod stake;
pub mod vote;
