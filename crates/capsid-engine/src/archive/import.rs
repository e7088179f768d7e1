//! Imports an archive into a store: checked completely first, then merged.

use super::merge::{self, MergeSummary};
use super::unpack::unpack;
use super::{CAPSULE_LINES, CAPSULES, EVENTS, GENE_LINES, GENES, MEMORY_GRAPH, invalid};
use crate::files::phase;
use crate::store::AssetStore;
use crate::store::collection::Collection;
use capsid_model::{Object, Result};
use std::path::Path;

/// What is taken besides genes, capsules and events.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImportOptions<'a> {
    /// The local memory graph, if the archive's lines are to be added to it.
    pub memory_graph: Option<&'a Path>,
}

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportReport {
    /// The archive's manifest.
    pub manifest: Object,
    pub genes: MergeSummary,
    pub capsules: MergeSummary,
    pub events: MergeSummary,
    /// Lines of the memory graph, if requested.
    pub memory: Option<MergeSummary>,
}

/// Merges an archive into a store. Takes the store's lock.
///
/// An archive that cannot be trusted to be whole changes nothing. An import that was interrupted can be repeated:
/// what was taken counts as unchanged then. The distiller's log stays where it was made.
pub fn import(archive: &Path, store: &AssetStore, options: ImportOptions<'_>) -> Result<ImportReport> {
    let unpacked = unpack(archive)?;
    let file = |name: &str| unpacked.folder.path().join(name);
    let texts = |json: &str, lines: &str, member: &'static str| {
        Collection::at(file(json), Some(file(lines)), member)
            .texts()
            .map_err(|_| invalid(format!("`{json}` in the archive is no list of `{member}`.")))
    };
    let genes = texts(GENES, GENE_LINES, "genes")?;
    let capsules = texts(CAPSULES, CAPSULE_LINES, "capsules")?;

    let _lock = store.lock()?;
    store.create()?;
    phase::enter("genes");
    let genes = merge::documents(&genes, &store.genes, "Gene")?;
    phase::enter("capsules");
    let capsules = merge::documents(&capsules, &store.capsules, "Capsule")?;
    phase::enter("events");
    let events = merge::append_lines(&file(EVENTS), store.events.path())?;
    let memory = match options.memory_graph {
        Some(local) => {
            phase::enter("memory_graph");
            Some(merge::append_lines(&file(MEMORY_GRAPH), local)?)
        }
        None => None,
    };
    Ok(ImportReport { manifest: unpacked.manifest, genes, capsules, events, memory })
}
