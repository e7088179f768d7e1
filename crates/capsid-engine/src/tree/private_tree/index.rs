//! The user's index, read once: which files are tracked, and which of them git knows to be clean.

use super::blob_id::BlobId;
use super::file_state::FileIdentity;
use crate::tree::names::{self, Name};
use capsid_model::{Code, Problem, Result};
use capsid_sandbox::git::Git;
use std::path::Path;

/// One tracked file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexEntry {
    pub(super) name: Name,
    mode: u32,
    blob: BlobId,
    stat: IndexStat,
}

/// What git noted about the file when it was last known to be clean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct IndexStat {
    changed: (u64, u64),
    modified: (u64, u64),
    inode: u64,
    size: u64,
}

/// The tracked files, in the order of their names.
pub(super) struct UserIndex {
    pub(super) entries: Vec<IndexEntry>,
    /// When the index was written. A file that changed at that moment or later may differ unnoticed.
    written: i64,
}

const GITLINK: u32 = 0o160_000;

impl UserIndex {
    /// Reads the index with one git process.
    pub(super) fn read(root: &Path, git_dir: &Path) -> Result<Self> {
        let written = git_dir.join("index").metadata().ok();
        let written = written.map_or(0, |meta| FileIdentity::from_metadata(&meta).modified);
        let output = Git::at(root).run(&["ls-files", "-z", "--stage", "--debug"])?;
        let entries = parse(&output).ok_or_else(|| {
            Problem::new(Code::GitFailed, "`git ls-files --stage --debug` printed something unexpected.")
                .fix("Check the version of git with `git --version`; 2.31 or newer is needed.")
        })?;
        Ok(Self { entries, written })
    }

    /// The blob of an entry, if the file is as git last saw it.
    pub(super) fn clean_blob(&self, entry: &IndexEntry, file: &FileIdentity) -> Option<BlobId> {
        let split = |time: i64| ((time / 1_000_000_000) as u32, (time % 1_000_000_000) as u32);
        let stored = |(seconds, rest): (u64, u64)| (seconds as u32, rest as u32);
        let same_type = match entry.mode {
            0o120_000 => file.is_link(),
            mode => file.is_file() && (mode & 0o100 != 0) == file.is_executable(),
        };
        let clean = same_type
            && stored(entry.stat.modified) == split(file.modified)
            && stored(entry.stat.changed) == split(file.changed)
            && entry.stat.inode as u32 == file.inode as u32
            && entry.stat.size as u32 == file.size as u32
            && file.modified < self.written;
        clean.then_some(entry.blob)
    }
}

/// Reads `ls-files -z --stage --debug`: a record that ends with NUL, then five lines about the file.
fn parse(output: &[u8]) -> Option<Vec<IndexEntry>> {
    let mut entries: Vec<IndexEntry> = Vec::with_capacity(output.len() / 200);
    let mut rest = output;
    while !rest.is_empty() {
        let end = memchr::memchr(0, rest)?;
        let (record, after) = (&rest[..end], &rest[end + 1..]);
        let tab = memchr::memchr(b'\t', record)?;
        let mut words = record[..tab].split(|byte| *byte == b' ');
        let mode = u32::from_str_radix(std::str::from_utf8(words.next()?).ok()?, 8).ok()?;
        let blob = BlobId::parse(words.next()?)?;
        let stage = words.next()?;
        let (stat, length) = parse_stat(after)?;
        rest = &after[length..];
        // A conflict has several stages: such a file is not clean.
        let stat = if stage == b"0" { stat } else { IndexStat::default() };
        let name = record[tab + 1..].to_vec();
        let again = entries.last().is_some_and(|last| last.name == name);
        if mode != GITLINK && !again {
            entries.push(IndexEntry { name, mode, blob, stat });
        }
    }
    Some(entries)
}

/// The numbers of the five lines, and their length together.
fn parse_stat(text: &[u8]) -> Option<(IndexStat, usize)> {
    let length = memchr::memchr_iter(b'\n', text).nth(4)? + 1;
    // ctime, mtime (two each), dev, ino, uid, gid, size, flags.
    let mut numbers = [0_u64; 10];
    let digits = text[..length].split(|byte| !byte.is_ascii_digit()).filter(|digits| !digits.is_empty());
    for (slot, digits) in numbers.iter_mut().zip(digits) {
        *slot = digits
            .iter()
            .try_fold(0_u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))?;
    }
    let [c_seconds, c_rest, m_seconds, m_rest, _, inode, _, _, size, _] = numbers;
    let stat = IndexStat { changed: (c_seconds, c_rest), modified: (m_seconds, m_rest), inode, size };
    Some((stat, length))
}

/// Whether a name is one that git could have tracked.
pub(super) fn is_usable(name: &[u8]) -> bool {
    names::is_inside(name)
}
