//! The records of the memory graph. They hold names and counts, never text of a transcript or a user.

pub use super::observed::ObservedSignals;
use super::outcome::{InferredOutcome, PreviousAction};
use crate::rules::select::Selection;
use capsid_model::mutation::Mutation;
use capsid_model::personality::Personality;
use capsid_model::signal::{folded, learning_key};
use capsid_model::{Object, Time, Value, json};
use capsid_rules::memory::advice::{EDGE_HALF_LIFE, GENE_HALF_LIFE};
use capsid_rules::memory::graph::GeneTally;

/// An id such as `mge_1770477654155_00c0ffee`; the prefix is `mge`, `hyp` or `act`.
pub fn graph_id(prefix: &str, now: Time, random: u32) -> String {
    format!("{prefix}_{}_{random:08x}", now.0)
}

/// What a cycle sets out to do, for its hypothesis and its attempt.
#[derive(Debug, Clone, Copy)]
pub struct PlannedChange<'a> {
    pub signals: &'a [String],
    pub hypothesis_id: &'a str,
    pub action_id: &'a str,
    /// What it means to change.
    pub mutation: &'a Mutation,
    /// Who it is while doing so.
    pub personality: &'a Personality,
    /// The chosen gene or capsule.
    pub selection: &'a Selection,
    pub gene_category: Option<&'a str>,
    pub observed: &'a ObservedSignals,
}

/// The record of what was seen.
pub fn signal(id: &str, now: Time, signals: &[String], observed: &ObservedSignals) -> Object {
    let mut record = head("signal", id, now, signals);
    record.insert("observed".to_owned(), observed.to_value());
    record
}

/// The record of what a cycle expects.
pub fn hypothesis(id: &str, now: Time, plan: &PlannedChange<'_>) -> Object {
    let mutation = plan.mutation;
    let text = format!(
        "On {}, {} of {} should {}.",
        learning_key(plan.signals),
        mutation.category,
        mutation.target,
        mutation.expected_effect
    );
    let hypothesis = json!({
        "id": plan.hypothesis_id,
        "text": text,
        "predicted_outcome": {"status": null, "score": null},
    });
    planned("hypothesis", id, now, plan, &hypothesis, json!({}))
}

/// The record of what a cycle begins.
pub fn attempt(id: &str, now: Time, plan: &PlannedChange<'_>) -> Object {
    let hypothesis = json!({"id": plan.hypothesis_id});
    planned("attempt", id, now, plan, &hypothesis, json!({"id": plan.action_id}))
}

/// The record of the previous action's outcome. It has the signals of that action.
pub fn outcome(
    id: &str,
    now: Time,
    previous: &PreviousAction,
    inferred: &InferredOutcome,
    signals_now: &[String],
    observed: &ObservedSignals,
) -> Object {
    let mut record = head("outcome", id, now, &previous.signals);
    extend(
        &mut record,
        json!({
            "mutation": {
                "id": previous.mutation_id,
                "category": previous.mutation_category,
                "risk_level": previous.mutation_risk_level,
            },
            "personality": {"key": previous.personality_key, "state": previous.personality_state},
            "gene": {"id": previous.gene_id, "category": previous.gene_category},
            "action": {"id": previous.action_id},
            "hypothesis": {"id": previous.hypothesis_id},
            "outcome": {
                "status": inferred.status,
                "score": inferred.score,
                "note": inferred.note,
                "observed": {"current_signals": folded(signals_now)},
            },
            "confidence": {"half_life_days": EDGE_HALF_LIFE},
            "observed": observed.to_value(),
            "baseline": previous.baseline_observed,
            "capsules": {"used": previous.capsules_used},
        }),
    );
    record
}

/// The record of what is now known of a gene on these signals.
pub fn confidence_edge(
    id: &str,
    now: Time,
    signals: &[String],
    gene: &str,
    tally: &GeneTally,
    outcome_id: &str,
) -> Object {
    let mut record = head("confidence_edge", id, now, signals);
    extend(
        &mut record,
        json!({
            "edge": {"signal_key": learning_key(signals), "gene_id": gene},
            "stats": stats(tally, EDGE_HALF_LIFE, now),
            "derived_from": {"outcome_event_id": outcome_id},
        }),
    );
    record
}

/// The record of what is now known of a gene on any signals.
pub fn confidence_gene_outcome(
    id: &str,
    now: Time,
    signals: &[String],
    gene: &str,
    tally: &GeneTally,
    outcome_id: &str,
) -> Object {
    let mut record = head("confidence_gene_outcome", id, now, signals);
    extend(
        &mut record,
        json!({
            "edge": {"gene_id": gene},
            "stats": stats(tally, GENE_HALF_LIFE, now),
            "derived_from": {"outcome_event_id": outcome_id},
        }),
    );
    record
}

/// The members that every record has. Signals are folded: error texts become their short names.
fn head(kind: &str, id: &str, now: Time, signals: &[String]) -> Object {
    let names = folded(signals);
    let error = names.iter().find(|name| name.starts_with("errsig_norm:")).cloned();
    let mut record = Object::new();
    extend(
        &mut record,
        json!({
            "type": "MemoryGraphEvent",
            "kind": kind,
            "id": id,
            "ts": now.iso(),
            "signal": {"key": learning_key(signals), "signals": names, "error_signature": error},
        }),
    );
    record
}

fn planned(
    kind: &str,
    id: &str,
    now: Time,
    plan: &PlannedChange<'_>,
    hypothesis: &Value,
    mut action: Value,
) -> Object {
    let mutation = plan.mutation;
    let selection = plan.selection;
    action["drift"] = json!(plan.observed.drift_enabled);
    action["selected_by"] = json!(selection.selected_by);
    action["selector"] = json!({"selected": selection.selected, "alternatives": selection.alternatives});
    let mut record = head(kind, id, now, plan.signals);
    extend(
        &mut record,
        json!({
            "hypothesis": hypothesis,
            "mutation": {
                "id": mutation.id,
                "category": mutation.category,
                "trigger_signals": folded(&mutation.trigger_signals),
                "target": mutation.target,
                "expected_effect": mutation.expected_effect,
                "risk_level": mutation.risk_level,
            },
            "personality": {"key": plan.personality.key(), "state": plan.personality.to_object()},
            "gene": {"id": selection.gene_id, "category": plan.gene_category},
            "action": action,
            "capsules": {"used": selection.capsule_id.iter().collect::<Vec<_>>()},
            "observed": plan.observed.to_value(),
        }),
    );
    record
}

fn stats(tally: &GeneTally, half_life: f64, now: Time) -> Value {
    json!({
        "success": tally.success,
        "fail": tally.fail,
        "attempts": tally.attempts(),
        "p": tally.chance(),
        "decay_weight": tally.weight(half_life, now),
        "value": tally.value(half_life, now),
        "half_life_days": half_life,
        "updated_at": now.iso(),
    })
}

fn extend(record: &mut Object, members: Value) {
    if let Value::Object(members) = members {
        record.extend(members);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_rules::memory::graph::GraphStats;

    const NOW: Time = Time(1_770_477_654_155);

    fn signals() -> Vec<String> {
        ["errsig:secret token at /home/me/x:1", "user_feature_request:my private plan", "log_error"]
            .map(str::to_owned)
            .to_vec()
    }

    fn mutation() -> Mutation {
        Mutation {
            id: "mut_1".into(),
            category: "repair".into(),
            trigger_signals: signals(),
            target: "gene:g".into(),
            expected_effect: "help".into(),
            risk_level: "low".into(),
            rationale: None,
        }
    }

    #[test]
    fn no_raw_transcript_is_copied_into_the_graph() {
        let signals = signals();
        let selection = Selection {
            selected: Some("g".into()),
            gene_id: Some("g".into()),
            signals: signals.clone(),
            reason: vec![format!("signals: {}", signals.join(", "))],
            ..Selection::default()
        };
        let plan = PlannedChange {
            signals: &signals,
            hypothesis_id: "hyp_1",
            action_id: "act_1",
            mutation: &mutation(),
            personality: &Personality::default(),
            selection: &selection,
            gene_category: Some("repair"),
            observed: &ObservedSignals::default(),
        };
        let previous = PreviousAction {
            signals: signals.clone(),
            gene_id: Some("g".into()),
            ..PreviousAction::default()
        };
        let inferred =
            InferredOutcome { status: "success", score: 0.85, note: "evolutionevent_observed".into() };
        let observed = ObservedSignals::default();
        let ended = outcome("mge_1", NOW, &previous, &inferred, &signals, &observed);
        let records = [
            signal("mge_1", NOW, &signals, &observed),
            hypothesis("mge_1", NOW, &plan),
            attempt("mge_1", NOW, &plan),
            ended.clone(),
            confidence_edge("mge_1", NOW, &signals, "g", &GeneTally::default(), "mge_1"),
            confidence_gene_outcome("mge_1", NOW, &signals, "g", &GeneTally::default(), "mge_1"),
        ];
        for record in records {
            let text = serde_json::to_string(&record).unwrap();
            assert!(!text.contains("secret") && !text.contains("private"), "{text}");
            assert!(text.starts_with(r#"{"type":"MemoryGraphEvent","kind":""#));
        }
        let mut stats = GraphStats::default();
        stats.add(&ended);
        let key = (learning_key(&signals), "g".to_owned());
        assert_eq!(stats.edges[&key].tally, GeneTally { success: 1, fail: 0, last: Some(NOW) });
    }

    #[test]
    fn ids_and_statistics_have_the_known_form() {
        assert_eq!(graph_id("mge", NOW, 0xc0ffee), "mge_1770477654155_00c0ffee");
        let tally = GeneTally { success: 1, fail: 1, last: Some(NOW) };
        let record = confidence_gene_outcome("mge_2", NOW, &[], "g", &tally, "mge_1");
        assert_eq!(record["signal"]["key"], "(none)");
        assert_eq!(record["stats"]["value"], 0.5);
        assert_eq!(record["stats"]["half_life_days"], 45.0);
        assert_eq!(record["derived_from"]["outcome_event_id"], "mge_1");
    }
}
