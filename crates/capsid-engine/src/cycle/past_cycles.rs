//! Earlier cycles as the history rules see them.

use crate::rules::problem_ids::find_message_id;
use capsid_model::event::EvolutionEvent;
use capsid_rules::diagnosis::Diagnostic;
use capsid_rules::learning::history::{CycleResult, PastCycle};

/// Events with the message ids of their problems.
pub struct PastCycles<'a> {
    cycles: Vec<(&'a EvolutionEvent, Option<String>)>,
}

impl<'a> PastCycles<'a> {
    /// Reads events, oldest first. An event without ids names its problem by its signature: that of the present problem,
    /// or one that is read with the rules of today.
    pub fn new(history: &'a [EvolutionEvent], problem: Option<&Diagnostic>) -> Self {
        let present = problem.map(|problem| (problem.errsig(), problem.ids().message));
        let message_id = |event: &EvolutionEvent| {
            let same = present.iter().find(|(errsig, _)| event.signals.contains(errsig));
            let parsed = || find_message_id(event.signals.iter().map(String::as_str));
            event.problem_id.clone().or_else(|| same.map(|(_, id)| id.clone())).or_else(parsed)
        };
        Self { cycles: history.iter().map(|event| (event, message_id(event))).collect() }
    }

    pub fn as_cycles(&self) -> Vec<PastCycle<'_>> {
        self.cycles.iter().map(|(event, message_id)| to_cycle(event, message_id.as_deref())).collect()
    }
}

fn to_cycle<'a>(event: &'a EvolutionEvent, message_id: Option<&'a str>) -> PastCycle<'a> {
    let result = match &event.outcome {
        outcome if outcome.is_success() => CycleResult::Success,
        outcome if outcome.is_failure() && event.has_run => CycleResult::Failed,
        // Nobody finished it, so it counts for nothing.
        _ => CycleResult::Unknown,
    };
    PastCycle {
        message_id,
        result,
        has_run: event.has_run,
        is_foreign_failure: event.is_foreign_failure(),
        is_empty: event.is_empty,
        intent: &event.intent,
        gene: event.genes_used.first().map(String::as_str).unwrap_or_default(),
        signals: &event.signals,
    }
}
