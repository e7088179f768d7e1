//! Signals that a phrase in the text gives, whatever the problem is.

use super::pattern::SignalPattern;
use super::requests::{self, RequestKind};
use super::tally::SignalTally;

/// Signals that a plain phrase in the lowercase text gives.
const MISSING: [(&str, &[&str]); 5] = [
    ("memory_missing", &["memory.md missing"]),
    ("user_missing", &["user.md missing"]),
    ("integration_key_missing", &["key missing"]),
    ("session_logs_missing", &["no session logs found", "no jsonl files"]),
    ("path_outside_workspace", &["path.resolve(__dirname, '../../../"]),
];

static UNSUPPORTED_INPUT: SignalPattern =
    SignalPattern::new(r"unsupported mime|unsupported[^\r\n]*type|invalid[^\r\n]*mime");

static PERF_BOTTLENECK: SignalPattern = SignalPattern::new(
    r"(?-u:\b)(?:slow|timeout|time out|timed out|latency|bottleneck|took too long|performance issue|high cpu|high memory|oom|out of memory)(?-u:\b)",
);

static CAPABILITY_GAP: SignalPattern = SignalPattern::new(
    r"(?-u:\b)(?:not supported|cannot|doesn'?t support|no way to|missing feature|unsupported|not available|not implemented|no support for)(?-u:\b)",
);

static TOOL: SignalPattern = SignalPattern::new(r"\[TOOL:[\s\u{feff}]*([A-Za-z0-9_-]+)\]");

/// A skill that checks its own installation runs this before each use; it says nothing about the work.
static ENSURE: SignalPattern = SignalPattern::new(r"exec: node[\s\u{feff}]+[^\s]+\.js[\s\u{feff}]+ensure");

/// Uses of one tool from which on it is called heavily used.
const HIGH_USAGE: usize = 10;
/// Uses of `exec` from which on it is called repeated.
const REPEATED_EXEC: usize = 5;

/// Inputs that are absent, and other phrases of the set-up.
pub(super) fn add_missing(lower: &str, signals: &mut Vec<String>) {
    for (signal, phrases) in MISSING {
        if phrases.iter().any(|phrase| lower.contains(phrase)) {
            signals.push(signal.to_owned());
        }
    }
}

pub(super) fn add_protocol_drift(lower: &str, signals: &mut Vec<String>) {
    if lower.contains("prompt") && !lower.contains("evolutionevent") {
        signals.push("protocol_drift".to_owned());
    }
}

pub(super) fn add_unsupported_input(lower: &str, signals: &mut Vec<String>) {
    if UNSUPPORTED_INPUT.is_in(lower) {
        signals.push("unsupported_input_type".to_owned());
    }
}

/// What the user asks for. An improvement waits while there is an error.
pub(super) fn add_requests(text: &str, has_error: bool, signals: &mut Vec<String>) {
    add_request(text, RequestKind::Feature, "user_feature_request", signals);
    if !has_error {
        add_request(text, RequestKind::Improvement, "user_improvement_suggestion", signals);
    }
}

/// What an instruction of the user asks for, unless a request was found already.
pub(super) fn add_instruction(text: &str, signals: &mut Vec<String>) {
    if signals.iter().any(|signal| signal == "user_feature_request") {
        return;
    }
    if let Some(snippet) = requests::find_instruction(text) {
        signals.push("user_feature_request".to_owned());
        signals.push(format!("user_feature_request:{snippet}"));
    }
}

/// What is slow, and what cannot be done. Where there is a problem, `cannot` belongs to its message.
pub(super) fn add_opportunities(lower: &str, has_problem: bool, signals: &mut Vec<String>) {
    if PERF_BOTTLENECK.is_in(lower) {
        signals.push("perf_bottleneck".to_owned());
    }
    if !has_problem && CAPABILITY_GAP.is_in(lower) && !lacks_context(signals) {
        signals.push("capability_gap".to_owned());
    }
}

/// Existing genes and keys know the bare name; the snippet tells what is wished. Both are given.
fn add_request(text: &str, kind: RequestKind, name: &str, signals: &mut Vec<String>) {
    if let Some(snippet) = requests::snippet(text, kind) {
        signals.push(name.to_owned());
        signals.push(format!("{name}:{snippet}"));
    }
}

/// Without memory, user file or sessions, "cannot" says more about the set-up than about a capability.
fn lacks_context(signals: &[String]) -> bool {
    ["memory_missing", "user_missing", "session_logs_missing"]
        .iter()
        .any(|missing| signals.iter().any(|signal| signal == missing))
}

pub(super) fn add_tool_usage(text: &str, signals: &mut Vec<String>) {
    let names = TOOL.captures_all(text).filter_map(|tool| tool.get(1));
    let tally = SignalTally::from_iter(names.map(|name| name.as_str()));
    let ensured = ENSURE.find_all(text).count();
    let mut exec = 0;
    for &(name, count) in tally.iter() {
        let count = if name == "exec" {
            exec = count.saturating_sub(ensured);
            exec
        } else {
            count
        };
        if count >= HIGH_USAGE {
            signals.push(format!("high_tool_usage:{name}"));
        }
    }
    if exec >= REPEATED_EXEC {
        signals.push("repeated_tool_usage:exec".to_owned());
    }
}

#[cfg(test)]
pub(super) fn patterns() -> [&'static SignalPattern; 5] {
    [&UNSUPPORTED_INPUT, &PERF_BOTTLENECK, &CAPABILITY_GAP, &TOOL, &ENSURE]
}
