//! What a snapshot takes: every file that git sees, and a note of what it does not.

use super::extras::{Extras, USUAL_FOLDER};
use super::names::{self, Name};
use super::place;
use super::repository::Repository;
use capsid_model::Result;
use capsid_sandbox::git::Git;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::path::Path;

/// Which paths of a work tree are special.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Folders that are never looked at: the engine's own.
    pub excluded: Vec<Name>,
    /// Files that are taken even when git ignores them.
    pub protected: Vec<Name>,
}

impl Scope {
    /// What is left of it inside a repository that lies in this one.
    pub fn inside(&self, folder: &[u8]) -> Self {
        let below = |list: &[Name]| {
            list.iter()
                .filter_map(|name| name.strip_prefix(folder)?.strip_prefix(b"/"))
                .map(<[u8]>::to_vec)
                .collect()
        };
        Self { excluded: below(&self.excluded), protected: below(&self.protected) }
    }

    fn excludes(&self, name: &[u8]) -> bool {
        let name = name.strip_suffix(b"/").unwrap_or(name);
        let listed = |part: &[u8]| self.excluded.iter().any(|folder| folder == part);
        listed(name) || names::folders(name).any(listed)
    }
}

/// An earlier snapshot that this one will be compared with.
#[derive(Default)]
pub struct Since {
    /// Its tree; empty when there was none.
    pub tree: String,
    /// The files of its tree.
    pub files: BTreeSet<Name>,
    /// The rest of it.
    pub extras: Extras,
    /// The repositories it knew.
    pub repositories: BTreeSet<Name>,
}

impl Since {
    /// Whether a name was there and not taken, or belonged to a repository that is one no more.
    fn hides(&self, name: &[u8]) -> bool {
        let known = |folder: &[u8]| self.repositories.contains(folder);
        !self.files.contains(name)
            && !known(name)
            && (self.extras.hides(name) || names::folders(name).any(known))
    }

    /// Whether a folder held files of the outer repository.
    pub(super) fn had_files_in(&self, folder: &[u8]) -> bool {
        let start = [folder, b"/"].concat();
        self.files.range(start.clone()..).next().is_some_and(|name| name.starts_with(&start))
    }
}

/// Whether each file is opened to see if it can be read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// The system is asked about each file, no more.
    Quick,
    /// Each file is opened, because a quick attempt failed.
    Thorough,
}

/// The result of looking at a work tree.
#[derive(Default)]
pub struct Listing {
    /// Files and symbolic links to take.
    pub files: BTreeSet<Name>,
    /// Folders that are repositories of their own.
    pub repositories: Vec<Name>,
    /// What is there and not taken.
    pub extras: Extras,
}

/// Looks at a work tree; `also` names files to take even where git ignores them.
pub fn list(
    repo: &Repository,
    scope: &Scope,
    since: Option<&Since>,
    also: &BTreeSet<Name>,
    care: Care,
) -> Result<Listing> {
    let (visible, ignored) = ask_git(repo)?;
    let mut wanted: BTreeSet<Name> =
        names::split(&visible).map(|name| name.strip_suffix(b"/").unwrap_or(name).to_vec()).collect();
    if let Some(since) = since {
        // What was there and ignored is the user's, even if the rule that ignored it is gone now.
        wanted.retain(|name| !since.hides(name));
        wanted.extend(since.files.iter().cloned());
    }
    wanted.extend(scope.protected.iter().chain(also).cloned());
    wanted.retain(|name| names::is_inside(name) && !scope.excludes(name));

    let mut listing = Listing::default();
    let mut disk = Disk::new(&repo.root, care);
    for name in wanted {
        listing.put(name, &mut disk);
    }
    listing.extras.folder_modes = disk.modes;
    listing.part_repositories(since);
    listing.extras.ignored = ignored_entries(&ignored)
        .filter(|name| !listing.files.contains(*name) && !scope.excludes(name))
        .map(<[u8]>::to_vec)
        .collect();
    listing.find_folders(repo, scope);
    Ok(listing)
}

/// What git sees and what it ignores. A folder in the place of its exclude file, or a damaged index, would stop git: then
/// it is asked without them, and an earlier snapshot knows the rest.
fn ask_git(repo: &Repository) -> Result<(Vec<u8>, Vec<u8>)> {
    let git = Git::at(&repo.root);
    let blind = git.clone().env("GIT_INDEX_FILE", repo.private_dir().join("no-index"));
    let own = "--exclude-per-directory=.gitignore";
    ask(&git, "--exclude-standard")
        .or_else(|problem| ask(&git, own).or_else(|_| ask(&blind, own)).map_err(|_| problem))
}

/// Both lists at once: two processes, the time of one.
fn ask(git: &Git, rules: &str) -> Result<(Vec<u8>, Vec<u8>)> {
    let ignored = ["ls-files", "-z", "-o", "-i", rules];
    std::thread::scope(|scope| {
        let hidden = scope.spawn(|| git.run(&[&ignored[..], &["--directory"]].concat()));
        let visible = git.run(&["ls-files", "-z", "-c", "-o", rules])?;
        // The thread only runs git; were it to panic, asking again here would show why.
        let hidden = hidden.join().unwrap_or_else(|_| git.run(&ignored))?;
        Ok((visible, hidden))
    })
}

/// git also names a folder whose files it lists one by one; such a folder is not ignored as a whole.
fn ignored_entries(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut entries: Vec<&[u8]> = names::split(list).collect();
    entries.sort_unstable();
    let spelled_out: Vec<bool> = entries
        .iter()
        .zip(entries.iter().skip(1).map(Some).chain([None]))
        .map(|(entry, next)| entry.ends_with(b"/") && next.is_some_and(|n| n.starts_with(entry)))
        .collect();
    entries.into_iter().zip(spelled_out).filter(|(_, spelled_out)| !spelled_out).map(|(entry, _)| entry)
}

impl Listing {
    fn put(&mut self, name: Name, disk: &mut Disk<'_>) {
        match disk.look(&name) {
            Thing::Nothing | Thing::Folder => {}
            Thing::Repository => self.repositories.push(name),
            Thing::Opaque => drop(self.extras.opaque.insert(name)),
            Thing::File(mode) => {
                if let Some(mode) = mode {
                    self.extras.modes.insert(name.clone(), mode);
                }
                self.files.insert(name);
            }
        }
    }

    /// A file belongs to one repository only. A folder of the user's files that became a repository stays a folder.
    fn part_repositories(&mut self, since: Option<&Since>) {
        for name in std::mem::take(&mut self.repositories) {
            let converted =
                since.is_some_and(|since| !since.repositories.contains(&name) && since.had_files_in(&name));
            if converted {
                self.extras.opaque.insert(names::below(&name, b".git"));
                continue;
            }
            self.files.retain(|file| !names::folders(file).any(|folder| folder == name));
            self.repositories.push(name);
        }
    }

    /// Notes each folder that holds no taken file, so that a rollback knows it was there, and what git never names.
    fn find_folders(&mut self, repo: &Repository, scope: &Scope) {
        let mut open: Vec<Name> = vec![Name::new()];
        let mut known: BTreeSet<Name> = BTreeSet::new();
        for folder in self.files.iter().flat_map(|name| names::folders(name)) {
            if !known.contains(folder) {
                known.insert(folder.to_vec());
                open.push(folder.to_vec());
            }
        }
        while let Some(folder) = open.pop() {
            let Ok(entries) = std::fs::read_dir(names::place(&repo.root, &folder)) else {
                continue;
            };
            for entry in entries.flatten() {
                let name = names::below(&folder, &names::of_path(Path::new(&entry.file_name())));
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                let foreign = entry.file_name().eq_ignore_ascii_case(".git")
                    || known.contains(&name)
                    || self.repositories.contains(&name)
                    || self.extras.hides(&name)
                    || scope.excludes(&name);
                if foreign || kind.is_file() || kind.is_symlink() {
                    continue;
                }
                if !kind.is_dir() {
                    self.extras.special.insert(name);
                } else if self.extras.folders.insert(name.clone()) {
                    open.push(name);
                }
            }
        }
    }
}

/// What is at a name.
enum Thing {
    Nothing,
    /// A file or a symbolic link, with its permissions where they are unusual.
    File(Option<u32>),
    Folder,
    Repository,
    Opaque,
}

/// Looks at names without following symbolic links, and remembers which folders are real.
struct Disk<'a> {
    root: &'a Path,
    care: Care,
    real: HashMap<Name, bool>,
    /// Unusual permissions of folders.
    modes: BTreeMap<Name, u32>,
}

impl<'a> Disk<'a> {
    fn new(root: &'a Path, care: Care) -> Self {
        let mut disk = Self { root, care, real: HashMap::new(), modes: BTreeMap::new() };
        disk.is_folder(b"");
        disk
    }

    fn look(&mut self, name: &[u8]) -> Thing {
        if !self.reachable(name) {
            return Thing::Nothing;
        }
        let path = names::place(self.root, name);
        let meta = match path.symlink_metadata() {
            Ok(meta) => meta,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Thing::Nothing;
            }
            Err(_) => return Thing::Opaque,
        };
        if meta.is_dir() {
            return match path.join(".git").symlink_metadata() {
                Ok(_) => Thing::Repository,
                Err(_) => Thing::Folder,
            };
        }
        let refused = name.split(|byte| *byte == b'/').any(|part| part.eq_ignore_ascii_case(b".git"));
        let unreadable = || self.care == Care::Thorough && meta.is_file() && File::open(&path).is_err();
        match () {
            () if refused || !(meta.is_file() || meta.is_symlink()) => Thing::Opaque,
            () if unreadable() => Thing::Opaque,
            () => Thing::File(unusual_mode(&meta)),
        }
    }

    /// Whether every folder above a name is a real folder.
    fn reachable(&mut self, name: &[u8]) -> bool {
        let Some(folder) = names::folders(name).next() else {
            return true;
        };
        if let Some(real) = self.real.get(folder) {
            return *real;
        }
        let real = self.reachable(folder) && self.is_folder(folder);
        self.real.insert(folder.to_vec(), real);
        real
    }

    fn is_folder(&mut self, folder: &[u8]) -> bool {
        let Ok(meta) = names::place(self.root, folder).symlink_metadata() else {
            return false;
        };
        let mode = place::mode(&meta.permissions());
        if meta.is_dir() && mode != USUAL_FOLDER {
            self.modes.insert(folder.to_vec(), mode);
        }
        meta.is_dir()
    }
}

#[cfg(unix)]
fn unusual_mode(meta: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = meta.permissions().mode() & 0o7777;
    (meta.is_file() && !matches!(mode, 0o644 | 0o755)).then_some(mode)
}

#[cfg(not(unix))]
fn unusual_mode(_: &Metadata) -> Option<u32> {
    None
}
