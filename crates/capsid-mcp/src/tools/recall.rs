//! `recall`: what worked before on what is seen now.

use super::{field, learned};
use crate::arguments::{ToolArguments, wrong};
use crate::context::ServerContext;
use crate::tool_context::ToolContext;
use capsid_engine::exchange::reuse::ReusePolicy;
use capsid_engine::recall::{proven_for, signals_here, signals_in};
use capsid_engine::rules::outbound;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Object, Problem, Result, Value, json};
use std::collections::HashMap;

/// The default number of solutions.
const DEFAULT: usize = 3;
/// The most solutions.
const MAX: usize = 20;

/// Does it.
pub fn run(server: &ServerContext, job: &ToolContext, arguments: &ToolArguments) -> Result<Value> {
    let workspace = server.store()?;
    let limit = arguments.count("limit", DEFAULT, MAX)?;
    let query = arguments.text("query")?.unwrap_or_default().trim();
    let mut signals = arguments.list("signals")?;
    let from_query = if query.is_empty() { Vec::new() } else { signals_in(query) };
    signals.extend(from_query);
    if signals.is_empty() && query.is_empty() {
        job.step("reading the signals of the repository")?;
        signals = signals_here(&workspace)?;
    }
    dedupe(&mut signals);
    job.step("looking into the store")?;
    let proven = proven_for(&workspace, &signals, query, limit)?;
    let mut documents: HashMap<String, Object> = HashMap::new();
    if !proven.is_empty() {
        let capsules = workspace.store.capsules.documents()?.into_iter();
        documents.extend(capsules.map(|capsule| (field(&capsule, "id").to_owned(), capsule)));
    }
    let solutions: Vec<Value> = proven
        .iter()
        .map(|one| {
            let mut value = serde_json::to_value(one).unwrap_or_default();
            value["summary"] = inert_line(cut(&one.summary, 400)).into();
            if let Some(document) = documents.get(&one.id) {
                learned::add_to_row(&mut value, document);
            }
            value["resource"] = format!("gep://capsules/{}", capsid_client::node::encoded(&one.id)).into();
            value
        })
        .collect();
    let mut value = json!({"signals": signals, "solutions": solutions});
    if arguments.flag("hub")? {
        job.step("asking the hub")?;
        value["hub"] = on_the_hub(server, &signals, limit)
            .unwrap_or_else(|problem| json!({"problem": problem.to_json()}));
    }
    Ok(value)
}

/// The same question to the hub. What comes back are rows about assets, not the assets.
pub fn on_the_hub(server: &ServerContext, signals: &[String], limit: usize) -> Result<Value, Problem> {
    let query = outbound::outbound_signals(signals, outbound::MAX);
    if query.is_empty() {
        return Err(wrong("signals", "something that a solution could be found by", "nothing"));
    }
    let rows = server.node()?.search(&query, Some("Capsule"), limit.max(1))?;
    let policy = server.store().map(|workspace| ReusePolicy::load(&workspace)).unwrap_or_default();
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "asset_id": row.asset_id,
                "summary": inert_line(cut(&row.summary, 400)),
                "source": row.source_node_id,
                "score": policy.score(row.confidence, row.streak, row.reputation),
                "confidence": row.confidence,
                "streak": row.streak,
                "status": row.status,
            })
        })
        .collect();
    Ok(json!({"solutions": rows}))
}

fn dedupe(signals: &mut Vec<String>) {
    let mut seen = std::collections::HashSet::new();
    signals.retain(|signal| !signal.trim().is_empty() && seen.insert(signal.clone()));
}
