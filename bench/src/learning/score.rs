//! How well rules read a labelled corpus.

use super::corpus::{LabelledLog, LogCorpus};
use super::metric::{Figure, FigureGoal, LearningMetric};
use super::rules::{LogReading, SignalRules, label_fields};
use super::transforms::{TRANSFORMS, is_structured};

/// The figures of one set of rules.
#[derive(Default)]
pub struct CorpusScore {
    pub recognized: (usize, usize),
    pub false_alarms: (usize, usize),
    pub pairs: PairScore,
    /// tool, code, class, test, place.
    pub fields: [(usize, usize); 5],
    /// One for each transform.
    pub unchanged: [(usize, usize); TRANSFORMS.len()],
    /// What was wrong, for the line of each figure.
    pub wrong: ScoreNotes,
}

/// What was wrong.
#[derive(Default)]
pub struct ScoreNotes {
    pub recognized: Vec<String>,
    pub pairs: Vec<String>,
    pub fields: Vec<String>,
    pub unchanged: Vec<String>,
}

/// Pairs of logs: those that are the same, and those that rules call the same.
#[derive(Clone, Copy, Default)]
pub struct PairScore {
    pub same: usize,
    pub called_same: usize,
    pub both: usize,
}

impl PairScore {
    pub fn add(&mut self, is_same: bool, is_called_same: bool) {
        self.same += usize::from(is_same);
        self.called_same += usize::from(is_called_same);
        self.both += usize::from(is_same && is_called_same);
    }

    pub fn precision(self) -> Figure {
        Figure::Share(self.both, self.called_same)
    }

    pub fn recall(self) -> Figure {
        Figure::Share(self.both, self.same)
    }
}

/// Reads every log of a corpus that a filter accepts; every n-th one also in its transforms.
pub fn score_corpus(
    corpus: &LogCorpus,
    rules: &dyn SignalRules,
    accept: impl Fn(&LabelledLog) -> bool,
    transform_every: usize,
) -> CorpusScore {
    let mut score = CorpusScore::default();
    let logs: Vec<&LabelledLog> = corpus.logs.iter().filter(|log| accept(log)).collect();
    let readings: Vec<LogReading> = logs.iter().map(|log| rules.read_log(&log.content)).collect();
    for (at, (log, reading)) in logs.iter().zip(&readings).enumerate() {
        if log.live {
            add(&mut score.recognized, reading.message.is_some());
            if reading.message.is_none() {
                score.wrong.recognized.push(format!("{}: nothing was recognized", log.file));
            }
            score_fields(&mut score, log, reading);
        } else {
            add(&mut score.false_alarms, reading.has_error);
            if reading.has_error {
                score.wrong.recognized.push(format!("{}: has no problem, but an error was read", log.file));
            }
        }
        if at.is_multiple_of(transform_every) {
            score_transforms(&mut score, log, reading, rules);
        }
    }
    for (at, log) in logs.iter().enumerate().filter(|(_, log)| log.live) {
        for (other_at, other) in logs.iter().enumerate().skip(at + 1).filter(|(_, log)| log.live) {
            let Some(is_same) = log.has_same_message(other) else { continue };
            let (one, two) = (&readings[at].message, &readings[other_at].message);
            let is_called_same = one.is_some() && one == two;
            score.pairs.add(is_same, is_called_same);
            if is_same != is_called_same {
                let verdict = if is_same { "are the same" } else { "differ" };
                score.wrong.pairs.push(format!("{} and {} {verdict}", log.file, other.file));
            }
        }
    }
    score
}

fn score_fields(score: &mut CorpusScore, log: &LabelledLog, reading: &LogReading) {
    let Some(fields) = &reading.fields else { return };
    for (at, (name, wanted)) in label_fields(log).into_iter().enumerate() {
        if log.unscored.iter().any(|field| field == name) {
            continue;
        }
        let is_right = fields[at].as_deref() == wanted;
        add(&mut score.fields[at], is_right);
        if !is_right {
            score.wrong.fields.push(format!("{}: {name} is {:?}, not {wanted:?}", log.file, fields[at]));
        }
    }
}

/// A transform is scored on the logs in which the rules see what they must see.
fn score_transforms(
    score: &mut CorpusScore,
    log: &LabelledLog,
    reading: &LogReading,
    rules: &dyn SignalRules,
) {
    if log.live != reading.message.is_some() {
        return;
    }
    for (at, transform) in TRANSFORMS.iter().enumerate() {
        if transform.touches_lines && is_structured(&log.content) {
            continue;
        }
        let is_unchanged = rules.read_log(&(transform.apply)(&log.content)).ids == reading.ids;
        add(&mut score.unchanged[at], is_unchanged);
        if !is_unchanged {
            score.wrong.unchanged.push(format!("{}: {} changes an id", log.file, transform.name));
        }
    }
}

fn add(count: &mut (usize, usize), holds: bool) {
    count.0 += usize::from(holds);
    count.1 += 1;
}

/// The lines of the table for a part of a corpus.
pub fn to_metrics(
    part: &str,
    has_goals: bool,
    ours: Option<&CorpusScore>,
    reference: Option<&CorpusScore>,
) -> Vec<LearningMetric> {
    let goal = |goal: FigureGoal| if has_goals { goal } else { FigureGoal::Open };
    let line = |name: &str, wanted: FigureGoal, figure: &dyn Fn(&CorpusScore) -> Figure| {
        LearningMetric::new(format!("{part}: {name}"), goal(wanted))
            .with_ours(ours.map(figure))
            .with_reference(reference.map(figure))
    };
    let share = |(hits, total): (usize, usize)| Figure::Share(hits, total);
    let notes = |pick: &dyn Fn(&ScoreNotes) -> Vec<String>| {
        ours.filter(|_| has_goals).map(|score| pick(&score.wrong)).unwrap_or_default()
    };
    let mut metrics = vec![
        line("live problems recognized", FigureGoal::AtLeast(0.98), &|score| share(score.recognized))
            .with_notes(notes(&|wrong| wrong.recognized.clone())),
        line("problem-free logs with an error", FigureGoal::AtMost(0.0), &|score| {
            Figure::Count(score.false_alarms.0, score.false_alarms.1)
        }),
        line("pair precision, message level", FigureGoal::AtLeast(0.99), &|score| score.pairs.precision())
            .with_notes(notes(&|wrong| wrong.pairs.clone())),
        line("pair recall, message level", FigureGoal::AtLeast(0.97), &|score| score.pairs.recall()),
    ];
    for (at, name) in ["tool", "code", "class", "test", "place"].into_iter().enumerate() {
        let metric = LearningMetric::new(format!("{part}: {name} correct"), goal(FigureGoal::AtLeast(0.95)))
            .with_ours(ours.map(|score| share(score.fields[at])));
        metrics.push(if at == 0 { metric.with_notes(notes(&|wrong| wrong.fields.clone())) } else { metric });
    }
    for (at, transform) in TRANSFORMS.iter().enumerate() {
        let metric =
            line(&format!("ids unchanged under {}", transform.name), FigureGoal::AtLeast(0.99), &|score| {
                share(score.unchanged[at])
            });
        metrics.push(if at == 0 {
            metric.with_notes(notes(&|wrong| wrong.unchanged.clone()))
        } else {
            metric
        });
    }
    metrics
}
