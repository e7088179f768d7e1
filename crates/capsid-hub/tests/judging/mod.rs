//! Judging: reports, decisions, promotion, assignments, penalties and the jobs behind them, on both databases.

mod ageing;
mod assignments;
mod decisions;
mod help;
mod jobs;
mod penalties;
mod promotion;
mod reports;
mod states;
