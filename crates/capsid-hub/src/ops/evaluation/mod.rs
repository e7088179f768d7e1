//! Evaluation of assets: reports, decisions, votes, reviews and stakes.

mod case_effects;
pub mod decide;
pub mod list_reports;
pub mod moderate;
pub mod moderation_queue;
pub mod report;
mod report_contents;
pub mod reviews;
pub mod runner;
pub mod stake;
pub mod vote;
