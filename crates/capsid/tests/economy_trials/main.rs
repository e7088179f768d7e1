//! The economy of a hub that runs as a program: stories with real agents' requests and a real webhook receiver, and
//! random commands while the hub is killed again and again.
//!
//! `CAPSID_SEED=n` repeats a run, `CAPSID_ROUNDS=n` sets its length, `CAPSID_SOAK=1` makes it longer.
#![cfg(unix)]
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

#[path = "../../../capsid-hub/tests/common/bundle.rs"]
mod bundle;
mod client;
mod kill;
mod receiver;
mod story;

use capsid_testkit::hub::HubPlace;
use capsid_testkit::postgres::{Postgres, TestDatabase};
use capsid_testkit::program::Program;

fn program() -> Program {
    Program::at(env!("CARGO_BIN_EXE_capsid"))
}

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

/// An empty place for a hub with these settings, gone with this value.
struct Scratch {
    place: HubPlace,
    database: Option<TestDatabase>,
    folder: tempfile::TempDir,
}

impl Scratch {
    fn sqlite() -> Self {
        Self::new(None)
    }

    fn postgres() -> Self {
        Self::new(Some(Postgres::database()))
    }

    fn new(database: Option<TestDatabase>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = database.as_ref().map(|database| database.url.clone());
        let place = HubPlace { data: folder.path().join("hub"), database: url };
        std::fs::create_dir_all(&place.data).unwrap();
        std::fs::write(place.data.join("hub.toml"), SETTINGS).unwrap();
        Self { place, database, folder }
    }
}
