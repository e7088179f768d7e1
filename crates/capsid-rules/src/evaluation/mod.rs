//! Rules of evaluation: scores, consensus, reputation, promotion and what a test proves.

pub mod consensus;
pub mod demotion;
pub mod evidence_grade;
pub mod gdi;
pub mod promotion;
pub mod proof;
pub mod report_evidence;
pub mod reputation;
mod score;
pub mod stated_report;
