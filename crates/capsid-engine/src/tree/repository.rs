//! The user's repository: where it is, and where its HEAD stands.

use super::names;
use capsid_model::{Code, Problem, Result};
use capsid_sandbox::git::Git;
use std::path::{Path, PathBuf};

/// A git repository with a work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The top of the work tree.
    pub root: PathBuf,
    /// Its git directory; a linked worktree has its own.
    pub git_dir: PathBuf,
    /// The git directory that all its worktrees share.
    pub common_dir: PathBuf,
    /// `sha1` or `sha256`.
    pub object_format: String,
    /// The commit it stands on; none before the first.
    pub head: Option<String>,
}

impl Repository {
    /// Finds the repository that `dir` is in, with one git process.
    pub fn open(dir: &Path) -> Result<Self> {
        let output = Git::at(dir).try_run(
            &[
                "rev-parse",
                "--path-format=absolute",
                "--show-toplevel",
                "--git-dir",
                "--git-common-dir",
                "--show-object-format",
                "HEAD",
            ],
            b"",
        )?;
        let lines: Vec<&[u8]> = output.stdout.split(|byte| *byte == b'\n').collect();
        // Without a commit git still prints the first four answers, then the word it could not resolve.
        let [root, git_dir, common_dir, object_format, head, b""] = lines[..] else {
            return Err(not_found(dir, output.stderr.trim()));
        };
        let path = |line: &[u8]| names::to_path(line).to_owned();
        Ok(Self {
            root: path(root),
            git_dir: path(git_dir),
            common_dir: path(common_dir),
            object_format: names::show(object_format),
            head: (output.status == 0).then(|| names::show(head)),
        })
    }
}

fn not_found(dir: &Path, complaint: &str) -> Problem {
    let shown = dir.display();
    if complaint.contains("not a git repository") || complaint.contains("work tree") {
        return Problem::new(
            Code::NotAGitRepository,
            format!("`{shown}` is not inside the work tree of a git repository."),
        )
        .fix("Run `git init` in the folder that you want to evolve, or go to a repository.");
    }
    Problem::new(
        Code::GitFailed,
        format!("git cannot tell where the repository of `{shown}` is: {complaint}."),
    )
    .fix("Run `git status` there to see what is wrong.")
}
