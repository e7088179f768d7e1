//! Verification, of chains in memory and of what other tools sealed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

mod pq;
mod support;
mod tampering;
mod vectors;
