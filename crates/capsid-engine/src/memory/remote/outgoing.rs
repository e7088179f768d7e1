//! Records of the memory graph as they may leave this machine. Pure.

use crate::rules::outbound::{MAX, outbound_signals};
use capsid_model::asset::stamp;
use capsid_model::redact::{RedactProfile, redact_value};
use capsid_model::signal::{PROBLEM_PREFIX, folded, learning_key};
use capsid_model::{Object, Value};
use capsid_rules::memory::KINDS;

/// The signals in requests and reports to a hub: only their names, so that both use the same. Ids of problems depend on
/// the version of the rules, so an error leaves by its signature.
pub(super) fn names(signals: &[String]) -> Vec<String> {
    let mut names = folded(signals);
    names.retain(|name| !name.starts_with(PROBLEM_PREFIX));
    outbound_signals(&names, MAX)
}

/// The kind of a record and its form that leaves; none for what stays. Its id is that of what is sent.
pub(super) fn to_event(record: &Object) -> Option<(String, Object)> {
    let kind = record.get("kind").and_then(Value::as_str).filter(|kind| KINDS.contains(kind))?.to_owned();
    let mut event = Value::Object(record.clone());
    for list in ["/signal/signals", "/mutation/trigger_signals", "/outcome/observed/current_signals"] {
        if let Some(list) = event.pointer_mut(list) {
            *list = names(&strings(list)).into();
        }
    }
    if let Some(signal) = event.get_mut("signal").filter(|signal| signal.get("signals").is_some()) {
        signal["key"] = learning_key(&strings(&signal["signals"])).into();
    }
    redact_value(&mut event, RedactProfile::Publish);
    let Value::Object(mut event) = event else { return None };
    stamp(&mut event);
    Some((kind, event))
}

fn strings(list: &Value) -> Vec<String> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::asset::verify;
    use capsid_model::json;

    fn object(value: &Value) -> Object {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn what_leaves_names_nobody_and_what_was_worked_out_stays() {
        let record = object(&json!({
            "type": "MemoryGraphEvent", "kind": "outcome", "id": "mge_1",
            "signal": {"key": "k", "signals": ["log_error", "errsig:boom at /home/ann/x", "ban_gene:g", "memory_missing"]},
            "gene": {"id": "g"},
            "outcome": {"status": "failed", "summary": "ann@globex.com saw it in /home/ann/x"},
        }));
        let (kind, event) = to_event(&record).unwrap();
        let text = serde_json::to_string(&event).unwrap();
        for hidden in ["ann", "globex", "ban_gene", "memory_missing"] {
            assert!(!text.contains(hidden), "{text}");
        }
        assert_eq!(kind, "outcome");
        assert_eq!(
            event["signal"]["signals"],
            json!(names(&["log_error".into(), "errsig:boom at /home/ann/x".into()]))
        );
        assert_eq!(event["signal"]["signals"].as_array().unwrap().len(), 2, "{text}");
        assert_eq!((&event["gene"]["id"], &event["outcome"]["status"]), (&json!("g"), &json!("failed")));
        assert!(verify(&event).holds());
        assert!(to_event(&object(&json!({"kind": "confidence_edge"}))).is_none());
        assert!(to_event(&object(&json!({"id": 7}))).is_none());
    }
}
