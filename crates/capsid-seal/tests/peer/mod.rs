//! The Python peer, and how random tests are repeated.
//!
//! The seed is printed; `CAPSID_SEED` repeats a run. Without Python
//! these tests fail: what nobody compared is no proof.

use fastrand::Rng;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A random generator, and the text that shows how to repeat its run.
pub fn seeded() -> (Rng, String) {
    let seed = capsid_testkit::rounds::seed();
    (Rng::with_seed(seed), format!("CAPSID_SEED={seed}"))
}

/// What one process of a script in tests/peers/python answers: a line for every line.
pub fn python(script: &str, questions: String) -> Vec<String> {
    let peer = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers/python"));
    let program = peer.join(".venv/bin/python");
    assert!(program.exists(), "there is no `.venv` in tests/peers/python: run `scripts/setup test`");
    let count = questions.lines().count();
    let mut child = Command::new(program)
        .arg(peer.join(script))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python runs: `scripts/setup test` installs it");
    let mut input = child.stdin.take().unwrap();
    // Apart, so that neither side waits for the other when a pipe is full.
    let asking = std::thread::spawn(move || input.write_all(questions.as_bytes()));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "Python failed: {}", output.status);
    asking.join().unwrap().unwrap();
    let answers: Vec<String> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(answers.len(), count, "an answer for every question");
    answers
}
