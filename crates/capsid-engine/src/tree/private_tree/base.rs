//! The tree at the start of a run: every file and link that git does not ignore, with its identity.

use super::beneath;
use super::blob_id::BlobId;
use super::file_state::FileIdentity;
use super::index::{UserIndex, is_usable};
use super::rules::{BaseRules, BaseScope};
use super::walk::{RuleSource, WalkEntry, is_inside_git, walk};
use crate::tree::names::{self, Name};
use capsid_model::{Problem, Result};
use std::path::Path;

/// One file or link of the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseFile {
    /// Its path in the tree.
    pub name: Name,
    /// What the system said about it.
    pub identity: FileIdentity,
    /// The blob that has its content, if git knows the file to be clean.
    pub blob: Option<BlobId>,
}

/// Every file and link of the base, in the order of their names.
#[derive(Debug, Clone, PartialEq)]
pub struct BaseManifest {
    /// The commit that the repository was at; none before the first.
    pub head: Option<String>,
    /// Decides what the base ignores.
    pub rules: BaseRules,
    pub(super) files: Vec<BaseFile>,
}

/// Files of the tree that are no longer as the manifest says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeDrift {
    /// They have another identity. Their content may still be the same.
    pub changed: Vec<Name>,
    /// They are not in the manifest.
    pub created: Vec<Name>,
    /// They are gone.
    pub deleted: Vec<Name>,
}

impl TreeDrift {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.created.is_empty() && self.deleted.is_empty()
    }

    /// All names, in order.
    pub fn names(&self) -> Vec<&Name> {
        let mut all: Vec<&Name> = self.changed.iter().chain(&self.created).chain(&self.deleted).collect();
        all.sort_unstable();
        all
    }
}

impl BaseManifest {
    /// Records the tree in one walk.
    pub fn record(root: &Path, scope: &BaseScope, head: Option<String>) -> Result<Self> {
        let index = UserIndex::read(root, &scope.git_dir)?;
        let mut rules = BaseRules::open(scope)?;
        let mut files = Vec::with_capacity(index.entries.len());
        walk(root, b"", &mut rules, RuleSource::Tree, &mut |name, entry| {
            if let WalkEntry::File(identity) = entry {
                files.push(BaseFile { name, identity, blob: None });
            }
            Ok(())
        })?;
        files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let mut manifest = Self { head, rules, files };
        manifest.add_tracked(root, &index)?;
        Ok(manifest)
    }

    /// The manifest of a directory that nobody but the engine has written: a copy of the tree.
    pub(super) fn record_copy(root: &Path, base: &Self) -> Result<Self> {
        let mut files = Vec::new();
        walk(root, b"", &mut base.rules.clone(), RuleSource::Base, &mut |name, entry| {
            if let WalkEntry::File(identity) = entry {
                files.push(BaseFile { name, identity, blob: None });
            }
            Ok(())
        })?;
        let handle = beneath::open_root(root).map_err(|error| Problem::io("open", root, &error))?;
        for name in base.rules.tracked_at_or_below(b"") {
            let stat = beneath::stat(&handle, &name).map_err(|error| fail("read", root, &name, &error))?;
            if let Some(identity) = stat.as_ref().map(FileIdentity::from_stat) {
                files.push(BaseFile { name, identity, blob: None });
            }
        }
        files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { head: base.head.clone(), rules: base.rules.clone(), files })
    }

    /// Adds what the index knows: the blobs of clean files, and tracked files that a rule matches.
    fn add_tracked(&mut self, root: &Path, index: &UserIndex) -> Result<()> {
        let mut at = 0;
        let mut ignored = Vec::new();
        let handle = beneath::open_root(root).map_err(|error| Problem::io("open", root, &error))?;
        for entry in &index.entries {
            while self.files.get(at).is_some_and(|file| file.name < entry.name) {
                at += 1;
            }
            match self.files.get_mut(at) {
                Some(file) if file.name == entry.name => file.blob = index.clean_blob(entry, &file.identity),
                _ if !is_usable(&entry.name) || is_inside_git(&entry.name) => {}
                _ if self.rules.is_own(&entry.name) => {}
                _ => {
                    let stat = beneath::stat(&handle, &entry.name);
                    let stat = stat.map_err(|error| fail("read", root, &entry.name, &error))?;
                    let identity = stat.as_ref().map(FileIdentity::from_stat);
                    let Some(identity) = identity.filter(|file| file.is_file() || file.is_link()) else {
                        // A file that was deleted and comes back is tracked, too.
                        if self.rules.is_ignored(&entry.name, false) {
                            self.rules.add_tracked(&entry.name);
                        }
                        continue;
                    };
                    let blob = index.clean_blob(entry, &identity);
                    ignored.push(BaseFile { name: entry.name.clone(), identity, blob });
                }
            }
        }
        for file in ignored {
            self.rules.add_tracked(&file.name);
            self.files.push(file);
        }
        self.files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(())
    }

    /// Every file, in the order of the names.
    pub fn files(&self) -> &[BaseFile] {
        &self.files
    }

    /// The file with a name.
    pub fn file(&self, name: &[u8]) -> Option<&BaseFile> {
        let at = self.files.binary_search_by(|file| file.name.as_slice().cmp(name)).ok()?;
        self.files.get(at)
    }

    /// Replaces what is known of a file, or removes it.
    pub(super) fn update(&mut self, name: &[u8], identity: Option<FileIdentity>) {
        let Ok(at) = self.files.binary_search_by(|file| file.name.as_slice().cmp(name)) else { return };
        match identity {
            Some(identity) => {
                self.files[at].identity = identity;
                self.files[at].blob = None;
            }
            None => drop(self.files.remove(at)),
        }
    }

    /// Compares the tree with the manifest. The base's rules say what is ignored.
    pub fn compare(&self, root: &Path) -> Result<TreeDrift> {
        let mut drift = TreeDrift::default();
        let mut seen = vec![false; self.files.len()];
        walk(root, b"", &mut self.rules.clone(), RuleSource::Base, &mut |name, entry| {
            let WalkEntry::File(identity) = entry else { return Ok(()) };
            match self.files.binary_search_by(|file| file.name.cmp(&name)) {
                Ok(at) => {
                    seen[at] = true;
                    if self.files[at].identity != identity {
                        drift.changed.push(name);
                    }
                }
                Err(_) => drift.created.push(name),
            }
            Ok(())
        })?;
        let handle = beneath::open_root(root).map_err(|error| Problem::io("open", root, &error))?;
        // What the walk did not meet is gone, or is tracked although a rule matches it.
        for (file, _) in self.files.iter().zip(seen).filter(|(_, seen)| !seen) {
            let stat = beneath::stat(&handle, &file.name);
            let stat = stat.map_err(|error| fail("read", root, &file.name, &error))?;
            match stat.as_ref().map(FileIdentity::from_stat) {
                Some(identity) if identity == file.identity => {}
                Some(identity) if identity.is_file() || identity.is_link() => {
                    drift.changed.push(file.name.clone());
                }
                _ => drift.deleted.push(file.name.clone()),
            }
        }
        for list in [&mut drift.changed, &mut drift.created, &mut drift.deleted] {
            list.sort_unstable();
        }
        Ok(drift)
    }
}

fn fail(action: &str, root: &Path, name: &[u8], error: &std::io::Error) -> Problem {
    Problem::io(action, &names::place(root, name), error)
}
