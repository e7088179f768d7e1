//! Rules of verified learning: what proves a change, when a stored solution counts as reused, and what a loop may do.

pub mod capsule_text;
pub mod check_files;
pub mod daily_budget;
pub mod flaky;
pub mod foreign_patch;
pub mod history;
pub mod match_level;
pub mod proof;
pub mod repro_command;
pub mod reuse_outcome;
pub mod sharing;
pub mod similarity;
pub mod suspension;
pub mod terminal_text;
pub mod test_summary;
pub mod test_weakening;
