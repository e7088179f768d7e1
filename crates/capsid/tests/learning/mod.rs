//! What real use of earlier engines showed to be untrue, each with the test that shows that it is so no longer.
#![cfg(unix)]

mod credit;
mod history;
mod proof;
mod recognition;
mod words;

use capsid_model::{Object, Value, json};
use capsid_testkit::program::{ProgramOutput, assert_status};
use capsid_testkit::program_repo::ProgramRepo;
use capsid_testkit::store;

const GOOD: &str = "echo good > state.txt";
const BAD: &str = "echo bad > state.txt";

/// A repository whose check passes.
fn desk() -> ProgramRepo {
    ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"))
}

/// A repository whose check fails with the problem of its log.
fn broken() -> ProgramRepo {
    ProgramRepo::broken(env!("CARGO_BIN_EXE_capsid"))
}

fn last_event(desk: &ProgramRepo) -> Object {
    store::events(&desk.repo).pop().unwrap()
}

fn capsules(desk: &ProgramRepo) -> Vec<Object> {
    store::list(&desk.repo, "capsules")
}

/// The prompt that the next cycle would give to an agent.
#[track_caller]
fn shown_prompt(desk: &ProgramRepo, options: &[&str]) -> String {
    let mut all = vec!["--dry-run", "--json"];
    all.extend(options);
    desk.prepare(&all).json()["prompt"].as_str().unwrap().to_owned()
}
