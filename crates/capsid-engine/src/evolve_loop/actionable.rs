//! Whether there is anything for an agent to do. The loop decides this before it starts a run, so that a quiet repository
//! costs nothing.

use crate::cycle::observation::{Observation, Sources};
use capsid_model::event::EvolutionEvent;
use capsid_model::hash::sha256_hex;
use capsid_model::signal::{fold, signal_key};
use capsid_rules::diagnosis::{Diagnostic, parse_errsig};
use capsid_rules::learning::suspension::AttemptPermit;

/// Signals that ask for a repair, for inputs in which no diagnosis names the problem.
const ERROR_SIGNALS: [&str; 2] = ["errsig", "log_error"];
/// Signals with the words of a user who asks for something.
const REQUEST_SIGNALS: [&str; 2] = ["user_feature_request", "user_improvement_suggestion"];

/// What a cycle would be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkKind {
    /// A problem that a log shows.
    Problem,
    /// Something that the user asked for and no success answered.
    Request,
}

/// Something that a cycle could work on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkItem {
    pub kind: WorkKind,
    /// The message id of a problem, or the hash of a request.
    pub id: String,
    /// What it is, in one line.
    pub text: String,
}

impl WorkItem {
    fn from_diagnostic(problem: &Diagnostic) -> Self {
        let place = problem.place.as_deref().map_or(String::new(), |place| format!(" in {place}"));
        let code = problem.code.as_deref().map_or(String::new(), |code| format!("{code} "));
        let text = format!("{code}{}{place}", problem.text);
        Self { kind: WorkKind::Problem, id: problem.ids().message, text }
    }
}

/// All that the decision depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionFacts<'a> {
    pub work: Option<&'a WorkItem>,
    /// Whether earlier attempts allow another one.
    pub permit: AttemptPermit,
    /// Whether a reproduction of the problem passes already.
    pub is_resolved: bool,
    /// Whether the owner lets the loop begin something that nobody asked for.
    pub may_innovate: bool,
}

/// Why there is nothing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdleReason {
    NothingSeen,
    AlreadyResolved(String),
    Suspended { work: WorkItem, permit: AttemptPermit },
}

impl IdleReason {
    /// Whether no live problem is left.
    pub fn is_clean(&self) -> bool {
        !matches!(self, Self::Suspended { work, .. } if work.kind == WorkKind::Problem)
    }

    /// The reason in one line, with what to do where there is something to do.
    pub fn describe(&self) -> String {
        match self {
            Self::NothingSeen => "nothing to do".to_owned(),
            Self::AlreadyResolved(text) => format!("`{text}` is already resolved"),
            Self::Suspended { work, permit } => {
                let until = match permit {
                    AttemptPermit::SuspendedUntil(time) => format!("until {}", time.iso()),
                    _ => "until you resume it".to_owned(),
                };
                let (id, text) = (&work.id, &work.text);
                format!(
                    "`{text}` is suspended {until} after repeated failures: look at it yourself, or run `capsid loop resume {id}`"
                )
            }
        }
    }
}

/// Whether an agent may be called: for a live problem that is not suspended, or for a request that nobody answered.
pub fn is_actionable(facts: &ActionFacts<'_>) -> Result<(), IdleReason> {
    let Some(work) = facts.work else {
        return if facts.may_innovate { Ok(()) } else { Err(IdleReason::NothingSeen) };
    };
    if facts.is_resolved {
        return Err(IdleReason::AlreadyResolved(work.text.clone()));
    }
    match facts.permit {
        AttemptPermit::Allowed => Ok(()),
        permit => Err(IdleReason::Suspended { work: work.clone(), permit }),
    }
}

/// What an observation gives to work on: a problem before a request.
pub fn find_work(seen: &Observation, sources: &Sources) -> Option<WorkItem> {
    if let Some(problem) = &seen.diagnosis.problem {
        return Some(WorkItem::from_diagnostic(problem));
    }
    find_error_signal(&seen.signals).or_else(|| find_request(&seen.signals, sources, &seen.history))
}

/// An error that only signals show: the user named them, or an older reader found them.
fn find_error_signal(signals: &[String]) -> Option<WorkItem> {
    if !signals.iter().any(|signal| ERROR_SIGNALS.contains(&fold(signal))) {
        return None;
    }
    let named = signals.iter().find(|signal| signal.starts_with("errsig:"));
    let parsed = named.and_then(|signal| parse_errsig(signal));
    Some(match parsed {
        Some(problem) => WorkItem::from_diagnostic(&problem),
        None => {
            let key = signal_key(signals);
            WorkItem { kind: WorkKind::Problem, id: hash_text(&key), text: key }
        }
    })
}

fn find_request(signals: &[String], sources: &Sources, history: &[EvolutionEvent]) -> Option<WorkItem> {
    let is_answered = |signal: &String| {
        history.iter().any(|event| event.outcome.is_success() && event.signals.contains(signal))
    };
    let is_request =
        |signal: &&String| REQUEST_SIGNALS.contains(&fold(signal)) || sources.signals.contains(signal);
    let open = signals.iter().filter(is_request).find(|signal| !is_answered(signal))?;
    Some(WorkItem { kind: WorkKind::Request, id: hash_text(open), text: open.clone() })
}

fn hash_text(text: &str) -> String {
    sha256_hex(text.as_bytes()).chars().take(16).collect()
}

#[cfg(test)]
#[path = "actionable_tests.rs"]
mod tests;
