//! A user's repository with a store, a log with an error, and a check that fails for a bad change.

use crate::program::{ProgramOutput, TestProgram};
use crate::store;
use crate::test_repo::TestRepo;
use std::path::{Path, PathBuf};

/// The validation command of every gene in the repository; it fails once `state.txt` holds `bad`.
pub const CHECK: &str = "node check.js";

/// Fails with the problem of [`BROKEN_LOG`] until `state.txt` holds `good`.
const BROKEN_CHECK: &str = "const state = require('fs').readFileSync('state.txt', 'utf8')
if (!state.includes('good')) {
  throw new TypeError('x is not a function')
}
";

/// What that check printed elsewhere.
const BROKEN_LOG: &str = "$ node check.js
TypeError: x is not a function
    at Object.<anonymous> (/srv/app/check.js:3:9)
";

/// The program and a repository to use it in.
pub struct ProgramRepo {
    pub program: TestProgram,
    pub repo: TestRepo,
}

impl ProgramRepo {
    /// A repository for the program at a path.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        Self::named(binary, "repo")
    }

    /// The same, with a name for the repository's folder.
    pub fn named(binary: impl Into<PathBuf>, folder: &str) -> Self {
        let repo = TestRepo::named(folder);
        repo.write(
            "check.js",
            "process.exit(require('fs').readFileSync('state.txt', 'utf8').includes('bad') ? 1 : 0)\n",
        );
        repo.write("state.txt", "start\n");
        repo.write("app.log", "error: TypeError: x is not a function\n");
        repo.commit("Begin");
        store::write_store(
            &repo,
            &[
                store::gene("gene_repair", "repair", &["log_error"], &[CHECK]),
                store::gene("gene_innovate", "innovate", &["stable_success_plateau"], &[CHECK]),
            ],
        );
        Self { program: TestProgram::at(binary), repo }
    }

    /// The same, where the check fails with the problem of the log until `state.txt` holds `good`.
    pub fn broken(binary: impl Into<PathBuf>) -> Self {
        let desk = Self::new(binary);
        desk.repo.write("check.js", BROKEN_CHECK);
        desk.repo.write("app.log", BROKEN_LOG);
        desk.repo.commit("Break it");
        desk
    }

    /// A file of the state that the program keeps of the repository.
    pub fn state_file(&self, name: &str) -> PathBuf {
        self.program.state_dir(self.repo.path()).join(name)
    }

    /// Writes an agent outside the repository: a shell script that has read its prompt.
    pub fn agent(&self, body: &str) -> String {
        let path = self.program.home().join("agent.sh");
        std::fs::write(&path, format!("#!/bin/sh\ncat > /dev/null\n{body}\n")).unwrap();
        make_executable(&path);
        path.display().to_string()
    }

    /// A complete cycle with an agent, given as the body of a shell script.
    pub fn evolve(&self, options: &[&str], body: &str) -> ProgramOutput {
        let agent = self.agent(body);
        let mut args = vec!["evolve", "--no-sessions", "--log", "app.log"];
        args.extend(options);
        args.extend(["--agent", &agent]);
        self.program.run(&self.repo, &args)
    }

    /// A cycle that leaves its change to be made by hand.
    #[track_caller]
    pub fn prepare(&self, options: &[&str]) -> ProgramOutput {
        let mut args = vec!["evolve", "--no-sessions", "--log", "app.log"];
        args.extend(options);
        self.program.expect(0, &self.repo, &args)
    }

    /// Edits, staged edits, untracked and ignored files and a stash, none of them in `state.txt`.
    pub fn fill_with_work(&self) {
        let repo = &self.repo;
        repo.write(".gitignore", "*.cache\n");
        for name in ["edited.txt", "staged.txt", "both.txt", "doomed.txt"] {
            repo.write(name, "committed\n");
        }
        repo.commit("More files");
        repo.write("edited.txt", "stashed\n");
        repo.git(&["stash", "-q"]);
        repo.write("both.txt", "staged\n");
        repo.write("staged.txt", "staged\n");
        repo.git(&["add", "staged.txt", "both.txt"]);
        repo.write("both.txt", "staged and edited\n");
        repo.write("edited.txt", "edited\n");
        repo.write("untracked/notes.txt", "untracked\n");
        repo.write("big.cache", "ignored\n");
    }
}

fn make_executable(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    #[cfg(not(unix))]
    let _ = path;
}
