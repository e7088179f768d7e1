//! The portable archive (`.gepx`): a complete store in one file with checksums, for moving it to another machine.
//!
//! An archive holds the store as it is and nothing in it is redacted: it is a copy for its owner, not a publication.
//! An archive does not prove who made it, so what comes from one is staged like an asset of a hub, unless the owner
//! says that it is their own.

mod digest;
mod export;
mod import;
mod merge;
mod unpack;

pub use export::{ExistingFile, ExportReport, ManifestInput, export};
pub use import::{ArchiveContent, ArchiveStaging, GeneCommands, ImportReport, open};
pub use merge::MergeSummary;

use capsid_model::{Code, Problem};

const MANIFEST: &str = "manifest.json";
const CHECKSUMS: &str = "checksum.sha256";
const GENES: &str = "genes/genes.json";
const GENE_LINES: &str = "genes/genes.jsonl";
const CAPSULES: &str = "capsules/capsules.json";
const CAPSULE_LINES: &str = "capsules/capsules.jsonl";
const EVENTS: &str = "events/events.jsonl";
const MEMORY_GRAPH: &str = "memory/memory_graph.jsonl";
const DISTILLER_LOG: &str = "distiller/distiller_log.jsonl";

/// Everything an archive may hold besides its manifest and its checksums.
const CONTENT: [&str; 7] = [GENES, GENE_LINES, CAPSULES, CAPSULE_LINES, EVENTS, MEMORY_GRAPH, DISTILLER_LOG];

fn invalid(message: impl Into<String>) -> Problem {
    Problem::new(Code::ArchiveInvalid, message)
        .fix("Get the archive again from where it was made; nothing was taken from this one.")
}
