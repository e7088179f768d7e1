//! Watches what a cycle may not touch inside `.git`, and can put it back.

use super::names;
use super::place;
use super::repository::Repository;
use capsid_model::hash::sha256_hex;
use capsid_model::{Object, Problem, Result, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// Larger files are only hashed, so they can be noticed but not restored. The index is always kept.
const KEEP_LIMIT: u64 = 1024 * 1024;

const INDEX: &str = "index";
const HEAD: &str = "HEAD";

/// The state of the index, HEAD, configuration and hooks at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guard {
    files: BTreeMap<String, State>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    File { sha256: String, mode: u32 },
    Link { target: Vec<u8> },
}

impl State {
    fn unreadable() -> Self {
        Self::File { sha256: "0".repeat(64), mode: 0 }
    }
}

impl Guard {
    /// Notes the state, and keeps the bytes.
    pub fn save(repo: &Repository) -> Result<Self> {
        Self::look(repo, |name, bytes, _| {
            let wanted = name == INDEX || bytes.len() as u64 <= KEEP_LIMIT;
            if wanted { keep(repo, bytes).map(|_| ()) } else { Ok(()) }
        })
    }

    /// Forgets kept bytes; only while no run waits for its snapshot.
    pub fn tidy(repo: &Repository) -> Result<()> {
        let saved = saved_dir(repo);
        match std::fs::remove_dir_all(&saved) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Problem::io("remove", &saved, &error))
            }
            _ => Ok(()),
        }
    }

    /// What is different in `later`, as paths like `.git/config`. The index is not among them: reading commands of git
    /// refresh it, and staging changes no file.
    pub fn changed(&self, later: &Guard) -> Vec<String> {
        self.differing(later)
            .filter(|name| *name != INDEX)
            .map(|name| match name {
                HEAD => ".git/HEAD (moved)".to_owned(),
                name => format!(".git/{name}"),
            })
            .collect()
    }

    /// Puts back what the cycle changed and nobody changed since; gives what was left as it is, with the reason if it
    /// could not be put back.
    ///
    /// HEAD is never moved. When it did move, only hooks are restored, because they would run.
    pub fn restore(&self, rejected: &Guard, repo: &Repository, moved: bool) -> Result<Vec<String>> {
        let now = Self::look(repo, |_, _, _| Ok(()))?;
        let mut left = Vec::new();
        // What came goes first: a link that took the place of a folder would lead elsewhere.
        let (there, new): (Vec<&str>, Vec<&str>) =
            self.differing(rejected).partition(|name| self.files.contains_key(*name));
        for name in new.into_iter().chain(there) {
            let state = now.files.get(name);
            if state == self.files.get(name) {
                continue;
            }
            let wanted = name != HEAD && (!moved || name.starts_with("hooks"));
            if !wanted || state != rejected.files.get(name) {
                left.push(format!(".git/{name}"));
            } else if let Err(error) = self.put_back(name, repo) {
                left.push(format!(".git/{name} ({error})"));
            }
        }
        Ok(left)
    }

    /// Puts one file back without which git cannot work, and keeps what was there aside; whether that was needed.
    pub(super) fn mend(&self, name: &str, repo: &Repository) -> bool {
        let path = locate(repo, name);
        let now = read_state(&path).ok().map(|(state, _)| state);
        if now.as_ref() == self.files.get(name) {
            return false;
        }
        // It may be gone.
        let _ = set_aside(&path, repo);
        self.files.contains_key(name) && self.put_back(name, repo).is_ok()
    }

    fn put_back(&self, name: &str, repo: &Repository) -> io::Result<()> {
        let path = locate(repo, name);
        let Some(state) = self.files.get(name) else {
            return std::fs::remove_file(&path);
        };
        if let Some(folder) = path.parent() {
            if folder.is_symlink() {
                return Err(place::in_the_way("its folder is a link"));
            }
            if folder.is_file() {
                set_aside(folder, repo)?;
            }
            std::fs::create_dir_all(folder)?;
        }
        if path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            set_aside(&path, repo)?;
        }
        match state {
            State::Link { target } => {
                let _ = std::fs::remove_file(&path);
                place::link(names::to_path(target), &path)
            }
            State::File { sha256, mode } => {
                let bytes = std::fs::read(saved_dir(repo).join(sha256))
                    .map_err(|error| io::Error::new(error.kind(), "its old content was not kept"))?;
                place::try_bytes(&path, &bytes, Some(*mode), &saved_dir(repo))
            }
        }
    }

    fn differing<'a>(&'a self, other: &'a Guard) -> impl Iterator<Item = &'a str> {
        let names: BTreeSet<&String> = self.files.keys().chain(other.files.keys()).collect();
        names.into_iter().filter(|name| self.files.get(*name) != other.files.get(*name)).map(String::as_str)
    }

    fn look(repo: &Repository, mut seen: impl FnMut(&str, &[u8], &str) -> Result<()>) -> Result<Self> {
        let mut guard = Self::default();
        for name in watched(repo) {
            let path = locate(repo, &name);
            let read = || read_state(&path);
            match read() {
                Ok((state, bytes)) => {
                    if let State::File { sha256, .. } = &state {
                        seen(&name, &bytes, sha256)?;
                    }
                    guard.files.insert(name, state);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // It is there and different from all that can be read, which is enough to see a change.
                Err(_) => drop(guard.files.insert(name, State::unreadable())),
            }
        }
        Ok(guard)
    }

    /// The form it has in the run state.
    pub fn to_value(&self) -> Value {
        let entry = |(name, state): (&String, &State)| {
            let value = match state {
                State::File { sha256, mode } => json!({"sha256": sha256, "mode": mode}),
                State::Link { target } => json!({"link": names::to_value(target)}),
            };
            (name.clone(), value)
        };
        Value::Object(self.files.iter().map(entry).collect::<Object>())
    }

    /// Reads what [`Guard::to_value`] wrote.
    pub fn read(value: &Value) -> Option<Self> {
        let mut guard = Self::default();
        for (name, state) in value.as_object()? {
            if !is_watched(name) {
                return None;
            }
            let state = match state.get("link") {
                Some(target) => State::Link { target: names::read(target)? },
                None => State::File {
                    sha256: Some(state.get("sha256")?.as_str()?)
                        .filter(|hash| super::is_id(hash))?
                        .to_owned(),
                    mode: u32::try_from(state.get("mode")?.as_u64()?).ok()?,
                },
            };
            guard.files.insert(name.clone(), state);
        }
        Some(guard)
    }
}

/// Keeps bytes under the name of their hash until no run needs them; gives the name.
pub(super) fn keep(repo: &Repository, bytes: &[u8]) -> Result<String> {
    let saved = saved_dir(repo);
    std::fs::create_dir_all(&saved).map_err(|error| Problem::io("create", &saved, &error))?;
    let name = sha256_hex(bytes);
    let path = saved.join(&name);
    if !path.exists() {
        place::bytes(&path, bytes, Some(0o600), &saved)?;
    }
    Ok(name)
}

/// What was kept under a name.
pub(super) fn kept(repo: &Repository, name: &str) -> Result<Vec<u8>> {
    let path = saved_dir(repo).join(name);
    std::fs::read(&path).map_err(|error| Problem::io("read", &path, &error))
}

fn saved_dir(repo: &Repository) -> PathBuf {
    repo.private_dir().join("saved")
}

/// Moves what stands in the place of a watched file to the kept bytes, where it lies until they are forgotten.
fn set_aside(path: &Path, repo: &Repository) -> io::Result<()> {
    let room = tempfile::Builder::new().prefix("aside-").tempdir_in(saved_dir(repo))?.keep();
    std::fs::rename(path, room.join("found"))
}

/// The index, HEAD and `config.worktree` are of one worktree, the rest is shared.
fn locate(repo: &Repository, name: &str) -> PathBuf {
    match name {
        INDEX | HEAD | "config.worktree" => repo.git_dir.join(name),
        _ => repo.common_dir.join(name),
    }
}

/// Whether a stored name is one that this file could have written.
fn is_watched(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    match parts[..] {
        [INDEX | HEAD | "config" | "config.worktree" | "info" | "hooks"] => true,
        ["info" | "hooks", file] => names::is_inside(file.as_bytes()),
        _ => false,
    }
}

fn watched(repo: &Repository) -> Vec<String> {
    let mut names = [INDEX, HEAD, "config", "config.worktree"].map(str::to_owned).to_vec();
    for folder in ["info", "hooks"] {
        let path = repo.common_dir.join(folder);
        // A folder that is a link leads out of the repository: the link is watched, not what it leads to.
        if path.is_symlink() {
            names.push(folder.to_owned());
            continue;
        }
        for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
            // The samples that git puts there never run.
            let name = entry.file_name().into_string().unwrap_or_default();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !is_folder && !name.is_empty() && !name.ends_with(".sample") {
                names.push(format!("{folder}/{name}"));
            }
        }
    }
    names
}

fn read_state(path: &Path) -> io::Result<(State, Vec<u8>)> {
    let meta = path.symlink_metadata()?;
    if meta.is_symlink() {
        let target = names::of_path(&std::fs::read_link(path)?);
        return Ok((State::Link { target }, Vec::new()));
    }
    if !meta.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let bytes = std::fs::read(path)?;
    let state = State::File { sha256: sha256_hex(&bytes), mode: place::mode(&meta.permissions()) };
    Ok((state, bytes))
}
