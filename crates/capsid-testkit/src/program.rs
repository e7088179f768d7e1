//! Runs the built program as a user would, in an environment that holds nothing of this machine's user.

use crate::test_repo::TestRepo;
use capsid_model::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The built program with an empty home of its own.
pub struct TestProgram {
    binary: PathBuf,
    home: tempfile::TempDir,
}

/// What a run of the program gave.
#[derive(Debug)]
pub struct ProgramOutput {
    /// Its exit status; -1 when a signal ended it.
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl TestProgram {
    /// The program at a path, usually `env!("CARGO_BIN_EXE_capsid")`.
    pub fn at(binary: impl Into<PathBuf>) -> Self {
        Self { binary: binary.into(), home: tempfile::tempdir().unwrap() }
    }

    /// The home that the program sees.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Where the program keeps its state of a repository.
    pub fn state_dir(&self, root: &Path) -> PathBuf {
        let digest = capsid_model::hash::sha256_hex(root.as_os_str().as_encoded_bytes());
        self.home().join(".local/share/capsid/cycles").join(&digest[..16])
    }

    /// A command in a folder: no variable but PATH and HOME, nothing on stdin.
    pub fn command(&self, folder: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(args);
        self.prepare(&mut command, folder);
        command
    }

    /// The same under another program such as strace, whose words come first.
    pub fn command_under(&self, words: &[&str], folder: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(&self.binary).args(args);
        self.prepare(&mut command, folder);
        command
    }

    fn prepare(&self, command: &mut Command, folder: &Path) {
        let path = std::env::var_os("PATH").unwrap_or_default();
        command
            .current_dir(folder)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.home())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }

    /// Runs the program in a repository.
    pub fn run(&self, repo: &TestRepo, args: &[&str]) -> ProgramOutput {
        ProgramOutput::from_output(self.command(repo.path(), args).output().unwrap())
    }

    /// The same, and panics unless it ended with a status.
    #[track_caller]
    pub fn expect(&self, status: i32, repo: &TestRepo, args: &[&str]) -> ProgramOutput {
        let output = self.run(repo, args);
        assert_eq!(output.status, status, "capsid {args:?}\n{output}");
        output
    }

    /// Runs it with a text on stdin.
    pub fn run_with_input(&self, repo: &TestRepo, args: &[&str], input: &str) -> ProgramOutput {
        self.run_with_input_in(repo.path(), args, input)
    }

    /// The same in any folder.
    pub fn run_with_input_in(&self, folder: &Path, args: &[&str], input: &str) -> ProgramOutput {
        let mut command = self.command(folder, args);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A program that ends without reading is no error here.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        ProgramOutput::from_output(child.wait_with_output().unwrap())
    }

    /// Starts it and comes back at once.
    pub fn start(&self, repo: &TestRepo, args: &[&str]) -> Child {
        self.command(repo.path(), args).spawn().unwrap()
    }
}

impl ProgramOutput {
    /// What an ended process gave.
    pub fn from_output(output: Output) -> Self {
        Self {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Its data as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        self.stdout.trim().parse().unwrap_or_else(|error| panic!("{error}\n{self}"))
    }

    /// The code of the problem it printed, empty without one.
    pub fn code(&self) -> &str {
        self.stderr
            .split_once("error[")
            .and_then(|(_, rest)| rest.split_once(']'))
            .map_or("", |(code, _)| code)
    }
}

/// Panics with all that was printed unless the run ended with a status.
#[track_caller]
pub fn assert_status(status: i32, output: &ProgramOutput) {
    assert_eq!(output.status, status, "{output}");
}

impl std::fmt::Display for ProgramOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "status {}\n--- stdout\n{}\n--- stderr\n{}", self.status, self.stdout, self.stderr)
    }
}
