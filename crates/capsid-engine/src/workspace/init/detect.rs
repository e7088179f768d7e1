//! Detects the commands that test a repository, from the files at its root.

use capsid_model::{Object, Value};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The most of a file that is looked at.
const MAX_READ: u64 = 1 << 20;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DetectedProject {
    /// Commands, in the order they should run.
    pub commands: Vec<String>,
    /// Programs they need beyond node, npm and npx.
    pub programs: Vec<String>,
}

impl DetectedProject {
    fn add(&mut self, command: &str, program: Option<&str>) {
        self.commands.push(command.to_owned());
        self.programs.extend(program.map(str::to_owned));
    }
}

/// The validation commands of a repository.
pub fn validation(root: &Path) -> DetectedProject {
    let mut detected = DetectedProject::default();
    if has_npm_test(root) {
        detected.add("npm test", None);
    }
    if root.join("Cargo.toml").is_file() {
        detected.add("cargo test", Some("cargo"));
    }
    if has_pytest(root) {
        detected.add("pytest -q", Some("pytest"));
    }
    if root.join("go.mod").is_file() {
        detected.add("go test ./...", Some("go"));
    }
    if detected.commands.is_empty() && has_make_test(root) {
        detected.add("make test", Some("make"));
    }
    detected
}

/// A `test` script that is not the one `npm init` writes, which always fails.
fn has_npm_test(root: &Path) -> bool {
    let package: Object = serde_json::from_str(&read(root, "package.json")).unwrap_or_default();
    package
        .get("scripts")
        .and_then(|scripts| scripts.get("test"))
        .and_then(Value::as_str)
        .is_some_and(|script| !script.trim().is_empty() && !script.contains("no test specified"))
}

fn has_pytest(root: &Path) -> bool {
    ["pytest.ini", "conftest.py"].iter().any(|name| root.join(name).is_file())
        || (root.join("pyproject.toml").is_file()
            && (root.join("tests").is_dir() || read(root, "pyproject.toml").contains("pytest")))
}

fn has_make_test(root: &Path) -> bool {
    ["GNUmakefile", "makefile", "Makefile"].iter().any(|name| {
        read(root, name).lines().any(|line| {
            line.strip_prefix("test")
                .and_then(|rest| rest.trim_start().strip_prefix(':'))
                .is_some_and(|rest| !rest.trim_start_matches(':').starts_with('='))
        })
    })
}

fn read(root: &Path, name: &str) -> String {
    let mut bytes = Vec::new();
    // A file that cannot be read counts as missing.
    let _ = File::open(root.join(name)).and_then(|file| file.take(MAX_READ).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    fn commands(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        validation(folder.path()).commands
    }

    #[test]
    fn each_kind_of_project_has_its_command() {
        assert_eq!(commands(&[("package.json", r#"{"scripts":{"test":"node t.js"}}"#)]), ["npm test"]);
        assert_eq!(commands(&[("Cargo.toml", "")]), ["cargo test"]);
        assert_eq!(commands(&[("pyproject.toml", "[tool.pytest.ini_options]")]), ["pytest -q"]);
        assert_eq!(commands(&[("go.mod", "module x")]), ["go test ./..."]);
        assert_eq!(commands(&[("Makefile", "all:\ntest: all\n\ttrue\n")]), ["make test"]);
    }

    #[test]
    fn make_is_only_asked_when_nothing_else_is_there() {
        let both = [("Makefile", "test:\n"), ("Cargo.toml", "")];
        assert_eq!(commands(&both), ["cargo test"]);
    }

    #[test]
    fn what_is_no_test_is_not_taken_for_one() {
        let default = r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#;
        assert!(commands(&[("package.json", default)]).is_empty());
        assert!(commands(&[("package.json", "{broken")]).is_empty());
        assert!(commands(&[("pyproject.toml", "[tool.black]")]).is_empty());
        assert!(commands(&[("Makefile", "test := 1\ntest ::= 2\ntests:\n")]).is_empty());
    }
}
