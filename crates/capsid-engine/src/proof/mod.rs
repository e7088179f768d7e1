//! Proof of a change: a command that fails before it, passes with it, and fails again without it.
//!
//! The rules are in `capsid_rules::learning::proof`. This module runs the commands, each in a throw-away view of the tree.

pub mod change_parts;
pub mod check_run;
pub mod prove;
pub mod reproduce;
