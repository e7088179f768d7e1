//! What was published before, so that the same content is not sent twice.

use super::outgoing::Outgoing;
use crate::store::lines;
use crate::workspace::Workspace;
use capsid_disk::{Lock, files};
use capsid_model::asset::asset_id;
use capsid_model::{Object, Result, Value, json};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

/// How long one process waits for another one that notes what it published.
const WAIT: Duration = Duration::from_secs(5);

/// One publication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publication {
    /// What names the content, whatever became of its numbers since.
    pub content: String,
    /// The hub that took it.
    pub hub: String,
    /// The id of the capsule as it was sent.
    pub asset_id: String,
}

/// Every publication, oldest first.
pub fn read(workspace: &Workspace) -> Result<Vec<Publication>> {
    let mut publications = Vec::new();
    lines::scan(&path(workspace), |line| {
        if let Ok(Value::Object(line)) = serde_json::from_slice(line) {
            let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            publications.push(Publication {
                content: text("content"),
                hub: text("hub"),
                asset_id: text("asset_id"),
            });
        }
        ControlFlow::Continue(())
    })?;
    Ok(publications)
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
pub fn note(workspace: &Workspace, sent: &Outgoing, hub: &str, answer: &Object) -> Result<()> {
    let id = |kind: &str| {
        let of_kind = |asset: &&Object| asset.get("type").and_then(Value::as_str) == Some(kind);
        sent.assets.iter().find(of_kind).and_then(|asset| asset.get("asset_id")).cloned()
    };
    let line = json!({
        "at": workspace.now().iso(),
        "action": "asset_publish",
        "hub": hub,
        "content": sent.content,
        "local_id": sent.capsule_id,
        "asset_id": id("Capsule"),
        "gene_asset_id": id("Gene"),
        "event_asset_id": id("EvolutionEvent"),
        "bundle_id": answer.get("bundle_id"),
        "decision": answer.get("decision"),
        "status": answer.get("status"),
    });
    let path = path(workspace);
    files::create_folder(&workspace.repository.private_dir())?;
    let _lock = Lock::acquire(&path.with_extension("lock"), "The list of publications", WAIT)?;
    files::append(&path, &format!("{line}\n"))
}

fn path(workspace: &Workspace) -> PathBuf {
    workspace.repository.private_dir().join("published.jsonl")
}
