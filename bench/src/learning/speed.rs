//! How long the diagnosis of a large log takes.

use super::metric::{Figure, FigureGoal, LearningMetric};
use super::options::LearningOptions;
use super::transforms::iso_time;
use crate::measure::{ROUNDS, median};
use capsid_engine::signals::{SignalCorpus, extract};
use capsid_rules::diagnosis::diagnose;
use std::time::Instant;

const LOG_BYTES: usize = 60_000_000;
const QUICK_BYTES: usize = 1_000_000;
/// What stands in the middle of the log.
const PROBLEM: &str = "$ npm test\n\
    /srv/shop/src/cart.js:14\n    return order.total.toFixed(2);\n                       ^\n\n\
    TypeError: Cannot read properties of undefined (reading 'toFixed')\n    at sum (/srv/shop/src/cart.js:14:24)\n    \
    at Object.<anonymous> (/srv/shop/test/cart.js:3:1)\n\nNode.js v20.20.0\n";

/// Lines of a busy service. Every twentieth has a word that a diagnostic could have.
fn make_log(bytes: usize) -> String {
    let mut log = String::with_capacity(bytes + 4096);
    let mut at = 0;
    let mut has_problem = false;
    while log.len() < bytes {
        if !has_problem && log.len() > bytes / 2 {
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
    let log = make_log(if options.is_quick { QUICK_BYTES } else { LOG_BYTES });
    let mut notes = Vec::new();
    let ours = options.rules.has_ours().then(|| {
        let found = diagnose(&log).problem;
        if !found.as_ref().is_some_and(|problem| problem.place.as_deref() == Some("cart.js")) {
            notes.push(format!("the problem in the middle was not read: {found:?}"));
        }
        time(|| {
            diagnose(&log);
        })
    });
    let reference = options.rules.has_reference().then(|| {
        let corpus = SignalCorpus { transcript: log.clone(), ..SignalCorpus::default() };
        time(|| {
            extract(&corpus, &[]);
        })
    });
    // Without optimization the time says nothing.
    let has_goal = !options.is_quick && !cfg!(debug_assertions);
    let goal = if has_goal { FigureGoal::AtMost(0.6) } else { FigureGoal::Open };
    let name = format!("time of diagnosis, log of {} MB", log.len() / 1_000_000);
    vec![LearningMetric::new(name, goal).with_ours(ours).with_reference(reference).with_notes(notes)]
}

fn time(work: impl Fn()) -> Figure {
    let rounds = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    });
    Figure::Amount(median(rounds.collect()), "s")
}
