//! `capsid node` as people and scripts use it: the built program, a real hub, two nodes and two accounts.
#![cfg(unix)]

mod refusals;
mod story;
mod test_hub;
