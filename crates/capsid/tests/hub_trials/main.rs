//! Trials of the hub as a program: killed, raced, doubled, and asked whatever its description allows.
//!
//! `CAPSID_SEED=n` repeats a run, `CAPSID_ROUNDS=n` sets its length, `CAPSID_SOAK=1` makes it longer.
#![cfg(unix)]
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

#[path = "../../../capsid-hub/tests/common/bundle.rs"]
mod bundle;
mod curl;
mod described;
mod kill;
mod several;
#[path = "../../../capsid-hub/tests/samples/walk.rs"]
mod walk;

use capsid_testkit::hub::HubPlace;
use capsid_testkit::postgres::{Postgres, TestDatabase};
use capsid_testkit::program::Program;

fn program() -> Program {
    Program::at(env!("CARGO_BIN_EXE_capsid"))
}

/// An empty place for a hub, gone with this value.
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
        Self { place: HubPlace { data: folder.path().join("hub"), database: url }, database, folder }
    }
}

/// How many rounds, and chance whose seed is printed.
fn rounds(usual: usize, soaking: usize) -> (usize, fastrand::Rng) {
    let number = |name| std::env::var(name).ok().map(|text| text.parse().unwrap());
    let usual = if std::env::var_os("CAPSID_SOAK").is_some() { soaking } else { usual };
    let rounds = number("CAPSID_ROUNDS").map_or(usual, |rounds: u64| rounds as usize);
    let seed: u64 = number("CAPSID_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("CAPSID_SEED={seed} CAPSID_ROUNDS={rounds}");
    (rounds, fastrand::Rng::with_seed(seed))
}
