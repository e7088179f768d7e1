//! The two sets of rules that are compared: ours, and those of the reference engine.

use super::corpus::LabelledLog;
use capsid_engine::signals::SignalCorpus;
use capsid_engine::signals::reference::extract;
use capsid_model::event::EvolutionEvent;
use capsid_model::signal::normalise_errsig;
use capsid_rules::diagnosis::diagnose;

/// Of a longer log the reference engine read the end only.
const REFERENCE_BYTES: usize = 200_000;

/// What rules read from a log.
#[derive(Default)]
pub struct LogReading {
    /// Whether an error came out.
    pub has_error: bool,
    /// Logs with the same value show the same message.
    pub message: Option<String>,
    /// What the rules call it, for people.
    pub shown: String,
    /// Everything that must stay if the log only looks different.
    pub ids: Vec<String>,
    /// tool, code, class, test and place; nothing where the rules know no such fields.
    pub fields: Option<[Option<String>; 5]>,
}

/// Rules that read a log.
pub trait SignalRules: Sync {
    fn read_log(&self, log: &str) -> LogReading;
}

/// The rules of `capsid_rules::diagnosis`.
pub struct DiagnosisRules;

impl SignalRules for DiagnosisRules {
    fn read_log(&self, log: &str) -> LogReading {
        let Some(problem) = diagnose(log).problem else { return LogReading::default() };
        let ids = problem.ids();
        LogReading {
            has_error: true,
            message: Some(ids.message.clone()),
            shown: problem.errsig(),
            ids: vec![ids.exact, ids.message, ids.site, ids.template],
            fields: Some([
                Some(problem.tool),
                problem.code,
                Some(problem.class.as_str().to_owned()),
                problem.test,
                problem.place,
            ]),
        }
    }
}

/// The extraction of the reference engine.
pub struct ReferenceRules;

impl SignalRules for ReferenceRules {
    fn read_log(&self, log: &str) -> LogReading {
        let signals = read_reference_signals(log, &[]);
        let message = signals.iter().find_map(|signal| normalise_errsig(signal));
        LogReading {
            has_error: signals.iter().any(|signal| signal == "log_error" || signal.starts_with("errsig:")),
            shown: signals.into_iter().find(|signal| signal.starts_with("errsig:")).unwrap_or_default(),
            ids: message.iter().cloned().collect(),
            message,
            fields: None,
        }
    }
}

/// The signals that the reference engine reads from a log, in the light of its history.
pub fn read_reference_signals(log: &str, history: &[EvolutionEvent]) -> Vec<String> {
    let mut start = log.len().saturating_sub(REFERENCE_BYTES);
    while !log.is_char_boundary(start) {
        start += 1;
    }
    let transcript = log.get(start..).unwrap_or_default().to_owned();
    extract(&SignalCorpus { transcript, ..SignalCorpus::default() }, history)
}

/// The fields of a label, in the order of a reading.
pub fn label_fields(label: &LabelledLog) -> [(&'static str, Option<&str>); 5] {
    [
        ("tool", label.tool.as_deref()),
        ("code", label.code.as_deref()),
        ("class", label.class.as_deref()),
        ("test", label.test.as_deref()),
        ("place", label.place.as_deref()),
    ]
}
