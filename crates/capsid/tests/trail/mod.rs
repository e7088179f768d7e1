//! The trail, driven through the built program the way a user and a tool drive it.
#![cfg(unix)]

mod compact;
mod disclose;
mod events;
mod exactly_once;
mod hooks;
mod keys;
mod keys_with_data;
mod manipulations;
mod otlp;
mod policy;
mod read_only;
mod repositories;
mod sample;
mod shared_database;
mod signing_service;
mod story;
mod verify;
mod viewer;
mod viewer_page;

use capsid_testkit::program::{ProgramOutput, assert_status};
use capsid_testkit::trail_user::{SESSION, TrailUser};

fn desk() -> TrailUser {
    TrailUser::new(env!("CARGO_BIN_EXE_capsid"))
}

/// Seals a session of so many turns, three records each.
fn sealed(turns: usize) -> TrailUser {
    let desk = desk();
    desk.transcript(SESSION, turns);
    desk.expect(0, &["trail", "seal", "--tool", "claude-code", "--session", SESSION, "--finalize"]);
    desk
}
