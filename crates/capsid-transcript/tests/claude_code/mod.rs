//! Claude Code's transcripts, rule by rule.
#![allow(clippy::needless_pass_by_value)]

mod build;
mod conversation;
mod damage;
mod results;
mod rows;
mod statuses;
mod subagents;
