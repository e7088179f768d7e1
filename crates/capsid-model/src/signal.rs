//! Signals: names of what was seen. How they are folded, keyed and told apart.

use crate::hash::stable_hash;
use crate::text::{cut, trim};
use regex::Regex;
use std::sync::LazyLock;

/// What a key holds when there is no signal at all.
pub const NO_SIGNALS: &str = "(none)";

/// Signals that only say that an input was absent. They are kept, but match nothing while others exist.
pub const COSMETIC: [&str; 4] =
    ["user_missing", "memory_missing", "session_logs_missing", "windows_shell_incompatible"];

/// What stands before the id of a problem in a learning key.
pub const PROBLEM_PREFIX: &str = "problem:";

/// Names of signals that steer the engine itself.
const CONTROL_PREFIXES: [&str; 6] = [
    "ban_gene:",
    "force_",
    "safety:",
    "consecutive_failure_streak_",
    "failure_loop_detected",
    "high_failure_ratio",
];

/// Whether a signal only says that an input was absent.
pub fn is_cosmetic(signal: &str) -> bool {
    COSMETIC.contains(&signal)
}

/// Whether a signal steers the engine. Such a signal never matches a pattern: `ban_gene:gene_repair_errors` must
/// not select the very gene it bans because the gene's pattern is `error`.
pub fn is_control(signal: &str) -> bool {
    CONTROL_PREFIXES.iter().any(|prefix| signal.starts_with(prefix))
}

/// The signals that patterns are matched against: no control signals, and cosmetic ones only when nothing else is.
pub fn matchable(signals: &[String]) -> Vec<&str> {
    let real: Vec<&str> = signals.iter().map(String::as_str).filter(|s| !is_control(s)).collect();
    let actionable: Vec<&str> = real.iter().copied().filter(|s| !is_cosmetic(s)).collect();
    if actionable.is_empty() { real } else { actionable }
}

/// The genes that control signals ban.
pub fn banned_genes(signals: &[String]) -> impl Iterator<Item = &str> {
    signals.iter().filter_map(|signal| signal.strip_prefix("ban_gene:"))
}

/// An error text without what differs from run to run: paths, hex words, numbers, case and spacing.
pub fn normalise_error(text: &str) -> String {
    static STEPS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        [
            (r"(?-u:\b)[a-z]:\\[^\s]+", "<path>"),
            (r"/[^\s]+", "<path>"),
            (r"(?-u:\b0x[0-9a-f]+\b)", "<hex>"),
            (r"(?-u:\b[0-9]+\b)", "<n>"),
            (r"[\s\u{feff}]+", " "),
        ]
        .into_iter()
        .filter_map(|(pattern, with)| Regex::new(pattern).ok().map(|regex| (regex, with)))
        .collect()
    });
    let mut text = trim(text).to_lowercase();
    for (pattern, with) in STEPS.iter() {
        if let std::borrow::Cow::Owned(changed) = pattern.replace_all(&text, *with) {
            text = changed;
        }
    }
    cut(&text, 220).to_owned()
}

/// The short name of an error signature, such as `errsig_norm:870c3a82`; nothing for an empty one.
pub fn normalise_errsig(signal: &str) -> Option<String> {
    let text = signal.strip_prefix("errsig:")?;
    let normal = normalise_error(text);
    (!normal.is_empty()).then(|| format!("errsig_norm:{}", stable_hash(&normal)))
}

/// The key of a set of signals: error signatures normalised, duplicates dropped, sorted, joined by `|`.
pub fn signal_key<S: AsRef<str>>(signals: &[S]) -> String {
    key_of(signals.iter().filter_map(|signal| {
        let signal = trim(signal.as_ref());
        if signal.starts_with("errsig:") { normalise_errsig(signal) } else { Some(signal.to_owned()) }
    }))
}

/// The key that learning uses: snippets and counters folded away and control signals left out, so that the same
/// situation has the same key next time. The id of a problem stands in place of its signature.
pub fn learning_key<S: AsRef<str>>(signals: &[S]) -> String {
    let mut parts = folded(signals);
    if parts.iter().any(|part| part.starts_with(PROBLEM_PREFIX)) {
        parts.retain(|part| !part.starts_with("errsig_norm:"));
    }
    key_of(parts)
}

/// The signals that learning uses: those that were seen, and the id of the problem if there is one.
pub fn with_problem(signals: &[String], message_id: Option<&str>) -> Vec<String> {
    let problem = message_id.map(|id| format!("{PROBLEM_PREFIX}{id}"));
    signals.iter().cloned().chain(problem).collect()
}

/// The parts of the learning key.
pub fn folded<S: AsRef<str>>(signals: &[S]) -> Vec<String> {
    signals
        .iter()
        .filter_map(|signal| {
            let signal = trim(signal.as_ref());
            if signal.starts_with("errsig:") {
                return normalise_errsig(signal);
            }
            (!is_control(signal)).then(|| fold(signal).to_owned())
        })
        .collect()
}

/// A signal without its snippet or counter: `user_feature_request:dark mode` becomes `user_feature_request`.
pub fn fold(signal: &str) -> &str {
    const SNIPPETS: [&str; 2] = ["user_feature_request", "user_improvement_suggestion"];
    if signal.starts_with("errsig:") {
        return "errsig";
    }
    if signal.starts_with("recurring_errsig") {
        return "recurring_errsig";
    }
    SNIPPETS
        .into_iter()
        .find(|name| signal.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')))
        .unwrap_or(signal)
}

fn key_of(parts: impl IntoIterator<Item = String>) -> String {
    let mut parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
    parts.dedup();
    if parts.is_empty() { NO_SIGNALS.to_owned() } else { parts.join("|") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED_ERRSIG: &str = "errsig:**TOOLRESULT**: { \"status\": \"error\", \"tool\": \"exec\", \"error\": \"error: unknown command 'process'\\n\\nCommand exited with code 1\" }";

    #[test]
    fn the_keys_of_existing_events_come_out() {
        let signals =
            ["log_error", SEED_ERRSIG, "user_missing", "windows_shell_incompatible", "perf_bottleneck"];
        assert_eq!(
            signal_key(&signals),
            "errsig_norm:870c3a82|log_error|perf_bottleneck|user_missing|windows_shell_incompatible"
        );
        assert_eq!(
            signal_key(&["user_feature_request", "user_missing"]),
            "user_feature_request|user_missing"
        );
        assert_eq!(signal_key(&["errsig:Error: boom at /a/b.js:10"]), "errsig_norm:a7f34f18");
        assert_eq!(
            signal_key(&["errsig:TypeError: x at C:\\Users\\me\\a.js line 42"]),
            "errsig_norm:4fdb6891"
        );
        assert_eq!(signal_key(&["errsig:code 0xDEADBEEF   at  99"]), "errsig_norm:3b5dbefe");
        assert_eq!(signal_key(&["errsig:"]), "(none)");
        assert_eq!(signal_key::<&str>(&[]), "(none)");
        assert_eq!(signal_key(&["b", "a", "b"]), "a|b");
        assert_eq!(signal_key(&["errsig:错误：文件 /tmp/一.txt 123"]), "errsig_norm:79e0cd57");
        assert_eq!(signal_key(&[format!("errsig:{}", "x".repeat(300))]), "errsig_norm:a7e2beb5");
    }

    #[test]
    fn learning_keys_repeat_when_only_the_wording_changed() {
        let first = ["user_feature_request:add a dark mode", "recurring_errsig(3x):boom", "ban_gene:x"];
        let second = ["user_feature_request:add a light mode", "recurring_errsig(9x):bang"];
        assert_eq!(learning_key(&first), learning_key(&second));
    }

    #[test]
    fn a_problem_keys_what_was_learned_in_place_of_its_signature() {
        let seen = ["log_error".to_owned(), "errsig:Error: boom".to_owned()];
        assert_eq!(learning_key(&with_problem(&seen, Some("00ff"))), "log_error|problem:00ff");
        assert_eq!(with_problem(&seen, None), seen);
        assert!(learning_key(&seen).starts_with("errsig_norm:"), "older records keep their keys");
    }

    #[test]
    fn control_signals_match_nothing_and_cosmetic_ones_only_alone() {
        let list = |names: &[&str]| names.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        assert_eq!(matchable(&list(&["ban_gene:g_error", "log_error", "user_missing"])), ["log_error"]);
        assert_eq!(matchable(&list(&["user_missing", "force_steady_state"])), ["user_missing"]);
        let signals = list(&["ban_gene:g1", "log_error"]);
        assert_eq!(banned_genes(&signals).collect::<Vec<_>>(), ["g1"]);
    }
}
