//! The stored solution that a prompt shows: the best one that was offered and whose patch was not applied already.

use super::choice::Choice;
use crate::exchange::reuse::ReuseHit;
use crate::prompt::PromptSolution;
use crate::run::Run;
use crate::run::offer::CapsuleOffer;
use crate::workspace::Workspace;
use capsid_model::capsule::Capsule;
use capsid_model::{Object, Result, Value};
use capsid_rules::learning::capsule_text::first_sentence;
use capsid_rules::learning::reuse_outcome::PatchTrial;

/// Finds the solution to show.
pub(super) fn find_solution(
    workspace: &Workspace,
    run: &Run,
    choice: &Choice,
    hit: Option<&ReuseHit>,
) -> Result<Option<PromptSolution>> {
    for offer in run.offers.iter().filter(|offer| offer.trial != PatchTrial::Applied) {
        if let Some(document) = find_document(workspace, offer, hit)? {
            return Ok(Some(describe_offer(offer, &document)));
        }
    }
    // Solutions of a problem are offered by its ids. Without a problem only signals can match.
    if run.problem.is_some() || !run.offers.is_empty() {
        return Ok(None);
    }
    if let Some(hit) = hit {
        let text = read_text(&hit.capsule);
        return Ok(Some(PromptSolution { capsule_id: hit.asset_id.clone(), is_foreign: true, ..text }));
    }
    let Some(capsule) = choice.capsule.as_ref().filter(|capsule| shares_words(capsule, &run.signals)) else {
        return Ok(None);
    };
    let text = workspace.store.capsules.find(&capsule.id)?.map(|document| read_text(&document));
    let streak = capsule.success_streak;
    Ok(text.map(|text| PromptSolution { capsule_id: capsule.id.clone(), streak, ..text }))
}

/// Whether a capsule answers a signal that says something of its own, and not only a name such as `log_error`.
fn shares_words(capsule: &Capsule, signals: &[String]) -> bool {
    signals.iter().any(|signal| signal.contains(':') && capsule.trigger.contains(signal))
}

fn find_document(
    workspace: &Workspace,
    offer: &CapsuleOffer,
    hit: Option<&ReuseHit>,
) -> Result<Option<Object>> {
    let is_hit = |hit: &&ReuseHit| offer.is_foreign && hit.asset_id == offer.asset_id;
    match hit.filter(is_hit) {
        Some(hit) => Ok(Some(hit.capsule.clone())),
        None => workspace.store.capsules.find(&offer.capsule_id),
    }
}

fn describe_offer(offer: &CapsuleOffer, document: &Object) -> PromptSolution {
    let text = read_text(document);
    let reason = |default: &str| match offer.reason.trim() {
        "" => default.to_owned(),
        reason => reason.to_owned(),
    };
    let title = if offer.title.trim().is_empty() { text.title.clone() } else { offer.title.clone() };
    PromptSolution {
        capsule_id: offer.capsule_id.clone(),
        level: Some(offer.level),
        streak: offer.streak,
        is_foreign: offer.is_foreign,
        title,
        trial: match offer.trial {
            PatchTrial::Rejected => Some(reason("it does not apply here")),
            PatchTrial::Failed => Some(reason("it applies, and the command still fails")),
            PatchTrial::NotTried | PatchTrial::Applied => None,
        },
        ..text
    }
}

/// What a capsule says about itself. Old ones have a summary only.
fn read_text(document: &Object) -> PromptSolution {
    let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (summary, diff) = (text("summary"), text("diff"));
    let title = match text("title") {
        title if title.trim().is_empty() => first_sentence(&summary).unwrap_or_default(),
        title => title,
    };
    let mut explanation = text("explanation");
    if explanation.trim().is_empty() {
        explanation = summary;
        let content = text("content");
        if diff.trim().is_empty() && !content.trim().is_empty() {
            explanation = format!("{explanation}\n{content}");
        }
    }
    PromptSolution { title, explanation, diff, ..PromptSolution::default() }
}

#[cfg(test)]
#[path = "prompt_solution_tests.rs"]
mod tests;
