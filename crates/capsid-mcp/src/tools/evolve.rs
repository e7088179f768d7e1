//! `evolve`: begins a cycle, and finishes it.

use super::learned;
use crate::arguments::{ToolArguments, required};
use crate::context::ServerContext;
use crate::tool_context::ToolContext;
use capsid_client::NodeClient;
use capsid_engine::config::ReuseConfig;
use capsid_engine::cycle::evolve::{EvolveRequest, Prepared, Sources, prepare};
use capsid_engine::distill::{self, DistillAcceptance, DistillOutcome, DistillRequest};
use capsid_engine::exchange::reuse::{self, outbox};
use capsid_engine::memory::remote;
use capsid_engine::solidify::restore::{self, RestoreFiles};
use capsid_engine::solidify::review;
use capsid_engine::solidify::{CycleOutcome, SolidifyRequest, solidify};
use capsid_engine::workspace::Workspace;
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::{Problem, Result, Value, gate, json};

/// What can be done.
pub const ACTIONS: [&str; 5] = ["prepare", "solidify", "review", "reject", "distill"];
/// The presets of the engine.
pub const STRATEGIES: [&str; 7] =
    ["auto", "balanced", "innovate", "harden", "repair-only", "early-stabilize", "steady-state"];

/// Does it.
pub fn run(server: &ServerContext, job: &ToolContext, arguments: &ToolArguments) -> Result<Value> {
    let action = arguments.word("action", &ACTIONS)?;
    let workspace = server.store()?;
    match action {
        "solidify" => finish_run(&workspace, job, arguments),
        "review" => {
            job.step("looking at the run that waits")?;
            Ok(review::show_waiting(&workspace)?.to_json())
        }
        "reject" => reject(&workspace, job, arguments),
        "distill" => distilled(&workspace, job, arguments),
        _ => begin(server, &workspace, job, arguments),
    }
}

/// Rejects the run. Files in the tree are restored only where the caller names them, or asks for all.
fn reject(workspace: &Workspace, job: &ToolContext, arguments: &ToolArguments) -> Result<Value> {
    let files: Vec<String> = arguments.list("files")?.iter().map(|file| (*file).to_owned()).collect();
    let wanted = match (arguments.flag("all")?, files.is_empty()) {
        (true, _) => Some(RestoreFiles::All),
        (false, false) => Some(RestoreFiles::Named(files)),
        (false, true) => None,
    };
    job.step("rejecting the run")?;
    let rejected = review::reject(workspace)?;
    let mut value = rejected.to_json();
    if let Some(wanted) = wanted.filter(|_| !rejected.left.is_empty()) {
        let restored = restore::restore(workspace, Some(&rejected.run_id), &wanted)?;
        value["restored"] = restored.restored_paths().into();
        value["left"] = restored.left_messages().into();
    } else if !rejected.left.is_empty() {
        value["next"] = "The files stay as they are. Call evolve with action reject and `files` or `all` to restore them.".into();
    }
    Ok(value)
}

fn begin(
    server: &ServerContext,
    workspace: &Workspace,
    job: &ToolContext,
    arguments: &ToolArguments,
) -> Result<Value> {
    let text = arguments.text("text")?.map(str::to_owned);
    let logs =
        arguments.list("logs")?.iter().map(|log| server.path(workspace, log)).collect::<Result<Vec<_>>>()?;
    let strategy = match arguments.name("strategy")? {
        Some(_) => Some(arguments.word("strategy", &STRATEGIES)?.to_owned()),
        None => None,
    };
    let dry_run = arguments.flag("dry_run")?;
    let request = EvolveRequest {
        // A caller that describes the problem does not want signals of other sessions.
        sources: Sources {
            sessions: text.is_none() && logs.is_empty(),
            logs,
            stdin: text,
            repro: arguments.text("repro")?.map(str::to_owned),
            ..Sources::default()
        },
        strategy,
        dry_run,
        force: arguments.flag("force")?,
        hub: searched(workspace),
        memory: remote::connect_remote(workspace).ok().flatten(),
        ..EvolveRequest::default()
    };
    job.step("reading signals and choosing a gene")?;
    Ok(match prepare(workspace, &request)? {
        Prepared::Skipped(reason) => json!({"ok": true, "skipped": true, "reason": reason}),
        Prepared::Refused(problem) => return Err(problem),
        Prepared::Ready(ready) => {
            let mut value = ready.to_json(dry_run);
            value["problem"] = serde_json::to_value(&ready.run.problem).unwrap_or_default();
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

fn finish_run(workspace: &Workspace, job: &ToolContext, arguments: &ToolArguments) -> Result<Value> {
    let request = SolidifyRequest {
        dry_run: arguments.flag("dry_run")?,
        title: arguments.text("title")?.map(str::to_owned),
        summary: arguments.text("summary")?.map(str::to_owned),
        commit: arguments.flag("commit")?,
        run_id: arguments.name("run_id")?.map(str::to_owned),
        ..SolidifyRequest::default()
    };
    // From here on the run is finished whether somebody waits or not: half an outcome would be worse.
    job.step("validating the change")?;
    let mut response = outcome_json(&solidify(workspace, &request)?);
    if let Some(problem) = deliver(workspace) {
        response["hub_problem"] = json!({"code": problem.code.as_str(), "message": problem.message});
    }
    Ok(response)
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
fn outcome_json(settled: &CycleOutcome) -> Value {
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
    if let Some(meta) = learned::meta(&settled.event) {
        learned::add_members(&mut value, meta);
    }
    if let Some(capsule) = settled.capsule.as_ref().filter(|_| settled.ok) {
        learned::add_members(&mut value, capsule);
    }
    if let Some((id, streak, confidence)) = settled.capsule_line() {
        value["capsule"] = json!({"id": id, "streak": streak, "confidence": confidence});
    }
    if !settled.ok {
        value["errors"] = verdict.errors().into();
    }
    value["applied"] = serde_json::to_value(settled.facts.applied).unwrap_or_default();
    value["changed_files"] = serde_json::to_value(&settled.changed_files).unwrap_or_default();
    if let Some(patch) = &settled.patch {
        value["patch"] = patch.display().to_string().into();
    }
    if let Some(commit) = &settled.commit {
        value["commit"] = commit.as_str().into();
    }
    for (name, problem) in [
        ("apply_problem", &settled.apply_problem),
        ("commit_problem", &settled.commit_problem),
        ("seal_problem", &settled.seal_problem),
    ] {
        if let Some(problem) = problem {
            value[name] = problem.to_json();
        }
    }
    value
}

fn distilled(workspace: &Workspace, job: &ToolContext, arguments: &ToolArguments) -> Result<Value> {
    let answer = arguments.text("text")?;
    let _lock = workspace.lock()?;
    let Some(answer) = answer else {
        job.step("looking for what successes have in common")?;
        let requested = distill::request(&DistillRequest {
            store: &workspace.store,
            memory: &workspace.paths.memory,
            enabled: !matches!(workspace.variable("SKILL_DISTILLER").as_deref(), Some("false" | "0")),
            force: arguments.flag("force")?,
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
