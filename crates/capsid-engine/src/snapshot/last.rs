//! What the last look at the work tree gave, so that a look that finds nothing new needs fewer processes.
//!
//! Only a cache: it holds as long as the shadow's index is the very file it was written for.

use super::names;
use super::stat::Stat;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The state of the shadow after its last snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Last {
    index: Stat,
    /// The tree of the index.
    pub tree: String,
    /// The names in the index, each ended by NUL.
    pub names: Vec<u8>,
}

impl Last {
    /// Reads it, if it still holds.
    pub fn read(dir: &Path) -> Option<Self> {
        let index = Stat::of(&dir.join("index")).ok()??;
        let bytes = std::fs::read(file(dir)).ok()?;
        let names = bytes.strip_prefix(heading(index).as_bytes())?;
        let end = names.iter().position(|byte| *byte == 0)?;
        Some(Self { index, tree: names::show(&names[..end]), names: names[end + 1..].to_vec() })
    }

    /// Notes the state of the index. Without it the next look is only slower, so a failure is no problem.
    pub fn write(dir: &Path, tree: &str, names: &[u8]) {
        let note = || -> Option<()> {
            let index = Stat::of(&dir.join("index")).ok()??;
            let mut file = tempfile::NamedTempFile::new_in(dir).ok()?;
            file.write_all(heading(index).as_bytes()).ok()?;
            file.write_all(tree.as_bytes()).ok()?;
            file.write_all(b"\0").ok()?;
            file.write_all(names).ok()?;
            file.persist(self::file(dir)).ok().map(drop)
        };
        note();
    }

    /// Whether the index is still the same file.
    pub fn holds(&self, dir: &Path) -> bool {
        matches!(Stat::of(&dir.join("index")), Ok(Some(stat)) if stat == self.index)
    }
}

fn file(dir: &Path) -> PathBuf {
    dir.join("last")
}

fn heading(index: Stat) -> String {
    let Stat { len, inode, modified, changed } = index;
    format!("{len} {inode} {modified} {changed}\0")
}
