//! Scores the diagnosis on a folder of labeled logs: `score_logs DIR [--verbose]`.

use capsid_model::signal::normalise_errsig;
use capsid_rules::diagnosis::{Diagnosis, Diagnostic, diagnose};
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

#[derive(Deserialize)]
struct Labels {
    logs: Vec<Label>,
}

#[derive(Deserialize)]
struct Label {
    file: String,
    live: bool,
    tool: Option<String>,
    code: Option<String>,
    class: Option<String>,
    test: Option<String>,
    frame: Option<String>,
    place: Option<String>,
    errsig_norm: Option<String>,
    #[serde(default)]
    same_as: Vec<String>,
    #[serde(default)]
    same_message: Vec<String>,
    #[serde(default)]
    unscored_with: Vec<String>,
}

struct Scored {
    label: Label,
    text: String,
    diagnosis: Diagnosis,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: score_logs DIR [--verbose]")?;
    let verbose = arguments.any(|argument| argument == "--verbose");
    let folder = Path::new(&folder);
    let labels: Labels = serde_json::from_str(&std::fs::read_to_string(folder.join("labels.json"))?)?;
    let started = Instant::now();
    let mut logs = Vec::new();
    for label in labels.logs {
        let text = String::from_utf8_lossy(&std::fs::read(folder.join(&label.file))?).into_owned();
        let diagnosis = diagnose(&text);
        logs.push(Scored { label, text, diagnosis });
    }
    println!("{} logs read in {:.0} ms", logs.len(), started.elapsed().as_secs_f64() * 1e3);
    score_live(&logs, verbose);
    score_fields(&logs, verbose);
    score_pairs(&logs, verbose);
    score_transforms(&logs, verbose);
    Ok(())
}

fn show(problem: Option<&Diagnostic>) -> String {
    problem.map_or("nothing".to_owned(), |found| {
        format!("{} {:?} {} {:?} | {}", found.tool, found.code, found.class.as_str(), found.role, found.text)
    })
}

fn ratio(name: &str, right: usize, all: usize) {
    let value = if all == 0 { 1.0 } else { right as f64 / all as f64 };
    println!("{name:45} {right:6} of {all:6}  {value:.4}");
}

fn score_live(logs: &[Scored], verbose: bool) {
    let live: Vec<&Scored> = logs.iter().filter(|log| log.label.live).collect();
    let found = live.iter().filter(|log| log.diagnosis.problem.is_some()).count();
    ratio("live problems recognized", found, live.len());
    let free: Vec<&Scored> = logs.iter().filter(|log| !log.label.live).collect();
    let wrong = free.iter().filter(|log| log.diagnosis.problem.is_some()).count();
    println!("{:45} {wrong:6} of {:6}", "problem-free logs with an error", free.len());
    if verbose {
        for log in live.iter().filter(|log| log.diagnosis.problem.is_none()) {
            println!("    not recognized: {}", log.label.file);
        }
        for log in free.iter().filter(|log| log.diagnosis.problem.is_some()) {
            println!("    not a problem: {}: {}", log.label.file, show(log.diagnosis.problem.as_ref()));
        }
    }
}

fn score_fields(logs: &[Scored], verbose: bool) {
    let mut right: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all = 0;
    let mut norms = 0;
    for log in logs.iter().filter(|log| log.label.live) {
        all += 1;
        let problem = log.diagnosis.problem.as_ref();
        let label = &log.label;
        let errsig = problem.map(Diagnostic::errsig).unwrap_or_default();
        let norm_is_labeled = label.errsig_norm.is_some() && normalise_errsig(&errsig) == label.errsig_norm;
        norms += usize::from(norm_is_labeled);
        if verbose && !norm_is_labeled {
            println!("    {}: {errsig} is not {:?}", label.file, label.errsig_norm);
        }
        let fields = [
            ("tool", label.tool.clone(), problem.map(|found| found.tool.clone())),
            ("code", label.code.clone(), problem.and_then(|found| found.code.clone())),
            ("class", label.class.clone(), problem.map(|found| found.class.as_str().to_owned())),
            ("test", label.test.clone(), problem.and_then(|found| found.test.clone())),
            ("frame", label.frame.clone(), problem.and_then(|found| found.frame.clone())),
            ("place", label.place.clone(), problem.and_then(|found| found.place.clone())),
        ];
        for (name, wanted, given) in fields {
            let ok = wanted == given && problem.is_some();
            *right.entry(name).or_default() += usize::from(ok);
            if verbose && !ok {
                println!("    {}: {name}: wanted {wanted:?}, got {given:?} ({})", label.file, show(problem));
            }
        }
    }
    for (name, count) in &right {
        ratio(&format!("field {name}"), *count, all);
    }
    ratio("errsig_norm as labeled (not scored)", norms, all);
    ratio("all fields", right.values().sum(), all * right.len());
}

#[derive(Default)]
struct PairCounts {
    said_and_true: usize,
    said: usize,
    truth: usize,
}

impl PairCounts {
    fn add(&mut self, truth: bool, said: bool) {
        self.truth += usize::from(truth);
        self.said += usize::from(said);
        self.said_and_true += usize::from(truth && said);
    }

    fn print(&self, name: &str) {
        ratio(&format!("pair precision, {name}"), self.said_and_true, self.said);
        ratio(&format!("pair recall, {name}"), self.said_and_true, self.truth);
    }
}

fn score_pairs(logs: &[Scored], verbose: bool) {
    let live: Vec<&Scored> = logs.iter().filter(|log| log.label.live).collect();
    let (mut message, mut exact) = (PairCounts::default(), PairCounts::default());
    let (mut agree, mut pairs) = (0, 0);
    for (at, first) in live.iter().enumerate() {
        for second in live.iter().skip(at + 1) {
            let named = |list: &[String], other: &str| list.iter().any(|name| name == other);
            let (a, b) = (&first.label, &second.label);
            if named(&a.unscored_with, &b.file) || named(&b.unscored_with, &a.file) {
                continue;
            }
            let same = named(&a.same_as, &b.file) || named(&b.same_as, &a.file);
            let alike = same || named(&a.same_message, &b.file) || named(&b.same_message, &a.file);
            let (one, two) = (first.diagnosis.problem.as_ref(), second.diagnosis.problem.as_ref());
            let (says_alike, says_same, norm) = match (one, two) {
                (Some(one), Some(two)) => {
                    let (first, second) = (one.ids(), two.ids());
                    (
                        first.message == second.message,
                        first.exact == second.exact,
                        normalise_errsig(&one.errsig()) == normalise_errsig(&two.errsig()),
                    )
                }
                _ => (false, false, false),
            };
            message.add(alike, says_alike);
            exact.add(same, says_same);
            pairs += 1;
            agree += usize::from(norm == says_alike);
            if verbose && (alike != says_alike || same != says_same || norm != says_alike) {
                println!(
                    "    pair {} {}: message {alike}/{says_alike} exact {same}/{says_same} norm {norm}",
                    a.file, b.file
                );
                println!("        {}\n        {}", show(one), show(two));
            }
        }
    }
    message.print("message level");
    exact.print("exact level");
    ratio("errsig_norm equals message level", agree, pairs);
}

/// What is done to a log and may not change its ids.
type Transform<'t> = &'t dyn Fn(&str) -> String;

fn score_transforms(logs: &[Scored], verbose: bool) {
    let noise: String = (0..6_000)
        .map(|n| {
            format!(
                "2026-11-02T10:{:02}:{:02}Z INFO request {n} served in {} ms\n",
                n / 60 % 60,
                n % 60,
                n % 97
            )
        })
        .collect();
    let lines = |text: &str, with: &dyn Fn(&str) -> String| {
        text.lines().map(|line| with(line) + "\n").collect::<String>()
    };
    let stamp = |line: &str| format!("2026-11-03T08:15:22.0370001Z {line}");
    let color = |text: &str| {
        let mut text = text.to_owned();
        for word in ["error", "Error", "FAILED", "warning"] {
            text = text.replace(word, &format!("\u{1b}[31;1m{word}\u{1b}[0m"));
        }
        text.replace("FAIL ", "\u{1b}[41mFAIL\u{1b}[0m ")
    };
    let transforms: [(&str, bool, Transform<'_>); 7] = [
        ("ci_times", true, &|text| lines(text, &stamp)),
        ("crlf", true, &|text| text.lines().map(|line| format!("{line}\r\n")).collect()),
        ("compose", true, &|text| lines(text, &|line| format!("web-1  | {line}"))),
        ("noise_after", false, &|text| format!("{text}\n{noise}")),
        ("noise_before", false, &|text| format!("{noise}{text}")),
        ("moved", false, &|text| text.replace("/home/dev/app", "/mnt/agent/7/s/checkout")),
        ("ansi", true, &color),
    ];
    for (name, each_line, transform) in transforms {
        let (mut same, mut all) = (0, 0);
        let mut seen = HashSet::new();
        for log in logs.iter() {
            let is_json = log.text.trim_start().starts_with('{');
            if each_line && is_json {
                continue;
            }
            all += 1;
            let moved = diagnose(&transform(&log.text));
            let ids = |diagnosis: &Diagnosis| {
                diagnosis.problem.as_ref().map(|problem| (problem.ids(), problem.errsig()))
            };
            let before = ids(&log.diagnosis).map(|(ids, _)| ids);
            let after = ids(&moved).map(|(ids, _)| ids);
            same += usize::from(before == after);
            if verbose && before != after && seen.insert(log.label.file.clone()) {
                println!(
                    "    {name} {}: {} -> {}",
                    log.label.file,
                    show(log.diagnosis.problem.as_ref()),
                    show(moved.problem.as_ref())
                );
            }
        }
        ratio(&format!("ids unchanged, {name}"), same, all);
    }
}
