//! Decides what becomes of an evaluated change: applied, left for somebody to decide, or dropped. Touches no file of the
//! tree.

use super::change::CycleChange;
use super::evaluate::evaluate;
use super::review_paths::needing_review;
use super::{GeneUsed, SolidifyRequest};
use crate::run::agent_facts::AgentFacts;
use crate::run::facts::{Applied, ChangeFacts};
use crate::run::verdict::Verdict;
use crate::run::{Run, ViewLevel};
use crate::tree::apply::{ApplyPlan, plan};
use crate::tree::names;
use crate::tree::private_tree::TreeDrift;
use crate::workspace::Workspace;
use capsid_model::{Code, Problem, Result};
use capsid_sandbox::git::Git;
use std::path::Path;

/// A change with its verdict and its place.
pub(super) struct EvaluatedChange {
    pub change: CycleChange,
    pub verdict: Verdict,
    pub facts: ChangeFacts,
    /// The operations that bring it into the tree.
    pub plan: Option<ApplyPlan>,
    /// Why a proven change is not brought into the tree.
    pub problem: Option<Problem>,
}

pub(super) fn evaluate_and_place(
    workspace: &Workspace,
    request: &SolidifyRequest,
    run: &Run,
    gene: &GeneUsed,
    change: CycleChange,
    agent: &AgentFacts,
) -> Result<EvaluatedChange> {
    let facts = ChangeFacts::new(run, agent, change.listing.ignored.files);
    let before = change.drift(workspace)?;
    let verdict = evaluate(workspace, request, run, gene, &change)?;
    let mut evaluated = EvaluatedChange { change, verdict, facts, plan: None, problem: None };
    evaluated.facts.limits_hit.extend(evaluated.verdict.limits_hit.clone());
    if !evaluated.verdict.ok {
        return Ok(evaluated);
    }
    if run.level == ViewLevel::InPlace {
        if let Some(reason) = &evaluated.verdict.review_reason {
            return Err(tests_changed(run, reason));
        }
        evaluated.facts.applied = Applied::Yes;
        return Ok(evaluated);
    }
    place(workspace, request, run, gene, &mut evaluated, &before)?;
    Ok(evaluated)
}

fn place(
    workspace: &Workspace,
    request: &SolidifyRequest,
    run: &Run,
    gene: &GeneUsed,
    evaluated: &mut EvaluatedChange,
    before: &TreeDrift,
) -> Result<()> {
    let now = evaluated.change.drift(workspace)?;
    evaluated.facts.tree_changed_during_run = !now.is_empty();
    let mut planned = plan_change(&mut evaluated.change)?;
    let merged: Vec<String> = planned.merged.iter().map(|name| names::show(name)).collect();
    if conflicts(evaluated, &planned) {
        return Ok(());
    }
    // What was proven is proven for a tree that is no longer there.
    if !merged.is_empty() || now != *before {
        let verdict = evaluate(workspace, request, run, gene, &evaluated.change)?;
        if !verdict.ok {
            conflict(evaluated, &[format!("It does not pass with your edits: {}.", verdict.reason())]);
            return Ok(());
        }
        evaluated.verdict = verdict;
        planned = plan_change(&mut evaluated.change)?;
        if !planned.merged.is_empty() {
            conflict(evaluated, &["The same files changed again while it was validated.".to_owned()]);
            return Ok(());
        }
        if conflicts(evaluated, &planned) {
            return Ok(());
        }
    }
    evaluated.facts.merged = merged;
    if let Some(reason) = &evaluated.verdict.review_reason {
        evaluated.facts.applied = Applied::NeedsReview;
        evaluated.problem = Some(tests_changed(run, reason));
        return Ok(());
    }
    if request.needs_review && !request.approved {
        evaluated.facts.applied = Applied::NeedsReview;
        evaluated.problem = Some(foreign_change(run));
        return Ok(());
    }
    let paths = evaluated.change.changes.files.iter().map(|file| file.path.as_str());
    let waiting = needing_review(
        paths,
        &workspace.config.cycle.allow,
        hooks_folder(&workspace.repository.root).as_deref(),
    );
    if !waiting.is_empty() && !request.approved {
        evaluated.facts.applied = Applied::NeedsReview;
        evaluated.problem = Some(review_required(run, &waiting));
        return Ok(());
    }
    evaluated.facts.applied = Applied::Yes;
    evaluated.plan = Some(planned);
    Ok(())
}

/// Plans the apply. Clean merges go into the change layer.
pub(super) fn plan_change(change: &mut CycleChange) -> Result<ApplyPlan> {
    match &mut change.layer {
        Some(layer) => plan(layer, &change.base),
        None => Ok(ApplyPlan::default()),
    }
}

/// Notes the conflicts of a plan; false where there are none.
fn conflicts(evaluated: &mut EvaluatedChange, planned: &ApplyPlan) -> bool {
    let reasons: Vec<String> = planned.conflicts.iter().map(|found| found.message.clone()).collect();
    if !reasons.is_empty() {
        conflict(evaluated, &reasons);
    }
    !reasons.is_empty()
}

fn conflict(evaluated: &mut EvaluatedChange, reasons: &[String]) {
    let run = evaluated.change.folder.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    evaluated.facts.applied = Applied::Conflict;
    evaluated.problem = Some(apply_conflict(&run, reasons));
}

/// The problem of a change that cannot be brought into the tree as it is now.
pub(super) fn apply_conflict(run: &str, reasons: &[String]) -> Problem {
    let shown: Vec<&str> = reasons.iter().take(5).map(String::as_str).collect();
    Problem::new(
        Code::ApplyConflict,
        format!(
            "The change of `{run}` is proven, but your tree changed during the run. {} Nothing was applied.",
            shown.join(" ")
        ),
    )
    .fix(format!(
        "Undo your edit of that file and run `capsid apply {run}`, or put the change on a branch with `capsid apply {run} --branch NAME`."
    ))
}

fn foreign_change(run: &Run) -> Problem {
    Problem::new(
        Code::ReviewRequired,
        format!("The change of `{}` is proven here, but it comes from somebody else. Nothing was applied.", run.run_id),
    )
    .fix("Look at it with `capsid review`, then apply it with `capsid review --approve`; `[hub] apply = \"auto\"` applies such changes at once.")
}

fn tests_changed(run: &Run, reason: &str) -> Problem {
    Problem::new(
        Code::ReviewRequired,
        format!("The change of `{}` edits tests or their settings, and {reason}.", run.run_id),
    )
    .fix("Look at it with `capsid review`, then keep it with `capsid review --approve`.")
}

fn review_required(run: &Run, paths: &[String]) -> Problem {
    Problem::new(
        Code::ReviewRequired,
        format!(
            "The change of `{}` is proven, but it touches files that run by themselves: {}. Nothing was applied.",
            run.run_id,
            paths.join(", ")
        ),
    )
    .fix("Look at it with `capsid review`, then apply it with `capsid review --approve`.")
}

/// The folder that `core.hooksPath` names, relative to the root, if it is in the tree.
fn hooks_folder(root: &Path) -> Option<String> {
    // Every other call of git overrides this very setting.
    let output = Git::at(root).run_with_hooks(&["config", "--get", "core.hooksPath"]).ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let path = root.join(&text);
    let below = path.strip_prefix(root).ok()?.to_str()?.to_owned();
    (output.status == 0 && !below.is_empty()).then_some(below)
}
