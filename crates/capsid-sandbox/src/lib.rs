#![doc = include_str!("../README.md")]
// This crate is where programs are spawned; everywhere else the method is disallowed.
#![allow(clippy::disallowed_methods)]

pub mod git;
