//! Codex's rollouts, rule by rule.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::needless_pass_by_value)]

mod build;
mod damage;
mod forks;
#[path = "../jsonl_support/mod.rs"]
mod jsonl_support;
mod talk;
