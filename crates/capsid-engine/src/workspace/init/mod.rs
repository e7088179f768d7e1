//! Setting up a repository. What is there is never overwritten, so it can be run again at any time.

mod detect;
mod hints;

use crate::config;
use crate::files::builtin;
use crate::store::AssetStore;
use crate::workspace::merge_driver;
use capsid_disk::files;
use capsid_model::Result;
use std::path::{Path, PathBuf};

/// What was set up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InitReport {
    pub created: Vec<PathBuf>,
    /// Files that were there and stay as they are.
    pub existing: Vec<PathBuf>,
    /// The ids of the built-in genes that were added.
    pub genes: Vec<String>,
    /// The detected commands that prove a change in this repository.
    pub validation: Vec<String>,
    /// The programs these commands start, beyond those that are always allowed.
    pub programs: Vec<String>,
    /// What the owner may want to add to the configuration.
    pub hints: Vec<String>,
}

/// Creates the store, the built-in genes, the configuration and the folder of the engine's state.
///
/// Takes the store's lock. `env` looks a variable up.
pub fn init(
    repo_root: &Path,
    store: &AssetStore,
    config_path: &Path,
    evolution: &Path,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<InitReport> {
    let detected = detect::validation(repo_root);
    let ignore = evolution.join(".gitignore");
    let attributes = store.folder.join(".gitattributes");
    let mut report = InitReport {
        hints: hints::hints(&detected, env),
        validation: detected.commands,
        programs: detected.programs,
        ..InitReport::default()
    };
    let mut paths = store_files(store);
    paths.extend([config_path.to_owned(), ignore.clone()]);
    // What is outside of the repository is never merged.
    if store.folder.starts_with(repo_root) {
        paths.push(attributes.clone());
    }
    let (existing, created) = paths.into_iter().partition(|path| is_there(path));
    (report.existing, report.created) = (existing, created);

    let _lock = store.lock()?;
    store.create()?;
    if store.genes.texts()?.is_empty() {
        for gene in builtin::genes(&report.validation) {
            store.genes.upsert(&gene)?;
            report.genes.extend(gene.get("id").and_then(|id| id.as_str()).map(str::to_owned));
        }
    }
    create(config_path, &config::template(&report.programs, &report.validation))?;
    create(&ignore, "*\n")?;
    if report.created.contains(&attributes) {
        create(&attributes, merge_driver::ATTRIBUTES)?;
    } else if report.existing.contains(&attributes) && !merge_driver::asks_for_driver(&store.folder) {
        report.hints.push(format!(
            "So that git merges what two clones learned, add the attributes of the store to {}; docs/explanation/how-capsid-decides.md lists them.",
            attributes.strip_prefix(repo_root).unwrap_or(&attributes).display()
        ));
    }
    Ok(report)
}

fn store_files(store: &AssetStore) -> Vec<PathBuf> {
    [
        "genes.json",
        "genes.jsonl",
        "capsules.json",
        "failed_capsules.json",
        "events.jsonl",
        "candidates.jsonl",
        ".gitignore",
    ]
    .iter()
    .map(|name| store.folder.join(name))
    .collect()
}

fn create(path: &Path, content: &str) -> Result<()> {
    if is_there(path) { Ok(()) } else { files::replace(path, content.as_bytes()) }
}

/// Whether anything has the name, a link that leads nowhere included.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
