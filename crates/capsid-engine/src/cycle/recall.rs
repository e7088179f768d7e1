//! What the store remembers that belongs into a prompt: the last cycles, and attempts that failed on the same signals.

use capsid_model::event::EvolutionEvent;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Object, Value};

/// Failed attempts shown at most.
const SHOWN_FAILURES: usize = 3;

/// The share of the present signals that an attempt must have seen to be the same thing.
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

/// The newest failed capsules whose triggers overlap with the signals, one line each.
pub fn failures(failed: &[Object], signals: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = failed
        .iter()
        .rev()
        .filter(|capsule| overlap(capsule, signals) >= SAME_THING)
        .take(SHOWN_FAILURES)
        .map(|capsule| {
            let text = |name: &str| capsule.get(name).and_then(Value::as_str).unwrap_or_default();
            format!("{} by {}: {}", text("id"), text("gene"), cut(&inert_line(text("failure_reason")), 400))
        })
        .collect();
    lines.reverse();
    lines
}

/// The share of the signals that are in the capsule's trigger.
fn overlap(capsule: &Object, signals: &[String]) -> f64 {
    if signals.is_empty() {
        return 0.0;
    }
    let trigger = capsule.get("trigger").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let seen = |signal: &&String| {
        trigger.iter().filter_map(Value::as_str).any(|known| known.eq_ignore_ascii_case(signal))
    };
    signals.iter().filter(seen).count() as f64 / signals.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_attempts_at_the_same_thing_are_shown() {
        let failed = |id: &str, trigger: &[&str]| -> Object {
            serde_json::from_value(
                serde_json::json!({"id": id, "gene": "g", "trigger": trigger, "failure_reason": "no"}),
            )
            .unwrap()
        };
        let list = [failed("a", &["x"]), failed("b", &["log_error", "crash"]), failed("c", &["LOG_ERROR"])];
        let signals = ["log_error".to_owned(), "timeout".to_owned()];
        let lines = failures(&list, &signals);
        assert_eq!(lines, ["b by g: no", "c by g: no"]);
    }
}
