//! Diagnosis of sample logs: what each log shows, and that its ids survive what differs from run to run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use capsid_rules::diagnosis::{Diagnosis, diagnose};
use std::path::Path;

/// One sample: its label stands in the line above its log.
struct Sample {
    name: String,
    /// tool, code, class, place, frame, test; nothing for a log without a problem.
    label: Option<Vec<Option<String>>>,
    log: String,
}

fn load_samples() -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnosis");
    let mut samples: Vec<Sample> = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ext| ext == "logs")) {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            match line.strip_prefix("=== ").filter(|_| line.contains(" | ") && !line.ends_with('=')) {
                Some(header) => {
                    let mut fields = header.split(" | ").map(str::to_owned);
                    let name = fields.next().unwrap();
                    let rest: Vec<String> = fields.collect();
                    let label = (rest != ["free"])
                        .then(|| rest.into_iter().map(|field| (field != "-").then_some(field)).collect());
                    samples.push(Sample { name, label, log: String::new() });
                }
                None => {
                    if let Some(sample) = samples.last_mut() {
                        sample.log.push_str(line);
                        sample.log.push('\n');
                    }
                }
            }
        }
    }
    samples
}

fn read_fields(diagnosis: &Diagnosis) -> Option<Vec<Option<String>>> {
    diagnosis.problem.as_ref().map(|found| {
        vec![
            Some(found.tool.clone()),
            found.code.clone(),
            Some(found.class.as_str().to_owned()),
            found.place.clone(),
            found.frame.clone(),
            found.test.clone(),
        ]
    })
}

#[test]
fn every_sample_shows_what_its_label_says() {
    let samples = load_samples();
    let mut wrong = Vec::new();
    for sample in &samples {
        let diagnosis = diagnose(&sample.log);
        let given = read_fields(&diagnosis);
        if given != sample.label {
            let text =
                diagnosis.problem.map(|found| format!("{:?} {}", found.role, found.text)).unwrap_or_default();
            wrong.push(format!("{}:\n  wanted {:?}\n  got    {given:?} {text}", sample.name, sample.label));
        }
    }
    assert!(wrong.is_empty(), "{} of {} samples\n{}", wrong.len(), samples.len(), wrong.join("\n"));
}

fn map_lines(text: &str, with: impl Fn(&str) -> String) -> String {
    text.lines().map(|line| with(line) + "\n").collect()
}

#[test]
fn ids_survive_prefixes_colors_and_other_lines() {
    let noise: String =
        (0..2_000).map(|n| format!("2026-11-02T10:00:{:02}Z INFO request {n} served\n", n % 60)).collect();
    let mut wrong = Vec::new();
    for sample in load_samples() {
        let ids = |text: &str| diagnose(text).problem.map(|found| found.ids());
        let wanted = ids(&sample.log);
        let is_json = sample.log.starts_with('{') || sample.log.starts_with('<');
        let mut changed = vec![
            ("noise_before", format!("{noise}{}", sample.log)),
            ("noise_after", format!("{}\n{noise}", sample.log)),
        ];
        if !is_json {
            changed.push((
                "ci_times",
                map_lines(&sample.log, |line| format!("2026-11-03T08:15:22.0370001Z {line}")),
            ));
            changed.push(("crlf", map_lines(&sample.log, |line| format!("{line}\r"))));
            changed.push(("compose", map_lines(&sample.log, |line| format!("web-1  | {line}"))));
            changed.push((
                "ansi",
                sample
                    .log
                    .replace("error", "\u{1b}[31merror\u{1b}[0m")
                    .replace("FAILED", "\u{1b}[1;31mFAILED\u{1b}[0m"),
            ));
        }
        changed.push(("moved", sample.log.replace("/srv/shop", "/mnt/agent/7/checkout/shop")));
        for (name, text) in changed {
            if ids(&text) != wanted {
                let shown = diagnose(&text).problem.map(|found| found.errsig());
                wrong.push(format!(
                    "{} {name}: {:?} -> {shown:?}",
                    sample.name,
                    diagnose(&sample.log).problem.map(|found| found.errsig())
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

mod properties {
    use super::*;
    use capsid_rules::diagnosis::{DiagnosisReader, parse_errsig};
    use proptest::prelude::*;

    /// Pieces that logs are made of, in any order.
    fn pieces() -> impl Strategy<Value = String> {
        let known = prop::sample::select(vec![
            "error",
            "Error: ",
            "error[E0308]: ",
            " --> src/a.rs:1:2",
            "Traceback (most recent call last):",
            "  File \"a.py\", line 1, in f",
            "FAILED ",
            "___ t ___",
            "E   assert 1 == 2",
            "● a › b",
            "FAIL a.test.js",
            "not ok 1 - x",
            "  ---",
            "--- FAIL: T (0.0s)",
            "panic: x",
            "goroutine 1 [running]:",
            "\tat a.B.c(B.java:1)",
            "Caused by: a.B: x",
            "npm error code E404",
            "ERROR 1146 (42S02): x",
            "{\"level\":\"error\",\"msg\":\"x\"}",
            "level=error msg=\"x",
            "thread 'a::b' panicked at 'x",
            "thread 'main' panicked at src/a.rs:1:1:",
            "CMake Error at a:1 (b):",
            "│ Error: x",
            "fatal: [a]: FAILED! => {",
            "::error file=a::x",
            "##[error]",
            "2026-01-01T00:00:00Z ",
            "web-1  | ",
            "\u{1b}[31m",
            "\r",
            "\t",
            "'",
            "\"",
            "`",
            "<",
            "/",
            "\\",
            "://",
            "错误：",
            "é",
            "`x'",
            "=",
            "0x",
            ":",
            "(",
            ")",
        ])
        .prop_map(str::to_owned);
        let any =
            prop_oneof![4 => known, 2 => "\\PC{0,12}", 1 => Just("\n".to_owned()), 1 => "[0-9./:-]{1,20}"];
        prop::collection::vec(any, 0..60).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn no_text_panics(text in pieces()) {
            let diagnosis = diagnose(&text);
            if let Some(problem) = diagnosis.to_record() {
                prop_assert_eq!(problem.ids.exact.len(), 16);
            }
            let _ = parse_errsig(&text);
        }

        #[test]
        fn no_bytes_panic_wherever_they_are_cut(bytes in prop::collection::vec(any::<u8>(), 0..400), text in pieces(), size in 1usize..40) {
            let mut whole = text.into_bytes();
            whole.extend(bytes);
            let mut reader = DiagnosisReader::new();
            for piece in whole.chunks(size) {
                reader.push(piece);
            }
            let pieces = reader.finish();
            let mut reader = DiagnosisReader::new();
            reader.push(&whole);
            prop_assert_eq!(pieces, reader.finish());
        }

        #[test]
        fn ids_do_not_change_when_lines_paths_or_numbers_do(line in 1u32..9_999, column in 1u32..99, folder in "/[a-z]{3,9}/[a-z]{3,9}", number in 0u32..99_999) {
            let logs = [
                format!("error[E0425]: cannot find value `totl` in this scope\n --> {folder}/src/cart.rs:{line}:{column}\n"),
                format!("Traceback (most recent call last):\n  File \"{folder}/cart.py\", line {line}, in total\n    x\nValueError: order {number} is empty\n"),
                format!("TypeError: order {number} is empty\n    at total ({folder}/cart.js:{line}:{column})\n"),
                format!("java.lang.IllegalStateException: order {number} is empty\n\tat org.example.Cart.total(Cart.java:{line})\n"),
                format!("{folder}/cart.c:{line}:{column}: error: 'totl' undeclared\n"),
                format!("2026-11-03 10:00:00 ERROR [main] shop.Cart - cannot read {folder}/cart.db of order {number}\n"),
                format!("--- FAIL: TestTotal (0.00s)\n    cart_test.go:{line}: got {number}, want 5\n"),
            ];
            let fixed = [
                "error[E0425]: cannot find value `totl` in this scope\n --> src/cart.rs:1:1\n",
                "Traceback (most recent call last):\n  File \"cart.py\", line 1, in total\n    x\nValueError: order 1 is empty\n",
                "TypeError: order 1 is empty\n    at total (/a/cart.js:1:1)\n",
                "java.lang.IllegalStateException: order 1 is empty\n\tat org.example.Cart.total(Cart.java:1)\n",
                "cart.c:1:1: error: 'totl' undeclared\n",
                "2026-11-03 10:00:00 ERROR [main] shop.Cart - cannot read /a/b/cart.db of order 1\n",
                "--- FAIL: TestTotal (0.00s)\n    cart_test.go:1: got 1, want 5\n",
            ];
            for (log, wanted) in logs.iter().zip(fixed) {
                let ids = |text: &str| diagnose(text).problem.map(|found| found.ids());
                prop_assert!(ids(wanted).is_some(), "{}", wanted);
                prop_assert_eq!(ids(log), ids(wanted), "{}", log);
            }
        }
    }
}

#[test]
fn signatures_are_neither_generic_nor_dated() {
    for (log, wanted) in [
        (
            "error: could not compile `shop`\nerror: aborting due to 1 previous error\nsrc/a.c:1:2: error: expected ';'\n",
            "errsig:c: expected <s>",
        ),
        ("10:02:11 ERROR cart is empty\n", "errsig:app: cart is empty"),
        (
            "ReferenceError: foo is not defined at /srv/app/index.js:120:7\n",
            "errsig:ReferenceError: foo is not defined at /srv/app/index.js:120:7",
        ),
        ("[ERROR] cache is cold for tenant 41\n", "errsig:[ERROR] cache is cold for tenant 41"),
    ] {
        assert_eq!(diagnose(log).problem.map(|found| found.errsig()).as_deref(), Some(wanted), "{log}");
    }
}

#[test]
fn the_signature_of_an_old_capsule_is_read_with_the_same_rules() {
    use capsid_rules::diagnosis::parse_errsig;
    let log = "Error: connect ECONNREFUSED 127.0.0.1:5432\n    at f (/srv/shop/db.js:1:2)\n";
    let old = parse_errsig("errsig:Error: connect ECONNREFUSED 127.0.0.1:5432").unwrap();
    assert_eq!(old.ids().message, diagnose(log).problem.unwrap().ids().message);
    let old = parse_errsig(
        "errsig:src/order.ts(7,26): error TS2322: Type 'string' is not assignable to type 'number'.",
    )
    .unwrap();
    assert_eq!((old.tool.as_str(), old.place), ("tsc", None));
    assert!(parse_errsig("errsig:").is_none());
}

#[test]
fn the_command_of_the_deciding_segment_is_known() {
    assert_eq!(
        diagnose("$ npm run lint\n> shop@1.0.0 lint\n\na.js:1:2: x\nTypeError: x\n    at f (/a.js:1:2)\n")
            .command
            .as_deref(),
        Some("npm run lint")
    );
    assert_eq!(
        diagnose("> shop@1.0.0 test\n> node a.js\n\nTypeError: x\n    at f (/a.js:1:2)\n").command.as_deref(),
        Some("npm test")
    );
    assert_eq!(
        diagnose("##[group]Run cargo test\n##[endgroup]\nerror[E0425]: x `y`\n --> a.rs:1:2\n")
            .command
            .as_deref(),
        Some("cargo test")
    );
}
