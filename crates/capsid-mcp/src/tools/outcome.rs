//! `record_outcome`: what the memory graph learns from an attempt that no cycle recorded.

use super::redact_outbound;
use crate::arguments::{ToolArguments, required, wrong};
use crate::context::ServerContext;
use crate::tool_context::ToolContext;
use capsid_engine::memory::outcome::{InferredOutcome, PreviousAction};
use capsid_engine::memory::records::{self, ObservedSignals};
use capsid_engine::memory::remote;
use capsid_engine::rules::outbound;
use capsid_engine::workspace::Workspace;
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::signal::{folded, learning_key};
use capsid_model::text::{cut, inert_line};
use capsid_model::{Object, Result, Value, env, json};

/// How an attempt can end.
pub const STATUS: [&str; 2] = ["success", "failed"];
/// The gene of an attempt that followed none.
const AD_HOC: &str = "ad_hoc";

/// An attempt and how it ended.
struct RecordedAttempt {
    signals: Vec<String>,
    status: &'static str,
    score: f64,
    summary: String,
    gene: String,
    used: Vec<String>,
}

/// Does it.
pub fn run(server: &ServerContext, job: &ToolContext, arguments: &ToolArguments) -> Result<Value> {
    let attempt = read(arguments)?;
    let hub = arguments.flag("hub")?;
    let workspace = server.store()?;
    job.step("recording the outcome")?;
    let id = save_attempt(&workspace, &attempt)?;
    let mut value = json!({
        "ok": true, "recorded": id, "signal_key": learning_key(&attempt.signals), "gene": attempt.gene,
        "status": attempt.status, "score": attempt.score,
    });
    if hub {
        job.step("reporting to the hub")?;
        value["hub"] = report_outcome(server, &attempt)
            .unwrap_or_else(|problem| json!({"recorded": false, "problem": problem.to_json()}));
    }
    Ok(value)
}

fn read(arguments: &ToolArguments) -> Result<RecordedAttempt> {
    let signals = arguments.list("signals")?;
    if signals.iter().all(|signal| signal.trim().is_empty()) {
        return Err(wrong("signals", "a list with at least one signal", "empty"));
    }
    required(arguments.name("status")?, "status")?;
    let status = match arguments.word("status", &STATUS)? {
        "success" => "success",
        _ => "failed",
    };
    let summary = redact(arguments.text("summary")?.unwrap_or_default(), RedactProfile::Secrets).into_owned();
    Ok(RecordedAttempt {
        signals,
        status,
        score: arguments.share("score")?.unwrap_or(if status == "success" { 0.8 } else { 0.2 }),
        summary: cut(&inert_line(&summary), 400).to_owned(),
        gene: arguments.name("gene")?.unwrap_or(AD_HOC).to_owned(),
        used: arguments.list("used_assets")?,
    })
}

/// Writes the outcome and what is now known of the gene, as the end of a cycle does.
fn save_attempt(workspace: &Workspace, attempt: &RecordedAttempt) -> Result<String> {
    let _lock = workspace.lock()?;
    let (graph, now) = (workspace.graph(), workspace.now());
    let id = |prefix: &str| records::graph_id(prefix, now, workspace.random());
    let mut statistics = graph.statistics()?;
    let outcome_id = id("mge");
    let outcome = outcome(workspace, attempt, &outcome_id, id("act"));
    statistics.add(&outcome);
    let mut lines = vec![outcome];
    let (signals, gene) = (&attempt.signals, attempt.gene.as_str());
    if let Some(edge) = statistics.edges.get(&(learning_key(signals), gene.to_owned())) {
        lines.push(records::confidence_edge(&id("mge"), now, signals, gene, &edge.tally, &outcome_id));
    }
    if let Some(tally) = statistics.genes.get(gene) {
        lines.push(records::confidence_gene_outcome(&id("mge"), now, signals, gene, tally, &outcome_id));
    }
    graph.append(&lines)?;
    remote::queue(workspace, &lines);
    Ok(outcome_id)
}

fn outcome(workspace: &Workspace, attempt: &RecordedAttempt, id: &str, action: String) -> Object {
    let now = workspace.now();
    let previous = PreviousAction {
        action_id: action,
        signal_key: learning_key(&attempt.signals),
        signals: folded(&attempt.signals),
        gene_id: Some(attempt.gene.clone()),
        capsules_used: attempt.used.clone(),
        had_error: attempt.signals.iter().any(|signal| signal == "log_error"),
        created_at: now.iso(),
        ..PreviousAction::default()
    };
    let inferred =
        InferredOutcome { status: attempt.status, score: attempt.score, note: "told_by_agent".to_owned() };
    let observed = ObservedSignals {
        agent: "mcp".to_owned(),
        platform: env::platform().to_owned(),
        ..ObservedSignals::default()
    };
    let mut record = records::outcome(id, now, &previous, &inferred, &attempt.signals, &observed);
    if !attempt.summary.is_empty()
        && let Some(Value::Object(outcome)) = record.get_mut("outcome")
    {
        outcome.insert("summary".to_owned(), attempt.summary.as_str().into());
    }
    record
}

fn report_outcome(server: &ServerContext, attempt: &RecordedAttempt) -> Result<Value> {
    let node = server.node()?;
    let signals = outbound::outbound_signals(&attempt.signals, outbound::MAX);
    node.post(
        "/a2a/memory/record",
        &json!({
            "node_id": node.id(), "signals": signals, "gene_id": redact_outbound(&attempt.gene), "status": attempt.status,
            "score": attempt.score, "summary": redact_outbound(&attempt.summary),
            "used_asset_ids": attempt.used.iter().take(50).collect::<Vec<_>>(),
        }),
    )
}
