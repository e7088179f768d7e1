//! Codex's rollouts, rule by rule.
#![allow(clippy::needless_pass_by_value)]

mod build;
mod conversation;
mod damage;
mod forks;
mod rows;
mod statuses;
