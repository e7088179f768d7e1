//! Known defects of engines that came before, each with the test that shows this one has it not.
//!
//! The numbers are those of the list that reviewers use; those of the network side have their tests there.
#![cfg(unix)]

mod selection;
mod solidify;
mod storage;

use capsid_model::{Object, Value, json};
use capsid_testkit::logged_child::LoggedChild;
use capsid_testkit::program::{ProgramOutput, assert_status};
use capsid_testkit::program_repo::{CHECK, ProgramRepo};
use capsid_testkit::store;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const GOOD: &str = "echo good > state.txt";
const BAD: &str = "echo bad > state.txt";

fn desk() -> ProgramRepo {
    ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"))
}

fn graph(desk: &ProgramRepo) -> Vec<Object> {
    let path = desk.repo.file("memory/evolution/memory_graph.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    text.lines().map(|line| store::parse_line(line, &path)).collect()
}
