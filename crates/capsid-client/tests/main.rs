//! The tests of this crate from outside, in one program: each of its own would be linked again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

mod common;
mod file_transport;
mod hostile_hub;
mod identity;
mod otlp;
mod proxies;
mod secrets;
