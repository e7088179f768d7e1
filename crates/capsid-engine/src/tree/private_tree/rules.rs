//! The ignore rules of the base, evaluated in process. They are stored with the run: rules that came later hide nothing.

use super::name_text;
use crate::tree::names::{self, Name};
use capsid_model::{Problem, Result};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Longer rule files are cut: nobody writes them by hand.
const MAX_RULE_BYTES: u64 = 1 << 20;

/// What of the tree a base covers, and where git's rules are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaseScope {
    /// The engine's own files and directories: never part of a change, and a violation if an agent touches them.
    pub own: Vec<Name>,
    /// Logs that the run read. They may grow while an agent works, and are never part of a change.
    pub read_logs: Vec<Name>,
    /// The git directory of the work tree.
    pub git_dir: PathBuf,
    /// The git directory that all worktrees share; `info/exclude` is in it.
    pub common_dir: PathBuf,
    /// The file that `core.excludesFile` names.
    pub excludes_file: Option<PathBuf>,
}

/// The rules as they are stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct StoredRules {
    #[serde(with = "name_text::list")]
    own: Vec<Name>,
    #[serde(with = "name_text::list")]
    read_logs: Vec<Name>,
    /// The content of `core.excludesFile`.
    #[serde(with = "name_text")]
    user: Vec<u8>,
    /// The content of `info/exclude` of the repository and of those inside it.
    #[serde(with = "name_text::pairs")]
    repositories: BTreeMap<Name, Vec<u8>>,
    /// The content of each `.gitignore`, by its directory.
    #[serde(with = "name_text::pairs")]
    directories: BTreeMap<Name, Vec<u8>>,
    /// Files that a rule matches and that are tracked all the same.
    #[serde(with = "name_text::list")]
    tracked: BTreeSet<Name>,
}

/// Decides which names the base ignores.
#[derive(Debug, Clone)]
pub struct BaseRules {
    stored: StoredRules,
    user: Arc<Gitignore>,
    repositories: HashMap<Name, Arc<Gitignore>>,
    directories: HashMap<Name, Arc<Gitignore>>,
}

/// The rules that apply inside one directory, the strongest first, with the length of the path that each leaves out.
pub(super) struct DirectoryRules {
    chain: Vec<(usize, Arc<Gitignore>)>,
}

impl DirectoryRules {
    /// Whether the rules match an entry of this directory.
    pub(super) fn matches(&self, name: &[u8], is_directory: bool) -> bool {
        for (skipped, rules) in &self.chain {
            match rules.matched(names::to_path(&name[*skipped..]), is_directory) {
                Match::None => {}
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
            }
        }
        false
    }
}

impl BaseRules {
    /// The rules that lie outside the tree; [`BaseRules::add_directory`] adds the others.
    pub(super) fn open(scope: &BaseScope) -> Result<Self> {
        let user = scope.excludes_file.as_deref().map(read_rules).transpose()?.unwrap_or_default();
        let exclude = read_rules(&scope.common_dir.join("info/exclude"))?;
        let stored = StoredRules {
            own: scope.own.clone(),
            read_logs: scope.read_logs.clone(),
            user,
            repositories: BTreeMap::from([(Name::new(), exclude)]),
            ..StoredRules::default()
        };
        Ok(Self::from_stored(stored))
    }

    fn from_stored(stored: StoredRules) -> Self {
        let compile_all = |files: &BTreeMap<Name, Vec<u8>>| {
            files.iter().map(|(name, content)| (name.clone(), compile(content))).collect()
        };
        Self {
            user: compile(&stored.user),
            repositories: compile_all(&stored.repositories),
            directories: compile_all(&stored.directories),
            stored,
        }
    }

    /// Adds what a directory of the tree says: its `.gitignore`, and the rules of a repository that is in it.
    pub(super) fn add_directory(
        &mut self,
        path: &Path,
        name: &[u8],
        has_rules: bool,
        is_repository: bool,
    ) -> Result<()> {
        if is_repository {
            let content = read_rules(&path.join(".git/info/exclude"))?;
            self.repositories.insert(name.to_vec(), compile(&content));
            self.stored.repositories.insert(name.to_vec(), content);
        }
        if has_rules {
            let content = read_rules(&path.join(".gitignore"))?;
            self.directories.insert(name.to_vec(), compile(&content));
            self.stored.directories.insert(name.to_vec(), content);
        }
        Ok(())
    }

    pub(super) fn add_tracked(&mut self, name: &[u8]) {
        self.stored.tracked.insert(name.to_vec());
    }

    /// The rules for the entries of a directory.
    pub(super) fn for_directory(&self, directory: &[u8]) -> DirectoryRules {
        let mut chain = Vec::new();
        let above = names::folders(directory).chain((!directory.is_empty()).then_some(&b""[..]));
        for folder in std::iter::once(directory).chain(above) {
            let skipped = if folder.is_empty() { 0 } else { folder.len() + 1 };
            chain.extend(self.directories.get(folder).map(|rules| (skipped, Arc::clone(rules))));
            if let Some(rules) = self.repositories.get(folder) {
                chain.push((skipped, Arc::clone(rules)));
                chain.push((skipped, Arc::clone(&self.user)));
                break;
            }
        }
        chain.retain(|(_, rules)| !rules.is_empty());
        DirectoryRules { chain }
    }

    /// Whether the base ignores a name: a rule matches it or a directory above it, and it was not tracked.
    pub fn is_ignored(&self, name: &[u8], is_directory: bool) -> bool {
        if self.stored.tracked.contains(name) {
            return false;
        }
        let mut folders: Vec<&[u8]> = names::folders(name).collect();
        folders.reverse();
        let inside = |folder: &&[u8]| self.matches(folder, true);
        folders.iter().any(inside) || self.matches(name, is_directory)
    }

    /// Whether a rule matches the name itself.
    fn matches(&self, name: &[u8], is_directory: bool) -> bool {
        let (folder, _) = super::beneath::split_leaf(name);
        self.for_directory(folder).matches(name, is_directory)
    }

    /// Whether a file below a directory is tracked although a rule matches it.
    pub(super) fn has_tracked_below(&self, directory: &[u8]) -> bool {
        let start = names::below(directory, b"");
        self.stored.tracked.range(start.clone()..).next().is_some_and(|name| name.starts_with(&start))
    }

    /// The tracked files at or below a name that a rule matches.
    pub(super) fn tracked_at_or_below(&self, name: &[u8]) -> Vec<Name> {
        let start = self.stored.tracked.range(name.to_vec()..);
        start
            .take_while(|other| other.starts_with(name))
            .filter(|other| is_at_or_below(other, name))
            .cloned()
            .collect()
    }

    /// Whether a name is one of the engine's own files, or below one of its directories.
    pub fn is_own(&self, name: &[u8]) -> bool {
        self.stored.own.iter().any(|own| !own.is_empty() && is_at_or_below(name, own))
    }

    /// The engine's own files and directories.
    pub(super) fn own(&self) -> &[Name] {
        &self.stored.own
    }

    /// Whether a name is a log that the run read.
    pub fn is_read_log(&self, name: &[u8]) -> bool {
        self.stored.read_logs.iter().any(|log| log == name)
    }

    /// Whether a directory was the top of a repository of its own when the run started.
    pub fn is_repository(&self, directory: &[u8]) -> bool {
        self.stored.repositories.contains_key(directory)
    }

    /// The directories inside the tree that are repositories of their own.
    pub fn nested_repositories(&self) -> impl Iterator<Item = &Name> {
        self.stored.repositories.keys().filter(|name| !name.is_empty())
    }
}

impl PartialEq for BaseRules {
    fn eq(&self, other: &Self) -> bool {
        self.stored == other.stored
    }
}

impl Serialize for BaseRules {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.stored.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for BaseRules {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        StoredRules::deserialize(deserializer).map(Self::from_stored)
    }
}

fn is_at_or_below(name: &[u8], folder: &[u8]) -> bool {
    if folder.is_empty() {
        return true;
    }
    name.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// The content of a rule file; nothing if there is no regular file. A link counts as none, as it does for git.
fn read_rules(path: &Path) -> Result<Vec<u8>> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_file() => {}
        _ => return Ok(Vec::new()),
    }
    let fail = |error: std::io::Error| Problem::io("read", path, &error);
    let mut content = Vec::new();
    let file = std::fs::File::open(path).map_err(fail)?;
    file.take(MAX_RULE_BYTES).read_to_end(&mut content).map_err(fail)?;
    Ok(content)
}

fn compile(content: &[u8]) -> Arc<Gitignore> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    let mut builder = GitignoreBuilder::new("");
    for line in content.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
        // git, too, skips a line that is no pattern.
        let _ = builder.add_line(None, &line);
    }
    Arc::new(builder.build().unwrap_or_else(|_| Gitignore::empty()))
}
