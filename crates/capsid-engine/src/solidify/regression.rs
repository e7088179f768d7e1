//! A change that was applied and did not hold: its problem came back.

use crate::run::state;
use crate::sealed_log;
use crate::store::heads::NextParents;
use crate::workspace::Workspace;
use crate::workspace::journal::Journal;
use capsid_model::asset::stamp;
use capsid_model::event::EventOutcome;
use capsid_model::{Object, Result, Value, json};

/// Records that the problem of an applied change came back: the capsule's streak starts again, and an event says why.
/// `applied` is the event of the cycle that applied the change. Whether there was a capsule to charge.
pub fn record_regression(workspace: &Workspace, applied: &Object) -> Result<bool> {
    let _lock = workspace.lock()?;
    let Some(capsule_id) = applied.get("capsule_id").and_then(Value::as_str) else { return Ok(false) };
    let Some(mut capsule) = workspace.store.capsules.find(capsule_id)? else { return Ok(false) };
    capsule.insert("success_streak".to_owned(), 0.into());
    if let Some(Value::Object(a2a)) = capsule.get_mut("a2a") {
        a2a.insert("eligible_to_broadcast".to_owned(), false.into());
    }
    stamp(&mut capsule);
    let now = workspace.now();
    let id = state::id_maker(workspace)?.make("evt", now);
    let event = regression_event(applied, &id, &workspace.store.events.next_parents()?, &now.iso());
    let run_id = event["meta"].get("run_id").and_then(Value::as_str).unwrap_or_default().to_owned();
    Journal { run_id, capsule: Some(capsule), records: vec![event], ..Journal::default() }
        .commit(workspace)?;
    // What is not sealed now is sealed with the next run.
    let _later = sealed_log::after_settling(workspace);
    Ok(true)
}

/// The event of the applied change once more, as a failure that names it.
fn regression_event(applied: &Object, id: &str, parents: &NextParents, at: &str) -> Object {
    let mut event = applied.clone();
    let member = |name: &str| applied.get("meta").and_then(|meta| meta.get(name)).cloned();
    let mut meta = Object::from_iter([
        ("at".to_owned(), json!(at)),
        ("regressed".to_owned(), json!(true)),
        ("regressed_event_id".to_owned(), applied.get("id").cloned().unwrap_or_default()),
        ("failure_class".to_owned(), json!("validation")),
    ]);
    for name in ["run_id", "signal_key", "problem"] {
        if let Some(value) = member(name) {
            meta.insert(name.to_owned(), value);
        }
    }
    if !parents.others.is_empty() {
        meta.insert("merge_parents".to_owned(), json!(parents.others));
    }
    for gone in ["asset_id", "validation_report_id"] {
        event.remove(gone);
    }
    event.insert("id".to_owned(), id.into());
    event.insert("parent".to_owned(), json!(parents.parent));
    event.insert("outcome".to_owned(), EventOutcome::failed().to_value());
    event.insert("meta".to_owned(), meta.into());
    stamp(&mut event);
    event
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::asset::verify;
    use capsid_model::event::EvolutionEvent;

    #[test]
    fn a_regression_is_a_failure_of_the_same_capsule() {
        let applied = json!({
            "type": "EvolutionEvent", "id": "evt_1", "parent": null, "intent": "repair", "signals": ["log_error"],
            "genes_used": ["g"], "outcome": {"status": "success", "score": 0.85}, "capsule_id": "capsule_1",
            "validation_report_id": "vr_1", "meta": {"run_id": "run_1", "selector": {}},
        });
        let Value::Object(mut applied) = applied else { unreachable!() };
        stamp(&mut applied);
        let event = regression_event(&applied, "evt_2", &NextParents::default(), "2026-02-07T00:00:00.000Z");
        assert!(verify(&event).holds());
        let read = EvolutionEvent::read(&event).unwrap();
        assert!(read.concerns_capsule("capsule_1") && read.outcome.is_failure());
        assert_eq!(event["meta"]["regressed_event_id"], "evt_1");
        assert!(event["meta"].get("selector").is_none());
    }
}
