//! The message of the commit that a cycle makes.

use super::CapsuleText;
use capsid_model::text::inert_line;

/// What the last lines of the message name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CommitFacts<'a> {
    /// The tool, code and text of the problem.
    pub problem: Option<&'a str>,
    /// The proof in one sentence.
    pub proof: Option<&'a str>,
    pub capsule_id: Option<&'a str>,
}

/// The title, the explanation, and the lines `Problem:`, `Proof:` and `Capsule:`.
pub fn render_commit_message(text: &CapsuleText, facts: &CommitFacts<'_>) -> String {
    let mut message = format!("{}\n", text.title);
    if !text.explanation.is_empty() {
        message.push_str(&format!("\n{}\n", text.explanation));
    }
    let lines = [("Problem", facts.problem), ("Proof", facts.proof), ("Capsule", facts.capsule_id)];
    let lines = lines.iter().filter_map(|(name, value)| Some((name, value.map(inert_line)?)));
    let lines: String = lines
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}: {value}\n"))
        .collect();
    if !lines.is_empty() {
        message.push_str(&format!("\n{lines}"));
    }
    message
}
