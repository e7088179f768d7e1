//! Our JSON against Python's own, on random floats, texts and documents: a sealed record is the hash of what Python
//! would write.
//!
//! The seed is printed; `CAPSID_SEED` repeats a run, `CAPSID_SOAK=1` makes twenty times as many. Without Python this
//! test fails: a text that nobody compared is no proof.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods)]

mod odd_text;

use capsid_model::exact;
use fastrand::Rng;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn seeded() -> (Rng, String) {
    let seed = match std::env::var("CAPSID_SEED") {
        Ok(text) => text.parse().expect("CAPSID_SEED is a whole number"),
        Err(_) => fastrand::u64(..),
    };
    println!("CAPSID_SEED={seed}");
    (Rng::with_seed(seed), format!("CAPSID_SEED={seed}"))
}

fn rounds(usual: usize) -> usize {
    if std::env::var_os("CAPSID_SOAK").is_some() { usual * 20 } else { usual }
}

/// The answers of one Python process, one per line asked.
fn python(questions: String) -> Vec<String> {
    let peer = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers/python"));
    let program = peer.join(".venv/bin/python");
    assert!(program.exists(), "there is no `.venv` in tests/peers/python: run `scripts/setup test`");
    let mut child = Command::new(program)
        .arg(peer.join("writer.py"))
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
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// What Python makes of documents: canonical, canonical in ASCII, spaced, indented; nothing where it refuses one.
fn python_documents(texts: &[String]) -> Vec<Option<[String; 4]>> {
    let questions = texts.iter().fold(String::new(), |mut lines, text| {
        writeln!(lines, "d {}", serde_json::to_string(text).unwrap()).unwrap();
        lines
    });
    let answers = python(questions);
    assert_eq!(answers.len(), texts.len());
    answers.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn our_documents(text: &str) -> Option<[String; 4]> {
    let value = exact::parse_lossy(text.as_bytes()).ok()?;
    Some([
        exact::canonical(&value),
        exact::canonical_ascii(&value),
        exact::spaced(&value),
        exact::indented(&value),
    ])
}

fn some_float(rng: &mut Rng) -> f64 {
    match rng.u8(..6) {
        0 | 1 => f64::from_bits(rng.u64(..)),
        2 => rng.i64(-1_000_000..1_000_000) as f64 / 10_f64.powi(rng.i32(0..9)),
        3 => rng.i64(..) as f64 * 10_f64.powi(rng.i32(-30..5)),
        // Where the notation changes, and where the distance between doubles does.
        4 => f64::from_bits(10_f64.powi(rng.i32(-7..19)).to_bits().wrapping_add_signed(rng.i64(-3..4))),
        _ => f64::from_bits(2_f64.powi(rng.i32(-1074..1024)).to_bits().saturating_add_signed(rng.i64(-2..3))),
    }
}

#[test]
fn floats_are_written_and_read_as_python_does() {
    let (mut rng, seed) = seeded();
    let mut numbers =
        vec![0.0, -0.0, f64::MAX, f64::MIN_POSITIVE, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    numbers.extend((0..rounds(40_000)).map(|_| some_float(&mut rng)));
    let questions = numbers.iter().fold(String::new(), |mut lines, number| {
        writeln!(lines, "f {:016x}", number.to_bits()).unwrap();
        lines
    });
    let answers = python(questions);
    assert_eq!(answers.len(), numbers.len());
    for (number, theirs) in numbers.iter().zip(&answers) {
        assert_eq!(exact::float_text(*number), *theirs, "{seed} {:016x}", number.to_bits());
        let read = exact::parse(theirs).unwrap().as_f64().unwrap();
        assert!(read.to_bits() == number.to_bits() || number.is_nan(), "{seed} {theirs}");
    }
}

#[test]
fn texts_of_any_code_points_are_written_as_python_writes_them() {
    let (mut rng, seed) = seeded();
    let texts: Vec<String> = (0..rounds(10_000)).map(|_| odd_text::text(&mut rng)).collect();
    let spelled: Vec<String> = texts.iter().map(|text| serde_json::to_string(text).unwrap()).collect();
    for (text, theirs) in texts.into_iter().zip(python_documents(&spelled)) {
        let [canonical, ascii, ..] = theirs.expect("serde_json writes JSON");
        let value = exact::Json::from(text);
        assert_eq!(exact::canonical(&value), canonical, "{seed}");
        assert_eq!(exact::canonical_ascii(&value), ascii, "{seed}");
    }
}

#[test]
fn documents_are_read_and_written_as_python_does() {
    let (mut rng, seed) = seeded();
    let texts: Vec<String> = (0..rounds(10_000)).map(|_| odd_text::document(&mut rng)).collect();
    for (text, theirs) in texts.iter().zip(python_documents(&texts)) {
        assert!(theirs.is_some(), "{seed} Python refuses what the test wrote: {text}");
        assert_eq!(our_documents(text), theirs, "{seed} {text}");
    }
}

#[test]
fn damaged_documents_are_refused_where_python_refuses_them() {
    let (mut rng, seed) = seeded();
    let texts: Vec<String> = (0..rounds(20_000)).map(|_| odd_text::damaged_document(&mut rng)).collect();
    let mut refused = 0;
    for (text, theirs) in texts.iter().zip(python_documents(&texts)) {
        refused += usize::from(theirs.is_none());
        assert_eq!(our_documents(text), theirs, "{seed} {text:?}");
    }
    assert!(
        refused > texts.len() / 4 && refused < texts.len(),
        "{seed} {refused} of {} refused",
        texts.len()
    );
}
