//! The shadow: a git directory of our own over the user's work tree, which takes snapshots without touching theirs.
//!
//! Its index lives on from one snapshot to the next, so only files whose stat changed are read again. It borrows objects
//! from the user's store, and keeps every file byte for byte: no filter, no line-end conversion, no global settings.

use super::extras::Extras;
use super::guard::{self, Guard};
use super::last::Last;
use super::listing::{self, Care, Listing, Scope, Since};
use super::names::{self, Name};
use super::repository::Repository;
use super::{Nested, Snapshot};
use capsid_model::{Code, Problem, Result, Time};
use capsid_sandbox::git::Git;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Overrides whatever `.gitattributes` says: blobs are the raw bytes, and no file can hide from a diff.
const ATTRIBUTES: &str = "* -text -filter -ident -working-tree-encoding !eol !diff !merge\n";

/// Snapshots of one work tree.
#[derive(Debug, Clone)]
pub struct Shadow {
    pub(super) repo: Repository,
    pub(super) scope: Scope,
    pub(super) git: Git,
    dir: PathBuf,
    /// The git directories of the repositories around this one.
    around: Vec<PathBuf>,
}

impl Shadow {
    /// Opens the shadow of a repository, and makes it at first use.
    pub fn open(repo: &Repository, scope: Scope) -> Result<Self> {
        let dir = repo.private_dir().join("shadow");
        if !dir.join("HEAD").exists() {
            create(&dir, repo)?;
        }
        // A submodule may be gone while its git directory is there; what it held can still be read then.
        let tree = if repo.root.is_dir() { &repo.root } else { &dir };
        let git = Git::at(tree)
            .env("GIT_DIR", &dir)
            .env("GIT_WORK_TREE", tree)
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_COUNT", "0")
            .env("GIT_CONFIG_PARAMETERS", "");
        Ok(Self { repo: repo.clone(), scope, git, dir, around: Vec::new() })
    }

    /// Takes a snapshot. The second one of a cycle names the first, so that the two can be compared.
    pub fn take(&self, at: Time, since: Option<&Snapshot>) -> Result<Snapshot> {
        let lock = self.lock()?;
        // An agent may have committed since the repository was opened, but not before its own start.
        let (head, mended) = match since {
            Some(earlier) => self.head_since(earlier)?,
            None => (self.repo.head.clone(), Vec::new()),
        };
        let compare = since.map(|snapshot| self.since(snapshot)).transpose()?;
        let (tree, mut listing) = self.tree(compare.as_ref(), &BTreeSet::new())?;
        listing.extras.opaque.extend(mended);
        let nested = self.take_nested(at, since, &mut listing)?;
        let snapshot = Snapshot {
            tree,
            extras: guard::keep(&self.repo, &listing.extras.encode())?,
            head,
            guard: Guard::save(&self.repo)?,
            nested,
            taken_at: at,
        };
        drop(lock);
        Ok(snapshot)
    }

    /// Where HEAD stands now, and which files of git had to be put back for git to tell: no cycle that broke them could
    /// be undone otherwise. They count as changed.
    fn head_since(&self, earlier: &Snapshot) -> Result<(Option<String>, Vec<Name>)> {
        let root = &self.repo.root;
        let open = || Repository::open(root).ok().filter(|repo| same_folder(&repo.root, root));
        let mut mended = Vec::new();
        // HEAD last: it may have moved for good.
        for name in ["config", "config.worktree", "HEAD"] {
            if let Some(repo) = open() {
                return Ok((repo.head, mended));
            }
            if earlier.guard.mend(name, &self.repo) {
                mended.push(names::below(b".git", name.as_bytes()));
            }
        }
        Ok((Repository::open(root)?.head, mended))
    }

    /// Every file of a snapshot with its blob, as `git ls-tree -r -z` prints it.
    pub fn listing(&self, snapshot: &Snapshot) -> Result<Vec<u8>> {
        self.git.run(&["ls-tree", "-r", "-z", &snapshot.tree])
    }

    /// Packs the shadow's objects and drops those unused for two weeks; only while no run waits for its snapshot.
    pub fn tidy(&self) -> Result<()> {
        let _lock = self.lock()?;
        let sample = std::fs::read_dir(self.dir.join("objects/17")).map_or(0, Iterator::count);
        if sample > 8 {
            self.git.run(&["gc", "--quiet", "--prune=2.weeks.ago"])?;
        }
        super::rollback::tidy(&self.repo)?;
        Guard::tidy(&self.repo)
    }

    /// The tree of the files that are there now, with `also` even where git ignores them. Call it under the lock.
    pub(super) fn tree(&self, since: Option<&Since>, also: &BTreeSet<Name>) -> Result<(String, Listing)> {
        self.tree_with(since, also, Care::Quick).or_else(|_| {
            // A file that cannot be read, or a damaged index, which is only a cache.
            remove_if_there(&self.dir.join("index"))?;
            self.tree_with(since, also, Care::Thorough)
        })
    }

    fn tree_with(
        &self,
        since: Option<&Since>,
        also: &BTreeSet<Name>,
        care: Care,
    ) -> Result<(String, Listing)> {
        let last = Last::read(&self.dir);
        let indexed = match &last {
            Some(last) => last.names.clone(),
            None if !self.dir.join("index").exists() => Vec::new(),
            None => self.git.run(&["ls-files", "-z"])?,
        };
        let list = |also| listing::list(&self.repo, &self.scope, since, also, care);
        let mut listing = list(also)?;
        if let Some(since) = since {
            let hidden = self.hidden_by_new_rules(since, &listing)?;
            if !hidden.is_empty() {
                listing = list(&(also | &hidden))?;
            }
        }
        let wanted = names::join(&listing.files);
        self.forget(names::split(&indexed), &listing.files)?;
        if !listing.files.is_empty() {
            // The first snapshot may hold thousands of new files: streamed as "big" ones, they go into a single pack.
            let first: &[&str] = match indexed.is_empty() {
                true => &["-c", "core.bigFileThreshold=1"],
                false => &[],
            };
            let update = ["update-index", "-z", "--add", "--remove", "--stdin"];
            self.git.run_with_input(&[first, &update].concat(), &wanted)?;
        }
        // git writes its index only when an entry changed.
        if let Some(last) = last.filter(|last| last.holds(&self.dir)) {
            return Ok((last.tree, listing));
        }
        let tree = self.one_line(&["write-tree"], b"")?;
        Last::write(&self.dir, &tree, &wanted);
        Ok((tree, listing))
    }

    /// Takes names out of the shadow's index that are no longer files to take.
    fn forget<'a>(&self, indexed: impl Iterator<Item = &'a [u8]>, files: &BTreeSet<Name>) -> Result<()> {
        let none = self.zero_id();
        let mut orders = Vec::new();
        for name in indexed.filter(|name| !files.contains(*name)) {
            orders.extend_from_slice(format!("0 {none}\t").as_bytes());
            orders.extend_from_slice(name);
            orders.push(0);
        }
        if !orders.is_empty() {
            self.git.run_with_input(&["update-index", "-z", "--index-info"], &orders)?;
        }
        Ok(())
    }

    fn take_nested(&self, at: Time, since: Option<&Snapshot>, listing: &mut Listing) -> Result<Vec<Nested>> {
        let mut all = Vec::new();
        for name in std::mem::take(&mut listing.repositories) {
            let Some(shadow) = self.nested(&name)? else {
                listing.extras.opaque.insert(name);
                continue;
            };
            let earlier = since.and_then(|snapshot| snapshot.nested_at(&name));
            let earlier = earlier.map(|nested| &nested.snapshot).filter(|snapshot| shadow.holds(snapshot));
            let snapshot = match shadow.take(at, earlier) {
                Ok(snapshot) => snapshot,
                // The cycle damaged it: that must not keep the rest from being undone.
                Err(_) if since.is_some() => {
                    listing.extras.opaque.insert(name);
                    continue;
                }
                Err(problem) => return Err(problem),
            };
            let (git_dir, link) = (shadow.repo.git_dir.clone(), read_link_file(&shadow.repo.root)?);
            all.push(Nested { name, git_dir, link, snapshot });
        }
        Ok(all)
    }

    /// The same shadow after its work tree came back.
    pub(super) fn reopened(&self) -> Result<Self> {
        let shadow = Self::open(&self.repo, self.scope.clone())?;
        Ok(Self { around: self.around.clone(), ..shadow })
    }

    /// Whether a snapshot is in this shadow; not so when the repository was made anew in its place.
    pub(super) fn holds(&self, snapshot: &Snapshot) -> bool {
        self.git.run(&["cat-file", "-e", &snapshot.tree]).is_ok() && self.extras(snapshot).is_ok()
    }

    /// The shadow of a repository inside this one; none when the folder only looks like one, or is this one again.
    pub(super) fn nested(&self, name: &[u8]) -> Result<Option<Self>> {
        let path = names::place(&self.repo.root, name);
        let is_folder = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        let Ok(repo) = Repository::open(&path) else {
            return Ok(None);
        };
        let around = [&self.around[..], std::slice::from_ref(&self.repo.git_dir)].concat();
        // The shadow of a repository around it is locked: to take it again would wait for ever.
        let again = around.iter().any(|dir| same_folder(dir, &repo.git_dir));
        if !is_folder || again || !same_folder(&repo.root, &path) {
            return Ok(None);
        }
        let shadow = Self::open(&repo, self.scope.inside(name))?;
        Ok(Some(Self { around, ..shadow }))
    }

    /// A snapshot in the form that a later look at the work tree is compared with.
    pub(super) fn since(&self, snapshot: &Snapshot) -> Result<Since> {
        let files = self.git.run(&["ls-tree", "-r", "-z", "--name-only", &snapshot.tree])?;
        Ok(Since {
            tree: snapshot.tree.clone(),
            files: names::split(&files).map(<[u8]>::to_vec).collect(),
            extras: self.extras(snapshot)?,
            repositories: snapshot.nested.iter().map(|n| n.name.clone()).collect(),
        })
    }

    /// What the tree of a snapshot could not hold.
    pub fn extras(&self, snapshot: &Snapshot) -> Result<Extras> {
        Ok(Extras::decode(&guard::kept(&self.repo, &snapshot.extras)?))
    }

    /// The tree without files, for what did not exist on one side of a comparison.
    pub(super) fn empty_tree(&self) -> Result<String> {
        self.one_line(&["mktree"], b"")
    }

    fn zero_id(&self) -> String {
        "0".repeat(if self.repo.object_format == "sha256" { 64 } else { 40 })
    }

    fn one_line(&self, args: &[&str], input: &[u8]) -> Result<String> {
        let out = self.git.run_with_input(args, input)?;
        Ok(names::show(out.trim_ascii_end()))
    }

    /// Held while the index changes; an index lock that is found under it was left by a killed process.
    pub(super) fn lock(&self) -> Result<File> {
        let path = self.dir.join("capsid.lock");
        let open = || File::options().create(true).append(true).open(&path);
        let file = open().map_err(|error| Problem::io("open", &path, &error))?;
        file.lock().map_err(|error| Problem::io("lock", &path, &error))?;
        remove_if_there(&self.dir.join("index.lock"))?;
        Ok(file)
    }
}

/// The text of `.git` in a work tree whose git directory is elsewhere.
fn read_link_file(root: &Path) -> Result<Option<Vec<u8>>> {
    let path = root.join(".git");
    if !path.is_file() {
        return Ok(None);
    }
    std::fs::read(&path).map(Some).map_err(|error| Problem::io("read", &path, &error))
}

fn same_folder(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

pub(super) fn remove_if_there(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Problem::io("remove", path, &error))
        }
        _ => Ok(()),
    }
}

/// Lays the directory out by hand: `git init` would copy templates and read settings of the user.
fn create(dir: &Path, repo: &Repository) -> Result<()> {
    let unix = cfg!(unix);
    let version = u8::from(repo.object_format != "sha1");
    let config = format!(
        "[core]\n\trepositoryformatversion = {version}\n\tbare = false\n\tautocrlf = false\n\
         \tfileMode = {unix}\n\tsymlinks = {unix}\n\tprotectNTFS = false\n\
         \tprotectHFS = false\n\tcompression = 1\n\tfsync = loose-object,pack\n\tfsyncMethod = batch\n[gc]\n\tauto = 0\n\
         [extensions]\n\tobjectFormat = {}\n",
        repo.object_format
    );
    let config = if version == 0 {
        config.split("[extensions]").next().unwrap_or_default().to_owned()
    } else {
        config
    };
    for folder in ["objects/info", "refs", "info"] {
        let path = dir.join(folder);
        std::fs::create_dir_all(&path).map_err(|error| Problem::io("create", &path, &error))?;
    }
    let lender = lender(repo)?;
    let files: [(&str, &[u8]); 4] = [
        ("config", config.as_bytes()),
        ("info/attributes", ATTRIBUTES.as_bytes()),
        ("objects/info/alternates", &lender),
        // Last, because its presence says that the rest is there.
        ("HEAD", b"ref: refs/heads/none\n"),
    ];
    files.into_iter().try_for_each(|(name, bytes)| super::place::bytes(&dir.join(name), bytes, None, dir))
}

/// The user's object store as git reads it from `objects/info/alternates`: relative, so the repository may be moved.
fn lender(repo: &Repository) -> Result<Vec<u8>> {
    let objects = match repo.git_dir.strip_prefix(&repo.common_dir) {
        Ok(below) => {
            let up = "../".repeat(3 + below.components().count());
            PathBuf::from(format!("{up}objects"))
        }
        Err(_) => repo.common_dir.join("objects"),
    };
    let mut line = names::of_path(&objects);
    if line.contains(&b'\n') {
        return Err(Problem::new(
            Code::GitFailed,
            format!("`{}` has a line break in its name.", objects.display()),
        )
        .fix("Move the repository to a folder without line breaks in its name."));
    }
    line.push(b'\n');
    Ok(line)
}
