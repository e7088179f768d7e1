//! Rules of evaluation: scores, consensus, reputation, promotion and what a test proves.

pub mod consensus;
pub mod demotion;
pub mod evidence_grade;
pub mod gdi;
pub mod owners;
pub mod promotion;
pub mod proof;
pub mod quorum;
pub mod report_evidence;
pub mod reputation;
pub mod runner_job;
pub mod runner_outcome;
mod score;
pub mod stated_report;
pub mod trust_policy;
pub mod trust_summary;
