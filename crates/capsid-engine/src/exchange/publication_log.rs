//! What was published before, and what a hub rejected, so that the same content is not sent twice.

use crate::store::lines;
use crate::workspace::Workspace;
use capsid_disk::{Lock, files};
use capsid_model::asset::asset_id;
use capsid_model::{Object, Problem, Result, Value, json};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

/// How long one process waits for another one that notes what it published.
const WAIT: Duration = Duration::from_secs(5);

/// A bundle that is ready to be sent.
#[derive(Debug, Clone)]
pub struct OutgoingBundle {
    pub capsule_id: String,
    /// Gene, capsule and event, each stamped.
    pub assets: Vec<Object>,
    /// What was redacted or left out, one line each.
    pub notes: Vec<String>,
    /// What names the content, so that it is not sent twice.
    pub content: String,
}

/// One publication, or a try at one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicationRecord {
    /// What names the content, whatever became of its numbers since.
    pub content: String,
    /// The hub that took it, or did not.
    pub hub: String,
    /// The id of the capsule in this store.
    pub capsule_id: String,
    /// The id of the capsule as it was sent.
    pub asset_id: String,
    /// Why the hub did not take it, where it did not.
    pub rejected: Option<String>,
}

/// Every publication, oldest first.
pub fn read(workspace: &Workspace) -> Result<Vec<PublicationRecord>> {
    let mut publications = Vec::new();
    lines::scan(&path(workspace)?, |line| {
        if let Ok(Value::Object(line)) = serde_json::from_slice(line) {
            let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            publications.push(PublicationRecord {
                content: text("content"),
                hub: text("hub"),
                capsule_id: text("local_id"),
                asset_id: text("asset_id"),
                rejected: is_rejected(&line).then(|| text("why")),
            });
        }
        ControlFlow::Continue(())
    })?;
    Ok(publications)
}

/// Whether an answer, or a note of one, rejects a bundle.
pub(super) fn is_rejected(answer: &Object) -> bool {
    ["decision", "status"]
        .iter()
        .any(|member| matches!(answer.get(*member).and_then(Value::as_str), Some("reject" | "rejected")))
}

/// What names a solution: the capsule, its change and the steps. Its streak and its dates may grow.
pub fn content(capsule: &Object, gene: &Object) -> String {
    let named = json!({
        "id": capsule.get("id"),
        "trigger": capsule.get("trigger"),
        "diff": capsule.get("diff"),
        "strategy": gene.get("strategy"),
        "validation": gene.get("validation"),
    });
    named.as_object().map(asset_id).unwrap_or_default()
}

/// Notes that a hub took a bundle; durable when it returns.
pub fn record_publication(
    workspace: &Workspace,
    sent: &OutgoingBundle,
    hub: &str,
    answer: &Object,
) -> Result<()> {
    let members = ["bundle_id", "decision", "status"].map(|name| (name, answer.get(name).cloned()));
    append(workspace, "asset_publish", sent, hub, members)
}

/// Notes that a hub rejected a bundle, and why.
pub fn record_rejected(
    workspace: &Workspace,
    sent: &OutgoingBundle,
    hub: &str,
    problem: &Problem,
) -> Result<()> {
    let members = [
        ("status", Some("rejected".into())),
        ("reason", problem.hub_code.clone().map(Value::from)),
        ("why", Some(problem.message.as_str().into())),
    ];
    append(workspace, "asset_publish_rejected", sent, hub, members)
}

fn append(
    workspace: &Workspace,
    action: &str,
    sent: &OutgoingBundle,
    hub: &str,
    members: [(&str, Option<Value>); 3],
) -> Result<()> {
    let id = |kind: &str| {
        let of_kind = |asset: &&Object| asset.get("type").and_then(Value::as_str) == Some(kind);
        sent.assets.iter().find(of_kind).and_then(|asset| asset.get("asset_id")).cloned()
    };
    let mut line = json!({
        "at": workspace.now().iso(),
        "action": action,
        "hub": hub,
        "content": sent.content,
        "local_id": sent.capsule_id,
        "asset_id": id("Capsule"),
        "gene_asset_id": id("Gene"),
        "event_asset_id": id("EvolutionEvent"),
    });
    for (name, value) in members {
        line[name] = value.into();
    }
    workspace.create_state_dir()?;
    let path = path(workspace)?;
    let _lock = Lock::acquire(&path.with_extension("lock"), "The list of publications", WAIT)?;
    files::append(&path, &format!("{line}\n"))
}

fn path(workspace: &Workspace) -> Result<PathBuf> {
    workspace.state_file("published.jsonl")
}
