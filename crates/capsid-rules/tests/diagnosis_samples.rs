//! Diagnosis of short samples of many tools: what each shows, and which of them are the same problem.
//!
//! The header of a sample is `=== name | tool | code | class | place | frame | test`, or `=== name | free` for a log
//! without a problem. `-` stands for nothing and `?` for anything. Samples whose names are equal up to `~` show the same
//! mistake.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use capsid_rules::diagnosis::diagnose;
use std::collections::BTreeMap;
use std::path::Path;

struct Sample {
    name: String,
    fields: Vec<String>,
    log: String,
}

fn load_samples() -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/diagnosis");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut samples: Vec<Sample> = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let header = line.strip_prefix("=== ").filter(|_| line.contains(" | ") && !line.ends_with('='));
            if let Some(header) = header {
                let mut fields = header.split(" | ").map(str::to_owned);
                let name = fields.next().unwrap();
                samples.push(Sample { name, fields: fields.collect(), log: String::new() });
            } else if let Some(sample) = samples.last_mut() {
                sample.log.push_str(line);
                sample.log.push('\n');
            }
        }
    }
    assert!(samples.len() > 200, "{}", samples.len());
    samples
}

#[test]
fn every_short_sample_shows_what_its_label_says() {
    let mut wrong = Vec::new();
    for sample in load_samples() {
        let found = diagnose(&sample.log).problem;
        let Some(found) = found else {
            if sample.fields != ["free"] {
                wrong.push(format!("{}: not recognized", sample.name));
            }
            continue;
        };
        if sample.fields == ["free"] {
            wrong.push(format!("{}: no problem, got {} {}", sample.name, found.tool, found.text));
            continue;
        }
        let given = [
            Some(found.tool),
            found.code,
            Some(found.class.as_str().to_owned()),
            found.place,
            found.frame,
            found.test,
        ];
        for (wanted, given) in sample.fields.iter().zip(given) {
            let given = given.unwrap_or_else(|| "-".to_owned());
            if wanted != "?" && *wanted != given {
                wrong.push(format!("{}: wanted {wanted}, got {given} ({})", sample.name, found.text));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn samples_of_one_mistake_have_one_message_id() {
    let mut ids: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for sample in load_samples().into_iter().filter(|sample| sample.name.contains('~')) {
        let group = sample.name.split('~').next().unwrap_or_default().to_owned();
        let found = diagnose(&sample.log).problem.unwrap_or_else(|| panic!("{}", sample.name));
        ids.entry(group).or_default().push((found.ids().message, found.text));
    }
    for (group, found) in &ids {
        assert!(found.iter().all(|(id, _)| *id == found[0].0), "{group}: {found:?}");
    }
    let mut all: Vec<&str> = ids.values().map(|found| found[0].0.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), ids.len(), "two mistakes share an id");
}

#[test]
fn ids_of_short_samples_survive_prefixes_and_line_ends() {
    let noise: String =
        (0..50).map(|n| format!("2026-11-02T10:00:{n:02}Z INFO request {n} served\n")).collect();
    let mut wrong = Vec::new();
    for (index, sample) in load_samples().into_iter().enumerate() {
        let ids = |text: &str| diagnose(text).problem.map(|found| found.ids());
        let each = |with: &dyn Fn(&str) -> String| sample.log.lines().map(with).collect::<String>();
        // The lines before are more than those that are read whatever they say.
        let mut changed = vec![format!("{noise}{}", sample.log)];
        if !sample.log.starts_with(['{', '<']) {
            changed.push(if index % 2 == 0 {
                each(&|line| format!("2026-11-03T08:15:22.0370001Z {line}\r\n"))
            } else {
                each(&|line| format!("web-1  | {line}\n"))
            });
        }
        let wanted = ids(&sample.log);
        let which = changed.iter().position(|text| ids(text) != wanted);
        if let Some(which) = which {
            wrong.push(format!("{} {which}", sample.name));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}
