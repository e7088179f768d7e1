//! The verdict from outside, in one program: each of its own would be linked again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

mod evidence;
mod findings;
mod properties;
mod table;
