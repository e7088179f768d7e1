//! What a cycle changed, exactly: the difference of two trees, in which the user's earlier edits are on both sides.

use super::names::{self, Name};
use capsid_model::event::BlastRadius;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content or its permissions changed.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name.
    Renamed,
    /// It became a link, or stopped being one.
    TypeChanged,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Its path in the work tree, fit to be shown.
    pub path: String,
    /// The same, byte for byte.
    pub name: Name,
    /// The path it had before a rename.
    pub old_path: Option<String>,
    /// How it changed.
    pub kind: ChangeKind,
    /// Lines that came.
    pub added: u64,
    /// Lines that went.
    pub deleted: u64,
    /// Whether it has no lines to count.
    pub binary: bool,
    /// Whether it is there and holds nothing.
    pub emptied: bool,
}

/// The ids of a file without content, in both object formats of git.
const EMPTY_BLOBS: [&[u8]; 2] = [
    b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    b"473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
];

/// Everything that changed between two trees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Each changed file, in the order of the work tree.
    pub files: Vec<FileChange>,
}

impl Changes {
    /// Files of any language, and lines added plus deleted.
    pub fn blast(&self) -> BlastRadius {
        BlastRadius {
            files: self.files.len() as u64,
            lines: self.files.iter().map(|f| f.added + f.deleted).sum(),
        }
    }

    /// The five folders with most changed files, by the first two parts of their path.
    pub fn breakdown(&self) -> Vec<(String, u64)> {
        let mut folders: BTreeMap<String, u64> = BTreeMap::new();
        for file in &self.files {
            let parts: Vec<&str> = file.path.split('/').collect();
            let folder = match parts.len() {
                1 => ".".to_owned(),
                2 => parts[0].to_owned(),
                _ => parts[..2].join("/"),
            };
            *folders.entry(folder).or_default() += 1;
        }
        let mut list: Vec<_> = folders.into_iter().collect();
        list.sort_by_key(|(_, files)| std::cmp::Reverse(*files));
        list.truncate(5);
        list
    }
}

/// A change without lines.
fn bare(name: Name, kind: ChangeKind) -> FileChange {
    FileChange {
        path: names::show(&name),
        name,
        old_path: None,
        kind,
        added: 0,
        deleted: 0,
        binary: true,
        emptied: false,
    }
}

/// Reads `--raw --numstat -z`: first a record for each file, then, in the same order, its lines.
pub(crate) fn parse(output: &[u8], folder: &[u8]) -> Option<Vec<FileChange>> {
    // Empty fields count here: a rename has one in its line record.
    let mut fields = output.split(|byte| *byte == 0).peekable();
    let mut files = Vec::new();
    while fields.peek().is_some_and(|field| field.starts_with(b":")) {
        let mut record = fields.next()?.rsplit(|byte| *byte == b' ');
        let kind = match *record.next()?.first()? {
            b'A' => ChangeKind::Added,
            b'D' => ChangeKind::Deleted,
            b'R' => ChangeKind::Renamed,
            b'T' => ChangeKind::TypeChanged,
            _ => ChangeKind::Modified,
        };
        let mut name = names::below(folder, fields.next()?);
        let mut old_path = None;
        if kind == ChangeKind::Renamed {
            old_path = Some(names::show(&name));
            name = names::below(folder, fields.next()?);
        }
        files.push(FileChange {
            old_path,
            emptied: EMPTY_BLOBS.contains(&record.next()?),
            ..bare(name, kind)
        });
    }
    for file in &mut files {
        let mut parts = fields.next()?.splitn(3, |byte| *byte == b'\t');
        let (added, deleted) = (parts.next()?, parts.next()?);
        if parts.next()?.is_empty() {
            // The old and the new name of a rename follow.
            fields.next()?;
            fields.next()?;
        }
        file.binary = added == b"-";
        file.added = number(added);
        file.deleted = number(deleted);
    }
    Some(files)
}

fn number(digits: &[u8]) -> u64 {
    std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rename_a_binary_and_an_odd_name_are_read_in_order() {
        let output =
            b":100644 100644 a b M\0x\ny\0:100644 100644 a b R090\0old\0new\0:000000 100644 0 b A\0bin\0\
            3\t1\tx\ny\x001\t2\t\0old\0new\0-\t-\tbin\0";
        let files = parse(output, b"sub").unwrap();
        let seen: Vec<_> =
            files.iter().map(|f| (f.path.as_str(), f.kind, f.added, f.deleted, f.binary)).collect();
        assert_eq!(
            seen,
            [
                ("sub/x\ny", ChangeKind::Modified, 3, 1, false),
                ("sub/new", ChangeKind::Renamed, 1, 2, false),
                ("sub/bin", ChangeKind::Added, 0, 0, true),
            ]
        );
        assert_eq!(files[1].old_path.as_deref(), Some("sub/old"));
        assert_eq!(parse(b"", b""), Some(Vec::new()));
        assert_eq!(parse(b":1 2 a b M\0x\0", b""), None);
    }

    #[test]
    fn the_breakdown_names_the_five_busiest_folders() {
        let file = |path: &str| bare(path.as_bytes().to_vec(), ChangeKind::Added);
        let paths = ["a/b/1", "a/b/2", "a/b/c/3", "z", "a/4", "m/n/5", "o/p/6", "q/r/7"];
        let changes = Changes { files: paths.map(file).to_vec() };
        let list = changes.breakdown();
        assert_eq!(list.len(), 5);
        assert_eq!(list[0], ("a/b".to_owned(), 3));
        assert!(list.contains(&(".".to_owned(), 1)));
        assert!(list.contains(&("a".to_owned(), 1)));
    }
}
