//! A user with a trail: an empty home, the built program, transcripts to seal.

use crate::program::{ProgramOutput, TestProgram, assert_status};
use crate::transcript;
use std::path::{Path, PathBuf};

/// A session's name as the tools make them.
pub const SESSION: &str = "5f0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01";

/// A user with a trail.
pub struct TrailUser {
    /// The program, with an empty home.
    pub program: TestProgram,
}

impl TrailUser {
    /// A user of the program at a path, usually `env!("CARGO_BIN_EXE_capsid")`.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        Self { program: TestProgram::at(binary) }
    }

    /// The user's home folder.
    pub fn home(&self) -> &Path {
        self.program.home()
    }

    /// The trail's folder.
    pub fn trail(&self) -> PathBuf {
        self.home().join(".local/share/capsid/trail")
    }

    /// The database of a session of Claude Code.
    pub fn chain(&self, session: &str) -> PathBuf {
        self.trail().join("chains/claude-code").join(format!("{session}.db"))
    }

    /// Writes a transcript of Claude Code where the tool would, and gives its path.
    pub fn transcript(&self, session: &str, turns: usize) -> PathBuf {
        let path = self.home().join(".claude/projects/-home-ada-shop").join(format!("{session}.jsonl"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, transcript::claude_code(session, turns)).unwrap();
        path
    }

    /// Runs the program in the user's home.
    pub fn run(&self, args: &[&str]) -> ProgramOutput {
        ProgramOutput::from_output(self.program.command(self.home(), args).output().unwrap())
    }

    /// The same, and panics unless it ended with a status.
    #[track_caller]
    pub fn expect(&self, status: i32, args: &[&str]) -> ProgramOutput {
        let output = self.run(args);
        assert_status(status, &output);
        output
    }

    /// Runs it with a text on stdin.
    pub fn run_with_input(&self, args: &[&str], input: &str) -> ProgramOutput {
        self.program.run_with_input_in(self.home(), args, input)
    }
}
