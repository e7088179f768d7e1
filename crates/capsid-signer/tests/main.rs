//! One program for all topics.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod adoption;
mod cost;
mod home_evidence;
mod over_socket;
mod sealed_home;
mod support;
