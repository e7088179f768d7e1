//! `capsid archive`: a store in one file.

use crate::commands::{workspace, writable_workspace};
use crate::output::{self, GOOD, NAME, WARN, paint};
use capsid_engine::archive::{self, ArchiveContent, ExistingFile, ManifestInput, MergeSummary};
use capsid_engine::sealed_log::proof;
use capsid_engine::workspace::Workspace;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Object, Problem, Result, Value, json};
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

/// Move a store in one file (.gepx): genes, capsules, events and memory, with checksums.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid archive export store.gepx         what was learned here, in one file
  capsid archive import store.gepx         stage it in another repository, to be promoted one by one
  capsid archive import --trust store.gepx your own archive: add it as it is")]
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
  capsid archive export --replace store.gepx   replace an older one")]
    Export {
        /// The archive, such as store.gepx.
        #[arg(required_unless_present = "out")]
        file: Option<PathBuf>,
        /// The archive to write.
        #[arg(long, value_name = "PATH", conflicts_with = "file")]
        out: Option<PathBuf>,
        /// Replace the file if it exists.
        #[arg(long = "replace", alias = "force")]
        force: bool,
    },
    /// Take in what an archive holds. Everything is verified first, and nothing local is replaced.
    ///
    /// Genes and capsules are staged like assets of a hub: they are selected and run only after `capsid node promote`.
    /// Events and memory of others are left out. With `--trust` the archive is your own: each gene is listed with its
    /// commands, and everything is added as it is.
    #[command(after_help = "\
Examples:
  capsid archive import store.gepx
  capsid archive import --trust store.gepx             your own archive, moved from another machine
  capsid archive import --trust --with-memory store.gepx    with what your engine remembered there")]
    Import {
        /// The archive.
        file: PathBuf,
        /// The archive is your own: add its genes, capsules and events as if they had been made here.
        #[arg(long)]
        trust: bool,
        /// Add its memory graph too.
        #[arg(long = "with-memory", alias = "memory", requires = "trust")]
        memory: bool,
    },
}

/// Runs the command.
pub fn run(arguments: &ArchiveArgs, folder: &Path) -> Result<u8> {
    match &arguments.action {
        ArchiveCommand::Export { file, out, force } => {
            export(folder, output::named_path(file.as_deref(), out.as_deref())?, *force, output::is_json())
        }
        ArchiveCommand::Import { file, trust, memory } => import(folder, file, *trust, *memory),
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

fn import(folder: &Path, file: &Path, trust: bool, memory: bool) -> Result<u8> {
    let workspace = writable_workspace(folder)?;
    let content = archive::open(file)?;
    if trust { import_own(&workspace, &content, memory) } else { import_foreign(&workspace, &content) }
}

/// Stages what somebody else may have made.
fn import_foreign(workspace: &Workspace, content: &ArchiveContent) -> Result<u8> {
    let staging = content.stage(workspace)?;
    let staged = &staging.assets;
    let status = u8::from(!staged.refused.is_empty() && staged.accepted.is_empty());
    if output::is_json() {
        output::document(&json!({
            "ok": status == 0,
            "manifest": content.manifest(),
            "staged": staged.accepted,
            "known": staged.known,
            "refused": staged.refused.iter().map(Problem::to_json).collect::<Vec<_>>(),
            "notes": staged.notes,
            "left_out": {"events": staging.events_left_out, "memory": staging.memory_left_out},
        }));
        return Ok(status);
    }
    let text = |asset: &Object, name: &str| {
        inert_line(cut(asset.get(name).and_then(Value::as_str).unwrap_or_default(), 100))
    };
    for asset in &staged.accepted {
        let (kind, id) = (text(asset, "type"), text(asset, "id"));
        output::line(format_args!("{}  {kind} {}", paint(GOOD, "staged"), paint(NAME, id)));
    }
    for problem in &staged.refused {
        output::caution("refused", problem);
    }
    output::line(format_args!(
        "{} staged, {} known, {} refused; {} events and {} lines of memory left out",
        staged.accepted.len(),
        staged.known,
        staged.refused.len(),
        staging.events_left_out,
        staging.memory_left_out
    ));
    output::talk(
        "Nothing of it is used before `capsid node promote ID`. If the archive is your own, add `--trust`.",
    );
    Ok(status)
}

/// Merges what the owner says is their own, after each command that it brings was shown.
fn import_own(workspace: &Workspace, content: &ArchiveContent, memory: bool) -> Result<u8> {
    let genes = content.gene_commands();
    if !output::is_json() {
        for gene in &genes {
            output::talk(format_args!("gene {}", paint(NAME, inert_line(cut(&gene.id, 100)))));
            for command in &gene.commands {
                output::talk(format_args!("  {}", inert_line(command)));
            }
        }
    }
    let graph = workspace.paths.memory_graph();
    let report = content.merge_into(&workspace.store, memory.then_some(graph.as_path()))?;
    seal_log(workspace);
    let kinds = [
        ("genes", Some(&report.genes)),
        ("capsules", Some(&report.capsules)),
        ("events", Some(&report.events)),
        ("memory", report.memory.as_ref()),
    ];
    if output::is_json() {
        let listed: Vec<Value> =
            genes.iter().map(|gene| json!({"id": gene.id, "commands": gene.commands})).collect();
        let mut value = json!({"ok": true, "manifest": content.manifest(), "commands": listed});
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
