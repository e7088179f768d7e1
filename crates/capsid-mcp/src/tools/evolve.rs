//! `evolve`: begins a cycle, and settles it.

use crate::arguments::{ToolArguments, required};
use crate::context::ServerContext;
use crate::tool_context::ToolContext;
use capsid_client::NodeClient;
use capsid_engine::config::ReuseConfig;
use capsid_engine::cycle::evolve::{EvolveRequest, Prepared, Sources, prepare};
use capsid_engine::distill::{self, DistillAcceptance, DistillOutcome, DistillRequest};
use capsid_engine::memory::remote;
use capsid_engine::reuse::{self, outbox};
use capsid_engine::solidify::{Settlement, SolidifyRequest, review, solidify};
use capsid_engine::workspace::Workspace;
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::{Problem, Result, Value, gate, json};

/// What can be done.
pub const ACTIONS: [&str; 5] = ["prepare", "solidify", "review", "reject", "distill"];
/// The presets of the engine.
pub const STRATEGIES: [&str; 7] =
    ["auto", "balanced", "innovate", "harden", "repair-only", "early-stabilize", "steady-state"];

/// Does it.
pub fn run(place: &ServerContext, job: &ToolContext, given: &ToolArguments) -> Result<Value> {
    let action = given.word("action", &ACTIONS)?;
    let workspace = place.store()?;
    match action {
        "solidify" => finish_run(&workspace, job, given),
        "review" => {
            job.step("looking at the run that waits")?;
            Ok(review::waiting(&workspace)?.to_json())
        }
        "reject" => {
            job.step("taking the change back")?;
            Ok(review::reject(&workspace)?.to_json())
        }
        "distill" => distilled(&workspace, job, given),
        _ => begin(place, &workspace, job, given),
    }
}

fn begin(
    place: &ServerContext,
    workspace: &Workspace,
    job: &ToolContext,
    given: &ToolArguments,
) -> Result<Value> {
    let text = given.text("text")?.map(str::to_owned);
    let logs =
        given.list("logs")?.iter().map(|log| place.path(workspace, log)).collect::<Result<Vec<_>>>()?;
    let strategy = match given.name("strategy")? {
        Some(_) => Some(given.word("strategy", &STRATEGIES)?.to_owned()),
        None => None,
    };
    let dry_run = given.flag("dry_run")?;
    let request = EvolveRequest {
        // A caller that describes the problem does not want signals of other sessions.
        sources: Sources {
            sessions: text.is_none() && logs.is_empty(),
            logs,
            stdin: text,
            ..Sources::default()
        },
        strategy,
        dry_run,
        force: given.flag("force")?,
        hub: searched(workspace),
        memory: remote::connect_remote(workspace).ok().flatten(),
        ..EvolveRequest::default()
    };
    job.step("reading signals and choosing a gene")?;
    Ok(match prepare(workspace, &request)? {
        Prepared::Skipped(reason) => json!({"ok": true, "skipped": true, "reason": reason}),
        Prepared::Ready(ready) => {
            let mut value = ready.to_json(dry_run);
            if !dry_run {
                value["next"] = "Make the change, then call evolve with action solidify (or reject).".into();
            }
            value
        }
    })
}

/// The hub that may be asked for a proven solution first. An unreachable hub fails no cycle.
fn searched(workspace: &Workspace) -> Option<NodeClient> {
    if workspace.config.hub.reuse == ReuseConfig::Off {
        return None;
    }
    reuse::node(workspace).ok().flatten()
}

fn finish_run(workspace: &Workspace, job: &ToolContext, given: &ToolArguments) -> Result<Value> {
    let request = SolidifyRequest {
        dry_run: given.flag("dry_run")?,
        summary: given.text("summary")?.map(str::to_owned),
        commit: given.flag("commit")?,
        run_id: given.name("run_id")?.map(str::to_owned),
        ..SolidifyRequest::default()
    };
    // From here on the run is settled whether somebody waits or not: half a settlement would be worse.
    job.step("validating the change")?;
    let mut told = outcome_json(&solidify(workspace, &request)?);
    if let Some(problem) = deliver(workspace) {
        told["hub_problem"] = json!({"code": problem.code.as_str(), "message": problem.message});
    }
    Ok(told)
}

/// Reports the result of a reused solution to the hub. An undelivered report waits for the next time.
fn deliver(workspace: &Workspace) -> Option<Problem> {
    report(workspace).or_else(|| remote::deliver(workspace))
}

fn report(workspace: &Workspace) -> Option<Problem> {
    let waits = outbox::pending(workspace).is_ok_and(|waiting| !waiting.is_empty());
    let node = waits.then(|| reuse::node(workspace).ok().flatten()).flatten()?;
    match outbox::flush(workspace, &node) {
        Ok(flushed) => flushed.problem,
        Err(problem) => Some(problem),
    }
}

/// What became of a run, without the records themselves: they can be read as resources.
fn outcome_json(settled: &Settlement) -> Value {
    let verdict = &settled.verdict;
    let commands: Vec<Value> =
        verdict.commands.iter().map(|one| json!({"command": one.command, "ok": one.ok})).collect();
    let mut value = json!({
        "ok": settled.ok,
        "dry_run": settled.dry_run,
        "event_id": settled.event_id(),
        "gene": settled.gene_id(),
        "change": settled.blast.to_value(),
        "validation": commands,
        "isolation": verdict.isolation,
        "warnings": verdict.warnings,
    });
    if let Some((id, streak, confidence)) = settled.capsule_line() {
        value["capsule"] = json!({"id": id, "streak": streak, "confidence": confidence});
    }
    if !settled.ok {
        value["errors"] = verdict.errors().into();
    }
    if let Some(report) = &settled.rollback {
        value["taken_back"] = json!({"restored": report.restored, "removed": report.removed, "left": report.kept, "lost": report.lost});
    }
    if let Some(patch) = &settled.patch {
        value["patch"] = patch.display().to_string().into();
    }
    if let Some(commit) = &settled.commit {
        value["commit"] = commit.as_str().into();
    }
    for (name, problem) in
        [("commit_problem", &settled.commit_problem), ("seal_problem", &settled.seal_problem)]
    {
        if let Some(problem) = problem {
            value[name] = problem.to_json();
        }
    }
    value
}

fn distilled(workspace: &Workspace, job: &ToolContext, given: &ToolArguments) -> Result<Value> {
    let answer = given.text("text")?;
    let _lock = workspace.lock()?;
    let Some(answer) = answer else {
        job.step("looking for what successes have in common")?;
        let requested = distill::request(&DistillRequest {
            store: &workspace.store,
            memory: &workspace.paths.memory,
            enabled: !matches!(workspace.variable("SKILL_DISTILLER").as_deref(), Some("false" | "0")),
            force: given.flag("force")?,
            now: workspace.now(),
            redact: &|text| redact(text, RedactProfile::Secrets).into_owned(),
        })?;
        return Ok(match requested {
            DistillOutcome::Written { prompt, .. } => {
                let text = required(capsid_disk::files::read_optional(&prompt)?, "prompt")?;
                json!({"ok": true, "prompt": text, "next": "Call evolve with action distill and the answer as text."})
            }
            DistillOutcome::Skipped(skip) => json!({"ok": true, "skipped": true, "reason": skip.as_str()}),
        });
    };
    job.step("taking the gene in")?;
    let policy = workspace.config.gate();
    let gene = distill::accept(
        answer,
        &DistillAcceptance {
            store: &workspace.store,
            memory: &workspace.paths.memory,
            now: workspace.now(),
            allows: &|command| gate::check(command, &policy).is_ok(),
        },
    )?;
    Ok(json!({"ok": true, "gene": gene}))
}
