//! How long the diagnosis of a large log takes.

use super::metric::{Figure, FigureGoal, LearningMetric};
use super::options::LearningOptions;
use super::transforms::iso_time;
use crate::measure::{ROUNDS, median};
use capsid_engine::signals::SignalCorpus;
use capsid_engine::signals::reference::extract;
use capsid_rules::diagnosis::diagnose;
use std::time::Instant;

const LOG_BYTES: usize = 60_000_000;
const QUICK_BYTES: usize = 1_000_000;
/// What stands in the middle of the log.
const PROBLEM: &str = "$ npm test\n\
    /srv/shop/src/cart.js:14\n    return order.total.toFixed(2);\n                       ^\n\n\
    TypeError: Cannot read properties of undefined (reading 'toFixed')\n    at sum (/srv/shop/src/cart.js:14:24)\n    \
    at Object.<anonymous> (/srv/shop/test/cart.js:3:1)\n\nNode.js v20.20.0\n";

/// Lines of a busy service; the problem follows this share of them. Every twentieth line has a word that a diagnostic
/// could have.
fn make_log(bytes: usize, share: f64) -> String {
    let mut log = String::with_capacity(bytes + 4096);
    let mut at = 0;
    let mut has_problem = false;
    while log.len() < bytes {
        if !has_problem && log.len() as f64 >= bytes as f64 * share {
            log.push_str(PROBLEM);
            has_problem = true;
        }
        let time = iso_time(at);
        let line = match at % 60 {
            0 => format!("{time} WARN  pool retry {at} after timeout of 30 ms, connection passed on\n"),
            20 => format!("{time} INFO  health check passed in {} ms\n", at % 90),
            40 => format!("{time} INFO  job {at} ended, errors=0 skipped={}\n", at % 7),
            _ => format!(
                "{time} INFO  GET /items/{at}?page={} 200 {} bytes in {} ms\n",
                at % 9,
                at % 5_000,
                at % 70
            ),
        };
        log.push_str(&line);
        at += 1;
    }
    log
}

pub fn measure(options: &LearningOptions) -> Vec<LearningMetric> {
    let bytes = if options.is_quick { QUICK_BYTES } else { LOG_BYTES };
    let megabytes = bytes / 1_000_000;
    let mut found = (0, 0);
    let mut ours = Vec::new();
    let mut reference = Vec::new();
    let mut notes = Vec::new();
    for (name, share) in [("start", 0.0), ("middle", 0.5), ("end", 0.999)] {
        let log = make_log(bytes, share);
        if options.rules.has_ours() {
            let problem = diagnose(&log).problem;
            let is_found =
                problem.as_ref().is_some_and(|problem| problem.place.as_deref() == Some("cart.js"));
            found.0 += usize::from(is_found);
            found.1 += 1;
            if !is_found {
                notes.push(format!(
                    "at the {name} of the log the rules read {:?}",
                    problem.map(|problem| problem.errsig())
                ));
            }
            ours.push(time(options, || drop(diagnose(&log))));
        }
        if options.rules.has_reference() {
            let corpus = SignalCorpus { transcript: log, ..SignalCorpus::default() };
            reference.push(time(options, || drop(extract(&corpus, &[]))));
        }
    }
    // Without optimization the time says nothing.
    let has_goal = !options.is_quick && !cfg!(debug_assertions);
    let goal = if has_goal { FigureGoal::AtMost(0.6) } else { FigureGoal::Open };
    let slowest = |times: Vec<f64>| times.into_iter().reduce(f64::max).map(|time| Figure::Amount(time, "s"));
    vec![
        LearningMetric::new(format!("time of diagnosis, log of {megabytes} MB"), goal)
            .with_ours(slowest(ours))
            .with_reference(slowest(reference)),
        LearningMetric::new(format!("problem found in a log of {megabytes} MB"), FigureGoal::AtLeast(1.0))
            .with_ours(options.rules.has_ours().then_some(Figure::Share(found.0, found.1)))
            .with_notes(notes),
    ]
}

fn time(options: &LearningOptions, work: impl Fn()) -> f64 {
    let rounds = (0..if options.is_quick { 1 } else { ROUNDS }).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    });
    median(rounds.collect())
}
