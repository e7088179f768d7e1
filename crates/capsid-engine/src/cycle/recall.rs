//! What the store remembers that belongs into a prompt: the last cycles, and attempts at the same problem that failed.

use crate::prompt::FailedAttempt;
use crate::run::Run;
use capsid_model::event::EvolutionEvent;
use capsid_model::{Object, Value};
use capsid_rules::diagnosis::parse_errsig;

/// Failed attempts shown at most.
const SHOWN_FAILURES: usize = 2;

/// The share of the present signals that an attempt must have seen, if there is no problem to compare.
const SAME_THING: f64 = 0.4;

/// One line for each event, newest last.
pub fn history(events: &[EvolutionEvent]) -> Vec<String> {
    events
        .iter()
        .map(|event| {
            let why = event.failure_class.as_deref().map(|class| format!(" ({class})")).unwrap_or_default();
            format!(
                "{} {} {}{why} by {}: {} files, {} lines",
                event.id,
                event.intent,
                event.outcome.status,
                event.genes_used.join(", "),
                event.blast_radius.files,
                event.blast_radius.lines
            )
        })
        .collect()
}

/// The newest failed capsules of the problem of a run, newest last.
pub fn find_failed_attempts(failed: &[Object], run: &Run) -> Vec<FailedAttempt> {
    let same = failed.iter().rev().filter(|capsule| is_same_problem(capsule, run));
    let mut attempts: Vec<FailedAttempt> = same.take(SHOWN_FAILURES).map(read_failed_capsule).collect();
    attempts.reverse();
    attempts
}

/// A failed capsule as an attempt. Old ones have no run, no title and no output.
fn read_failed_capsule(capsule: &Object) -> FailedAttempt {
    let text = |name: &str| capsule.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let first = |names: &[&str]| names.iter().map(|name| text(name)).find(|text| !text.is_empty());
    FailedAttempt {
        run_id: first(&["run_id", "id"]).unwrap_or_default(),
        title: first(&["title", "note"]).unwrap_or_default(),
        reason: text("failure_reason"),
        diff: text("diff_snapshot"),
        output: text("output_tail"),
    }
}

/// Whether a failed capsule was an attempt at the problem of a run: the same message id, of an old capsule the same
/// signature, and without any signature most of the same signals.
fn is_same_problem(capsule: &Object, run: &Run) -> bool {
    let stored = capsule.get("problem").and_then(|problem| problem.get("ids")?.get("message")?.as_str());
    let trigger: Vec<&str> = capsule
        .get("trigger")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let is_errsig = |signal: &&str| signal.starts_with("errsig:");
    let has_signal = |signal: &str| trigger.iter().any(|known| known.eq_ignore_ascii_case(signal));
    let present: Vec<&str> = run.signals.iter().map(String::as_str).filter(is_errsig).collect();
    match (&run.problem, stored) {
        (Some(problem), Some(stored)) => problem.ids.message == stored,
        (Some(problem), None) => trigger.iter().copied().filter(is_errsig).any(|signal| {
            present.iter().any(|known| known.eq_ignore_ascii_case(signal))
                || parse_errsig(signal).is_some_and(|parsed| parsed.ids().message == problem.ids.message)
        }),
        (None, _) if !present.is_empty() => present.iter().any(|signal| has_signal(signal)),
        (None, _) => {
            let seen = run.signals.iter().filter(|signal| has_signal(signal)).count();
            seen as f64 >= SAME_THING * run.signals.len() as f64 && seen > 0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_rules::diagnosis::diagnose;

    const LOG: &str = "src/order.ts(7,3): error TS2322: Type 'string' is not assignable to type 'number'.\n";
    const OTHER: &str = "src/cart.ts(1,3): error TS2304: Cannot find name 'total'.\n";

    fn failed(value: Value) -> Object {
        match value {
            Value::Object(object) => object,
            other => panic!("{other} is no object"),
        }
    }

    fn ids(failed: &[Object], run: &Run) -> Vec<String> {
        find_failed_attempts(failed, run).into_iter().map(|attempt| attempt.run_id).collect()
    }

    #[test]
    fn failed_attempts_are_those_with_the_same_message_id_newest_last() {
        let run = Run { problem: diagnose(LOG).to_record(), ..Run::default() };
        let capsule = |id: &str, log: &str| {
            let problem = serde_json::to_value(diagnose(log).to_record()).unwrap();
            failed(serde_json::json!({"id": id, "problem": problem, "trigger": ["log_error"],
                "failure_reason": "no", "diff_snapshot": "d", "output_tail": "o", "title": "t"}))
        };
        let list = [capsule("a", LOG), capsule("b", OTHER), capsule("c", LOG), capsule("d", LOG)];
        assert_eq!(ids(&list, &run), ["c", "d"]);
        let attempt = FailedAttempt {
            run_id: "d".into(),
            title: "t".into(),
            reason: "no".into(),
            diff: "d".into(),
            output: "o".into(),
        };
        assert_eq!(find_failed_attempts(&list, &run)[1], attempt);
    }

    #[test]
    fn an_old_failed_capsule_is_compared_by_its_signature() {
        let run = Run {
            problem: diagnose(LOG).to_record(),
            signals: vec!["log_error".into(), diagnose(LOG).problem.unwrap().errsig()],
            ..Run::default()
        };
        let capsule = |id: &str, signal: &str| {
            failed(serde_json::json!({"id": id, "trigger": ["log_error", signal], "failure_reason": "no"}))
        };
        let list = [
            capsule("same", &run.signals[1]),
            capsule("line", &format!("errsig:{}", LOG.trim())),
            capsule("other", &diagnose(OTHER).problem.unwrap().errsig()),
            capsule("generic", "exception"),
        ];
        assert_eq!(ids(&list, &run), ["same", "line"]);
    }

    #[test]
    fn without_a_problem_most_signals_must_be_the_same() {
        let list = [
            failed(serde_json::json!({"id": "a", "trigger": ["x"]})),
            failed(serde_json::json!({"id": "b", "trigger": ["CAPABILITY_GAP"]})),
        ];
        let run =
            Run { signals: vec!["capability_gap".into(), "user_feature_request".into()], ..Run::default() };
        assert_eq!(ids(&list, &run), ["b"]);
        assert!(ids(&list, &Run::default()).is_empty());
    }
}
