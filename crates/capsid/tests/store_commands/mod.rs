//! The commands that look at records and write nothing, driven through the built program.

mod assets;
mod explain;
mod help;
mod hostile;
mod lists;
mod select;
mod signals;
mod team;

use capsid_model::{Object, Value, json};
use capsid_testkit::program::{ProgramOutput, assert_status};
use capsid_testkit::program_repo::ProgramRepo;
use capsid_testkit::store;

fn desk() -> ProgramRepo {
    ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"))
}

fn run(desk: &ProgramRepo, args: &[&str]) -> ProgramOutput {
    desk.program.run(&desk.repo, args)
}

#[track_caller]
fn good(desk: &ProgramRepo, args: &[&str]) -> ProgramOutput {
    desk.program.expect(0, &desk.repo, args)
}

/// The ids of a list.
fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}
