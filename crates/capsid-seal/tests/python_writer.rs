//! Our JSON against Python's own, on random floats, texts and documents: a sealed record is the hash of what Python
//! would write.

use crate::odd_text;
use crate::peer::{python, seeded};
use capsid_model::exact;
use capsid_testkit::rounds::rounds;
use fastrand::Rng;
use std::fmt::Write;

/// What Python makes of documents: canonical, canonical in ASCII, spaced, indented; nothing where it refuses one.
fn python_documents(texts: &[String]) -> Vec<Option<[String; 4]>> {
    let questions = texts.iter().fold(String::new(), |mut lines, text| {
        writeln!(lines, "d {}", serde_json::to_string(text).unwrap()).unwrap();
        lines
    });
    let answers = python("writer.py", questions);
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
    numbers.extend((0..rounds(40_000, 800_000)).map(|_| some_float(&mut rng)));
    let questions = numbers.iter().fold(String::new(), |mut lines, number| {
        writeln!(lines, "f {:016x}", number.to_bits()).unwrap();
        lines
    });
    let answers = python("writer.py", questions);
    for (number, theirs) in numbers.iter().zip(&answers) {
        assert_eq!(exact::float_text(*number), *theirs, "{seed} {:016x}", number.to_bits());
        let read = exact::parse(theirs).unwrap().as_f64().unwrap();
        assert!(read.to_bits() == number.to_bits() || number.is_nan(), "{seed} {theirs}");
    }
}

#[test]
fn texts_of_any_code_points_are_written_as_python_writes_them() {
    let (mut rng, seed) = seeded();
    let texts: Vec<String> = (0..rounds(10_000, 200_000)).map(|_| odd_text::text(&mut rng)).collect();
    let spelled: Vec<String> = texts.iter().map(|text| serde_json::to_string(text).unwrap()).collect();
    for (text, theirs) in texts.into_iter().zip(python_documents(&spelled)) {
        let [canonical, ascii, ..] = theirs.expect("serde_json writes JSON");
        let value = exact::ExactJson::from(text);
        assert_eq!(exact::canonical(&value), canonical, "{seed}");
        assert_eq!(exact::canonical_ascii(&value), ascii, "{seed}");
    }
}

#[test]
fn documents_are_read_and_written_as_python_does() {
    let (mut rng, seed) = seeded();
    let texts: Vec<String> = (0..rounds(10_000, 200_000)).map(|_| odd_text::document(&mut rng)).collect();
    for (text, theirs) in texts.iter().zip(python_documents(&texts)) {
        assert!(theirs.is_some(), "{seed} Python refuses what the test wrote: {text}");
        assert_eq!(our_documents(text), theirs, "{seed} {text}");
    }
}

#[test]
fn damaged_documents_are_refused_where_python_refuses_them() {
    let (mut rng, seed) = seeded();
    let texts: Vec<String> =
        (0..rounds(20_000, 400_000)).map(|_| odd_text::damaged_document(&mut rng)).collect();
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
