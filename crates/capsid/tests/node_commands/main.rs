//! `capsid node` as people and scripts use it: the built program, a real hub, two nodes and two accounts.
#![cfg(unix)]
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

#[path = "../../../capsid-hub/tests/common/bundle.rs"]
mod bundle;
mod life;
mod refusals;
mod stage;
