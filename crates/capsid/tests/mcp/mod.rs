//! `capsid mcp` as a client meets it: the official SDK, raw lines, a real hub, and many sessions.
//!
//! `CAPSID_SOAK=1` makes the many sessions 1,000. Without the SDK these tests fail: what nobody tried is no promise.
#![cfg(target_os = "linux")]
// A call reads better with its arguments written in place.

mod http_guard;
mod hub;
mod peer;
mod sessions;
mod stdio;
mod stdio_client;
