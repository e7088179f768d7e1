//! The state that a bundle enters the hub in, and what the quality gate says of it.

use crate::assets::safety::{SafetyScan, SafetyVerdict};
use crate::assets::traits::is_anti_pattern;
use crate::lifecycle::AssetStatus;
use capsid_model::{Object, Value};

/// The least score of an outcome that is worth sharing.
const GOOD_SCORE: f64 = 0.7;

/// The state that a bundle enters in, and why. `scans` are those of its gene and of its capsule.
pub fn initial_status(
    gene: &Object,
    faults: &[String],
    scans: &[SafetyScan],
) -> (AssetStatus, Option<&'static str>) {
    if is_anti_pattern(gene) {
        return (AssetStatus::Rejected, Some("anti_pattern"));
    }
    if !faults.is_empty() {
        return (AssetStatus::Rejected, Some("quality_gate_failed"));
    }
    match scans.iter().map(SafetyScan::verdict).max().unwrap_or(SafetyVerdict::Clean) {
        SafetyVerdict::Quarantine => (AssetStatus::Quarantined, Some("content_safety")),
        SafetyVerdict::Warn => (AssetStatus::Candidate, Some("content_safety_warning")),
        SafetyVerdict::Clean => (AssetStatus::Candidate, None),
    }
}

/// Why a capsule is not worth sharing; nothing means that it passes the quality gate.
pub fn quality_faults(capsule: &Object) -> Vec<String> {
    let part = |outer: &str, inner: &str| capsule.get(outer).and_then(|value| value.get(inner));
    let number = |outer: &str, inner: &str| part(outer, inner).and_then(Value::as_f64).unwrap_or_default();
    let status = part("outcome", "status").and_then(Value::as_str);
    let checks = [
        (number("outcome", "score") < GOOD_SCORE, "outcome.score must be at least 0.7"),
        (number("blast_radius", "files") <= 0.0, "blast_radius.files must be more than 0"),
        (number("blast_radius", "lines") <= 0.0, "blast_radius.lines must be more than 0"),
        (status != Some("success"), "outcome.status must be `success`"),
    ];
    checks.into_iter().filter(|(fault, _)| *fault).map(|(_, text)| text.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: &Value) -> Object {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn a_good_bundle_enters_as_a_candidate() {
        let gene = object(&json!({"type": "Gene"}));
        assert_eq!(initial_status(&gene, &[], &[]), (AssetStatus::Candidate, None));
        let faults = vec!["outcome.score must be at least 0.7".to_owned()];
        assert_eq!(initial_status(&gene, &faults, &[]), (AssetStatus::Rejected, Some("quality_gate_failed")));
    }

    #[test]
    fn each_fault_of_a_capsule_is_named() {
        let good =
            json!({"outcome": {"status": "success", "score": 0.7}, "blast_radius": {"files": 1, "lines": 2}});
        assert_eq!(quality_faults(&object(&good)), [""; 0]);
        assert_eq!(quality_faults(&Object::new()).len(), 4);
    }
}
