//! Lists the change that is in the upper layer of an overlay. The cost depends on the layer, not on the tree.

use super::beneath::split_leaf;
use super::file_state::FileIdentity;
use super::listing::{Collector, OldFile, UpperListing};
use super::rules::BaseRules;
use super::walk::{RuleSource, WalkEntry, walk};
use crate::tree::names::{self, Name};
use capsid_model::{Problem, Result};
use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

/// The attribute that marks an opaque directory where the overlay was mounted with `userxattr`.
pub const USER_OPAQUE: &str = "user.overlay.opaque";
/// The same where root mounted it.
pub const TRUSTED_OPAQUE: &str = "trusted.overlay.opaque";

/// Lists what an upper layer changes in the tree.
pub fn list_upper(
    upper: &Path,
    root: &Path,
    base: &BaseRules,
    opaque_attribute: &str,
) -> Result<UpperListing> {
    let collector = Collector::new(upper, root, base)?;
    let mut lister = UpperLister { upper, root, opaque_attribute, collector };
    lister.directory(b"", None)?;
    Ok(lister.collector.into_listing())
}

struct UpperLister<'a> {
    upper: &'a Path,
    root: &'a Path,
    opaque_attribute: &'a str,
    collector: Collector<'a>,
}

impl UpperLister<'_> {
    /// Lists a directory of the layer. `ignored` is the topmost directory above it that a rule matches.
    fn directory(&mut self, directory: &[u8], ignored: Option<&[u8]>) -> Result<()> {
        let path = names::place(self.upper, directory);
        let fail = |error: std::io::Error| Problem::io("read", &path, &error);
        let matcher = self.collector.rules.for_directory(directory);
        let entries = std::fs::read_dir(&path).or_else(|error| match error.kind() {
            // An agent may have taken the right to read from its own directory.
            ErrorKind::PermissionDenied => {
                std::fs::set_permissions(&path, Permissions::from_mode(0o700))?;
                std::fs::read_dir(&path)
            }
            _ => Err(error),
        });
        for entry in entries.map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let leaf = entry.file_name();
            let name = names::below(directory, leaf.as_bytes());
            let meta = entry.metadata().map_err(fail)?;
            let is_whiteout = meta.file_type().is_char_device() && meta.rdev() == 0;
            if leaf == ".git" && ignored.is_none() {
                match directory.is_empty() {
                    true => self.collector.listing.git_touched = true,
                    false => self.collector.git_directory(&name, !is_whiteout)?,
                }
                continue;
            }
            let own = self.collector.rules.is_own(&name);
            if ignored.is_none() && !own && self.collector.is_refused_name(&name) {
                continue;
            }
            let old = self.collector.in_tree(&name)?;
            let is_directory = match is_whiteout {
                true => old.is_some_and(|old| old.is_directory()),
                false => meta.is_dir(),
            };
            let mut ignored = ignored;
            let group = name.clone();
            if ignored.is_none() && !own && matcher.matches(&name, is_directory) {
                ignored = Some(if is_directory { &group } else { directory });
            }
            if is_whiteout {
                self.deletion(&name, old, ignored)?;
            } else if meta.is_dir() {
                self.merged_directory(&name, old, ignored)?;
            } else {
                self.leaf(name, &FileIdentity::from_metadata(&meta), old, ignored)?;
            }
        }
        Ok(())
    }

    fn deletion(&mut self, name: &[u8], old: Option<FileIdentity>, ignored: Option<&[u8]>) -> Result<()> {
        match old {
            // It was there when the agent deleted it; the user deleted it as well.
            None => Ok(()),
            Some(old) if old.is_directory() => self.deletions_below(name, ignored),
            Some(old) => {
                self.deleted_file(name.to_vec(), &old, ignored);
                Ok(())
            }
        }
    }

    fn deleted_file(&mut self, name: Name, old: &FileIdentity, ignored: Option<&[u8]>) {
        match ignored {
            Some(group) if self.collector.rules.is_ignored(&name, false) => {
                self.collector.listing.ignored.add(group, &name);
            }
            _ if old.is_file() || old.is_link() => self.collector.deleted(name),
            _ => {}
        }
    }

    /// Records the engine's files in a directory that the layer hides. The base has none of them.
    fn own_deletions_below(&mut self, directory: &[u8]) -> Result<()> {
        let below = names::below(directory, b"");
        let own = self.collector.rules.own().iter().filter(|own| own.starts_with(&below));
        for name in own.cloned().collect::<Vec<_>>() {
            if self.collector.in_tree(&name)?.is_some() && !self.is_in_layer(&name)? {
                self.collector.deleted(name);
            }
        }
        Ok(())
    }

    /// Records the files of a directory of the tree that the layer hides.
    fn deletions_below(&mut self, directory: &[u8], ignored: Option<&[u8]>) -> Result<()> {
        if self.collector.rules.is_own(directory) {
            self.collector.deleted(directory.to_vec());
            return Ok(());
        }
        self.own_deletions_below(directory)?;
        if let Some(group) = ignored
            && !self.collector.rules.has_tracked_below(directory)
        {
            // How many files an ignored directory had says nothing; that it is gone does.
            self.collector.listing.ignored.add(group, directory);
            return Ok(());
        }
        let mut gone = Vec::new();
        let mut rules = self.collector.rules.clone();
        walk(self.root, directory, &mut rules, RuleSource::Base, &mut |name, entry| {
            gone.push((name, entry));
            Ok(())
        })?;
        for (name, entry) in gone {
            match entry {
                WalkEntry::File(old) if !self.is_in_layer(&name)? => self.deleted_file(name, &old, ignored),
                WalkEntry::Ignored => {
                    for tracked in self.collector.rules.tracked_at_or_below(&name) {
                        if !self.is_in_layer(&tracked)? && self.collector.in_tree(&tracked)?.is_some() {
                            self.collector.deleted(tracked);
                        }
                    }
                    if !self.is_in_layer(&name)? {
                        let (folder, _) = split_leaf(&name);
                        self.collector.listing.ignored.add(folder, &name);
                    }
                }
                WalkEntry::GitDirectory => self.collector.listing.git_touched = true,
                WalkEntry::File(_) | WalkEntry::Special(_) => {}
            }
        }
        Ok(())
    }

    /// Whether the layer has something of its own at a name. A directory there is visited by itself.
    fn is_in_layer(&self, name: &[u8]) -> Result<bool> {
        let there = self.collector.in_view(name)?;
        Ok(there.is_some_and(|there| there.file_type() != rustix::fs::FileType::CharacterDevice))
    }

    fn merged_directory(
        &mut self,
        name: &[u8],
        old: Option<FileIdentity>,
        ignored: Option<&[u8]>,
    ) -> Result<()> {
        match old {
            Some(old) if !old.is_directory() => self.deleted_file(name.to_vec(), &old, ignored),
            Some(_) if self.is_opaque(name) => self.deletions_below(name, ignored)?,
            _ => {}
        }
        self.directory(name, ignored)
    }

    fn leaf(
        &mut self,
        name: Name,
        new: &FileIdentity,
        old: Option<FileIdentity>,
        ignored: Option<&[u8]>,
    ) -> Result<()> {
        if let Some(group) = ignored
            && !self.collector.rules.is_own(&name)
            && self.collector.rules.is_ignored(&name, false)
        {
            self.collector.listing.ignored.add(group, &name);
            return Ok(());
        }
        if old.is_some_and(|old| old.is_directory()) {
            self.deletions_below(&name, ignored)?;
        }
        let old = old.filter(|old| !old.is_directory());
        let tree = rustix::io::fcntl_dupfd_cloexec(&self.collector.tree, 0)
            .map_err(|error| Problem::io("open", self.root, &error.into()))?;
        let old = old.map(|old| OldFile::InTree(&tree, old));
        self.collector.leaf(name, new, old.as_ref())
    }

    fn is_opaque(&self, name: &[u8]) -> bool {
        let path = names::place(self.upper, name);
        let mut value = [0_u8; 8];
        let read = rustix::fs::lgetxattr(&path, self.opaque_attribute, &mut value[..]);
        read.is_ok_and(|length| value[..length] == *b"y")
    }
}
