//! Two snapshots side by side, one pair for each repository in the work tree.

use super::names::{self, Name};
use super::repository::Repository;
use super::shadow::Shadow;
use super::{Nested, Snapshot};
use capsid_model::Result;
use std::collections::BTreeSet;
use std::path::Path;

/// One repository at two moments.
pub struct Pair<'a> {
    /// Where it is in the outermost work tree; empty for that itself.
    pub folder: Name,
    /// Its shadow, which holds the content of both sides.
    pub shadow: Shadow,
    /// The earlier snapshot; none when the repository was made in between.
    pub before: Option<&'a Snapshot>,
    /// The later snapshot; none when the repository is gone.
    pub after: Option<&'a Snapshot>,
    /// The bytes its `.git` file had, when its git directory is elsewhere.
    pub link: Option<&'a [u8]>,
}

/// Every pair, and the folders of repositories that went away together with their content.
#[derive(Default)]
pub struct Pairs<'a> {
    /// The outermost repository first, each before those inside it.
    pub all: Vec<Pair<'a>>,
    /// Repositories that cannot be looked into any more.
    pub lost: Vec<Name>,
}

impl<'a> Pairs<'a> {
    /// Pairs up two snapshots of the same work tree.
    pub fn new(shadow: &Shadow, before: &'a Snapshot, after: &'a Snapshot) -> Result<Self> {
        let mut pairs = Self::default();
        pairs.add(Pair {
            folder: Name::new(),
            shadow: shadow.clone(),
            before: Some(before),
            after: Some(after),
            link: None,
        })?;
        Ok(pairs)
    }

    fn add(&mut self, pair: Pair<'a>) -> Result<()> {
        let inner = |side: Option<&'a Snapshot>| side.map_or(&[][..], |s| &s.nested[..]);
        let (before, after) = (inner(pair.before), inner(pair.after));
        let (outer, folder) = (pair.shadow.clone(), pair.folder.clone());
        self.all.push(pair);
        let names: BTreeSet<&Name> = before.iter().chain(after).map(|n| &n.name).collect();
        for name in names {
            let find = |side: &'a [Nested]| side.iter().find(|nested| nested.name == *name);
            let (old, new) = (find(before), find(after));
            let folder = names::below(&folder, name);
            let held =
                |shadow: &Shadow| old.into_iter().chain(new).all(|nested| shadow.holds(&nested.snapshot));
            match open(&outer, name, old.or(new))?.filter(held) {
                None => self.lost.push(folder),
                Some(shadow) => self.add(Pair {
                    folder,
                    shadow,
                    before: old.map(|nested| &nested.snapshot),
                    after: new.map(|nested| &nested.snapshot),
                    link: old.and_then(|nested| nested.link.as_deref()),
                })?,
            }
        }
        Ok(())
    }
}

/// The shadow of a nested repository, even when its work tree is gone and only its git directory is left.
fn open(outer: &Shadow, name: &[u8], nested: Option<&Nested>) -> Result<Option<Shadow>> {
    if let Some(shadow) = outer.nested(name)? {
        return Ok(Some(shadow));
    }
    // Only a directory inside the outer repository is believed: the record of it may have been tampered with.
    let inside = |dir: &Path| dir.starts_with(&outer.repo.common_dir) && dir.join("HEAD").is_file();
    let Some(nested) = nested.filter(|nested| inside(&nested.git_dir)) else {
        return Ok(None);
    };
    let repo = Repository {
        root: names::place(&outer.repo.root, name),
        git_dir: nested.git_dir.clone(),
        common_dir: nested.git_dir.clone(),
        object_format: outer.repo.object_format.clone(),
        head: nested.snapshot.head.clone(),
    };
    Shadow::open(&repo, outer.scope.inside(name)).map(Some)
}

impl Pair<'_> {
    /// The trees of both sides; a side that does not exist has no files.
    pub fn trees(&self) -> Result<[String; 2]> {
        let tree = |side: Option<&Snapshot>| match side {
            Some(snapshot) => Ok(snapshot.tree.clone()),
            None => self.shadow.empty_tree(),
        };
        Ok([tree(self.before)?, tree(self.after)?])
    }
}
