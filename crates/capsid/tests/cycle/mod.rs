//! Whole cycles, driven through the built program the way a user drives it.
#![cfg(unix)]

mod agents;
mod apply;
mod environment;
mod loops;
mod options;
mod outcomes;
mod status;
mod watches;

use capsid_model::{Object, Value};
use capsid_testkit::logged_child::LoggedChild;
use capsid_testkit::program::{ProgramOutput, assert_status};
use capsid_testkit::program_repo::ProgramRepo;
use capsid_testkit::store;
use capsid_testkit::wait;
use rustix::process::{Pid, Signal, kill_process};
use std::process::Child;
use std::time::{Duration, Instant};

const GOOD: &str = "echo good > state.txt";
const BAD: &str = "echo bad > state.txt";

fn desk() -> ProgramRepo {
    ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"))
}

/// A desk whose check fails with the problem of its log.
fn broken() -> ProgramRepo {
    ProgramRepo::broken(env!("CARGO_BIN_EXE_capsid"))
}

fn last_event(desk: &ProgramRepo) -> Object {
    store::events(&desk.repo).pop().unwrap()
}

#[track_caller]
fn until(what: &str, done: impl FnMut() -> bool) {
    wait::until(what, Duration::from_secs(60), done);
}
