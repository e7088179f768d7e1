//! The history rules, one function each.

use super::{
    CycleResult, HistoryDecision, HistoryInputs, HistoryRule, LoopPause, PastCycle, RECENT_EVENTS,
    SignalFate, count_failures_in_a_row,
};
use capsid_model::signal::fold;
use std::collections::BTreeMap;

const SUPPRESS_AT: usize = 3;
const REPAIR_LOOP_AT: usize = 3;
const EMPTY_LOOP_AT: usize = 4;
const SATURATED_AT: usize = 3;
const STEADY_STATE_AT: usize = 5;
const STREAK_AT: usize = 3;
const BAN_AT: usize = 5;
/// Fewer cycles than this say nothing about a ratio.
const RATIO_FROM: usize = 4;
const HIGH_FAILURE_RATIO: f64 = 0.75;

/// Signals that ask for a repair, folded. The reference engine drops them to end a loop.
const REPAIR_SIGNALS: [&str; 7] =
    ["log_error", "errsig", "recurring_errsig", "exception", "crash", "unstable", "recurring_error"];

/// Signals that ask for something new. Only these can be dropped.
const OPPORTUNITY_SIGNALS: [&str; 5] = [
    "user_feature_request",
    "user_improvement_suggestion",
    "perf_bottleneck",
    "capability_gap",
    "external_opportunity",
];

/// The inputs with what several rules need of them.
pub(super) struct RuleContext<'a> {
    inputs: &'a HistoryInputs<'a>,
    /// The last cycles that nothing foreign broke, oldest first.
    recent: Vec<&'a PastCycle<'a>>,
    /// The last cycles that count for the present problem, oldest first.
    same_problem: Vec<&'a PastCycle<'a>>,
}

impl<'a> RuleContext<'a> {
    pub(super) fn new(inputs: &'a HistoryInputs<'a>) -> Self {
        let is_known =
            |cycle: &&PastCycle<'_>| !cycle.is_foreign_failure && cycle.result != CycleResult::Unknown;
        let is_same = |cycle: &&PastCycle<'_>| {
            cycle.counts() && cycle.message_id.is_some() && cycle.message_id == inputs.message_id
        };
        Self {
            inputs,
            recent: last(inputs.cycles.iter().filter(is_known)),
            same_problem: last(inputs.cycles.iter().filter(is_same)),
        }
    }

    /// What becomes of the repair signals that the reference engine would drop.
    fn kept_repairs(&self, signals: &[String]) -> Vec<(String, SignalFate)> {
        let repairs = signals.iter().filter(|signal| REPAIR_SIGNALS.contains(&fold(signal)));
        repairs.map(|signal| (signal.clone(), self.fate_of_error())).collect()
    }

    fn fate_of_error(&self) -> SignalFate {
        let is_live = self.inputs.is_live || self.inputs.is_explicit;
        if is_live { SignalFate::KeptLive } else { SignalFate::KeptError }
    }

    fn failures_in_a_row(&self) -> usize {
        self.inputs.message_id.map_or(0, |id| count_failures_in_a_row(self.inputs.cycles, id))
    }
}

/// The last eight of them, oldest first.
fn last<'a>(cycles: impl DoubleEndedIterator<Item = &'a PastCycle<'a>>) -> Vec<&'a PastCycle<'a>> {
    let mut newest: Vec<_> = cycles.rev().take(RECENT_EVENTS).collect();
    newest.reverse();
    newest
}

/// Drops requests that a success already answered, in a loop only.
pub(super) fn suppress_answered(context: &RuleContext<'_>, decision: &mut HistoryDecision) {
    let mut would_drop = Vec::new();
    for signal in context.inputs.signals {
        let folded = fold(signal);
        let has_signal = |cycle: &&&PastCycle<'_>| cycle.signals.iter().any(|known| fold(known) == folded);
        if context.recent.iter().filter(has_signal).count() < SUPPRESS_AT {
            continue;
        }
        let is_answered = || {
            let answers = |cycle: &PastCycle<'_>| {
                cycle.result == CycleResult::Success && cycle.signals.contains(signal)
            };
            context.inputs.cycles.iter().any(answers)
        };
        let is_opportunity = OPPORTUNITY_SIGNALS.contains(&folded);
        let fate = match context.inputs {
            _ if !is_opportunity => context.fate_of_error(),
            inputs if !inputs.is_loop => SignalFate::KeptOutsideLoop,
            _ if !is_answered() => SignalFate::KeptUnanswered,
            _ => SignalFate::Dropped,
        };
        would_drop.push((signal.clone(), fate));
    }
    if would_drop.is_empty() {
        return;
    }
    let is_dropped =
        |signal: &String| would_drop.iter().any(|(s, fate)| s == signal && *fate == SignalFate::Dropped);
    decision.signals.retain(|signal| !is_dropped(signal));
    let reason = format!("These signals were in {SUPPRESS_AT} or more of the last {RECENT_EVENTS} cycles.");
    decision.add(HistoryRule::Suppression, reason, &[], would_drop);
}

/// Asks for another cause and another gene after three failed repairs of one problem.
pub(super) fn detect_repair_loop(context: &RuleContext<'_>, decision: &mut HistoryDecision) {
    let failed = context.same_problem.iter().rev().take_while(|cycle| cycle.result == CycleResult::Failed);
    let repairs: Vec<&PastCycle<'_>> = failed.filter(|cycle| cycle.intent == "repair").copied().collect();
    if repairs.len() >= REPAIR_LOOP_AT {
        decision.should_ask_another_cause = true;
        decision.passed_over_genes = genes_failing(&repairs, REPAIR_LOOP_AT);
        let would_drop = context.kept_repairs(&decision.signals);
        let reason = format!("{} repairs of this problem failed in a row.", repairs.len());
        decision.add(HistoryRule::RepairLoop, reason, &["repair_loop_detected"], would_drop);
        return;
    }
    // The reference engine counts repairs that succeeded, too.
    let row = context.recent.iter().rev().take_while(|cycle| cycle.intent == "repair").count();
    let would_drop = context.kept_repairs(&decision.signals);
    if row >= REPAIR_LOOP_AT && !would_drop.is_empty() {
        let reason = format!("The last {row} cycles were repairs.");
        decision.add(HistoryRule::RepairLoop, reason, &[], would_drop);
    }
}

/// Lengthens the pauses of a loop whose cycles change nothing. Errors stay.
pub(super) fn detect_empty_cycles(context: &RuleContext<'_>, decision: &mut HistoryDecision) {
    let empty = context.recent.iter().filter(|cycle| cycle.is_empty).count();
    if empty >= EMPTY_LOOP_AT {
        let would_drop = context.kept_repairs(&decision.signals);
        let reason = format!("{empty} of the last {RECENT_EVENTS} cycles changed nothing.");
        let added: &[&str] = if context.inputs.is_loop { &["empty_cycle_loop_detected"] } else { &[] };
        if context.inputs.is_loop || !would_drop.is_empty() {
            decision.add(HistoryRule::EmptyCycles, reason, added, would_drop);
        }
    }
    if !context.inputs.is_loop {
        return;
    }
    let row = context.recent.iter().rev().take_while(|cycle| cycle.is_empty).count();
    decision.pause = match row {
        STEADY_STATE_AT.. => LoopPause::Longest,
        SATURATED_AT.. => LoopPause::Longer,
        _ if empty >= EMPTY_LOOP_AT => LoopPause::Longer,
        _ => LoopPause::Usual,
    };
    if row >= SATURATED_AT {
        let added: &[&str] = if row >= STEADY_STATE_AT {
            &["evolution_saturation", "force_steady_state"]
        } else {
            &["evolution_saturation"]
        };
        decision.add(
            HistoryRule::Saturation,
            format!("The last {row} cycles changed nothing."),
            added,
            Vec::new(),
        );
    }
}

/// Counts the failures of one problem, and bans the gene that failed most on it after five.
pub(super) fn count_failures(context: &RuleContext<'_>, decision: &mut HistoryDecision) {
    let streak = context.failures_in_a_row();
    if streak >= STREAK_AT {
        let mut added = vec![format!("consecutive_failure_streak_{streak}")];
        if streak >= BAN_AT {
            added.push("failure_loop_detected".to_owned());
            let failed: Vec<&PastCycle<'_>> = context
                .same_problem
                .iter()
                .filter(|cycle| cycle.result == CycleResult::Failed)
                .copied()
                .collect();
            if let Some(gene) = most_failing_gene(&failed) {
                added.push(format!("ban_gene:{gene}"));
                decision.banned_genes.push(gene.to_owned());
            }
        }
        let added: Vec<&str> = added.iter().map(String::as_str).collect();
        let reason = format!("{streak} cycles for this problem failed in a row.");
        decision.add(HistoryRule::FailureStreak, reason, &added, Vec::new());
    }
    let counted = context.same_problem.len();
    let failed = context.same_problem.iter().filter(|cycle| cycle.result == CycleResult::Failed).count();
    if counted >= RATIO_FROM && failed as f64 >= HIGH_FAILURE_RATIO * counted as f64 {
        let reason = format!("{failed} of the last {counted} cycles for this problem failed.");
        decision.add(HistoryRule::FailureRatio, reason, &["high_failure_ratio"], Vec::new());
    }
}

fn count_genes<'a>(cycles: &[&PastCycle<'a>]) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for cycle in cycles.iter().filter(|cycle| !cycle.gene.is_empty()) {
        *counts.entry(cycle.gene).or_default() += 1;
    }
    counts
}

fn genes_failing(cycles: &[&PastCycle<'_>], times: usize) -> Vec<String> {
    let counts = count_genes(cycles);
    counts.into_iter().filter(|(_, count)| *count >= times).map(|(gene, _)| gene.to_owned()).collect()
}

/// The gene with the most failures; on ties the one that failed first.
fn most_failing_gene<'a>(failed: &[&PastCycle<'a>]) -> Option<&'a str> {
    let counts = count_genes(failed);
    let most = counts.values().max().copied()?;
    failed.iter().map(|cycle| cycle.gene).find(|gene| counts.get(gene) == Some(&most))
}
