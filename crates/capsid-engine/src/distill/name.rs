//! The id of a distilled gene: it describes what the gene does, and is unique. Pure.

use capsid_model::hash::stable_hash;
use std::collections::HashSet;

const PREFIX: &str = "gene_distilled_";

/// Names of the tools that models put where the name of the deed belongs.
const EDITORS: [&str; 8] =
    ["cursor", "vscode", "windsurf", "copilot", "claude", "codex", "cline", "jetbrains"];

/// A good and unused id, as near to the given one as it can be.
pub fn distilled_id(name: &str, signals: &[String], existing_ids: &HashSet<String>) -> String {
    let rest = slug(name.strip_prefix(PREFIX).unwrap_or(name));
    let rest = if is_meaningful(&rest) { rest } else { from_signals(signals) };
    let first = format!("{PREFIX}{rest}");
    let mut id = first.clone();
    let mut number = 2;
    while existing_ids.contains(&id) {
        id = format!("{first}_{number}");
        number += 1;
    }
    id
}

fn is_meaningful(rest: &str) -> bool {
    let letters = rest.chars().filter(char::is_ascii_alphabetic).count();
    let digits = rest.chars().take_while(char::is_ascii_digit).count();
    letters >= 6 && digits < 10 && !EDITORS.contains(&rest)
}

fn from_signals(signals: &[String]) -> String {
    let words = slug(&signals.iter().take(3).cloned().collect::<Vec<_>>().join("_"));
    if is_meaningful(&words) { words } else { format!("signals_{}", stable_hash(&signals.join("|"))) }
}

/// Lowercase letters, digits and single underscores, at most 60 of them.
fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        if out.len() == 60 {
            break;
        }
    }
    out.trim_end_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> String {
        let signals = ["log_error".to_owned(), "timeout".to_owned()];
        distilled_id(name, &signals, &HashSet::new())
    }

    #[test]
    fn a_telling_name_is_kept_and_prefixed() {
        assert_eq!(id("gene_distilled_retry-with-backoff"), "gene_distilled_retry_with_backoff");
        assert_eq!(id("Guard Null Input"), "gene_distilled_guard_null_input");
    }

    #[test]
    fn names_that_say_nothing_are_made_from_the_signals() {
        for name in ["", "12345", "1770477654236_retry_loop", "cursor", "gene_distilled_abc"] {
            assert_eq!(id(name), "gene_distilled_log_error_timeout", "{name:?}");
        }
        let odd = distilled_id("x", &["错误".to_owned()], &HashSet::new());
        assert_eq!(odd, format!("gene_distilled_signals_{}", stable_hash("错误")));
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let existing_ids = HashSet::from(["gene_distilled_retry_once".to_owned()]);
        assert_eq!(distilled_id("retry_once", &[], &existing_ids), "gene_distilled_retry_once_2");
    }
}
