//! What the last cycles say about the signals of this one: suppression, loops, saturation, failure streaks.

use crate::signals::tally::SignalTally;
use capsid_model::event::EvolutionEvent;
use capsid_model::signal::{fold, is_cosmetic};
use std::collections::HashSet;

/// Events looked at for runs at the end of the history.
const RECENT: usize = 10;
/// Events looked at for counts.
const TAIL: usize = 8;

const SUPPRESS_AT: usize = 3;
const REPAIR_LOOP_AT: usize = 3;
const EMPTY_LOOP_AT: usize = 4;
const SATURATED_AT: usize = 3;
const STEADY_STATE_AT: usize = 5;
const STREAK_AT: usize = 3;
const BAN_AT: usize = 5;
const HIGH_FAILURE_RATIO: f64 = 0.75;
/// Fewer events than this say nothing about a ratio.
const RATIO_FROM: usize = 4;

/// Signals that ask for a repair, folded.
const REPAIR: [&str; 6] = ["log_error", "errsig", "recurring_errsig", "exception", "crash", "unstable"];

/// Applies the history rules in their order. `history` is oldest first.
pub(super) fn apply(mut signals: Vec<String>, history: &[EvolutionEvent]) -> Vec<String> {
    let telling = is_significant(history);
    let recent = last(&telling, RECENT);
    let tail = last(recent, TAIL);
    let actionable = signals.iter().any(|signal| !is_cosmetic(signal));
    let spent = |signals: &[String]| {
        let mut rest = signals.iter().filter(|s| !actionable || !is_cosmetic(s));
        rest.next().is_none()
    };

    let before = signals.len();
    let known = suppressed(tail);
    signals.retain(|signal| !known.contains(fold(signal)));
    if before > 0 && spent(&signals) {
        push(&mut signals, "evolution_stagnation_detected");
        push(&mut signals, "stable_success_plateau");
    }
    if run_length(recent, |event| event.intent == "repair") >= REPAIR_LOOP_AT {
        drop_repairs(&mut signals);
        if spent(&signals) {
            push(&mut signals, "repair_loop_detected");
            push(&mut signals, "stable_success_plateau");
        }
        push(&mut signals, "force_innovation_after_repair_loop");
    }
    empty_cycles(recent, tail, &mut signals);
    failures(recent, tail, &mut signals);
    if signals.is_empty() {
        push(&mut signals, "stable_success_plateau");
    }
    signals
}

/// The events that say something about the work: a cycle that the host, the network or the sandbox broke does not.
fn is_significant(history: &[EvolutionEvent]) -> Vec<&EvolutionEvent> {
    history.iter().filter(|event| !event.is_foreign_failure()).collect()
}

fn last<'a, 'e>(events: &'a [&'e EvolutionEvent], count: usize) -> &'a [&'e EvolutionEvent] {
    &events[events.len().saturating_sub(count)..]
}

fn run_length(events: &[&EvolutionEvent], holds: impl Fn(&EvolutionEvent) -> bool) -> usize {
    events.iter().rev().take_while(|event| holds(event)).count()
}

/// Folded signals that enough of the last events already answered.
fn suppressed<'e>(tail: &[&'e EvolutionEvent]) -> HashSet<&'e str> {
    let per_event: Vec<HashSet<&str>> =
        tail.iter().map(|event| event.signals.iter().map(|signal| fold(signal)).collect()).collect();
    let count = |signal: &str| per_event.iter().filter(|set| set.contains(signal)).count();
    per_event.iter().flatten().copied().filter(|signal| count(signal) >= SUPPRESS_AT).collect()
}

fn empty_cycles(recent: &[&EvolutionEvent], tail: &[&EvolutionEvent], signals: &mut Vec<String>) {
    if tail.iter().filter(|event| event.is_empty).count() >= EMPTY_LOOP_AT {
        drop_repairs(signals);
        push(signals, "empty_cycle_loop_detected");
        push(signals, "stable_success_plateau");
    }
    let run = run_length(recent, |event| event.is_empty);
    if run >= STEADY_STATE_AT {
        push(signals, "force_steady_state");
    }
    if run >= SATURATED_AT {
        push(signals, "evolution_saturation");
    }
}

fn failures(recent: &[&EvolutionEvent], tail: &[&EvolutionEvent], signals: &mut Vec<String>) {
    let streak = run_length(recent, EvolutionEvent::is_own_failure);
    if streak >= STREAK_AT {
        push(signals, &format!("consecutive_failure_streak_{streak}"));
    }
    if streak >= BAN_AT {
        push(signals, "failure_loop_detected");
        if let Some(gene) = most_failing_gene(tail) {
            push(signals, &format!("ban_gene:{gene}"));
        }
    }
    let counted = tail.iter().filter(|event| !event.is_empty).count();
    let failed = tail.iter().filter(|event| event.is_own_failure()).count();
    if counted >= RATIO_FROM && failed as f64 >= HIGH_FAILURE_RATIO * counted as f64 {
        push(signals, "high_failure_ratio");
        push(signals, "force_innovation_after_repair_loop");
    }
}

/// The gene used most in the failed events of the tail, the first one on ties. A gene answers for its own failures
/// only, so the successes of others do not make it one.
fn most_failing_gene<'e>(tail: &[&'e EvolutionEvent]) -> Option<&'e str> {
    let failed = tail.iter().filter(|event| event.is_own_failure());
    let genes = failed.flat_map(|event| event.genes_used.iter().map(String::as_str));
    SignalTally::from_iter(genes).top().map(|(gene, _)| gene)
}

fn drop_repairs(signals: &mut Vec<String>) {
    signals.retain(|signal| !REPAIR.contains(&fold(signal)));
}

fn push(signals: &mut Vec<String>, signal: &str) {
    if !signals.iter().any(|known| known == signal) {
        signals.push(signal.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::event::{BlastRadius, EventOutcome};

    fn event(intent: &str, outcome: EventOutcome, signals: &[&str]) -> EvolutionEvent {
        EvolutionEvent {
            intent: intent.to_owned(),
            outcome,
            signals: signals.iter().map(|s| (*s).to_owned()).collect(),
            genes_used: vec!["g1".to_owned()],
            blast_radius: BlastRadius { files: 1, lines: 9 },
            ..EvolutionEvent::default()
        }
    }

    fn success() -> EvolutionEvent {
        event("optimize", EventOutcome::success(), &[])
    }

    fn failed() -> EvolutionEvent {
        event("optimize", EventOutcome::failed(), &[])
    }

    fn empty() -> EvolutionEvent {
        EvolutionEvent { is_empty: true, outcome: EventOutcome::failed(), ..success() }
    }

    fn broken_host() -> EvolutionEvent {
        EvolutionEvent { failure_class: Some("host".to_owned()), ..failed() }
    }

    fn after(signals: &[&str], history: &[EvolutionEvent]) -> Vec<String> {
        apply(signals.iter().map(|s| (*s).to_owned()).collect(), history)
    }

    fn times(count: usize, event: &EvolutionEvent) -> Vec<EvolutionEvent> {
        vec![event.clone(); count]
    }

    #[test]
    fn nothing_seen_is_a_plateau() {
        assert_eq!(after(&[], &[]), ["stable_success_plateau"]);
        assert_eq!(after(&["user_missing"], &[]), ["user_missing"]);
    }

    #[test]
    fn a_signal_that_three_of_eight_events_had_is_suppressed() {
        let seen = event("optimize", EventOutcome::success(), &["errsig:one", "perf_bottleneck"]);
        assert_eq!(after(&["errsig:two", "x"], &times(2, &seen)), ["errsig:two", "x"]);
        assert_eq!(after(&["errsig:two", "x"], &times(3, &seen)), ["x"]);
        assert_eq!(
            after(&["perf_bottleneck", "user_missing"], &times(3, &seen)),
            ["user_missing", "evolution_stagnation_detected", "stable_success_plateau"]
        );
        let mut long_ago = times(3, &seen);
        long_ago.extend(times(6, &success()));
        assert_eq!(after(&["perf_bottleneck"], &long_ago), ["perf_bottleneck"]);
    }

    #[test]
    fn both_forms_of_a_wish_count_once_per_event() {
        let seen =
            event("optimize", EventOutcome::success(), &["user_feature_request", "user_feature_request:a"]);
        let now = ["user_feature_request", "user_feature_request:b", "x"];
        assert_eq!(after(&now, &times(2, &seen)).len(), 3);
        assert_eq!(after(&now, &times(3, &seen)), ["x"]);
    }

    #[test]
    fn three_repairs_in_a_row_force_innovation() {
        let repair = event("repair", EventOutcome::success(), &[]);
        assert_eq!(after(&["log_error"], &times(2, &repair)), ["log_error"]);
        assert_eq!(
            after(&["log_error", "errsig:x", "recurring_errsig(3x):y", "crash"], &times(3, &repair)),
            ["repair_loop_detected", "stable_success_plateau", "force_innovation_after_repair_loop"]
        );
        assert_eq!(
            after(&["log_error", "recurring_error"], &times(3, &repair)),
            ["recurring_error", "force_innovation_after_repair_loop"]
        );
    }

    #[test]
    fn empty_cycles_lead_to_saturation_and_rest() {
        let saturated = |count| after(&["x"], &times(count, &empty()));
        assert_eq!(saturated(2), ["x"]);
        assert_eq!(saturated(3), ["x", "evolution_saturation"]);
        assert_eq!(
            saturated(4),
            ["x", "empty_cycle_loop_detected", "stable_success_plateau", "evolution_saturation"]
        );
        assert!(saturated(5).contains(&"force_steady_state".to_owned()));
        let mut mixed = times(4, &empty());
        mixed.extend(times(4, &success()));
        assert_eq!(after(&["log_error"], &mixed), ["empty_cycle_loop_detected", "stable_success_plateau"]);
    }

    #[test]
    fn failures_in_a_row_are_counted_and_ban_at_five() {
        let with = |count| {
            let mut history = times(8, &success());
            history.extend(times(count, &failed()));
            after(&["x"], &history)
        };
        assert_eq!(with(2), ["x"]);
        assert_eq!(with(3), ["x", "consecutive_failure_streak_3"]);
        assert_eq!(with(5), ["x", "consecutive_failure_streak_5", "failure_loop_detected", "ban_gene:g1"]);
        assert_eq!(with(6)[4..], ["high_failure_ratio", "force_innovation_after_repair_loop"]);
        assert!(with(20).contains(&"consecutive_failure_streak_10".to_owned()));
    }

    #[test]
    fn the_ratio_needs_three_quarters_of_at_least_four() {
        let mut history = times(3, &failed());
        history.extend(times(1, &success()));
        assert!(after(&["x"], &history).contains(&"high_failure_ratio".to_owned()));
        history.extend(times(1, &success()));
        assert_eq!(after(&["x"], &history), ["x"]);
        for too_few in
            [times(1, &failed()), times(3, &failed()), [times(3, &failed()), times(3, &empty())].concat()]
        {
            assert!(!after(&["x"], &too_few).contains(&"high_failure_ratio".to_owned()), "{}", too_few.len());
        }
        let one_repair = [event("repair", EventOutcome::failed(), &[])];
        assert_eq!(after(&["log_error"], &one_repair), ["log_error"], "the next cycle may repair again");
    }

    #[test]
    fn an_empty_cycle_breaks_the_streak() {
        let mut history = times(3, &success());
        history.extend(times(4, &failed()));
        history.push(empty());
        history.extend(times(2, &failed()));
        let signals = after(&["x"], &history);
        assert!(!signals.iter().any(|s| s.starts_with("consecutive_failure")));
    }

    #[test]
    fn failures_of_the_host_count_nowhere_and_ban_nothing() {
        assert_eq!(after(&["x"], &times(8, &broken_host())), ["x"]);
        let mut history = times(5, &success());
        history.extend(times(2, &failed()));
        history.push(broken_host());
        history.push(failed());
        assert_eq!(after(&["x"], &history), ["x", "consecutive_failure_streak_3"]);
    }

    #[test]
    fn only_genes_that_failed_are_banned() {
        let using = |gene: &str, outcome| EvolutionEvent {
            genes_used: vec![gene.to_owned()],
            ..event("optimize", outcome, &[])
        };
        let mut history = times(3, &using("good", EventOutcome::success()));
        history.extend(times(2, &using("b", EventOutcome::failed())));
        history.extend(times(2, &using("c", EventOutcome::failed())));
        history.push(using("d", EventOutcome::failed()));
        assert!(after(&["x"], &history).contains(&"ban_gene:b".to_owned()));
    }
}
