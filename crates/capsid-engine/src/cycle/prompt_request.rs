//! What a cycle without a problem is about: the words of a request, or the end of what was read.

use crate::prompt::{CycleTask, PromptEvidence};
use crate::run::Run;
use crate::signals::SignalCorpus;
use capsid_model::Value;

/// Lines on each side of a request.
const AROUND: usize = 5;
/// Signals that are named.
const MAX_SIGNALS: usize = 10;
/// What stands for a source that was not found.
const PLACEHOLDERS: [&str; 3] = ["[NO SESSION LOGS FOUND]", "[MEMORY.md MISSING]", "[USER.md MISSING]"];

/// What a cycle is for, from its signals.
pub(super) fn name_task(run: &Run) -> CycleTask {
    let category = run.mutation.get("category").and_then(Value::as_str).unwrap_or("repair");
    let has = |name: &str| run.signals.iter().any(|signal| signal.split(':').next() == Some(name));
    if run.problem.is_some() || category == "repair" {
        CycleTask::Repair
    } else if has("user_feature_request") {
        CycleTask::Feature
    } else if has("user_improvement_suggestion") {
        CycleTask::Improvement
    } else {
        CycleTask::Opportunity
    }
}

/// The text around the request, or the end of the log; then the signals that this text does not say.
pub(super) fn find_request(corpus: &SignalCorpus, signals: &[String]) -> Vec<PromptEvidence> {
    let texts = [
        ("USER.md", corpus.user.as_str()),
        ("sessions and logs", corpus.transcript.as_str()),
        ("today's log", corpus.today.as_str()),
    ];
    let requests = signals.iter().filter(|signal| signal.starts_with("user_"));
    let snippets: Vec<&str> = requests.filter_map(|signal| Some(signal.split_once(':')?.1.trim())).collect();
    let around = texts.iter().find_map(|(source, text)| {
        let text = snippets.iter().find_map(|snippet| find_around(text, snippet))?;
        Some(PromptEvidence { source, text })
    });
    let is_text = |text: &str| !text.trim().is_empty() && !PLACEHOLDERS.contains(&text.trim());
    let end = || {
        let (source, text) = texts[1..].iter().find(|(_, text)| is_text(text))?;
        Some(PromptEvidence { source, text: (*text).to_owned() })
    };
    let mut evidence: Vec<PromptEvidence> = around.or_else(end).into_iter().collect();
    let shown = evidence.first().map(|piece| fold(&piece.text)).unwrap_or_default();
    let is_new = |signal: &&String| {
        let words = signal.split_once(':').map(|(_, words)| fold(words)).unwrap_or_default();
        words.is_empty() || !shown.contains(&words)
    };
    let named: Vec<&str> = signals.iter().filter(is_new).map(String::as_str).take(MAX_SIGNALS).collect();
    if !named.is_empty() {
        evidence.push(PromptEvidence { source: "signals", text: named.join("\n") });
    }
    evidence
}

/// The lines around a snippet, whose white space may differ from the text's.
fn find_around(text: &str, snippet: &str) -> Option<String> {
    let wanted: String = fold(snippet).chars().take(30).collect();
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().rposition(|line| !wanted.is_empty() && fold(line).contains(&wanted))?;
    let end = (at + AROUND + 1).min(lines.len());
    Some(lines.get(at.saturating_sub(AROUND)..end).unwrap_or_default().join("\n"))
}

fn fold(text: &str) -> String {
    capsid_model::text::collapse(text).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;

    #[test]
    fn a_request_is_shown_with_the_lines_around_it_and_said_once() {
        let mut user: Vec<String> = (0..40).map(|line| format!("line {line}")).collect();
        user[20] = "Please add  a retry option to the client.".to_owned();
        let corpus = SignalCorpus { user: user.join("\n"), ..SignalCorpus::default() };
        let signals = ["user_feature_request:add a retry option".to_owned(), "capability_gap".to_owned()];
        let found = find_request(&corpus, &signals);
        assert_eq!(found[0].source, "USER.md");
        assert!(found[0].text.starts_with("line 15\n") && found[0].text.ends_with("\nline 25"));
        assert_eq!((found[1].source, found[1].text.as_str()), ("signals", "capability_gap"));
    }

    #[test]
    fn without_a_request_the_end_of_the_log_is_shown() {
        let corpus = SignalCorpus { transcript: "something odd\n".into(), ..SignalCorpus::default() };
        let found = find_request(&corpus, &["unusual".to_owned()]);
        assert_eq!(
            found.iter().map(|piece| piece.source).collect::<Vec<_>>(),
            ["sessions and logs", "signals"]
        );
        let empty = SignalCorpus { transcript: PLACEHOLDERS[0].into(), ..SignalCorpus::default() };
        assert_eq!(find_request(&empty, &["unusual".to_owned()]).len(), 1);
    }

    #[test]
    fn the_task_follows_the_category_and_the_signals() {
        let task = |category: &str, signal: &str| {
            let mutation = json!({"category": category});
            name_task(&Run { mutation, signals: vec![signal.to_owned()], ..Run::default() })
        };
        assert_eq!(task("repair", "log_error"), CycleTask::Repair);
        assert_eq!(task("innovate", "user_feature_request:x"), CycleTask::Feature);
        assert_eq!(task("optimize", "user_improvement_suggestion"), CycleTask::Improvement);
        assert_eq!(task("innovate", "stable_success_plateau"), CycleTask::Opportunity);
    }
}
