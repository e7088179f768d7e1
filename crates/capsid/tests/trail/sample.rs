//! The commands that the documents show on `docs/sample`, run as they stand there.

use super::*;
use capsid_testkit::program::ProgramOutput;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

/// The blocks of a page that are commands on the sample, line by line.
fn blocks(page: &str) -> Vec<Vec<&str>> {
    let blocks = page.split("\n```sh\n").skip(1).filter_map(|rest| Some(rest.split_once("\n```")?.0));
    let blocks = blocks.filter(|block| block.contains("docs/sample"));
    blocks.map(|block| block.lines().collect()).collect()
}

#[test]
fn the_documents_commands_on_the_sample_do_what_they_say() {
    let mut found = vec![root().join("README.md")];
    pages(&root().join("docs"), &mut found);
    let mut commands = 0;
    for page in &found {
        for block in blocks(&std::fs::read_to_string(page).unwrap()) {
            let user = desk();
            for line in block {
                let words: Vec<&str> = line.split_whitespace().collect();
                assert_eq!(words[0], "capsid", "{}: {line}", page.display());
                let mut command = user.program.command(&root(), &words[1..]);
                let output = ProgramOutput::from_output(command.output().unwrap());
                assert_status(0, &output);
                commands += 1;
            }
        }
    }
    assert!(commands >= 4, "{commands}");
}

#[test]
fn the_sample_is_valid_once_its_key_is_pinned() {
    let user = desk();
    let sample = root().join("docs/sample");
    let verify =
        |status| user.expect(status, &["trail", "verify", "--json", sample.to_str().unwrap()]).json();
    assert_eq!(verify(0)["level"], "unverified");
    user.expect(0, &["key", "pin", "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"]);
    let verdict = verify(0);
    assert_eq!(
        (&verdict["level"], verdict["findings"].as_array().unwrap().len()),
        (&"valid".into(), 0),
        "{verdict:#}"
    );
}
