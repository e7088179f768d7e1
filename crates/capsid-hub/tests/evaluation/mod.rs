//! Judging: reports, decisions, promotion, assignments, penalties and the jobs behind them, on both databases.

mod assignments;
mod decay;
mod decisions;
mod demotion;
mod evidence;
mod helpers;
mod jobs;
mod own_work;
mod penalties;
mod promotion;
mod ranking;
mod reports;
mod reviews;
mod states;
mod trials;
