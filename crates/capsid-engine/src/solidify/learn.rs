//! What a settled cycle teaches its gene, and the gene that is made when none fits. Pure.

use capsid_model::asset::stamp;
use capsid_model::hash::stable_hash;
use capsid_model::{Object, SCHEMA_VERSION, Time, Value, json};

/// Marks older than this are dropped.
const MARK_DAYS: f64 = 90.0;

/// The most marks a gene keeps.
const MARKS_KEPT: usize = 10;

/// The gene with its mark for this environment moved by the outcome, stamped anew. A success that is not proven moves it
/// less: `weight` says by how much.
pub fn marked_gene(gene: &Object, context: &str, success: bool, weight: f64, now: Time) -> Object {
    let mut gene = gene.clone();
    let mut marks = match gene.get("epigenetic_marks") {
        Some(Value::Array(marks)) => marks.clone(),
        _ => Vec::new(),
    };
    marks.retain(|mark| is_fresh(mark, now));
    let place = marks.iter().position(|mark| mark.get("context").and_then(Value::as_str) == Some(context));
    let (step, reason) = match (success, place.is_some()) {
        (true, true) => (0.05, "reinforced_by_success"),
        (true, false) => (0.1, "success_in_environment"),
        (false, true) => (-0.1, "suppressed_by_failure"),
        (false, false) => (-0.1, "failure_in_environment"),
    };
    let before = place.and_then(|at| marks[at].get("boost")).and_then(Value::as_f64).unwrap_or_default();
    let boost = ((before + step * weight).clamp(-0.5, 0.5) * 100.0).round() / 100.0;
    let mark = json!({"context": context, "boost": boost, "reason": reason, "created_at": now.iso()});
    match place {
        Some(at) => marks[at] = mark,
        None => marks.push(mark),
    }
    let surplus = marks.len().saturating_sub(MARKS_KEPT);
    marks.drain(..surplus);
    gene.insert("epigenetic_marks".to_owned(), marks.into());
    stamp(&mut gene);
    gene
}

/// Marks that are no objects, or name no time, are somebody else's and stay.
fn is_fresh(mark: &Value, now: Time) -> bool {
    let made = mark.get("created_at").and_then(Value::as_str).and_then(Time::parse);
    made.is_none_or(|made| now.days_since(made) <= MARK_DAYS)
}

/// A gene for signals that no gene knows.
pub fn auto_gene(
    signals: &[String],
    signal_key: &str,
    intent: Option<&str>,
    validation: &[String],
) -> Object {
    let errorish = signals.iter().any(|signal| signal == "log_error");
    let category = intent.unwrap_or(if errorish { "repair" } else { "optimize" });
    let mut patterns: Vec<&str> =
        signals.iter().map(String::as_str).filter(|s| !capsid_model::signal::is_control(s)).take(8).collect();
    if patterns.is_empty() {
        patterns.push(capsid_model::signal::NO_SIGNALS);
    }
    let value = json!({
        "type": "Gene",
        "schema_version": SCHEMA_VERSION,
        "id": format!("gene_auto_{}", stable_hash(signal_key)),
        "category": category,
        "signals_match": patterns,
        "summary": "Made because no gene matched these signals.",
        "preconditions": [format!("signals_key == {signal_key}")],
        "strategy": [
            "Read the signals and say in one sentence what they have in common.",
            "Find the smallest part of the code that they come from.",
            "Decide on one change and how one will see that it worked.",
            "Make the change and nothing else.",
            "Run the validation commands.",
            "Write down what was learned, so that the next cycle can reuse it."
        ],
        "constraints": {"max_files": 12, "forbidden_paths": [".git", "node_modules"]},
        "validation": validation,
    });
    let mut gene = match value {
        Value::Object(gene) => gene,
        _ => Object::new(),
    };
    stamp(&mut gene);
    gene
}

#[cfg(test)]
#[path = "learn_tests.rs"]
mod tests;
