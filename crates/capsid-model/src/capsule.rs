//! A Capsule: a solution that worked, with its outcome and its streak of successes.

use crate::event::{BlastRadius, EventOutcome};
use crate::gene::{text, texts};
use crate::{Object, Value};

/// What the engine needs of a Capsule. The document itself stays in the store.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Capsule {
    /// Its name in the store.
    pub id: String,
    /// The signals it was made from.
    pub trigger: Vec<String>,
    /// The gene that it came from.
    pub gene: String,
    /// One line about the change.
    pub summary: String,
    /// From 0 to 1.
    pub confidence: f64,
    /// How much it changed.
    pub blast_radius: BlastRadius,
    /// How it ended.
    pub outcome: EventOutcome,
    /// Successes in a row.
    pub success_streak: u64,
    /// Where it was proven.
    pub env_fingerprint: Value,
    /// Whether it may be offered to others.
    pub eligible_to_broadcast: bool,
    /// The change itself, when it was kept.
    pub diff: String,
    /// The id of its content as stored.
    pub asset_id: Option<String>,
}

impl Capsule {
    /// Reads a document, permissively.
    pub fn read(document: &Object) -> Self {
        Self {
            id: text(document.get("id")),
            trigger: texts(document.get("trigger")),
            gene: text(document.get("gene")),
            summary: text(document.get("summary")),
            confidence: document
                .get("confidence")
                .and_then(Value::as_f64)
                .unwrap_or_default()
                .clamp(0.0, 1.0),
            blast_radius: BlastRadius::read(document.get("blast_radius")),
            outcome: EventOutcome::read(document.get("outcome")),
            success_streak: document.get("success_streak").and_then(Value::as_u64).unwrap_or_default(),
            env_fingerprint: document.get("env_fingerprint").cloned().unwrap_or_default(),
            eligible_to_broadcast: document
                .get("a2a")
                .and_then(|a2a| a2a.get("eligible_to_broadcast"))
                .and_then(Value::as_bool)
                .unwrap_or_default(),
            diff: text(document.get("diff")),
            asset_id: document.get("asset_id").and_then(Value::as_str).map(str::to_owned),
        }
    }

    /// Whether it may be offered to others: a high score, a small change, and proven twice in a row.
    pub fn may_be_broadcast(score: f64, blast: BlastRadius, streak: u64) -> bool {
        score >= 0.7 && blast.files <= 5 && blast.lines <= 200 && streak >= 2
    }

    /// The confidence: what its proof is worth, less for a wide change, and less for a trigger that was seen only in
    /// part (`match_quality` is 1 for all of it).
    pub fn confidence_for(blast: BlastRadius, match_quality: f64, base: f64) -> f64 {
        let penalty = (blast.files as f64 / 10.0 * 0.05).min(0.1);
        let partial = 0.1 * (1.0 - match_quality.clamp(0.0, 1.0));
        round3(base - penalty - partial)
    }
}

fn round3(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_falls_with_the_blast_and_with_a_partial_match() {
        let blast = |files| BlastRadius { files, lines: 10 };
        assert_eq!(Capsule::confidence_for(blast(1), 1.0, 0.8), 0.795);
        assert_eq!(Capsule::confidence_for(blast(2), 1.0, 0.8), 0.79);
        assert_eq!(Capsule::confidence_for(blast(500), 1.0, 0.8), 0.7);
        assert_eq!(Capsule::confidence_for(blast(1), 0.5, 0.8), 0.745);
        assert_eq!(Capsule::confidence_for(blast(1), 1.0, 0.5), 0.495);
    }

    #[test]
    fn broadcast_needs_score_size_and_streak() {
        let small = BlastRadius { files: 5, lines: 200 };
        assert!(Capsule::may_be_broadcast(0.7, small, 2));
        assert!(!Capsule::may_be_broadcast(0.69, small, 2));
        assert!(!Capsule::may_be_broadcast(0.7, BlastRadius { files: 6, lines: 1 }, 2));
        assert!(!Capsule::may_be_broadcast(0.7, BlastRadius { files: 1, lines: 201 }, 2));
        assert!(!Capsule::may_be_broadcast(0.7, small, 1));
    }

    #[test]
    fn a_document_of_odd_shapes_reads_as_far_as_it_goes() {
        let document: Object =
            serde_json::from_str(r#"{"id":7,"trigger":["a",1],"outcome":"success","confidence":"high"}"#)
                .unwrap();
        let capsule = Capsule::read(&document);
        assert_eq!((capsule.id.as_str(), capsule.trigger.len()), ("", 1));
        assert!(capsule.outcome.is_success());
    }
}
