//! `recall`: what worked before on what is seen now.

use crate::arguments::{ToolArguments, wrong};
use crate::context::ServerContext;
use crate::tool_context::ToolContext;
use capsid_engine::exchange::signals;
use capsid_engine::recall::{proven_for, signals_here, signals_in};
use capsid_engine::reuse;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Problem, Result, Value, json};

/// The default number of solutions.
const DEFAULT: usize = 3;
/// The most solutions.
const MAX: usize = 20;

/// Does it.
pub fn run(place: &ServerContext, job: &ToolContext, given: &ToolArguments) -> Result<Value> {
    let workspace = place.store()?;
    let limit = given.count("limit", DEFAULT, MAX)?;
    let query = given.text("query")?.unwrap_or_default().trim();
    let mut signals = given.list("signals")?;
    let from_query = if query.is_empty() { Vec::new() } else { signals_in(query) };
    signals.extend(from_query);
    if signals.is_empty() && query.is_empty() {
        job.step("reading the signals of the repository")?;
        signals = signals_here(&workspace)?;
    }
    dedupe(&mut signals);
    job.step("looking into the store")?;
    let found = proven_for(&workspace, &signals, query, limit)?;
    let solutions: Vec<Value> = found
        .iter()
        .map(|one| {
            let mut value = serde_json::to_value(one).unwrap_or_default();
            value["summary"] = inert_line(cut(&one.summary, 400)).into();
            value["resource"] = format!("gep://capsules/{}", capsid_client::node::encoded(&one.id)).into();
            value
        })
        .collect();
    let mut value = json!({"signals": signals, "solutions": solutions});
    if given.flag("hub")? {
        job.step("asking the hub")?;
        value["hub"] =
            on_the_hub(place, &signals, limit).unwrap_or_else(|told| json!({"problem": told.to_json()}));
    }
    Ok(value)
}

/// The same question to the hub. What comes back are rows about assets, not the assets.
pub fn on_the_hub(place: &ServerContext, signals: &[String], limit: usize) -> Result<Value, Problem> {
    let asked = signals::outward(signals, signals::MAX);
    if asked.is_empty() {
        return Err(wrong("signals", "something that a solution could be found by", "nothing"));
    }
    let rows = place.node()?.search(&asked, Some("Capsule"), limit.max(1))?;
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "asset_id": row.asset_id,
                "summary": inert_line(cut(&row.summary, 400)),
                "source": row.source_node_id,
                "score": reuse::score(row.confidence, row.streak, row.reputation),
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
