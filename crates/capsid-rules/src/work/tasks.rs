//! The life of a task: which state follows which, who may take it, and by when it is done.

use capsid_model::text_enum;
use serde::Serialize;

const MINUTE_MS: i64 = 60_000;
/// A promise to be done is at least so far ahead.
pub const SHORTEST_PROMISE_MS: i64 = 5 * MINUTE_MS;
/// And at most so far.
pub const MAX_PROMISE_MS: i64 = 24 * 60 * MINUTE_MS;
/// How often a promise may be put off.
pub const MAX_EXTENSIONS: i64 = 2;
/// The reputation it takes to merge what solvers found.
pub const AGGREGATOR_REPUTATION: f64 = 60.0;

/// How a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum TaskStatus {
    /// Anybody who is good enough may take it.
    Open,
    /// A node works on it.
    Claimed,
    Completed,
    Expired,
    /// Whoever asked took it back.
    Cancelled,
}

text_enum!(TaskStatus {
    Open = "open",
    Claimed = "claimed",
    Completed = "completed",
    Expired = "expired",
    Cancelled = "cancelled",
});

/// What a part of a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SwarmRole))]
pub enum SubtaskRole {
    Solver,
    /// Merges what the solvers found.
    Aggregator,
}

text_enum!(SubtaskRole {
    Solver = "solver",
    Aggregator = "aggregator",
});

/// How a task stands, as far as its next state depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskState {
    pub status: TaskStatus,
    /// Whether it is a part of another task.
    pub is_part: bool,
    /// Whether it was cut into parts.
    pub is_decomposed: bool,
}

/// What happens to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskEvent {
    Claim,
    /// The node gives it back.
    Release,
    /// The node did not keep its promise.
    Overdue,
    /// The node was banned, and will never hand anything in.
    Ban,
    /// The node hands something in.
    Complete,
    /// The parts of it were merged and handed in.
    Merge,
    /// An admin takes something that was published for what solves it.
    Match,
    Expire,
    /// Whoever asked takes it back.
    Cancel,
    Withdraw,
    /// Whoever asked does not take what was handed in.
    Reject,
}

/// Why a step cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskRefusal {
    NotOpen,
    NotClaimed,
    /// Others wait for this part, or it has parts that others work on.
    NotReleasable,
    /// Its parts have to be completed instead.
    IsDecomposed,
    NotCompleted,
    Over,
}

/// The status after a step.
pub fn step(task: TaskState, step: TaskEvent) -> Result<TaskStatus, TaskRefusal> {
    use TaskStatus::{Cancelled, Claimed, Completed, Expired, Open};
    match (step, task.status) {
        (TaskEvent::Claim, Open) => Ok(Claimed),
        (TaskEvent::Claim, _) => Err(TaskRefusal::NotOpen),
        (TaskEvent::Release | TaskEvent::Overdue, Claimed) if task.is_part || task.is_decomposed => {
            Err(TaskRefusal::NotReleasable)
        }
        (TaskEvent::Ban, Claimed) if task.is_decomposed => Err(TaskRefusal::IsDecomposed),
        (TaskEvent::Release | TaskEvent::Overdue | TaskEvent::Ban, Claimed) => Ok(Open),
        (TaskEvent::Complete, Claimed) if task.is_decomposed => Err(TaskRefusal::IsDecomposed),
        (TaskEvent::Complete, Claimed) => Ok(Completed),
        (TaskEvent::Merge, Claimed) if task.is_decomposed => Ok(Completed),
        (
            TaskEvent::Release | TaskEvent::Overdue | TaskEvent::Ban | TaskEvent::Complete | TaskEvent::Merge,
            _,
        ) => Err(TaskRefusal::NotClaimed),
        (TaskEvent::Match, Open | Claimed) if task.is_part || task.is_decomposed => {
            Err(TaskRefusal::IsDecomposed)
        }
        (TaskEvent::Match, Open | Claimed) => Ok(Completed),
        (TaskEvent::Match, _) => Err(TaskRefusal::Over),
        (TaskEvent::Expire, Open | Claimed) => Ok(Expired),
        (TaskEvent::Expire, _) => Err(TaskRefusal::Over),
        (TaskEvent::Cancel, Open) | (TaskEvent::Withdraw, Open | Claimed) => Ok(Cancelled),
        (TaskEvent::Cancel, _) => Err(TaskRefusal::NotOpen),
        (TaskEvent::Withdraw, _) => Err(TaskRefusal::Over),
        // The parts of it are still there, so it waits for them to be merged again.
        (TaskEvent::Reject, Completed) if task.is_decomposed => Ok(Claimed),
        (TaskEvent::Reject, Completed) => Ok(Open),
        (TaskEvent::Reject, _) => Err(TaskRefusal::NotCompleted),
    }
}

/// What an amount asks of whoever wants to earn it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RewardRequirement {
    /// From so many milli-credits up.
    pub amount: i64,
    pub reputation: f64,
}

/// The reputation that a task takes: what was asked for, what its amount asks for, and what its role always does.
pub fn min_reputation(
    asked: f64,
    amount: i64,
    gates: &[RewardRequirement],
    role: Option<SubtaskRole>,
) -> f64 {
    let by_amount = gates.iter().filter(|gate| amount >= gate.amount).map(|gate| gate.reputation);
    let by_role = if role == Some(SubtaskRole::Aggregator) { AGGREGATOR_REPUTATION } else { 0.0 };
    by_amount.fold(asked.max(by_role), f64::max)
}

/// How much there is to a task, from 0 to 1, as far as its text tells: by how many signals it has, with commas between
/// them, and by how many words.
pub fn complexity(title: &str, body: &str, signals: &str) -> f64 {
    const MANY_SIGNALS: usize = 8;
    const MANY_WORDS: usize = 15;
    let signals = signals.split(',').filter(|signal| !signal.trim().is_empty()).take(MANY_SIGNALS).count();
    let words = title.split_whitespace().chain(body.split_whitespace()).take(MANY_WORDS).count();
    let score = 0.6 * signals as f64 / MANY_SIGNALS as f64 + 0.4 * words as f64 / MANY_WORDS as f64;
    (score * 100.0).round() / 100.0
}

/// Whether one of a task's signals, with commas between them, is among those that a node has worked on. A task without
/// signals is about anything.
pub fn shares_signal<'a>(task: &str, known: impl IntoIterator<Item = &'a str>) -> bool {
    let plain = |signal: &str| signal.trim().to_lowercase().replace([' ', '-'], "_");
    let wanted: Vec<String> = task.split(',').map(plain).filter(|signal| !signal.is_empty()).collect();
    wanted.is_empty() || known.into_iter().any(|signal| wanted.contains(&plain(signal)))
}

/// What is wrong with a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitmentError {
    /// It lies less than five minutes ahead.
    TooSoon,
    /// It lies more than a day ahead.
    TooLate,
    /// The task is over before.
    AfterExpiry,
    /// It was put off twice already.
    PutOffTooOften,
}

/// Checks by when a node promises to be done. All times are milliseconds.
pub fn check_promise(deadline: i64, expires_at: i64, now: i64) -> Result<(), CommitmentError> {
    let ahead = deadline.saturating_sub(now);
    if ahead < SHORTEST_PROMISE_MS {
        return Err(CommitmentError::TooSoon);
    }
    if ahead > MAX_PROMISE_MS {
        return Err(CommitmentError::TooLate);
    }
    if deadline > expires_at { Err(CommitmentError::AfterExpiry) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: [TaskEvent; 11] = [
        TaskEvent::Claim,
        TaskEvent::Release,
        TaskEvent::Overdue,
        TaskEvent::Ban,
        TaskEvent::Complete,
        TaskEvent::Merge,
        TaskEvent::Match,
        TaskEvent::Expire,
        TaskEvent::Cancel,
        TaskEvent::Withdraw,
        TaskEvent::Reject,
    ];

    fn all() -> impl Iterator<Item = (TaskState, TaskEvent)> {
        let standings = TaskStatus::ALL.into_iter().flat_map(|status| {
            [(false, false), (true, false), (false, true)].map(|(is_part, is_decomposed)| TaskState {
                status,
                is_part,
                is_decomposed,
            })
        });
        standings.flat_map(|standing| STEPS.map(|step| (standing, step)))
    }

    #[test]
    fn what_is_over_stays_over() {
        for (standing, what) in all() {
            if matches!(standing.status, TaskStatus::Expired | TaskStatus::Cancelled) {
                assert!(step(standing, what).is_err(), "{standing:?} {what:?}");
            }
        }
    }

    #[test]
    fn a_part_is_never_given_back_but_by_one_who_was_banned() {
        for (standing, what) in all().filter(|(standing, _)| standing.is_part || standing.is_decomposed) {
            if what == TaskEvent::Ban && standing.status == TaskStatus::Claimed {
                let after =
                    if standing.is_part { Ok(TaskStatus::Open) } else { Err(TaskRefusal::IsDecomposed) };
                assert_eq!(step(standing, what), after);
            } else if standing.status == TaskStatus::Claimed {
                assert_ne!(step(standing, what), Ok(TaskStatus::Open), "{standing:?} {what:?}");
            }
        }
    }

    #[test]
    fn every_state_that_waits_can_expire() {
        for status in [TaskStatus::Open, TaskStatus::Claimed] {
            let standing = TaskState { status, is_part: false, is_decomposed: false };
            assert_eq!(step(standing, TaskEvent::Expire), Ok(TaskStatus::Expired));
        }
    }

    #[test]
    fn a_whole_is_completed_by_its_parts() {
        let whole = TaskState { status: TaskStatus::Claimed, is_part: false, is_decomposed: true };
        assert_eq!(step(whole, TaskEvent::Complete), Err(TaskRefusal::IsDecomposed));
        assert_eq!(step(whole, TaskEvent::Merge), Ok(TaskStatus::Completed));
        let plain = TaskState { is_decomposed: false, ..whole };
        assert_eq!(step(plain, TaskEvent::Merge), Err(TaskRefusal::NotClaimed));
    }

    #[test]
    fn gates_add_up_to_the_highest() {
        let gates = [(10_000, 65.0), (5_000, 40.0), (1_000, 20.0)]
            .map(|(amount, reputation)| RewardRequirement { amount, reputation });
        for (asked, amount, role, need) in [
            (0.0, 999, None, 0.0),
            (0.0, 1_000, None, 20.0),
            (30.0, 1_000, None, 30.0),
            (0.0, 50_000, None, 65.0),
            (0.0, 0, Some(SubtaskRole::Aggregator), 60.0),
            (0.0, 0, Some(SubtaskRole::Solver), 0.0),
        ] {
            assert_eq!(min_reputation(asked, amount, &gates, role), need);
        }
        assert_eq!(min_reputation(0.0, 1_000_000, &[], None), 0.0);
    }

    #[test]
    fn much_text_and_many_signals_make_a_task_complex() {
        let long = "word ".repeat(1000);
        for (title, body, signals, score) in [
            ("", "", "", 0.0),
            ("Mend it", "", "", 0.05),
            ("Mend it", "", "TimeoutError, ,retry,", 0.2),
            ("One two three", &long, "", 0.4),
            ("", "", "a,b,c,d,e,f,g,h,i,j", 0.6),
            ("Mend", &long, "a,b,c,d,e,f,g,h,i,j", 1.0),
        ] {
            assert_eq!(complexity(title, body, signals), score, "{title} {signals}");
        }
    }

    #[test]
    fn a_promise_lies_between_five_minutes_and_a_day_and_before_the_end() {
        let (now, end) = (1_000_000, 1_000_000 + 48 * 3_600_000);
        assert_eq!(check_promise(now + SHORTEST_PROMISE_MS, end, now), Ok(()));
        assert_eq!(check_promise(now + MAX_PROMISE_MS, end, now), Ok(()));
        assert_eq!(check_promise(now + SHORTEST_PROMISE_MS - 1, end, now), Err(CommitmentError::TooSoon));
        assert_eq!(check_promise(i64::MIN, end, now), Err(CommitmentError::TooSoon));
        assert_eq!(check_promise(now + MAX_PROMISE_MS + 1, end, now), Err(CommitmentError::TooLate));
        assert_eq!(check_promise(now + 600_000, now + 599_999, now), Err(CommitmentError::AfterExpiry));
    }
}
