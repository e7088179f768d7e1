//! Judging: reports, decisions, promotion, assignments, penalties and the jobs behind them, on both databases.

mod assignments;
mod decay;
mod decisions;
mod helpers;
mod jobs;
mod penalties;
mod promotion;
mod ranking;
mod reports;
mod states;
