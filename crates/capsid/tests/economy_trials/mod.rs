//! The economy of a hub that runs as a program: stories with real agents' requests and a real webhook receiver, and
//! random commands while the hub is killed again and again.
//!
//! `CAPSID_SEED=n` repeats a run, `CAPSID_ROUNDS=n` sets its length, `CAPSID_SOAK=1` makes it longer.
#![cfg(unix)]

mod client;
mod kill;
mod receiver;
mod story;

use crate::common::Scratch;

/// Settings of these hubs: nothing that the model does not know, no limits that a trial would meet, and webhooks that
/// come back to this machine.
const SETTINGS: &str = r#"
[webhooks]
allow_local = true
first_retry_seconds = 0.2
longest_retry_seconds = 1
timeout_seconds = 2
[promotion]
interval_seconds = 0
[limits]
hello = "100000/minute"
publish = "100000/minute"
messages = "100000/minute"
other = "100000/minute"
register = "100000/minute"
"#;

fn on_sqlite() -> Scratch {
    Scratch::sqlite().with(SETTINGS)
}

fn on_postgres() -> Scratch {
    Scratch::postgres().with(SETTINGS)
}
