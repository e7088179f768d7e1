//! The outcome of the previous action. The event of its run decides; without one, the log's errors decide.

use capsid_model::Value;
use capsid_model::event::EvolutionEvent;
use serde::{Deserialize, Serialize};

/// The action that the last cycle began, stored in the graph's state file until it is closed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PreviousAction {
    /// Its name, `act_<ms>_<8hex>`.
    pub action_id: String,
    /// What it was expected to do.
    pub hypothesis_id: Option<String>,
    pub signal_key: String,
    pub signals: Vec<String>,
    /// The mutation that gated it.
    pub mutation_id: Option<String>,
    pub mutation_category: Option<String>,
    pub mutation_risk_level: Option<String>,
    pub personality_key: Option<String>,
    /// The personality it ran with.
    pub personality_state: Value,
    pub gene_id: Option<String>,
    pub gene_category: Option<String>,
    pub capsules_used: Vec<String>,
    /// Whether it began with an error in the log.
    pub had_error: bool,
    pub created_at: String,
    /// Whether its outcome is recorded; an action is closed once.
    pub outcome_recorded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome_recorded_at: Option<String>,
    /// What was counted when it began.
    pub baseline_observed: Value,
}

impl PreviousAction {
    /// Reads the state file's `last_action`; nothing when it has another shape.
    pub fn read(value: &Value) -> Option<Self> {
        Self::deserialize(value).ok().filter(|previous| !previous.action_id.is_empty())
    }

    /// The state file's form.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// How many errors its log had.
    pub fn error_count(&self) -> Option<u64> {
        self.baseline_observed.get("recent_error_count").and_then(Value::as_u64)
    }
}

/// How an action ended, as the graph records it.
#[derive(Debug, Clone, PartialEq)]
pub struct InferredOutcome {
    /// `success`, `failed`, or `unknown`, which counts for neither side.
    pub status: &'static str,
    /// From 0 to 1.
    pub score: f64,
    /// The source of the outcome.
    pub note: String,
}

/// Infers the outcome of the previous action from the event of its run. Without one nobody finished the cycle: whatever
/// the log shows, it says nothing about the gene.
pub fn infer(
    previous: &PreviousAction,
    recorded: Option<&EvolutionEvent>,
    signals_now: &[String],
    errors_now: u64,
) -> InferredOutcome {
    match recorded {
        Some(event) => from_event(event),
        None => from_log(previous, signals_now, errors_now),
    }
}

fn from_event(event: &EvolutionEvent) -> InferredOutcome {
    let outcome = &event.outcome;
    let foreign = matches!(event.failure_class.as_deref(), Some("host" | "network" | "sandbox"));
    let succeeded = outcome.is_success() || (!outcome.is_failure() && outcome.score >= 0.5);
    let (status, note) = match succeeded {
        true if event.is_empty => ("unknown", "evolutionevent_observed|nothing_changed"),
        true => ("success", "evolutionevent_observed"),
        false if foreign => ("unknown", "evolutionevent_observed|not_charged"),
        false => ("failed", "evolutionevent_observed"),
    };
    InferredOutcome { status, score: outcome.score.clamp(0.0, 1.0), note: note.to_owned() }
}

fn from_log(previous: &PreviousAction, signals_now: &[String], errors_now: u64) -> InferredOutcome {
    let has_error = signals_now.iter().any(|signal| signal == "log_error");
    let (base, note) = match (previous.had_error, has_error) {
        (true, false) => (0.85, "error_cleared"),
        (true, true) => (0.20, "error_persisted"),
        (false, true) => (0.15, "new_error_appeared"),
        (false, false) => (0.60, "stable_no_error"),
    };
    let before = previous.error_count().unwrap_or(errors_now);
    let change = ((before as f64 - errors_now as f64) / 50.0).clamp(-0.12, 0.12);
    InferredOutcome {
        status: "unknown",
        score: (base + change).clamp(0.0, 1.0),
        note: format!("{note}|heuristic_delta"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::event::EventOutcome;
    use capsid_model::json;

    fn previous(had_error: bool) -> PreviousAction {
        let baseline_observed = json!({"recent_error_count": 10});
        PreviousAction {
            action_id: "act_1".into(),
            had_error,
            baseline_observed,
            ..PreviousAction::default()
        }
    }

    fn log(had_error: bool, has_error: bool, errors: u64) -> (&'static str, f64, String) {
        let signals: Vec<String> = if has_error { vec!["log_error".into()] } else { Vec::new() };
        let inferred = infer(&previous(had_error), None, &signals, errors);
        (inferred.status, (inferred.score * 1000.0).round() / 1000.0, inferred.note)
    }

    #[test]
    fn a_cycle_that_nobody_finished_has_no_known_outcome() {
        assert_eq!(log(true, false, 10), ("unknown", 0.85, "error_cleared|heuristic_delta".into()));
        assert_eq!((log(true, true, 10).0, log(false, true, 10).0), ("unknown", "unknown"));
        assert_eq!(log(true, true, 0).1, 0.32, "at most 0.12 for fewer errors");
        assert_eq!(log(false, true, 15).1, 0.05, "five more errors cost a tenth");
    }

    #[test]
    fn a_cycle_that_recorded_and_changed_nothing_is_no_success() {
        assert_eq!(log(false, false, 10).0, "unknown");
        let empty =
            EvolutionEvent { outcome: EventOutcome::success(), is_empty: true, ..EvolutionEvent::default() };
        assert_eq!(infer(&previous(false), Some(&empty), &[], 0).status, "unknown");
    }

    #[test]
    fn a_quiet_log_after_a_recorded_failure_is_a_failure() {
        let mut event = EvolutionEvent { outcome: EventOutcome::failed(), ..EvolutionEvent::default() };
        let inferred = infer(&previous(true), Some(&event), &[], 0);
        assert_eq!((inferred.status, inferred.score), ("failed", 0.2));
        assert_eq!(inferred.note, "evolutionevent_observed");
        event.failure_class = Some("network".into());
        assert_eq!(infer(&previous(true), Some(&event), &[], 0).status, "unknown");
        event.outcome = EventOutcome::success();
        let noisy = ["log_error".to_owned()];
        assert_eq!(infer(&previous(false), Some(&event), &noisy, 99).status, "success");
    }

    #[test]
    fn the_state_round_trips_and_a_broken_one_is_refused() {
        let state = previous(true);
        assert_eq!(PreviousAction::read(&state.to_value()), Some(state));
        assert_eq!(PreviousAction::read(&json!({"action_id": 7})), None);
        assert_eq!(PreviousAction::read(&json!(null)), None);
    }
}
