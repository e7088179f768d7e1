//! git, with an environment that cannot surprise us: no prompts, no hooks, no repository named from outside.

use capsid_model::{Code, Problem, Result};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a git command gave.
#[derive(Debug)]
pub struct GitOutput {
    /// Its exit status; -1 when a signal ended it.
    pub status: i32,
    /// Its output, byte for byte.
    pub stdout: Vec<u8>,
    /// What it complained.
    pub stderr: String,
}

/// A way to call git in one directory.
#[derive(Debug, Clone)]
pub struct Git {
    dir: PathBuf,
    env: Vec<(OsString, OsString)>,
}

impl Git {
    /// Calls git inside `dir`.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), env: Vec::new() }
    }

    /// Adds an environment variable to every call, such as `GIT_INDEX_FILE`.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// The directory that calls run in.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Runs a command that must succeed, and gives its output.
    pub fn run<A: AsRef<OsStr>>(&self, args: &[A]) -> Result<Vec<u8>> {
        self.run_with_input(args, b"")
    }

    /// The same, with something on its standard input.
    pub fn run_with_input<A: AsRef<OsStr>>(&self, args: &[A], input: &[u8]) -> Result<Vec<u8>> {
        let output = self.try_run(args, input)?;
        if output.status == 0 {
            return Ok(output.stdout);
        }
        let words: Vec<_> = args.iter().take(3).map(|a| a.as_ref().to_string_lossy()).collect();
        Err(Problem::new(
            Code::GitFailed,
            format!(
                "`git {}` ended with status {}: {}",
                words.join(" "),
                output.status,
                output.stderr.trim()
            ),
        )
        .fix("Run the same git command by hand to see what is wrong with the repository."))
    }

    /// Runs a command that may fail; only a git that cannot be started is an error.
    pub fn try_run<A: AsRef<OsStr>>(&self, args: &[A], input: &[u8]) -> Result<GitOutput> {
        let mut command = Command::new("git");
        command.args([
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.quotePath=false",
        ]);
        self.finish(command, args, input)
    }

    /// Runs a command as the user would, with the repository's own hooks: for commits that the user asked for.
    pub fn run_with_hooks<A: AsRef<OsStr>>(&self, args: &[A]) -> Result<GitOutput> {
        self.finish(Command::new("git"), args, b"")
    }

    fn finish<A: AsRef<OsStr>>(&self, mut command: Command, args: &[A], input: &[u8]) -> Result<GitOutput> {
        // Starting a program in a folder that is gone fails with the same error as a program that is not there.
        if !self.dir.is_dir() {
            return Err(no_folder(&self.dir));
        }
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") && !is_config(&name) {
                command.env_remove(name);
            }
        }
        command
            .current_dir(&self.dir)
            .args(args)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| not_started(&error))?;
        // A thread feeds the input while the output is read, so neither pipe can fill up and stop both sides.
        let feeder = child.stdin.take().map(|mut pipe| {
            let bytes = input.to_vec();
            std::thread::spawn(move || {
                // git may stop reading early; its exit status tells more than this error would.
                let _ = pipe.write_all(&bytes);
            })
        });
        let output = child.wait_with_output().map_err(|error| not_started(&error))?;
        if let Some(feeder) = feeder {
            // The thread only writes to a pipe; it cannot panic.
            let _ = feeder.join();
        }
        Ok(GitOutput {
            status: output.status.code().unwrap_or(-1),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }
}

/// Variables that say where configuration is, which are the user's to set, unlike those that name a repository.
fn is_config(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with("GIT_CONFIG")
}

fn no_folder(dir: &Path) -> Problem {
    Problem::new(Code::GitFailed, format!("git cannot run in `{}`, which is no folder.", dir.display()))
        .fix("Check whether the folder was moved or removed.")
}

fn not_started(error: &std::io::Error) -> Problem {
    Problem::new(Code::ProgramNotFound, format!("`git` could not be started: {error}."))
        .fix("Install git and make sure it is on the PATH.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_gone_is_not_taken_for_a_missing_git() {
        let gone = tempfile::tempdir().unwrap().path().join("gone");
        let problem = Git::at(&gone).run(&["--version"]).unwrap_err();
        assert_eq!(problem.code, Code::GitFailed);
        assert!(problem.message.contains("gone"), "{}", problem.message);
    }
}
