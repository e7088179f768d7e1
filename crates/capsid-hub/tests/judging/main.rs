//! Judging: reports, decisions, promotion, assignments, penalties and the jobs behind them, on both databases.

#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

mod ageing;
mod assignments;
mod decisions;
mod help;
mod jobs;
mod penalties;
mod promotion;
mod reports;
mod states;
