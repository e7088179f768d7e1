//! The command line itself: its status and hints, its help, its options, and the program's own installation.
#![cfg(unix)]

mod installation;
mod joining;
mod options;
mod status;

use capsid_testkit::program::{ProgramOutput, TestProgram};
use std::path::Path;

/// Runs a program on a terminal of its own; what it prints on stdout and stderr comes together.
const TERMINAL: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

fn program() -> TestProgram {
    crate::common::program()
}

fn run(program: &TestProgram, folder: &Path, words: &[&str]) -> ProgramOutput {
    ProgramOutput::from_output(program.command(folder, words).output().unwrap())
}

/// The same on a terminal, with these variables.
fn run_on_terminal(
    program: &TestProgram,
    folder: &Path,
    words: &[&str],
    env: &[(&str, &str)],
) -> ProgramOutput {
    let mut command = program.command_under(&["python3", "-c", TERMINAL], folder, words);
    command.envs(env.iter().copied()).env("NO_COLOR", "1");
    ProgramOutput::from_output(command.output().unwrap())
}
