//! Held-out variants: logs that are generated when the rules are done, so that no rule can have been written for them.

mod printed;
mod reworked;
mod seed;
mod words;
mod wrap;

pub use seed::find_seed;

use super::corpus::{LabelledLog, LogCorpus};
use super::metric::{FigureGoal, LearningMetric};
use super::options::LearningOptions;
use super::rules::{DiagnosisRules, LogReading, ReferenceRules, SignalRules};
use super::score::PairScore;
use crate::Result;
use fastrand::Rng;
use std::collections::{BTreeMap, HashMap};

/// A generated log. Two of them show the same message if their keys are equal.
pub struct VariantLog {
    pub name: String,
    /// The log of the corpus that it was made of.
    pub base: Option<String>,
    pub key: String,
    pub log: String,
}

pub fn measure(corpus: &LogCorpus, options: &LearningOptions, seed: u64) -> Result<Vec<LearningMetric>> {
    let mut rng = Rng::with_seed(seed);
    let mut logs = printed::generate(&mut rng)?;
    let is_wanted =
        |log: &&LabelledLog| log.live && (!options.is_quick || log.case.as_deref() == Some("origin"));
    logs.extend(reworked::LogRework::new()?.rework(corpus.logs.iter().filter(is_wanted), &mut rng));
    if let Some(folder) = &options.kept_variants {
        std::fs::create_dir_all(folder)?;
        for (at, log) in logs.iter().enumerate() {
            let name = log.name.replace(' ', "-").replace(".log", "");
            std::fs::write(folder.join(format!("{at:04}-{name}.log")), &log.log)?;
        }
    }
    let ours = options.rules.has_ours().then(|| score_variants(corpus, &logs, &DiagnosisRules));
    let reference = options.rules.has_reference().then(|| score_variants(corpus, &logs, &ReferenceRules));
    let line = |name: &str, goal: f64| {
        LearningMetric::new(
            format!("held-out variants: {name} ({} logs)", logs.len()),
            FigureGoal::AtLeast(goal),
        )
    };
    let notes = ours.as_ref().map(|(_, wrong)| wrong.clone()).unwrap_or_default();
    Ok(vec![
        line("pair precision", 0.98)
            .with_ours(ours.as_ref().map(|(pairs, _)| pairs.precision()))
            .with_reference(reference.as_ref().map(|(pairs, _)| pairs.precision())),
        line("pair recall", 0.92)
            .with_ours(ours.as_ref().map(|(pairs, _)| pairs.recall()))
            .with_reference(reference.as_ref().map(|(pairs, _)| pairs.recall()))
            .with_notes(notes),
    ])
}

/// Pairs of templates, and pairs of logs of the corpus; and each log that is read in another way than most of its kind.
fn score_variants(
    corpus: &LogCorpus,
    logs: &[VariantLog],
    rules: &dyn SignalRules,
) -> (PairScore, Vec<String>) {
    let labels: HashMap<&str, &LabelledLog> =
        corpus.logs.iter().map(|log| (log.file.as_str(), log)).collect();
    let readings: Vec<LogReading> = logs.iter().map(|log| rules.read_log(&log.log)).collect();
    let mut score = PairScore::default();
    for (at, log) in logs.iter().enumerate() {
        for (other_at, other) in logs.iter().enumerate().skip(at + 1) {
            let is_unscored = match (&log.base, &other.base) {
                (Some(one), Some(two)) if one != two => {
                    labels[one.as_str()].has_same_message(labels[two.as_str()]).is_none()
                }
                // A template prints what a log of the corpus may show as well.
                (None, Some(_)) | (Some(_), None) => true,
                _ => false,
            };
            if !is_unscored {
                let (one, two) = (&readings[at].message, &readings[other_at].message);
                score.add(log.key == other.key, one.is_some() && one == two);
            }
        }
    }
    (score, list_misread(logs, &readings))
}

/// Logs that are not read as most logs of their key are, and keys that are read as one.
fn list_misread(logs: &[VariantLog], readings: &[LogReading]) -> Vec<String> {
    let mut by_key: BTreeMap<&str, BTreeMap<&str, Vec<usize>>> = BTreeMap::new();
    for (at, log) in logs.iter().enumerate() {
        by_key.entry(&log.key).or_default().entry(&readings[at].shown).or_default().push(at);
    }
    let mut notes = Vec::new();
    let mut owners: BTreeMap<&str, &VariantLog> = BTreeMap::new();
    for ways in by_key.values() {
        let Some((usual, usual_logs)) = ways.iter().max_by_key(|(_, logs)| logs.len()) else { continue };
        let first = &logs[usual_logs[0]];
        if let Some(other) = owners.insert(usual, first).filter(|_| !usual.is_empty()) {
            notes.push(format!("{} and {} are both read as {usual:?}", other.name, first.name));
        }
        for (shown, found) in ways.iter().filter(|(shown, _)| shown != &usual) {
            let names: Vec<&str> = found.iter().map(|at| logs[*at].name.as_str()).collect();
            notes.push(format!("{} is read as {shown:?}, others as {usual:?}", names.join(", ")));
        }
    }
    notes
}
