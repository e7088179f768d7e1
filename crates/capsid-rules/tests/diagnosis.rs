//! Diagnosis of sample logs: what each log shows, and that its ids survive what differs from run to run.

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
