//! How often the loop tries one problem before it leaves it alone.
//!
//! After three failed attempts a problem is suspended for a day. After the second suspension it stays suspended until
//! its owner resumes it.

use capsid_model::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Failed attempts before a suspension, unless the owner sets another number.
pub const ATTEMPTS_PER_PROBLEM: u32 = 3;
/// How long the first suspension lasts.
const SUSPENSION_MS: i64 = 24 * 60 * 60 * 1000;
/// How many suspensions end by themselves, plus one.
const MAX_SUSPENSIONS: u32 = 2;
/// A problem that was not tried for so long is forgotten.
const FORGET_AFTER_MS: i64 = 90 * SUSPENSION_MS;

/// The failed attempts at one problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProblemAttempts {
    /// Failed attempts since the last suspension.
    pub attempts: u32,
    pub suspensions: u32,
    /// When the last attempt failed, in milliseconds.
    pub last_attempt_ms: i64,
    /// When the suspension ends by itself, in milliseconds.
    #[serde(default)]
    pub suspended_until_ms: Option<i64>,
}

/// Whether the loop may try a problem now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptPermit {
    Allowed,
    SuspendedUntil(Time),
    /// Only `capsid loop resume` ends it.
    SuspendedUntilResumed,
}

/// The failed attempts of the loop by message id, as the state file holds them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AttemptLedger {
    problems: BTreeMap<String, ProblemAttempts>,
}

impl AttemptLedger {
    /// Whether the loop may try this problem now.
    pub fn check(&self, message_id: &str, now: Time) -> AttemptPermit {
        match self.problems.get(message_id) {
            Some(problem) if problem.suspensions >= MAX_SUSPENSIONS => AttemptPermit::SuspendedUntilResumed,
            Some(ProblemAttempts { suspended_until_ms: Some(until), .. }) if now.0 < *until => {
                AttemptPermit::SuspendedUntil(Time(*until))
            }
            _ => AttemptPermit::Allowed,
        }
    }

    /// Whether an attempt at this problem failed.
    pub fn has_attempts(&self, message_id: &str) -> bool {
        self.problems.contains_key(message_id)
    }

    /// Counts a failed attempt and suspends the problem when there were enough. A limit of zero counts as one.
    pub fn record_failure(
        &mut self,
        message_id: &str,
        attempts_per_problem: u32,
        now: Time,
    ) -> AttemptPermit {
        if self.check(message_id, now) == AttemptPermit::Allowed {
            let problem = self.problems.entry(message_id.to_owned()).or_default();
            problem.suspended_until_ms = None;
            problem.attempts = problem.attempts.saturating_add(1);
            problem.last_attempt_ms = now.0;
            if problem.attempts >= attempts_per_problem.max(1) {
                problem.attempts = 0;
                problem.suspensions = problem.suspensions.saturating_add(1);
                let ends = problem.suspensions < MAX_SUSPENSIONS;
                problem.suspended_until_ms = ends.then(|| now.0.saturating_add(SUSPENSION_MS));
            }
        }
        self.check(message_id, now)
    }

    /// Forgets the attempts at a problem that is solved.
    pub fn record_success(&mut self, message_id: &str) {
        self.problems.remove(message_id);
    }

    /// Ends a suspension on the owner's word. Whether there was one.
    pub fn resume(&mut self, message_id: &str, now: Time) -> bool {
        let was_suspended = self.check(message_id, now) != AttemptPermit::Allowed;
        self.problems.remove(message_id);
        was_suspended
    }

    /// The suspended problems, for `status`.
    pub fn list_suspended(&self, now: Time) -> Vec<(&str, AttemptPermit)> {
        let all = self.problems.keys().map(|id| (id.as_str(), self.check(id, now)));
        all.filter(|(_, permit)| *permit != AttemptPermit::Allowed).collect()
    }

    /// Forgets problems that were not tried for 90 days, except those that wait for their owner.
    pub fn prune(&mut self, now: Time) {
        self.problems.retain(|_, problem| {
            problem.suspensions >= MAX_SUSPENSIONS
                || now.0.saturating_sub(problem.last_attempt_ms) < FORGET_AFTER_MS
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOUR: i64 = 60 * 60 * 1000;

    fn fail(ledger: &mut AttemptLedger, times: u32, now: i64) -> AttemptPermit {
        (0..times).fold(AttemptPermit::Allowed, |_, _| ledger.record_failure("id", 3, Time(now)))
    }

    #[test]
    fn three_failures_suspend_a_problem_for_a_day() {
        let mut ledger = AttemptLedger::default();
        assert_eq!(fail(&mut ledger, 2, 0), AttemptPermit::Allowed);
        assert_eq!(fail(&mut ledger, 1, HOUR), AttemptPermit::SuspendedUntil(Time(25 * HOUR)));
        assert_eq!(ledger.check("other", Time(HOUR)), AttemptPermit::Allowed);
        assert_eq!(ledger.check("id", Time(25 * HOUR - 1)), AttemptPermit::SuspendedUntil(Time(25 * HOUR)));
        assert_eq!(ledger.check("id", Time(25 * HOUR)), AttemptPermit::Allowed);
    }

    #[test]
    fn the_second_suspension_lasts_until_it_is_resumed() {
        let mut ledger = AttemptLedger::default();
        fail(&mut ledger, 3, 0);
        assert_eq!(fail(&mut ledger, 2, 30 * HOUR), AttemptPermit::Allowed);
        assert_eq!(fail(&mut ledger, 1, 30 * HOUR), AttemptPermit::SuspendedUntilResumed);
        let much_later = Time(100_000 * HOUR);
        ledger.prune(much_later);
        assert_eq!(ledger.list_suspended(much_later), [("id", AttemptPermit::SuspendedUntilResumed)]);
        assert!(ledger.resume("id", much_later));
        assert!(!ledger.resume("id", much_later));
        assert_eq!(fail(&mut ledger, 2, 100_000 * HOUR), AttemptPermit::Allowed);
    }

    #[test]
    fn a_success_forgets_the_attempts() {
        let mut ledger = AttemptLedger::default();
        fail(&mut ledger, 2, 0);
        ledger.record_success("id");
        assert_eq!(fail(&mut ledger, 2, 1), AttemptPermit::Allowed);
        ledger.prune(Time(91 * 24 * HOUR));
        assert_eq!(ledger, AttemptLedger::default());
    }

    #[test]
    fn the_ledger_keeps_its_stored_form() {
        let mut ledger = AttemptLedger::default();
        fail(&mut ledger, 1, 7);
        let text = serde_json::to_string(&ledger).unwrap();
        assert_eq!(
            text,
            r#"{"id":{"attempts":1,"suspensions":0,"last_attempt_ms":7,"suspended_until_ms":null}}"#
        );
        assert_eq!(serde_json::from_str::<AttemptLedger>(&text).unwrap(), ledger);
        assert!(serde_json::from_str::<AttemptLedger>(r#"{"id":{"attempts":"1"}}"#).is_err());
    }

    proptest! {
        #[test]
        fn a_problem_is_tried_at_most_six_times_without_its_owner(
            steps in prop::collection::vec(0_i64..72, 0..80),
            limit in 1_u32..=3,
        ) {
            let (mut ledger, mut now, mut attempts) = (AttemptLedger::default(), 0, 0);
            for hours in steps {
                now += hours * HOUR;
                if ledger.check("id", Time(now)) == AttemptPermit::Allowed {
                    attempts += 1;
                    ledger.record_failure("id", limit, Time(now));
                }
            }
            prop_assert!(attempts <= 2 * limit);
        }
    }
}
