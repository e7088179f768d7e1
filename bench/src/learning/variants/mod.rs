//! Held-out variants: logs that are generated when the rules are done, so that no rule can have been written for them.

mod printed;
mod reworked;
mod seed;
mod words;
mod wrap;

use super::corpus::{LabelledLog, LogCorpus};
use super::metric::{FigureGoal, LearningMetric};
use super::options::LearningOptions;
use super::rules::{DiagnosisRules, ReferenceRules, SignalRules};
use super::score::PairScore;
use crate::Result;
use fastrand::Rng;
use std::collections::HashMap;

/// A generated log. Two of them show the same message if their keys are equal.
pub struct VariantLog {
    pub name: String,
    /// The log of the corpus that it was made of.
    pub base: Option<String>,
    pub key: String,
    pub log: String,
}

pub fn measure(corpus: &LogCorpus, options: &LearningOptions) -> Result<Vec<LearningMetric>> {
    let seed = seed::find_seed(options)?;
    println!("seed of the held-out variants: {} ({})", seed.value, seed.origin);
    let mut rng = Rng::with_seed(seed.value);
    let mut logs = printed::generate(&mut rng)?;
    logs.extend(reworked::LogRework::new()?.rework(corpus, &mut rng));
    if options.is_quick {
        logs.truncate(logs.len() / 2);
    }
    let ours = options.rules.has_ours().then(|| score_variants(corpus, &logs, &DiagnosisRules));
    let reference = options.rules.has_reference().then(|| score_variants(corpus, &logs, &ReferenceRules));
    let line = |name: &str, goal: f64| {
        LearningMetric::new(format!("held-out variants: {name} ({} logs)", logs.len()), FigureGoal::AtLeast(goal))
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

/// Pairs within one template or one family of the corpus, and across them.
fn score_variants(corpus: &LogCorpus, logs: &[VariantLog], rules: &dyn SignalRules) -> (PairScore, Vec<String>) {
    let labels: HashMap<&str, &LabelledLog> = corpus.logs.iter().map(|log| (log.file.as_str(), log)).collect();
    let readings: Vec<Option<String>> = logs.iter().map(|log| rules.read_log(&log.log).message).collect();
    let mut score = PairScore::default();
    let mut wrong: HashMap<String, usize> = HashMap::new();
    for (at, log) in logs.iter().enumerate() {
        for (other_at, other) in logs.iter().enumerate().skip(at + 1) {
            let is_unscored = match (&log.base, &other.base) {
                (Some(one), Some(two)) => labels[one.as_str()].has_same_message(labels[two.as_str()]).is_none(),
                // A template prints what a log of the corpus may show as well.
                (None, Some(_)) | (Some(_), None) => true,
                (None, None) => false,
            };
            if is_unscored {
                continue;
            }
            let is_same = log.key == other.key;
            let is_called_same = readings[at].is_some() && readings[at] == readings[other_at];
            score.add(is_same, is_called_same);
            if is_same != is_called_same {
                let verdict = if is_same { "are the same" } else { "differ" };
                *wrong.entry(format!("{} and {} {verdict}", log.name, other.name)).or_default() += 1;
            }
        }
    }
    let mut wrong: Vec<(String, usize)> = wrong.into_iter().collect();
    wrong.sort_by(|one, two| two.1.cmp(&one.1).then_with(|| one.0.cmp(&two.0)));
    (score, wrong.into_iter().map(|(text, count)| format!("{count} x {text}")).collect())
}
