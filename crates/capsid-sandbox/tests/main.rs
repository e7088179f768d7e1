//! The tests of this crate from outside, in one program: each of its own would be linked again.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

mod agent;
mod build_time;
mod confined_agent;
mod ends;
mod escapes;
mod hostile_commands;
mod kernel;
mod landlock_home;
mod ordinary_user;
mod private_tree;
mod root_only;
