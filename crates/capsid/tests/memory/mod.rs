//! The memory that a hub keeps for a user's repositories, and words that are looked for in a repository's past: by the
//! built program.
#![cfg(unix)]

mod fake;
mod hostile;
mod recall;
mod remote;

use capsid_model::Value;
use capsid_testkit::program::{ProgramOutput, TestProgram, assert_status};
use capsid_testkit::program_repo::{CHECK, ProgramRepo};
use capsid_testkit::store;
use capsid_testkit::test_repo::TestRepo;

/// A busy machine is no slow hub.
const PATIENCE: &str = "MEMORY_GRAPH_REMOTE_TIMEOUT_MS";
const GOOD: &str = "echo good > state.txt";

/// A desk with two genes for the same signals; the first is chosen where nothing else is known.
fn desk(first: &str, second: &str) -> ProgramRepo {
    let desk = ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"));
    let genes = [first, second].map(|id| store::gene(id, "repair", &["log_error"], &[CHECK]));
    store::write_store(&desk.repo, &genes);
    desk
}

/// The variables that ask for a shared memory.
fn shared(hub: &str) -> Vec<(String, String)> {
    [("MEMORY_GRAPH_PROVIDER", "remote"), ("A2A_HUB_URL", hub), (PATIENCE, "40000")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}

/// Runs a command with some variables.
fn run(
    program: &TestProgram,
    repo: &TestRepo,
    variables: &[(String, String)],
    args: &[&str],
) -> ProgramOutput {
    let mut command = program.command(repo.path(), args);
    command.envs(variables.iter().cloned());
    ProgramOutput::from_output(command.output().unwrap())
}

/// A whole cycle with an agent.
fn cycle(desk: &ProgramRepo, variables: &[(String, String)], more: &[&str], body: &str) -> ProgramOutput {
    let agent = desk.agent(body);
    let mut args = vec!["evolve", "--force", "--no-sessions", "--log", "app.log"];
    args.extend(more);
    args.extend(["--agent", &agent]);
    run(&desk.program, &desk.repo, variables, &args)
}

/// What a cycle would choose, without anything being written.
fn choice(program: &TestProgram, repo: &TestRepo, variables: &[(String, String)]) -> (ProgramOutput, Value) {
    let args = ["evolve", "--dry-run", "--force", "--no-sessions", "--log", "app.log", "--json"];
    let ran = run(program, repo, variables, &args);
    assert_status(0, &ran);
    let told = ran.json();
    (ran, told)
}

/// What waits to be told to the shared memory.
fn waiting(desk: &ProgramRepo) -> usize {
    let path = desk.state_file("memory_outbox.jsonl");
    std::fs::read_to_string(path).unwrap_or_default().lines().count()
}
