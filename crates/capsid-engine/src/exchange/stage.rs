//! Stages foreign assets: checked, with lowered confidence, never selected and never run.

use super::incoming::{
    self, IncomingAsset, IncomingMessage, MessageKind, ReceiptInfo, checked, lowered, received_id,
};
use crate::files::phase;
use crate::memory::records::graph_id;
use crate::memory::remote;
use crate::rules::foreign::confidence_factor;
use crate::store::events::object;
use crate::store::lines;
use crate::workspace::Workspace;
use capsid_client::calls::FetchedAssets;
use capsid_disk::files;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result, Value, canonical, json};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// The most staged assets. What has no end is not looked through by anybody.
const STAGED_LIMIT: usize = 5000;

/// What became of foreign assets.
#[derive(Debug, Clone, Default)]
pub struct StageOutcome {
    /// The staged assets as they are stored.
    pub accepted: Vec<Object>,
    /// Those that were staged before.
    pub known: usize,
    /// Those that were refused, and why.
    pub refused: Vec<Problem>,
    /// What else there is to say, one line each.
    pub notes: Vec<String>,
}

/// Stages assets from a text: one asset, a list, JSON lines, or messages that hold assets or bundles. A message that
/// takes back what its sender sent does so; what any other message says is ignored, and a note names it. Takes the
/// store's lock.
pub fn stage(workspace: &Workspace, text: &str, source: Option<&str>) -> Result<StageOutcome> {
    let found = incoming::find(text)?;
    let mut staged = stage_found(workspace, &found.assets, found.bad, source, None)?;
    for message in &found.messages {
        staged.notes.push(apply_message(workspace, message)?);
    }
    Ok(staged)
}

/// Does what a message says, as far as a message in a file can; gives a line that says what became of it.
fn apply_message(workspace: &Workspace, message: &IncomingMessage) -> Result<String> {
    let ignored = |reason: &str| format!("ignored: {message}. {reason}");
    match message.kind {
        MessageKind::Report => Ok(ignored(
            "Nothing in a file shows that its sender ran anything. A hub checks that: `capsid node report`.",
        )),
        MessageKind::Decision => Ok(ignored("Only a hub acts on decisions: `capsid node decide`.")),
        MessageKind::Revoke => {
            let _lock = workspace.lock()?;
            let all = staged(workspace)?;
            let meant: Vec<&Object> =
                all.iter().filter(|asset| identity(asset) == message.target.as_str()).collect();
            let sender = |asset: &&Object| asset.get("a2a").and_then(|a2a| a2a.get("source")).cloned();
            if meant.is_empty() {
                return Ok(ignored("Nothing with this id is staged; what was promoted here stays."));
            }
            if meant
                .iter()
                .filter_map(sender)
                .any(|sender| Some(sender.as_str().unwrap_or_default()) != message.sender.as_deref())
            {
                return Ok(ignored(
                    "The staged asset came from another node, and only its sender takes it back.",
                ));
            }
            remove_staged(workspace, &meant)?;
            Ok(format!("done: {message}. It is not staged any more."))
        }
    }
}

/// Takes assets off the stage.
pub(super) fn remove_staged(workspace: &Workspace, done: &[&Object]) -> Result<()> {
    phase::enter("candidates");
    let path = workspace.store.external_candidates();
    let text = files::read_optional(&path)?.unwrap_or_default();
    let is_done = |staged: &Object| done.iter().any(|asset| identity(asset) == identity(staged));
    let is_it = |line: &&str| object(line.as_bytes()).is_some_and(|staged| is_done(&staged));
    let left: String = text.split_inclusive('\n').filter(|line| !is_it(line)).collect();
    files::replace(&path, left.as_bytes())
}

/// The unique id of an asset: the id it was received under, or its own.
pub(super) fn identity(asset: &Object) -> &str {
    let own = asset.get("asset_id").and_then(Value::as_str).unwrap_or_default();
    received_id(asset).unwrap_or(own)
}

/// Stages assets of which each is a text of its own. Takes the store's lock.
pub fn stage_texts(workspace: &Workspace, texts: &[String], source: &str) -> Result<StageOutcome> {
    let (mut incoming, mut refused) = (Vec::new(), Vec::new());
    for (at, text) in texts.iter().enumerate() {
        match canonical::read(text) {
            Ok(asset) => incoming.push(IncomingAsset { asset, sender: None }),
            Err(problem) => {
                let message = format!("Asset {} of the input is no JSON; it was not staged.", at + 1);
                refused.push(Problem::new(problem.code, message));
            }
        }
    }
    stage_found(workspace, &incoming, refused, Some(source), None)
}

/// Stages what was fetched from a hub, each with the node that published it. Takes the store's lock.
pub fn stage_fetched(workspace: &Workspace, fetched: &FetchedAssets, hub: &str) -> Result<StageOutcome> {
    let to_incoming = |asset: &Object| {
        let id = asset.get("asset_id").and_then(Value::as_str).unwrap_or_default();
        IncomingAsset { asset: Value::Object(asset.clone()), sender: fetched.sources.get(id).cloned() }
    };
    let incoming: Vec<IncomingAsset> = fetched.assets.iter().map(to_incoming).collect();
    stage_found(workspace, &incoming, Vec::new(), None, Some(hub))
}

fn stage_found(
    workspace: &Workspace,
    incoming: &[IncomingAsset],
    refused: Vec<Problem>,
    source: Option<&str>,
    hub: Option<&str>,
) -> Result<StageOutcome> {
    let hub = hub.map(|hub| inert_line(cut(hub, 200)));
    let mut staged = StageOutcome { refused, ..StageOutcome::default() };
    let _lock = workspace.lock()?;
    let (mut known, mut count) = load_known_ids(workspace)?;
    let (at, factor) = (workspace.now().iso(), factor(workspace));
    for (index, item) in incoming.iter().enumerate() {
        let (asset, had_id) = match checked(&item.asset, index + 1) {
            Ok(checked) => checked,
            Err(problem) => {
                staged.refused.push(problem);
                continue;
            }
        };
        let id = asset.get("asset_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        if known.contains(&id) {
            staged.known += 1;
            continue;
        }
        if count >= STAGED_LIMIT {
            staged.refused.push(full(workspace));
            break;
        }
        if !had_id {
            staged.notes.push(format!("{} came without an id; it has `{id}`.", incoming::name_of(&asset)));
        }
        let sender = source.or(item.sender.as_deref()).map(|name| inert_line(cut(name, 100)));
        // If a hub does not name the publisher, the hub itself is named.
        let source = sender.as_deref().filter(|name| !name.is_empty()).or(hub.as_deref());
        let received =
            ReceiptInfo { source: source.unwrap_or("external"), hub: hub.as_deref(), at: at.clone(), factor };
        staged.accepted.push(lowered(asset, &received));
        known.insert(id);
        count += 1;
    }
    save_staged(workspace, &staged.accepted)?;
    Ok(staged)
}

/// Everything staged, newest first.
pub fn staged(workspace: &Workspace) -> Result<Vec<Object>> {
    let mut all = Vec::new();
    lines::scan(&workspace.store.external_candidates(), |line| {
        all.extend(object(line));
        ControlFlow::Continue(())
    })?;
    all.reverse();
    Ok(all)
}

/// The ids of all that ever came: what is staged, and what was taken in since. Also how much is staged.
pub(super) fn load_known_ids(workspace: &Workspace) -> Result<(HashSet<String>, usize)> {
    let staged = staged(workspace)?;
    let count = staged.len();
    let installed =
        workspace.store.genes.documents()?.into_iter().chain(workspace.store.capsules.documents()?);
    let ids = staged.into_iter().chain(installed).flat_map(|asset| {
        let own = asset.get("asset_id").and_then(Value::as_str).map(str::to_owned);
        [own, received_id(&asset).map(str::to_owned)]
    });
    let mut ids: HashSet<String> = ids.flatten().collect();
    // Imported events are few, and have a word that no other line has.
    lines::scan(workspace.store.events.path(), |line| {
        if memchr::memmem::find(line, b"\"received_asset_id\"").is_some() {
            ids.extend(object(line).and_then(|event| received_id(&event).map(str::to_owned)));
        }
        ControlFlow::Continue(())
    })?;
    Ok((ids, count))
}

fn save_staged(workspace: &Workspace, accepted: &[Object]) -> Result<()> {
    if accepted.is_empty() {
        return Ok(());
    }
    phase::enter("candidates");
    let mut text = String::new();
    for asset in accepted {
        text.push_str(&serde_json::to_string(asset).unwrap_or_default());
        text.push('\n');
    }
    let path = workspace.store.external_candidates();
    files::create_private(&path)?;
    files::append(&path, &text)?;
    let records: Vec<Object> = accepted.iter().map(|asset| graph_record(workspace, asset)).collect();
    workspace.graph().append(&records)?;
    remote::queue(workspace, &records);
    Ok(())
}

/// What the memory graph learns: that it came, and from where. None of its words.
fn graph_record(workspace: &Workspace, asset: &Object) -> Object {
    let now = workspace.now();
    let a2a = |name: &str| asset.get("a2a").and_then(|a2a| a2a.get(name));
    let record = json!({
        "type": "MemoryGraphEvent",
        "kind": "external_candidate",
        "id": graph_id("mge", now, workspace.random()),
        "ts": now.iso(),
        "external": {"source": a2a("source"), "received_at": a2a("received_at")},
        "asset": {"type": asset.get("type"), "id": asset.get("id"), "asset_id": asset.get("asset_id")},
        "candidate": {"confidence": asset.get("confidence"), "received_asset_id": a2a("received_asset_id")},
    });
    record.as_object().cloned().unwrap_or_default()
}

fn factor(workspace: &Workspace) -> f64 {
    confidence_factor(workspace.variable("A2A_EXTERNAL_CONFIDENCE_FACTOR").as_deref())
}

fn full(workspace: &Workspace) -> Problem {
    let path = workspace.store.external_candidates();
    Problem::new(Code::ChangeRefused, format!("{STAGED_LIMIT} assets are staged; no more are taken."))
        .fix(format!("Promote what is of use, and take the other lines out of `{}`.", path.display()))
}
