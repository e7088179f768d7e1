//! What older versions of the program wrote, opened by this one. See `data/README.md`.
#![cfg(unix)]

mod agents;
mod clock;
mod compare;
mod engine;
mod hub;
mod node;
mod settings;
mod trail;
mod tree;

use crate::common::program;
use capsid_model::Value;
use capsid_testkit::program::{ProgramOutput, TestProgram};
use std::path::{Path, PathBuf};

/// The folders of all versions that left fixtures.
fn versions() -> Vec<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upgrades/data");
    let mut found: Vec<PathBuf> = std::fs::read_dir(data)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    assert!(!found.is_empty());
    found
}

fn read_json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}"))
}

/// The folder in which fixtures were written; some of them name it.
const WRITTEN_IN: &str = "/tmp/capsid-fixtures";

/// A user of an older version: a home with a trail and a node's identity, and a repository.
struct User {
    program: TestProgram,
    repo: PathBuf,
    folder: tempfile::TempDir,
}

impl User {
    /// A copy of the user `name` of a version.
    fn restore(version: &Path, name: &str) -> Self {
        let (program, folder) = (program(), tempfile::tempdir().unwrap());
        let repo = folder.path().canonicalize().unwrap().join("shop");
        tree::restore(&version.join(name).join("home"), program.home());
        tree::restore(&version.join(name).join("shop"), &repo);
        Self { program, repo, folder }
    }

    fn home(&self) -> PathBuf {
        self.program.home().canonicalize().unwrap()
    }

    fn run(&self, words: &[&str]) -> ProgramOutput {
        ProgramOutput::from_output(self.program.command(&self.repo, words).output().unwrap())
    }

    #[track_caller]
    fn expect(&self, status: i32, words: &[&str]) -> ProgramOutput {
        let ran = self.run(words);
        assert_eq!(ran.status, status, "capsid {words:?}\n{ran}");
        ran
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.repo.join(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.repo.join(name), text).unwrap();
    }

    /// Runs a command that the older version ran on the same files, and compares what it shows.
    #[track_caller]
    fn sees(&self, version: &Path, command: &[&str]) {
        let story = read_json(&version.join("hub-sqlite/story.json"));
        let written = format!("{WRITTEN_IN}/ada");
        let seen = story["user_saw"].as_array().unwrap().iter();
        let mut shown = seen.filter(|seen| {
            let words = seen["words"].as_array().unwrap().iter().map(text);
            words.take(command.len()).eq(command.iter().copied())
        });
        let first = shown.next().unwrap_or_else(|| panic!("{command:?} was never run"));
        for seen in std::iter::once(first).chain(shown) {
            let place = |word: &str| word.replace(&format!("{written}/home"), self.home().to_str().unwrap());
            let words: Vec<String> =
                seen["words"].as_array().unwrap().iter().map(|word| place(text(word))).collect();
            let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
            words.push("--json");
            // Inside a repository a list is about that repository now.
            if words.starts_with(&["trail", "list"]) {
                words.push("--all");
            }
            // The hub that the user had named; nobody listens there now.
            let mut command = self.program.command(&self.repo, &words);
            let ran =
                ProgramOutput::from_output(command.env("A2A_HUB_URL", text(&story["url"])).output().unwrap());
            assert_eq!(ran.status, 0, "{words:?}\n{ran}");
            let shown = ran
                .stdout
                .replace(self.home().to_str().unwrap(), &format!("{written}/home"))
                .replace(self.repo.to_str().unwrap(), &format!("{written}/shop"));
            let shown: Value = shown.parse().unwrap_or_else(|error| panic!("{words:?}: {error}\n{shown}"));
            compare::assert_shows(&format!("capsid {words:?}"), &seen["answer"], &shown);
        }
    }
}
