//! A change in two parts: the source, and the files that check it.
//!
//! A layer of one part holds every file of the change, those of the other part as they were. So it is right above a tree
//! that has the change and above one that does not.

use crate::tree::names;
use crate::tree::private_tree::{ChangeLayer, ChangePair, FileContent};
use capsid_model::Result;
use capsid_rules::learning::check_files::is_check_file;
use capsid_rules::learning::check_files::manifest::{ManifestKind, split_manifest};
use std::path::Path;

/// The files of a change with only one of its parts made: each with what it then is, none if it is then absent.
type PartFiles = Vec<(names::Name, FileContent)>;

/// A change, split.
#[derive(Debug, Default)]
pub struct ChangeParts {
    /// The check files that it touches.
    pub check_files: Vec<String>,
    /// Whether it touches anything else.
    pub has_source: bool,
    /// Every file of the change with the source part alone.
    source_only: PartFiles,
    /// Every file of the change with the check part alone.
    checks_only: PartFiles,
}

impl ChangeParts {
    /// Splits a change. `commands` are those that check it.
    pub fn split<S: AsRef<str>>(pairs: &[ChangePair], commands: &[S]) -> Self {
        let mut parts = Self::default();
        for pair in pairs {
            let path = names::show(&pair.name);
            let (source, checks) = match ManifestKind::from_path(&path) {
                Some(kind) if !is_check_file(&path, commands) => split_pair(kind, pair),
                _ if is_check_file(&path, commands) => (pair.before.clone(), pair.after.clone()),
                _ => (pair.after.clone(), pair.before.clone()),
            };
            if checks != pair.before {
                parts.check_files.push(path);
            }
            parts.has_source |= source != pair.before;
            parts.source_only.push((pair.name.clone(), source));
            parts.checks_only.push((pair.name.clone(), checks));
        }
        parts
    }

    /// A layer in which only the source part of the change is made.
    pub fn source_layer(&self, folder: &Path, root: &Path) -> Result<ChangeLayer> {
        ChangeLayer::create(folder, root, &self.source_only)
    }

    /// A layer in which only the check part is made.
    pub fn check_layer(&self, folder: &Path, root: &Path) -> Result<ChangeLayer> {
        ChangeLayer::create(folder, root, &self.checks_only)
    }

    /// A layer in which nothing of the change is made.
    pub fn base_layer(pairs: &[ChangePair], folder: &Path, root: &Path) -> Result<ChangeLayer> {
        let files: PartFiles = pairs.iter().map(|pair| (pair.name.clone(), pair.before.clone())).collect();
        ChangeLayer::create(folder, root, &files)
    }
}

/// A manifest with one part of its change each.
fn split_pair(kind: ManifestKind, pair: &ChangePair) -> (FileContent, FileContent) {
    let (Some((mode, after)), before) = (&pair.after, &pair.before) else {
        // A deleted manifest takes its scripts with it.
        return (pair.before.clone(), pair.after.clone());
    };
    let old = before.as_ref().map(|(_, bytes)| bytes.as_slice()).unwrap_or_default();
    let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(after)) else {
        return (pair.before.clone(), pair.after.clone());
    };
    let split = split_manifest(kind, old, new);
    let part = |text: String, has_change: bool| match has_change {
        true => Some((*mode, text.into_bytes())),
        false => before.clone(),
    };
    (part(split.source_only, split.has_source_change), part(split.check_only, split.has_check_change))
}

#[cfg(test)]
#[path = "change_parts_tests.rs"]
mod tests;
