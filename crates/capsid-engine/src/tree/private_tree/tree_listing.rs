//! Lists the change of a tree that was edited itself: a copy, or the user's own.

use super::FileIdentity;
use super::base::BaseManifest;
use super::beneath::{self, split_leaf};
use super::copies::{BaseContent, TreeBase};
use super::copy_view::CopyView;
use super::listing::{Collector, OldFile, UpperListing, ViolationKind};
use super::unsafe_paths::is_git_spelling;
use super::walk::{RuleSource, WalkEntry, walk};
use crate::tree::names::{self, Name};
use capsid_model::{Problem, Result};
use std::collections::BTreeSet;
use std::path::Path;

/// Lists the change that was made in a copy.
pub fn list_copy(view: &CopyView, root: &Path) -> Result<UpperListing> {
    let rules = &view.manifest.rules;
    let mut collector = Collector::new(&view.path, root, rules)?;
    let tree = beneath::open_root(root).map_err(|error| Problem::io("open", root, &error))?;
    let linked = |name: &[u8]| view.linked.iter().any(|link| link == name);
    let found = walk_tree(&view.path, &view.manifest, &mut collector)?;
    for (name, new) in found.changed {
        if linked(&name) {
            continue;
        }
        let old = collector.in_tree(&name)?.filter(|old| !old.is_directory());
        collector.leaf(name, &new, old.map(|old| OldFile::InTree(&tree, old)).as_ref())?;
    }
    for name in found.deleted.into_iter().filter(|name| !linked(name)) {
        collector.deleted(name);
    }
    for name in own_differences(&collector, &view.path, root)? {
        collector.refuse(ViolationKind::EngineFile, &name, "belongs to Capsid, and the change touches it");
    }
    Ok(collector.into_listing())
}

/// Lists how the tree itself differs from the base, for an agent that edits it in place.
pub fn list_in_place(base: &TreeBase) -> Result<UpperListing> {
    let mut collector = Collector::new(&base.root, &base.root, &base.manifest.rules)?;
    let mut found = walk_tree(&base.root, &base.manifest, &mut collector)?;
    // One that was there before the run cannot be told from a new one.
    found.changed.retain(|(_, identity)| identity.is_file() || identity.is_link());
    let list: Vec<Name> = found.changed.iter().map(|(name, _)| name.clone()).collect();
    let contents = base.copies.base_contents(&base.root, &base.manifest, &list)?;
    for (name, new) in found.changed {
        let old = match contents.get(&name) {
            Some(BaseContent::Known { mode, bytes }) => Some(OldFile::Content(*mode, bytes)),
            Some(BaseContent::Unknown) => {
                base.manifest.file(&name).map(|file| OldFile::Unknown(file.identity.mode))
            }
            Some(BaseContent::Absent) | None => None,
        };
        collector.leaf(name, &new, old.as_ref())?;
    }
    for name in found.deleted {
        collector.deleted(name);
    }
    Ok(collector.into_listing())
}

/// What differs from a manifest, by identity.
struct TreeDifference {
    changed: Vec<(Name, FileIdentity)>,
    deleted: Vec<Name>,
}

fn walk_tree(path: &Path, manifest: &BaseManifest, collector: &mut Collector<'_>) -> Result<TreeDifference> {
    let mut found = TreeDifference { changed: Vec::new(), deleted: Vec::new() };
    let mut gits = Vec::new();
    walk(path, b"", &mut manifest.rules.clone(), RuleSource::Base, &mut |name, entry| {
        match entry {
            WalkEntry::File(identity) | WalkEntry::Special(identity) => found.changed.push((name, identity)),
            WalkEntry::GitDirectory => gits.push(name),
            WalkEntry::Ignored => {}
        }
        Ok(())
    })?;
    let mut seen: BTreeSet<Name> = BTreeSet::new();
    let same = |name: &Name, new: &FileIdentity| manifest.file(name).is_some_and(|old| old.identity == *new);
    for (name, identity) in std::mem::take(&mut found.changed) {
        let is_same = same(&name, &identity);
        seen.insert(name.clone());
        let part = |part: &[u8]| is_git_spelling(part);
        if !is_same && name.split(|byte| *byte == b'/').any(part) {
            let what = "has a name that some file systems take for `.git`";
            collector.refuse(ViolationKind::GitSpelling, &name, what);
        } else if !is_same {
            found.changed.push((name, identity));
        }
    }
    for file in manifest.files().iter().filter(|file| !seen.contains(&file.name)) {
        match collector.in_view(&file.name)? {
            // Tracked, although a rule matches it.
            Some(new) if new.is_file() || new.is_link() => {
                if new != file.identity {
                    found.changed.push((file.name.clone(), new));
                }
            }
            _ => found.deleted.push(file.name.clone()),
        }
    }
    for name in gits {
        let (folder, _) = split_leaf(&name);
        if !manifest.rules.is_repository(folder) {
            collector.git_directory(&name, true)?;
        }
    }
    Ok(found)
}

/// The engine's own files that differ between the copy and the tree.
fn own_differences(collector: &Collector<'_>, view: &Path, root: &Path) -> Result<Vec<Name>> {
    let mut different = BTreeSet::new();
    for own in collector.rules.own() {
        for (side, path) in [view, root].into_iter().enumerate() {
            let mut todo = vec![own.clone()];
            while let Some(name) = todo.pop() {
                let (here, there) = match side {
                    0 => (collector.in_view(&name)?, collector.in_tree(&name)?),
                    _ => (collector.in_tree(&name)?, collector.in_view(&name)?),
                };
                let Some(here) = here else { continue };
                if here.is_directory() {
                    let entries = std::fs::read_dir(names::place(path, &name));
                    let entries = entries.map_err(|error| Problem::io("read", path, &error))?;
                    todo.extend(
                        entries
                            .flatten()
                            .map(|entry| names::below(&name, &names::of_path(Path::new(&entry.file_name())))),
                    );
                } else if !collector.is_same_in_both(&name, &here, there.as_ref()) {
                    different.insert(name);
                }
            }
        }
    }
    Ok(different.into_iter().collect())
}
