//! What an agent wrote outside of the repository: login files are copied back, the rest is counted and dropped.

use super::home_copy::make_folder;
use super::private_home::PrivateHome;
use super::profile::AgentProfile;
use crate::layers::remove_layer;
use capsid_model::{Problem, Result};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The largest login file.
const MAX_LOGIN_BYTES: u64 = 64 * 1024;
/// How many changed files are listed.
const MAX_LISTED: usize = 100;
/// How many are counted at most, and how deep folders are walked.
const MAX_COUNTED: usize = 100_000;
const MAX_DEPTH: usize = 100;

/// Files that an agent changed outside of the repository.
#[derive(Debug, Default)]
pub struct OutsideWrites {
    pub first: Vec<PathBuf>,
    pub count: usize,
}

/// Makes the folders of the layers, empty.
pub fn prepare(profile: &AgentProfile) -> Result<()> {
    for layer in layers(profile) {
        remove_layer(&layer);
        make_folder(&layer)?;
    }
    Ok(())
}

impl OutsideWrites {
    fn add(&mut self, path: PathBuf) {
        self.count += 1;
        if self.first.len() < MAX_LISTED {
            self.first.push(path);
        }
    }
}

/// Copies login files back, lists the rest and removes the layers. Temporary files are not worth a line.
pub fn finish_layers(profile: &AgentProfile) -> Result<OutsideWrites> {
    let upper = profile.layers.join("home/upper");
    let mut writes = OutsideWrites::default();
    let mut copied = Vec::new();
    for login in &profile.copied_back {
        if let Ok(inside) = login.strip_prefix(&profile.home)
            && copy_back(&upper, inside, login)?
        {
            copied.push(login.clone());
        }
    }
    list(&upper, &profile.home, 0, &copied, &mut writes);
    for layer in layers(profile) {
        remove_layer(&layer);
    }
    Ok(writes)
}

/// The same for a home of the agent's own, where its settings were before it began.
pub fn finish_private_home(profile: &AgentProfile, home: PrivateHome) -> Result<OutsideWrites> {
    let mut writes = OutsideWrites::default();
    let changes = home.find_changes();
    let mut copied = Vec::new();
    for login in &profile.copied_back {
        // One that was not changed here may have been changed by the user meanwhile.
        if let Some(inside) = home.find(login).filter(|inside| changes.is_changed(inside))
            && copy_back(&home.path, &inside, login)?
        {
            copied.push(inside);
        }
    }
    for inside in changes.files().into_iter().filter(|inside| !copied.iter().any(|one| one == inside)) {
        writes.add(profile.home.join(inside));
    }
    drop(home);
    for layer in layers(profile) {
        remove_layer(&layer);
    }
    Ok(writes)
}

fn layers(profile: &AgentProfile) -> [PathBuf; 2] {
    ["home", "tmp"].map(|name| profile.layers.join(name))
}

/// Whether there was a login file that looks like one.
fn copy_back(upper: &Path, inside: &Path, login: &Path) -> Result<bool> {
    let Some(bytes) = read_login(upper, inside) else {
        return Ok(false);
    };
    let Some(folder) = login.parent().filter(|folder| folder.is_dir()) else {
        return Ok(false);
    };
    if fs::read(login).is_ok_and(|old| old == bytes) {
        return Ok(true);
    }
    let problem = |error: std::io::Error| Problem::io("write", login, &error);
    // Temporary files are for their owner alone from the start.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(problem)?;
    file.write_all(&bytes).and_then(|()| file.as_file().sync_all()).map_err(problem)?;
    if let Ok(old) = fs::metadata(login).or_else(|_| fs::metadata(folder)) {
        // Only a superuser may, and only for a superuser the owner differs.
        let _ = std::os::unix::fs::fchown(file.as_file(), Some(old.uid()), Some(old.gid()));
    }
    file.persist(login).map_err(|error| problem(error.error))?;
    Ok(true)
}

/// The agent decides what is in its layer or home: links are not followed, and only a small JSON object passes.
fn read_login(upper: &Path, inside: &Path) -> Option<Vec<u8>> {
    let file = open_beneath(upper, inside)?;
    let meta = file.metadata().ok()?;
    if !meta.is_file() || meta.len() > MAX_LOGIN_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_LOGIN_BYTES).read_to_end(&mut bytes).ok()?;
    let value: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    value.is_object().then_some(bytes)
}

#[cfg(target_os = "linux")]
fn open_beneath(upper: &Path, inside: &Path) -> Option<fs::File> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
    let layer = openat(CWD, upper, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    openat2(&layer, inside, flags, Mode::empty(), resolve).ok().map(fs::File::from)
}

/// Without a sandbox there is no layer.
#[cfg(not(target_os = "linux"))]
fn open_beneath(_upper: &Path, _inside: &Path) -> Option<fs::File> {
    None
}

fn list(layer: &Path, real: &Path, depth: usize, copied: &[PathBuf], into: &mut OutsideWrites) {
    let entries = fs::read_dir(layer).into_iter().flatten().flatten();
    let mut entries: Vec<_> = entries.take(MAX_COUNTED).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        if into.count >= MAX_COUNTED {
            return;
        }
        let path = real.join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if depth < MAX_DEPTH {
                list(&entry.path(), &path, depth + 1, copied, into);
            }
        } else if !copied.contains(&path) {
            into.add(path);
        }
    }
}
