//! How many of the secrets of our own corpora are found, and that nothing harmless goes.

mod figures;
mod fill;
mod wrap;

use capsid_model::redact::{REDACTED, RedactProfile, cut_before_secret, redact};
use fastrand::Rng;
use figures::{Corpus, Figures};
use serde::Deserialize;
use std::borrow::Cow;
use wrap::{CUT, WRAPPINGS, wrapped};

/// The seed of all values in the corpora: the figures of the documents are those of these values.
const SEED: u64 = 20;

#[derive(Deserialize)]
struct CorpusFile {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    class: String,
    text: String,
}

fn cases(text: &str) -> Vec<Case> {
    let file: CorpusFile = toml::from_str(text).unwrap();
    file.case
}

fn realistic() -> Vec<Case> {
    cases(include_str!("realistic.toml"))
}

fn hard() -> Vec<Case> {
    cases(include_str!("hard.toml"))
}

fn harmless() -> Vec<Case> {
    cases(include_str!("harmless.toml"))
}

/// What is left of a text, and what of it would be sealed where it is cut.
fn clean(text: &str, wrapping: &str) -> String {
    let end = match text.char_indices().nth(CUT) {
        Some((end, _)) if wrapping == "across the cut" => cut_before_secret(text, end),
        _ => text.len(),
    };
    redact(&text[..end], RedactProfile::Secrets).into_owned()
}

/// Runs every case in every wrapping. Returns the figures and a line for each case that is not as it should be.
fn run(name: &'static str, cases: &[Case], seed: u64) -> (Corpus, Vec<String>) {
    let mut corpus = Corpus::new(name);
    let mut wrong = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let parts = fill::fill(&case.text, &mut Rng::with_seed(seed + index as u64));
        let secrets: Vec<&str> =
            parts.iter().filter(|part| part.is_secret).map(|part| part.text.as_str()).collect();
        assert_eq!(secrets.is_empty(), name == "harmless", "{}", case.text);
        for wrapping in WRAPPINGS {
            let text = wrapped(&parts, wrapping, &mut Rng::with_seed(seed));
            let clean = clean(&text, wrapping);
            let is_redacted = if secrets.is_empty() {
                clean.contains(REDACTED) && clean.matches(REDACTED).count() > text.matches(REDACTED).count()
                    || (wrapping == "across the cut" && clean.chars().count() < CUT.min(text.chars().count()))
            } else {
                !secrets.iter().any(|secret| shows(&clean, secret))
            };
            corpus.count(&case.class, wrapping, is_redacted);
            if is_redacted == secrets.is_empty() {
                let from =
                    |text: &str| text[text.floor_char_boundary(text.len().saturating_sub(500))..].to_owned();
                wrong.push(format!("{} ({wrapping}) {}\n  -> {}", case.class, from(&text), from(&clean)));
            }
        }
    }
    (corpus, wrong)
}

/// Whether a text shows a value, or half of one that is long enough to matter.
fn shows(text: &str, value: &str) -> bool {
    let middle = value.floor_char_boundary(value.len() / 2);
    text.contains(value)
        || (value.len() >= 8 && (text.contains(&value[..middle]) || text.contains(&value[middle..])))
}

#[test]
fn secrets_of_the_corpora_are_found_and_nothing_harmless_goes() {
    let (realistic, missed) = run("realistic", &realistic(), SEED);
    let (hard, missed_hard) = run("hard", &hard(), SEED);
    let (harmless, gone) = run("harmless", &harmless(), SEED);
    for (title, lines) in
        [("missed, realistic", &missed), ("missed, hard", &missed_hard), ("redacted, harmless", &gone)]
    {
        println!("== {title}: {}", lines.len());
        lines.iter().for_each(|line| println!("{line}"));
    }
    let figures = Figures::new([realistic, hard, harmless]);
    println!("{}", figures.table());
    assert!(figures.cases("realistic") >= 110);
    assert!(figures.cases("hard") >= 60);
    assert!(figures.cases("harmless") >= 66);
    for wrapping in WRAPPINGS {
        let share = |name| figures.share(name, wrapping);
        assert!(share("realistic") >= 1.0, "realistic, {wrapping}: {}", share("realistic"));
        assert!(share("hard") >= 0.9, "hard, {wrapping}: {}", share("hard"));
        assert!(share("harmless") <= 0.0, "harmless, {wrapping}: {}", share("harmless"));
    }
    figures.compare_with_docs();
}

#[test]
fn the_corpora_stay_redacted_when_they_are_redacted_again() {
    for case in realistic().iter().chain(&hard()) {
        let parts = fill::fill(&case.text, &mut Rng::with_seed(SEED));
        for wrapping in &WRAPPINGS[..5] {
            let text = wrapped(&parts, wrapping, &mut Rng::with_seed(SEED));
            let once = redact(&text, RedactProfile::Secrets).into_owned();
            let twice = redact(&once, RedactProfile::Secrets);
            assert!(matches!(twice, Cow::Borrowed(_)), "{once}\n-> {twice}");
        }
    }
}

/// The credentials that other tests plant in logs and changes, from seeds that chance chose, one of which once showed a
/// token.
#[test]
fn every_planted_credential_goes_whatever_its_seed() {
    let mut rng = capsid_testkit::rounds::seeded_rng();
    let seeds = (0..capsid_testkit::rounds::rounds(4, 4000)).map(|_| rng.u64(..));
    let mut left = Vec::new();
    for seed in [3_159_617_008_183_662_739].into_iter().chain(seeds) {
        let planted =
            capsid_testkit::secrets::planted(capsid_testkit::secrets::CREDENTIALS, &mut Rng::with_seed(seed));
        for secret in planted {
            for text in [secret.line.clone(), format!("error: {}", secret.line.replace('\n', " "))] {
                let clean = redact(&text, RedactProfile::Secrets);
                if secret.traces().iter().any(|trace| clean.contains(trace)) {
                    left.push(format!("{seed}: {text}\n-> {clean}"));
                }
            }
        }
    }
    assert!(left.is_empty(), "{} left:\n{}", left.len(), left.join("\n"));
}
