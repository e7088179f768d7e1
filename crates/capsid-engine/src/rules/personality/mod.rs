//! How the personality changes from cycle to cycle, and what its dials do.

pub mod effects;
pub mod file;

pub use effects::{ExtraCheck, PromptDetail, Wording};
pub use file::{PersonalityFile, PersonalityResults};

use crate::rules::mutation::{has_opportunity, is_errorish};
use capsid_model::event::EvolutionEvent;
use capsid_model::personality::{DIALS, Personality};
use capsid_model::{Value, json};

/// One turn of a dial, and why.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DialChange {
    pub param: &'static str,
    pub delta: f64,
    pub reason: &'static str,
}

impl DialChange {
    /// The record's form.
    pub fn to_value(&self) -> Value {
        json!({
            "type": "PersonalityMutation",
            "param": self.param,
            "delta": self.delta,
            "reason": self.reason,
        })
    }
}

/// The personality of a cycle.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonalityStep {
    /// The state to use, and to save.
    pub state: Personality,
    pub changes: Vec<DialChange>,
    /// Whether results of this state are on record.
    pub known: bool,
}

/// Adjusts the dials for a cycle: towards what worked best, and away from repeated failures.
pub fn next(
    file: &PersonalityFile,
    signals: &[String],
    oldest_first: &[EvolutionEvent],
    drift: bool,
) -> PersonalityStep {
    let mut state = file.current();
    let mut changes = natural_selection(&state, file.best_known());
    apply(&mut state, &changes);
    if let Some(reason) = trigger(oldest_first, drift) {
        let proposed = proposals(&state, signals, drift, reason);
        apply(&mut state, &proposed);
        changes.extend(proposed);
    }
    PersonalityStep { known: file.results(&state.key()).is_some(), state, changes }
}

/// The two largest steps towards the best-known state, each of a tenth at most.
fn natural_selection(current: &Personality, best: Option<Personality>) -> Vec<DialChange> {
    let Some(best) = best else {
        return Vec::new();
    };
    let mut changes: Vec<DialChange> = DIALS
        .into_iter()
        .filter_map(|param| {
            let delta = best.get(param)? - current.get(param)?;
            Some(DialChange { param, delta, reason: "natural_selection" })
        })
        .filter(|change| change.delta.abs() >= 0.05)
        .collect();
    changes.sort_by(|a, b| b.delta.abs().total_cmp(&a.delta.abs()));
    changes.truncate(2);
    for change in &mut changes {
        change.delta = change.delta.clamp(-0.1, 0.1);
    }
    changes
}

/// Why the personality should change now, if it should.
fn trigger(oldest_first: &[EvolutionEvent], drift: bool) -> Option<&'static str> {
    let last = |count: usize| &oldest_first[oldest_first.len().saturating_sub(count)..];
    let ended: Vec<bool> = last(6)
        .iter()
        .filter(|event| event.outcome.is_success() || event.outcome.is_failure())
        .map(|event| event.outcome.is_failure())
        .collect();
    let failures = ended.iter().rev().take(4).filter(|failed| **failed).count();
    let gated: Vec<&EvolutionEvent> =
        oldest_first.iter().rev().filter(|event| event.mutation_id.is_some()).take(3).collect();
    if drift {
        Some("drift enabled")
    } else if ended.len() >= 4 && failures >= 3 {
        Some("long failure streak")
    } else if gated.len() == 3 && gated.iter().all(|event| event.outcome.is_failure()) {
        Some("mutation consecutive failures")
    } else {
        None
    }
}

/// The two turns that answer the situation.
fn proposals(state: &Personality, signals: &[String], drift: bool, reason: &'static str) -> Vec<DialChange> {
    let turns = if drift {
        [("creativity", 0.1), ("risk_tolerance", -0.05)]
    } else if signals.iter().any(|signal| signal == "protocol_drift") {
        [("obedience", 0.1), ("rigor", 0.05)]
    } else if is_errorish(signals) {
        [("rigor", 0.1), ("risk_tolerance", -0.1)]
    } else if has_opportunity(signals) {
        [("creativity", 0.1), ("risk_tolerance", 0.05)]
    } else {
        [("rigor", 0.05), ("verbosity", -0.05)]
    };
    let turns = turns.map(|(param, delta)| match param {
        // A dial at its end cannot answer; something else must.
        "obedience" if state.obedience >= 0.95 => ("creativity", 0.05),
        _ => (param, delta),
    });
    turns.into_iter().map(|(param, delta)| DialChange { param, delta, reason }).collect()
}

/// Turns at most two dials, each by 0.2 at most.
fn apply(state: &mut Personality, changes: &[DialChange]) {
    for change in changes.iter().take(2) {
        if let Some(value) = state.get(change.param) {
            state.set(change.param, value + change.delta.clamp(-0.2, 0.2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::Time;
    use capsid_model::event::EventOutcome;

    fn turned(step: &PersonalityStep) -> Vec<(&str, f64, &str)> {
        step.changes.iter().map(|c| (c.param, c.delta, c.reason)).collect()
    }

    fn events(outcomes: &[EventOutcome], mutation: Option<&str>) -> Vec<EvolutionEvent> {
        let event = |outcome: &EventOutcome| EvolutionEvent {
            outcome: outcome.clone(),
            mutation_id: mutation.map(str::to_owned),
            ..EvolutionEvent::default()
        };
        outcomes.iter().map(event).collect()
    }

    #[test]
    fn the_state_moves_towards_what_did_best() {
        let best = Personality { rigor: 0.2, creativity: 0.6, obedience: 0.8, ..Personality::default() };
        let mut file = PersonalityFile::default();
        for _ in 0..3 {
            file.record(&best, &EventOutcome::success(), "evt_1", Time(0));
        }
        let step = next(&file, &[], &[], false);
        assert_eq!(
            turned(&step),
            [("rigor", -0.1, "natural_selection"), ("creativity", 0.1, "natural_selection")]
        );
        assert!((step.state.rigor - 0.6).abs() < 1e-12 && !step.known);
    }

    #[test]
    fn two_results_are_too_few_to_follow() {
        let mut file = PersonalityFile::default();
        let other = Personality { rigor: 0.1, ..Personality::default() };
        file.record(&other, &EventOutcome::success(), "evt_1", Time(0));
        file.record(&other, &EventOutcome::success(), "evt_2", Time(0));
        assert_eq!(next(&file, &[], &[], false).changes, []);
    }

    #[test]
    fn failures_and_drift_turn_the_dials_the_signals_call_for() {
        let (good, bad) = (EventOutcome::success(), EventOutcome::failed());
        let streak = events(&[good, bad.clone(), bad.clone(), bad.clone()], None);
        let file = PersonalityFile::default();
        let turn = |signals: &[&str], recent: &[EvolutionEvent], drift| {
            let signals: Vec<String> = signals.iter().map(|s| (*s).to_owned()).collect();
            turned(&next(&file, &signals, recent, drift))
                .into_iter()
                .map(|(param, delta, _)| (param.to_owned(), delta))
                .collect::<Vec<_>>()
        };
        let pair = |a: &str, x: f64, b: &str, y: f64| vec![(a.to_owned(), x), (b.to_owned(), y)];
        assert_eq!(turn(&["log_error"], &streak, false), pair("rigor", 0.1, "risk_tolerance", -0.1));
        assert_eq!(turn(&["log_error"], &streak, true), pair("creativity", 0.1, "risk_tolerance", -0.05));
        assert_eq!(turn(&["protocol_drift"], &streak, false), pair("obedience", 0.1, "rigor", 0.05));
        assert_eq!(
            turn(&["capability_gap"], &streak, false),
            pair("creativity", 0.1, "risk_tolerance", 0.05)
        );
        assert_eq!(turn(&[], &streak, false), pair("rigor", 0.05, "verbosity", -0.05));
        assert_eq!(turn(&[], &streak[1..], false), [], "three outcomes are no long streak");
        let gated = events(&[bad.clone(), bad.clone(), bad], Some("mut_1"));
        assert_eq!(next(&file, &[], &gated, false).changes[0].reason, "mutation consecutive failures");
    }

    #[test]
    fn obedience_at_its_end_gives_way_to_creativity() {
        let state = Personality { obedience: 0.95, ..Personality::default() };
        let signals = ["protocol_drift".to_owned()];
        let changes = proposals(&state, &signals, false, "long failure streak");
        assert_eq!((changes[0].param, changes[0].delta), ("creativity", 0.05));
    }
}
