//! The tests of this crate from outside, in one program: each of its own would be linked again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

mod adoption;
mod agents;
mod continuation;
mod install;
mod reference;
mod sample;
