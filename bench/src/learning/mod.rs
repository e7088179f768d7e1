//! Goal 12: whether what the engine learns is true. See `bench/README.md`.

mod corpus;
mod engine;
mod metric;
mod options;
mod rules;
mod score;
mod speed;
mod transforms;
mod variants;

use crate::Result;
use crate::report::Row;
use corpus::{LabelledLog, LogCorpus, corpus_folder};
use metric::{LearningMetric, print_metrics, to_results};
use options::{BenchHalf, LearningOptions};
use rules::{DiagnosisRules, ReferenceRules};
use score::{score_corpus, to_metrics};
use std::process::ExitCode;

/// What it is called on the command line.
pub const NAME: &str = "learning";
/// Lines printed about what was wrong, for one line of the table.
const MAX_NOTES: usize = 12;

/// Runs the bench with the options of a command line. The exit code is 1 if a goal is missed.
pub fn run(words: &[String]) -> Result<ExitCode> {
    let options = LearningOptions::parse(words)?;
    let metrics = measure(&options)?;
    print_metrics(&metrics, MAX_NOTES);
    if options.logs.is_none() {
        let results = to_results(&metrics);
        std::fs::write(crate::root().join("bench/results-learning.json"), format!("{results:#}\n"))?;
    }
    let missed = metrics.iter().filter(|metric| metric.is_met() == Some(false)).count();
    let met = metrics.iter().filter(|metric| metric.is_met() == Some(true)).count();
    println!("\n{met} goals reached, {missed} missed");
    Ok(if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The same as a part of all benches.
pub fn run_all() -> Result<Vec<Row>> {
    let metrics = measure(&LearningOptions::default())?;
    print_metrics(&metrics, MAX_NOTES);
    Ok(metrics.iter().filter_map(LearningMetric::to_row).collect())
}

/// Everything that the options ask for.
pub fn measure(options: &LearningOptions) -> Result<Vec<LearningMetric>> {
    if let Some(folder) = &options.logs {
        return Ok(measure_corpus("logs", true, &LogCorpus::load(folder)?, options, |_| true));
    }
    let corpus = LogCorpus::load(&corpus_folder())?;
    let seed = variants::find_seed(options)?;
    println!("seed: {} ({})", seed.value, seed.origin);
    let mut metrics = Vec::new();
    if options.only != Some(BenchHalf::Engine) {
        metrics.extend(measure_corpus("corpus", true, &corpus, options, |_| true));
        if !options.is_quick {
            metrics.extend(measure_corpus("open half", false, &corpus, options, |log| !log.held_out));
            metrics.extend(measure_corpus("held-out half", false, &corpus, options, |log| log.held_out));
        }
        metrics.extend(variants::measure(&corpus, options, seed.value)?);
        metrics.extend(speed::measure(options));
    }
    if options.only != Some(BenchHalf::Diagnosis) {
        metrics.extend(engine::measure(&corpus, options, seed.value)?);
    }
    Ok(metrics)
}

fn measure_corpus(
    part: &str,
    has_goals: bool,
    corpus: &LogCorpus,
    options: &LearningOptions,
    accept: impl Fn(&LabelledLog) -> bool,
) -> Vec<LearningMetric> {
    let every = if options.is_quick { 12 } else { 1 };
    let ours = options.rules.has_ours().then(|| score_corpus(corpus, &DiagnosisRules, &accept, every));
    let reference =
        options.rules.has_reference().then(|| score_corpus(corpus, &ReferenceRules, &accept, every));
    to_metrics(part, has_goals, ours.as_ref(), reference.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seed is fixed, so that a change of the rules does not fail by chance. The bench takes that of the last commit.
    #[test]
    fn a_tenth_of_the_learning_bench_reaches_its_goals() {
        let options = LearningOptions { is_quick: true, seed: Some(1), ..LearningOptions::default() };
        let metrics = measure(&options).unwrap();
        print_metrics(&metrics, MAX_NOTES);
        let missed: Vec<&str> = metrics
            .iter()
            .filter(|metric| metric.is_met() == Some(false))
            .map(|metric| metric.name.as_str())
            .collect();
        assert!(missed.is_empty(), "{missed:#?}");
        assert!(metrics.len() > 20);
    }
}
