//! What a change is called: the words of the agent where it left some, else facts of the change.

use super::SolidifyRequest;
use crate::run::Run;
use crate::run::agent_facts::AgentFacts;
use crate::workspace::Workspace;
use capsid_model::event::BlastRadius;
use capsid_model::redact::{RedactProfile, redact};
use capsid_rules::learning::capsule_text::change_facts::DiffFacts;
use capsid_rules::learning::capsule_text::generated::{SolvedProblem, TitleFacts, generate_title};
use capsid_rules::learning::capsule_text::{CapsuleText, TextInputs, choose_text};
use capsid_rules::learning::reuse_outcome::PatchTrial;

/// The title and the explanation of a change, of which `is_solved` says whether it is kept and proven. Nothing of them is secret, and nothing is more than text.
pub(super) fn describe_change(
    workspace: &Workspace,
    request: &SolidifyRequest,
    run: &Run,
    agent: &AgentFacts,
    gene_id: &str,
    (diff, is_solved): (&str, bool),
) -> CapsuleText {
    let clean = |text: &str| redact(text, RedactProfile::Secrets).into_owned();
    let facts = DiffFacts::parse(diff);
    let problem = run.problem.as_ref().map(|problem| SolvedProblem {
        tool: &problem.tool,
        code: problem.code.as_deref(),
        text: &problem.text,
        function: problem.frame.as_deref(),
    });
    let title_facts = TitleFacts { change: &facts, problem, is_solved, gene_id, signals: &run.signals };
    let generated = generate_title(&title_facts, workspace.config.cycle.language);
    // A patch that was tried has no agent: the solution's own title is the best there is.
    let applied = run.offers.iter().find(|offer| offer.trial == PatchTrial::Applied);
    let known = applied.map(|offer| offer.title.as_str()).filter(|title| !title.is_empty());
    let (title, summary) = (request.title.as_deref().map(clean), request.summary.as_deref().map(clean));
    let (note, printed) = (agent.note.as_deref().map(clean), clean(&agent.printed));
    let commit = agent.agent_commits.last().map(|subject| clean(subject));
    choose_text(&TextInputs {
        title_option: title.as_deref().or(known),
        summary_option: summary.as_deref(),
        note_file: note.as_deref(),
        stdout: Some(&printed),
        commit_message: commit.as_deref(),
        generated_title: &generated,
    })
}

/// The summary of the capsule: the user's own, else the title and the first sentence of the explanation.
pub(super) fn summarize_change(request: &SolidifyRequest, text: &CapsuleText, blast: BlastRadius) -> String {
    match &request.summary {
        Some(summary) => redact(summary, RedactProfile::Secrets).into_owned(),
        None => text.to_summary(blast.files, blast.lines),
    }
}
