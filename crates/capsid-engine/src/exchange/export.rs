//! Everything that may leave, to be carried by other means than a hub.

use super::eligibility::check_gene;
use super::origin::source;
use super::outgoing::{PublishState, bundle, stamped_gene};
use super::publication_log::OutgoingBundle;
use super::redact::{self, SentMembers};
use crate::workspace::Workspace;
use capsid_model::asset::stamp;
use capsid_model::{Object, Result, Value};
use capsid_rules::learning::sharing::check_origin;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// What may leave.
#[derive(Debug, Clone, Default)]
pub struct ShareExport {
    /// Eligible capsules, each with its gene and its event.
    pub bundles: Vec<OutgoingBundle>,
    /// Eligible genes, those of the bundles among them.
    pub genes: Vec<Object>,
    /// Events, if requested.
    pub events: Vec<Object>,
    /// What was redacted or left out, one line each.
    pub notes: Vec<String>,
}

impl ShareExport {
    /// Every asset once: capsules, genes, events.
    pub fn assets(&self) -> Vec<&Object> {
        let capsules = self.bundles.iter().filter_map(|bundle| filter_kind(bundle, "Capsule"));
        capsules.chain(&self.genes).chain(&self.events).collect()
    }
}

/// Everything that may leave this store, redacted and stamped.
pub fn export(workspace: &Workspace, include_events: bool) -> Result<ShareExport> {
    let state = PublishState::read(workspace)?;
    let mut export = ShareExport::default();
    for capsule in workspace.store.capsules.documents()? {
        if state.eligibility(&capsule).eligible {
            match bundle(&state, &capsule, false) {
                Ok(bundle) => export.bundles.push(bundle),
                Err(problem) => export.notes.push(problem.message),
            }
        }
    }
    export.notes.extend(export.bundles.iter().flat_map(|bundle| bundle.notes.clone()).collect::<Vec<_>>());
    let mut sent_as = HashMap::new();
    for stored in workspace.store.genes.documents()? {
        if check_gene(&stored).is_ok() && check_origin(&stored).is_ok() {
            match stamped_gene(&stored, &[]) {
                Ok(clean) => {
                    export.notes.extend(clean.notes);
                    sent_as.insert(id(&stored), clean.asset.get("asset_id").cloned().unwrap_or_default());
                    export.genes.push(clean.asset);
                }
                Err(problem) => export.notes.push(problem.message),
            }
        }
    }
    for bundle in &export.bundles {
        // A gene that left with a command of its capsule's proof is another asset than the gene by itself.
        let gene = filter_kind(bundle, "Gene");
        let is_listed =
            |gene: &Object| export.genes.iter().any(|listed| listed["asset_id"] == gene["asset_id"]);
        if let Some(gene) = gene.filter(|gene| !is_listed(gene)).cloned() {
            sent_as.entry(id(&gene)).or_insert_with(|| gene["asset_id"].clone());
            export.genes.push(gene);
        }
        let capsule = filter_kind(bundle, "Capsule").and_then(|capsule| capsule.get("asset_id"));
        sent_as.insert(bundle.capsule_id.clone(), capsule.cloned().unwrap_or_default());
    }
    if include_events {
        workspace.store.events.each(|_, document| {
            if source(&document).is_none() {
                export.events.push(event(&document, &sent_as, state.members));
            }
            ControlFlow::Continue(())
        })?;
    }
    let mut seen = HashSet::new();
    export.notes.retain(|note| seen.insert(note.clone()));
    Ok(export)
}

/// An event whose links lead to what leaves with it; those that would lead nowhere stay as they were.
fn event(stored: &Object, sent_as: &HashMap<String, Value>, members: SentMembers) -> Object {
    let mut event = redact::event(stored, members).asset;
    let linked = |link: &Value| link.as_str().and_then(|id| sent_as.get(id)).unwrap_or(link).clone();
    if let Some(Value::Array(genes)) = stored.get("genes_used") {
        let clean = event.get("genes_used").and_then(Value::as_array).cloned().unwrap_or_default();
        let links = genes.iter().zip(clean).map(|(gene, clean)| match linked(gene) {
            same if same == *gene => clean,
            sent => sent,
        });
        event.insert("genes_used".to_owned(), links.collect());
    }
    if let Some(sent) = stored.get("capsule_id").and_then(Value::as_str).and_then(|id| sent_as.get(id)) {
        event.insert("capsule_id".to_owned(), sent.clone());
    }
    stamp(&mut event);
    event
}

/// The asset of a kind in a bundle.
pub fn filter_kind<'a>(bundle: &'a OutgoingBundle, kind: &str) -> Option<&'a Object> {
    bundle.assets.iter().find(|asset| asset.get("type").and_then(Value::as_str) == Some(kind))
}

fn id(document: &Object) -> String {
    document.get("id").and_then(Value::as_str).unwrap_or_default().to_owned()
}
