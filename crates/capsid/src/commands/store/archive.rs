//! `capsid archive`: a store in one file.

use crate::commands::workspace;
use crate::output::{self, GOOD, NAME, WARN, paint};
use capsid_engine::archive::{self, ExistingFile, ImportOptions, ManifestInput, MergeSummary};
use capsid_engine::sealed_log::proof;
use capsid_engine::solidify;
use capsid_engine::workspace::Workspace;
use capsid_model::text::inert_line;
use capsid_model::{Result, Value, json};
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

/// Move a store in one file (.gepx): genes, capsules, events and memory, with checksums.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid archive export store.gepx         what was learned here, in one file
  capsid archive import store.gepx         add it to another repository")]
pub struct ArchiveArgs {
    #[command(subcommand)]
    action: ArchiveCommand,
}

#[derive(Debug, Subcommand)]
enum ArchiveCommand {
    /// Write the store of this repository into an archive.
    #[command(after_help = "\
Examples:
  capsid archive export store.gepx
  capsid archive export --force store.gepx     replace an older one")]
    Export {
        /// The archive, such as store.gepx.
        file: PathBuf,
        /// Replace the file if it exists.
        #[arg(long)]
        force: bool,
    },
    /// Add what an archive holds. Everything is verified first, and nothing local is replaced.
    #[command(after_help = "\
Examples:
  capsid archive import store.gepx
  capsid archive import --memory store.gepx    with what its owner's engine remembers")]
    Import {
        /// The archive.
        file: PathBuf,
        /// Add its memory graph too.
        #[arg(long)]
        memory: bool,
    },
}

/// Runs the command.
pub fn run(arguments: &ArchiveArgs, folder: &Path) -> Result<u8> {
    match &arguments.action {
        ArchiveCommand::Export { file, force } => export(folder, file, *force, output::is_json()),
        ArchiveCommand::Import { file, memory } => import(folder, file, *memory, output::is_json()),
    }
}

fn export(folder: &Path, file: &Path, force: bool, as_json: bool) -> Result<u8> {
    let workspace = workspace(folder)?;
    drop(workspace.lock()?);
    let manifest = ManifestInput {
        agent_id: String::new(),
        agent_name: workspace.variable("AGENT_NAME").unwrap_or_default(),
        platform: "capsid".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        now: workspace.now(),
    };
    let existing = if force { ExistingFile::Replace } else { ExistingFile::Keep };
    let paths = &workspace.paths;
    let report =
        archive::export(&workspace.store, &paths.evolution, &paths.memory, file, &manifest, existing)?;
    if as_json {
        output::document(
            &json!({"ok": true, "path": report.path.display().to_string(), "files": report.files, "manifest": report.manifest}),
        );
        return Ok(0);
    }
    output::line(format_args!("{}  {}", paint(GOOD, "written"), paint(NAME, report.path.display())));
    let count = |name: &str| {
        report.manifest.get("statistics").and_then(|s| s.get(name)).cloned().unwrap_or(Value::Null)
    };
    output::line(format_args!(
        "  {} genes, {} capsules, {} events",
        count("total_genes"),
        count("total_capsules"),
        count("total_events")
    ));
    Ok(0)
}

/// What came in is sealed as it is now.
fn seal_log(workspace: &Workspace) {
    if workspace.config.trail.seal_events
        && let Err(problem) = proof::seal(workspace, false)
    {
        output::caution("not sealed", &problem);
    }
}

fn import(folder: &Path, file: &Path, memory: bool, as_json: bool) -> Result<u8> {
    let workspace = workspace(folder)?;
    let graph = workspace.paths.memory_graph();
    let report = archive::import(
        file,
        &workspace.store,
        ImportOptions { memory_graph: memory.then_some(graph.as_path()) },
    )?;
    solidify::own_append(&workspace)?;
    seal_log(&workspace);
    let kinds = [
        ("genes", Some(&report.genes)),
        ("capsules", Some(&report.capsules)),
        ("events", Some(&report.events)),
        ("memory", report.memory.as_ref()),
    ];
    if as_json {
        let mut value = json!({"ok": true, "manifest": report.manifest});
        for (name, merged) in kinds {
            value[name] = merged.map_or(Value::Null, merged_json);
        }
        output::document(&value);
        return Ok(0);
    }
    for (name, merged) in kinds {
        let Some(merged) = merged else { continue };
        output::line(format_args!(
            "{name:<9} {} added, {} known, {} kept as they are here, {} refused",
            merged.added, merged.unchanged, merged.conflicts, merged.refused
        ));
        for note in &merged.notes {
            output::line(format_args!("  {} {}", paint(WARN, "note:"), inert_line(note)));
        }
    }
    Ok(0)
}

fn merged_json(merged: &MergeSummary) -> Value {
    json!({
        "added": merged.added,
        "unchanged": merged.unchanged,
        "conflicts": merged.conflicts,
        "refused": merged.refused,
        "notes": merged.notes,
    })
}
