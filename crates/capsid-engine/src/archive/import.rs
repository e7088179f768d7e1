//! Imports an archive: checked completely first, then staged as foreign, or merged as one's own.

use super::merge::{self, MergeSummary};
use super::unpack::{UnpackedArchive, unpack};
use super::{CAPSULE_LINES, CAPSULES, EVENTS, GENE_LINES, GENES, MEMORY_GRAPH, invalid};
use crate::exchange::stage::{StageOutcome, stage_texts};
use crate::files::phase;
use crate::store::collection::{Collection, parse_document};
use crate::store::{AssetStore, lines};
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::gene::Gene;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Object, Result, Value};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The content of an archive that was checked. Nothing of it is in a store yet.
pub struct ArchiveContent {
    unpacked: UnpackedArchive,
    genes: Vec<String>,
    capsules: Vec<String>,
}

/// A gene of an archive and what it would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneCommands {
    pub id: String,
    pub commands: Vec<String>,
}

/// What staging an archive did.
#[derive(Debug, Clone, Default)]
pub struct ArchiveStaging {
    pub assets: StageOutcome,
    /// Events in the archive. They would count in selection as if they had happened here, so they are not taken.
    pub events_left_out: u64,
    /// Lines of memory in the archive, not taken for the same reason.
    pub memory_left_out: u64,
}

/// What an import of one's own archive did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportReport {
    pub genes: MergeSummary,
    pub capsules: MergeSummary,
    pub events: MergeSummary,
    /// Lines of the memory graph, if requested.
    pub memory: Option<MergeSummary>,
}

/// Unpacks and checks an archive. One that cannot be trusted to be whole is refused.
pub fn open(archive: &Path) -> Result<ArchiveContent> {
    let unpacked = unpack(archive)?;
    let file = |name: &str| unpacked.folder.path().join(name);
    let texts = |json: &str, lines: &str, member: &'static str| {
        Collection::at(file(json), Some(file(lines)), member)
            .texts()
            .map_err(|_| invalid(format!("`{json}` in the archive is no list of `{member}`.")))
    };
    let genes = texts(GENES, GENE_LINES, "genes")?;
    let capsules = texts(CAPSULES, CAPSULE_LINES, "capsules")?;
    Ok(ArchiveContent { unpacked, genes, capsules })
}

impl ArchiveContent {
    pub fn manifest(&self) -> &Object {
        &self.unpacked.manifest
    }

    /// Each gene with its commands, for the owner to look at.
    pub fn gene_commands(&self) -> Vec<GeneCommands> {
        let genes = self.genes.iter().filter_map(|text| parse_document(text));
        genes
            .map(|document| {
                let gene = Gene::read(&document);
                GeneCommands { id: gene.id, commands: gene.validation }
            })
            .collect()
    }

    /// Stages genes and capsules like assets of a hub. Takes the store's lock.
    pub fn stage(&self, workspace: &Workspace) -> Result<ArchiveStaging> {
        let texts: Vec<String> = self.genes.iter().chain(&self.capsules).cloned().collect();
        Ok(ArchiveStaging {
            assets: stage_texts(workspace, &texts, &self.source())?,
            events_left_out: count_lines(&self.file(EVENTS))?,
            memory_left_out: count_lines(&self.file(MEMORY_GRAPH))?,
        })
    }

    /// Merges everything into a store as its owner's own, with the memory graph if a local one is given. Takes the
    /// store's lock.
    ///
    /// An import that was interrupted can be repeated: what was taken counts as unchanged then. The distiller's log
    /// stays where it was made.
    pub fn merge_into(&self, store: &AssetStore, memory_graph: Option<&Path>) -> Result<ImportReport> {
        let _lock = store.lock()?;
        store.create()?;
        phase::enter("genes");
        let genes = merge::documents(&self.genes, &store.genes, "Gene")?;
        phase::enter("capsules");
        let capsules = merge::documents(&self.capsules, &store.capsules, "Capsule")?;
        phase::enter("events");
        let events = merge::append_lines(&self.file(EVENTS), store.events.path())?;
        let memory = match memory_graph {
            Some(local) => {
                phase::enter("memory_graph");
                files::create_private(local)?;
                Some(merge::append_lines(&self.file(MEMORY_GRAPH), local)?)
            }
            None => None,
        };
        Ok(ImportReport { genes, capsules, events, memory })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.unpacked.folder.path().join(name)
    }

    /// Whose archive it is by its own words.
    fn source(&self) -> String {
        let text = |name: &str| self.manifest().get(name).and_then(Value::as_str).unwrap_or_default();
        let named = [text("agent_id"), text("agent_name")].into_iter().find(|name| !name.trim().is_empty());
        inert_line(cut(named.unwrap_or("archive"), 100))
    }
}

fn count_lines(path: &Path) -> Result<u64> {
    let mut count = 0;
    lines::scan(path, |_| {
        count += 1;
        ControlFlow::Continue(())
    })?;
    Ok(count)
}
