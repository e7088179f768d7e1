//! Trials of the hub as a program: killed, raced, doubled, and asked whatever its description allows.
//!
//! `CAPSID_SEED=n` repeats a run, `CAPSID_ROUNDS=n` sets its length, `CAPSID_SOAK=1` makes it longer.
#![cfg(unix)]

mod connections;
mod curl;
mod described;
mod failover;
#[cfg(target_os = "linux")]
mod full_disk;
mod kill;
mod several;
mod sybil;
#[path = "../../../capsid-hub/tests/samples/walk.rs"]
mod walk;
