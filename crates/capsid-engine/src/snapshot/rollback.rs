//! The way back: what the cycle changed is as it was, and nothing else is touched.
//!
//! Each path is looked at three ways: as it was before, as the cycle left it, as it is now. Only what is still as the
//! cycle left it is put back, so a run that died half-way is finished by running again, and a user's edit since then stays.

use super::Snapshot;
use super::extras::Extras;
use super::listing::Since;
use super::names::{self, Name};
use super::pairs::{Pair, Pairs};
use super::place;
use super::repository::Repository;
use super::shadow::Shadow;
use capsid_model::{Problem, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// How the names of folders begin in which old files are written out.
const WORKSHOP: &str = "restore-";

/// What a rollback did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RollbackReport {
    /// Files and folders that are as they were again.
    pub restored: Vec<String>,
    /// Files that the cycle made and that are gone.
    pub removed: Vec<String>,
    /// Paths that are neither as they were nor as the cycle left them, left as they are; one that could not be put back
    /// is followed by the reason, as in `a (Permission denied)`.
    pub kept: Vec<String>,
    /// Ignored files and folders that went away during the cycle; a snapshot knows of them and does not hold them.
    pub lost: Vec<String>,
    /// Repositories whose HEAD the cycle moved, as paths of the work tree; `.` is the outermost. Left as they are.
    pub moved_heads: Vec<String>,
}

impl RollbackReport {
    /// Whether everything that was taken is as it was.
    pub fn is_complete(&self) -> bool {
        self.kept.is_empty() && self.moved_heads.is_empty()
    }
}

/// Undoes the change from `before` to `rejected`.
///
/// A path that cannot be put back is told and stops nothing: only a snapshot that cannot be read is an error.
pub fn rollback(shadow: &Shadow, before: &Snapshot, rejected: &Snapshot) -> Result<RollbackReport> {
    let mut report = RollbackReport::default();
    let pairs = Pairs::new(shadow, before, rejected)?;
    for mut pair in pairs.all {
        let folder = pair.folder.clone();
        let done = relink(&mut pair, &shadow.repo.root).and_then(|()| Undo::new(&pair)?.run(&mut report));
        match done {
            // A repository inside this one is one path among others.
            Err(problem) if !folder.is_empty() => report.kept.push(because(&names::show(&folder), &problem)),
            other => other?,
        }
    }
    report.kept.extend(pairs.lost.iter().map(|f| names::show(f)));
    Ok(report)
}

/// A path with the reason why it is not as it was.
pub(super) fn because(path: &str, reason: &dyn std::fmt::Display) -> String {
    format!("{path} ({reason})")
}

/// Removes what a rollback that was killed left in the private folder.
pub(super) fn tidy(repo: &Repository) -> Result<()> {
    let private = repo.private_dir();
    for entry in std::fs::read_dir(&private).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(WORKSHOP) {
            std::fs::remove_dir_all(entry.path())
                .map_err(|error| Problem::io("remove", &entry.path(), &error))?;
        }
    }
    Ok(())
}

/// Gives a submodule whose folder is gone its folder and its `.git` file back, so that it is a repository again.
fn relink(pair: &mut Pair<'_>, top: &Path) -> Result<()> {
    let root = &pair.shadow.repo.root;
    let path = root.join(".git");
    if pair.before.is_none() || path.symlink_metadata().is_ok() {
        return Ok(());
    }
    place::folders(top, &names::below(&pair.folder, b".git"))
        .map_err(|error| Problem::io("create", root, &error))?;
    if let Some(link) = pair.link {
        place::bytes(&path, link, None, &pair.shadow.repo.private_dir())?;
    }
    pair.shadow = pair.shadow.reopened()?;
    Ok(())
}

/// What a tree says of a file: its mode and blob.
type Entry = Option<(String, String)>;

/// One file at three moments.
struct Path3 {
    name: Name,
    before: Entry,
    rejected: Entry,
    now: Entry,
}

/// The undoing of one repository's part.
pub(super) struct Undo<'a> {
    pair: &'a Pair<'a>,
    pub(super) before: Since,
    pub(super) rejected: Extras,
    pub(super) now: Extras,
    paths: Vec<Path3>,
}

impl<'a> Undo<'a> {
    fn new(pair: &'a Pair<'a>) -> Result<Self> {
        let shadow = &pair.shadow;
        let _lock = shadow.lock()?;
        let before = match pair.before {
            Some(snapshot) => shadow.since(snapshot)?,
            None => Since::default(),
        };
        let rejected = match pair.after {
            Some(snapshot) => shadow.extras(snapshot)?,
            None => Extras::default(),
        };
        let [old, new] = pair.trees()?;
        let changed = entries(shadow, &old, &new)?;
        let also: BTreeSet<Name> = changed.keys().cloned().collect();
        let (tree, listing) = shadow.tree(Some(&before), &also)?;
        let mut since = entries(shadow, &new, &tree)?;
        let paths = changed
            .into_iter()
            .map(|(name, (before, rejected))| Path3 {
                now: since.remove(&name).map_or_else(|| rejected.clone(), |(_, now)| now),
                name,
                before,
                rejected,
            })
            .collect();
        Ok(Self { pair, before, rejected, now: listing.extras, paths })
    }

    fn run(mut self, report: &mut RollbackReport) -> Result<()> {
        let (mut remove, mut restore) = (Vec::new(), Vec::new());
        for path in std::mem::take(&mut self.paths) {
            if path.now == path.before {
                continue;
            }
            if path.now != path.rejected || self.before.extras.hides(&path.name) {
                report.kept.push(self.show(&path.name));
            } else if let Some((mode, _)) = path.before {
                restore.push((path.name, mode));
            } else {
                remove.push(path.name);
            }
        }
        let folders = self.changed_folders(report);
        self.open_folders(&folders);
        remove.extend(self.made_specials());
        self.remove(&remove, report);
        self.remove_made_folders(&remove);
        self.restore(&restore, report)?;
        self.restore_folders(report);
        self.restore_modes(&restore, report);
        self.restore_folder_modes(&folders, report);
        let gone = self.before.extras.ignored.iter();
        let gone = gone.filter(|name| self.at(name).symlink_metadata().is_err());
        report.lost.extend(gone.map(|name| self.show(name)));
        self.restore_git(report)
    }

    pub(super) fn show(&self, name: &[u8]) -> String {
        names::show(&names::below(&self.pair.folder, name))
    }

    pub(super) fn at(&self, name: &[u8]) -> PathBuf {
        names::place(&self.pair.shadow.repo.root, name)
    }

    /// Whether every folder above a name is a real one, so that no link leads elsewhere.
    pub(super) fn reachable(&self, name: &[u8]) -> bool {
        names::folders(name).all(|folder| {
            let meta = self.at(folder).symlink_metadata();
            meta.is_ok_and(|meta| meta.is_dir())
        })
    }

    /// Notes how an attempt at a path ended.
    fn tell(&self, name: &[u8], done: io::Result<()>, good: &mut Vec<String>, kept: &mut Vec<String>) {
        match done {
            Ok(()) => good.push(self.show(name)),
            Err(error) => kept.push(because(&self.show(name), &error)),
        }
    }

    fn remove(&self, list: &[Name], report: &mut RollbackReport) {
        for name in list.iter().filter(|name| self.reachable(name)) {
            let done = match std::fs::remove_file(self.at(name)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                other => other,
            };
            self.tell(name, done, &mut report.removed, &mut report.kept);
        }
    }

    /// Pipes and sockets that came with the cycle; nothing is lost with them.
    fn made_specials(&self) -> Vec<Name> {
        let came = self.rejected.special.intersection(&self.now.special);
        came.filter(|name| !self.before.extras.special.contains(*name))
            .filter(|name| !self.before.files.contains(*name) && !self.before.extras.hides(name))
            .cloned()
            .collect()
    }

    /// Removes folders that the cycle made, the deepest first; one that is not empty stays.
    fn remove_made_folders(&self, removed: &[Name]) {
        let mut made: BTreeSet<&[u8]> = removed.iter().flat_map(|n| names::folders(n)).collect();
        made.extend(self.rejected.folders.iter().map(Vec::as_slice));
        for folder in made.into_iter().rev() {
            let was_there = self.before.extras.folders.contains(folder)
                || self.before.had_files_in(folder)
                || self.before.extras.hides(folder);
            if !was_there && self.reachable(folder) {
                let _ = std::fs::remove_dir(self.at(folder));
            }
        }
    }

    /// Writes the old files out apart from the work tree, then moves each in place.
    fn restore(&self, list: &[(Name, String)], report: &mut RollbackReport) -> Result<()> {
        let Some(snapshot) = self.pair.before.filter(|_| !list.is_empty()) else {
            return Ok(());
        };
        let private = self.pair.shadow.repo.private_dir();
        let room = tempfile::Builder::new()
            .prefix(WORKSHOP)
            .tempdir_in(&private)
            .map_err(|error| Problem::io("write", &private, &error))?;
        let git = self.pair.shadow.git.clone().env("GIT_INDEX_FILE", room.path().join("index"));
        git.run(&["read-tree", &snapshot.tree])?;
        let mut prefix = std::ffi::OsString::from("--prefix=");
        prefix.push(room.path().join("files/"));
        // A file that it cannot write is missed below, one by one.
        git.try_run(
            &[
                "checkout-index".as_ref(),
                "-q".as_ref(),
                "-z".as_ref(),
                "--stdin".as_ref(),
                prefix.as_os_str(),
            ],
            &names::join(list.iter().map(|(name, _)| name)),
        )?;
        for (name, mode) in list {
            let from = names::place(&room.path().join("files"), name);
            let done = self.put_back(name, mode, &from);
            self.tell(name, done, &mut report.restored, &mut report.kept);
        }
        Ok(())
    }

    /// Moves a file in place; something else may stand in its way.
    fn put_back(&self, name: &[u8], mode: &str, from: &Path) -> io::Result<()> {
        let to = self.at(name);
        place::folders(&self.pair.shadow.repo.root, name)?;
        if to.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return Err(place::in_the_way("a folder is in its place"));
        }
        if from.symlink_metadata().is_err() {
            return Err(io::Error::other("its old content cannot be read"));
        }
        if mode != "120000" {
            place::set_mode(from, self.mode(name, mode == "100755"))?;
        }
        place::rename(from, &to)
    }

    /// Makes the empty folders again that the cycle removed.
    fn restore_folders(&self, report: &mut RollbackReport) {
        for folder in &self.before.extras.folders {
            let kept = self.rejected.folders.contains(folder);
            if !kept && self.at(folder).symlink_metadata().is_err() {
                let done = place::folders(&self.pair.shadow.repo.root, folder)
                    .and_then(|()| std::fs::create_dir(self.at(folder)));
                self.tell(folder, done, &mut report.restored, &mut report.kept);
            }
        }
    }

    fn restore_git(&self, report: &mut RollbackReport) -> Result<()> {
        let (Some(before), Some(rejected)) = (self.pair.before, self.pair.after) else {
            return Ok(());
        };
        // A repository that git cannot open needs its files back more than any other.
        let head = Repository::open(&self.pair.shadow.repo.root).map(|repo| repo.head);
        let moved = head.is_ok_and(|head| head != before.head);
        if moved {
            let folder = names::show(&self.pair.folder);
            report.moved_heads.push(if folder.is_empty() { ".".to_owned() } else { folder });
        }
        let left = before.guard.restore(&rejected.guard, &self.pair.shadow.repo, moved)?;
        report.kept.extend(left.iter().map(|path| self.show(path.as_bytes())));
        Ok(())
    }
}

/// The files that differ between two trees, with both sides of each.
fn entries(shadow: &Shadow, old: &str, new: &str) -> Result<BTreeMap<Name, (Entry, Entry)>> {
    let output = shadow.git.run(&["diff-tree", "-r", "-z", "--raw", "--no-renames", old, new])?;
    let mut fields = names::split(&output);
    let mut all = BTreeMap::new();
    while let (Some(record), Some(name)) = (fields.next(), fields.next()) {
        let text = names::show(record);
        let parts: Vec<&str> = text.trim_start_matches(':').split(' ').collect();
        if let [old_mode, new_mode, old_id, new_id, _] = parts[..] {
            let entry = |mode: &str, id: &str| (mode != "000000").then(|| (mode.to_owned(), id.to_owned()));
            all.insert(name.to_vec(), (entry(old_mode, old_id), entry(new_mode, new_id)));
        }
    }
    Ok(all)
}
