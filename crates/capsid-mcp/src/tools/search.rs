//! `search`: reading what a hub has. Nothing is bought and nothing is changed.

use super::redact_outbound;
use crate::arguments::{ToolArguments, required, wrong};
use crate::context::ServerContext;
use crate::tool_context::ToolContext;
use capsid_client::NodeClient;
use capsid_client::node::encoded;
use capsid_engine::rules::outbound;
use capsid_model::text::cut;
use capsid_model::{Result, Value, json};

/// What can be looked up.
pub const WHAT: [&str; 13] = [
    "assets",
    "asset",
    "ranked",
    "tasks",
    "my_tasks",
    "task",
    "bounties",
    "node",
    "statement",
    "reports",
    "skills",
    "audit",
    "hub",
];
/// The kinds of assets.
pub const KINDS: [&str; 3] = ["Capsule", "Gene", "EvolutionEvent"];

/// What narrows a search by words.
const FILTERS: [&str; 4] = ["category", "environment", "since", "until"];

/// The default number of rows.
const DEFAULT: usize = 10;
/// The most rows.
const MAX: usize = 50;

/// Does it.
pub fn run(server: &ServerContext, job: &ToolContext, arguments: &ToolArguments) -> Result<Value> {
    let what = arguments.word("what", &WHAT)?;
    let id = arguments.name("id")?;
    let limit = arguments.count("limit", DEFAULT, MAX)?.to_string();
    let limit = [("limit", limit.as_str())];
    if what == "assets" {
        return assets(server, job, arguments);
    }
    let node = server.node()?;
    job.step("asking the hub")?;
    match what {
        "asset" => node.get(&format!("/a2a/assets/{}", encoded(required(id, "id")?)), &[]),
        "ranked" => node.get("/a2a/assets/ranked", &limit),
        "tasks" => node.get("/task/list", &limit),
        "my_tasks" => node.task_my(arguments.count("limit", DEFAULT, MAX)?),
        "task" => node.get(&format!("/task/{}", encoded(required(id, "id")?)), &[]),
        "bounties" => match id {
            Some(id) => node.get(&format!("/bounty/{}", encoded(id)), &[]),
            None => node.get("/bounty/list", &limit),
        },
        "node" => node.get(&format!("/a2a/nodes/{}", encoded(id.unwrap_or(node.id()))), &[]),
        "audit" => node.get(&format!("/a2a/nodes/{}/activity", encoded(id.unwrap_or(node.id()))), &limit),
        "statement" => node.get("/a2a/credit/statement", &[("node_id", node.id()), limit[0]]),
        "reports" => reports(&node, required(id, "id")?, limit[0]),
        "skills" => node.get("/a2a/skill/store/list", &limit),
        _ => node.get("/a2a/stats", &[]),
    }
}

fn reports(node: &NodeClient, id: &str, limit: (&str, &str)) -> Result<Value> {
    node.get("/a2a/validation-reports", &[("asset_id", id), limit])
}

/// Assets by signals, or by words.
fn assets(server: &ServerContext, job: &ToolContext, arguments: &ToolArguments) -> Result<Value> {
    let named = arguments.list("signals")?;
    let signals = outbound::outbound_signals(&named, outbound::MAX);
    if signals.is_empty() && !named.is_empty() {
        return Err(wrong("signals", "something that may leave this machine", "nothing of the kind"));
    }
    let kind = match arguments.name("kind")? {
        Some(_) => Some(arguments.word("kind", &KINDS)?),
        None => None,
    };
    let limit = arguments.count("limit", DEFAULT, MAX)?;
    let query = arguments.text("query")?.map(str::trim).filter(|query| !query.is_empty());
    let mut narrowed = Vec::new();
    for name in FILTERS {
        narrowed.push((name, arguments.name(name)?));
    }
    if let Some((name, _)) = narrowed.iter().find(|(_, value)| value.is_some())
        && (query.is_none() || !signals.is_empty())
    {
        return Err(wrong(name, "given together with `query`, and without `signals`", "given otherwise"));
    }
    let node = server.node()?;
    job.step("asking the hub")?;
    if !signals.is_empty() {
        let rows: Vec<Value> =
            node.search(&signals, kind, limit)?.into_iter().map(|row| row.row.into()).collect();
        return Ok(json!({"assets": rows}));
    }
    let limit = limit.to_string();
    match query {
        Some(query) => {
            narrowed.push(("type", kind));
            by_words(&node, query, &narrowed, &limit)
        }
        None => {
            let mut filter = vec![("limit", limit.as_str())];
            filter.extend(kind.map(|kind| ("type", kind)));
            node.get("/a2a/assets", &filter)
        }
    }
}

/// Searches assets by meaning.
pub(crate) fn by_words(
    node: &NodeClient,
    query: &str,
    narrowed: &[(&str, Option<&str>)],
    limit: &str,
) -> Result<Value> {
    let query = redact_outbound(query);
    let mut filter =
        vec![("q", cut(&query, 500)), ("mode", "hybrid"), ("limit", limit), ("include_context", "true")];
    filter.extend(narrowed.iter().filter_map(|(name, value)| Some((*name, (*value)?))));
    node.get("/a2a/assets/semantic-search", &filter)
}
