//! Rules of evaluation: scores, consensus, reputation, promotion and what a test proves.

pub mod consensus;
pub mod evidence_grade;
pub mod gdi;
pub mod promotion;
pub mod proof;
pub mod reputation;
pub mod runner_job;
pub mod runner_outcome;
mod score;
