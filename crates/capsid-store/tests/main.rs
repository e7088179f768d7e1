//! The tests of this crate from outside, in one program: each of its own would be linked again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

mod both;
mod failing_disk;
mod graph;
mod graph_forget;
mod groups;
mod index;
mod ledger;
mod panics;
mod pipeline;
#[cfg(unix)]
mod replica;
mod responses;
mod search_speed;
mod statements;
mod strict;
