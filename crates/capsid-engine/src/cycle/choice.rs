//! What the store offers for a set of signals, and what is chosen from it.

use super::offers::find_level;
use crate::memory::remote::advice::RemoteAdvice;
use crate::rules::problem_ids::{capsule_problem_ids, find_message_id};
use crate::rules::select;
use crate::rules::select::capsule::answering;
use crate::rules::select::{FailedCapsule, SelectInput, Selection, SkippedCapsule};
use crate::workspace::Workspace;
use capsid_model::capsule::Capsule;
use capsid_model::gene::Gene;
use capsid_model::signal::normalise_errsig;
use capsid_model::{Object, Result, Value, asset, env};
use capsid_rules::diagnosis::{ProblemClass, ProblemRecord};
use capsid_rules::learning::match_level::MatchLevel;
use capsid_rules::memory::advice::advise;
use capsid_rules::memory::graph::GraphStats;
use std::collections::HashSet;

/// A selection with the assets it named.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The selection, with every score.
    pub selection: Selection,
    /// The gene to follow.
    pub gene: Option<Gene>,
    /// The same as it is stored.
    pub document: Option<Object>,
    /// The capsule to apply again.
    pub capsule: Option<Capsule>,
    /// Attempts that failed, oldest first.
    pub failed: Vec<Object>,
}

/// What a choice depends on besides the signals that are matched.
#[derive(Debug, Clone, Default)]
pub struct ChoiceContext {
    /// The signals with the id of the problem, by which the memory graph is asked.
    pub learning: Vec<String>,
    /// Genes that failed on this problem often: another one is chosen if there is one.
    pub passed_over: Vec<String>,
    /// The problem that is to be solved; none where there is none, or where only signals are known.
    pub problem: Option<ProblemRecord>,
}

/// Loads what the store offers and chooses for the signals, by this repository's own memory and what a shared one advises.
/// With a problem, only capsules that solved the same one can be chosen.
pub fn choose(
    workspace: &Workspace,
    signals: &[String],
    context: &ChoiceContext,
    statistics: &GraphStats,
    heard: Option<&RemoteAdvice>,
    drift: Option<u64>,
) -> Result<Choice> {
    let pool = workspace.store.gene_pool()?;
    let mut advice = advise(statistics, &context.learning, pool.ids(), workspace.now());
    if let Some(heard) = heard {
        heard.join(&mut advice);
    }
    let (capsules, unverified) = load_capsules(workspace, signals, context.problem.as_ref())?;
    let failed = workspace.store.failed.documents()?;
    let failures: Vec<FailedCapsule> = failed.iter().map(FailedCapsule::read).collect();
    let env_context = workspace.fingerprint().context();
    let select = |signals: &[String]| {
        select::select(SelectInput {
            signals,
            genes: pool.as_pool(),
            capsules: &capsules,
            advice: &advice,
            failed: &failures,
            env_context: &env_context,
            platform: env::platform(),
            drift,
        })
    };
    let bans = context.passed_over.iter().map(|gene| format!("ban_gene:{gene}"));
    let passing_over: Vec<String> = signals.iter().cloned().chain(bans).collect();
    let mut selection = select(&passing_over);
    if selection.gene_id.is_none() && passing_over.len() > signals.len() {
        selection = select(signals);
    }
    selection.skipped_capsules.extend(unverified);
    let document = match &selection.gene_id {
        Some(id) => workspace.store.genes.find(id)?,
        None => None,
    };
    let gene = document.as_ref().map(Gene::read);
    let chosen = selection.capsule_id.clone();
    let capsule = chosen.and_then(|id| capsules.into_iter().find(|capsule| capsule.id == id));
    Ok(Choice { selection, gene, document, capsule, failed })
}

/// The capsules as they may be chosen, and those that answer the signals but are not what their ids say. What a capsule
/// claims about its streak counts only as far as the event log supports it.
fn load_capsules(
    workspace: &Workspace,
    signals: &[String],
    problem: Option<&ProblemRecord>,
) -> Result<(Vec<Capsule>, Vec<SkippedCapsule>)> {
    let mut documents = workspace.store.capsules.documents()?;
    let wanted = find_message_id(signals.iter().map(String::as_str)).filter(|_| problem.is_none());
    documents.retain(|document| match (problem, &wanted) {
        (Some(problem), _) => {
            find_level(problem, signals, document).is_some_and(|level| level <= MatchLevel::Site)
        }
        (None, Some(message)) => {
            shares_more_than_generic(document, signals)
                || capsule_problem_ids(document).is_some_and(|ids| ids.message.as_ref() == Some(message))
        }
        (None, None) => shares_more_than_generic(document, signals),
    });
    let mut capsules: Vec<Capsule> = documents.iter().map(Capsule::read).collect();
    // Only those that may be chosen are looked at closely: a store may hold very many.
    let answering: Vec<usize> =
        answering(&capsules, signals, env::platform()).into_iter().map(|(at, _)| at).collect();
    let ids: HashSet<String> = answering.iter().map(|at| capsules[*at].id.clone()).collect();
    let streaks = workspace.store.events.capsule_streaks(&ids)?;
    for at in &answering {
        let capsule = &mut capsules[*at];
        let supported = streaks.get(&capsule.id).copied();
        capsule.success_streak = supported.unwrap_or_else(|| capsule.success_streak.min(1));
    }
    let unverified: HashSet<usize> =
        answering.into_iter().filter(|at| !asset::verify(&documents[*at]).holds()).collect();
    let (skipped, open): (Vec<_>, Vec<_>) =
        capsules.into_iter().enumerate().partition(|(at, _)| unverified.contains(at));
    let skip = |(_, capsule): (usize, Capsule)| SkippedCapsule {
        id: capsule.id,
        platform: String::new(),
        is_unverified: true,
    };
    Ok((open.into_iter().map(|(_, capsule)| capsule).collect(), skipped.into_iter().map(skip).collect()))
}

/// Whether a capsule shares a signal that says what it is about, and not only that something is wrong.
fn shares_more_than_generic(document: &Object, signals: &[String]) -> bool {
    const GENERIC: [&str; 9] = [
        "log_error",
        "recurring_error",
        "unstable",
        "failed",
        "user_feature_request",
        "user_improvement_suggestion",
        "stable_success_plateau",
        "issue_already_resolved",
        "repair_loop_detected",
    ];
    let is_generic = |signal: &str| {
        GENERIC.contains(&signal) || ProblemClass::ALL.iter().any(|class| class.as_str() == signal)
    };
    let norms: HashSet<String> = signals
        .iter()
        .filter_map(|signal| normalise_errsig(signal))
        .chain(signals.iter().filter(|signal| signal.starts_with("errsig_norm:")).cloned())
        .collect();
    let triggers = document.get("trigger").and_then(Value::as_array).into_iter().flatten();
    triggers.filter_map(Value::as_str).any(|trigger| match normalise_errsig(trigger) {
        Some(norm) => norms.contains(&norm),
        None => !is_generic(trigger) && signals.iter().any(|signal| signal.eq_ignore_ascii_case(trigger)),
    })
}
