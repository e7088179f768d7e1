//! The three-way merge of one text file, by git, on copies.

use capsid_model::{Problem, Result};
use capsid_sandbox::git::Git;
use std::io::Write;

/// How a merge ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MergeResult {
    /// Both changes fit.
    Clean(Vec<u8>),
    /// They touch the same lines.
    Conflict,
    /// One of the files is no text.
    Binary,
}

/// Git looks as far for a byte that no text has.
const BINARY_PREFIX: usize = 8000;

/// Merges what two sides made of a file.
pub(super) fn merge_texts(ours: &[u8], base: &[u8], theirs: &[u8]) -> Result<MergeResult> {
    let is_binary = |bytes: &[u8]| bytes[..bytes.len().min(BINARY_PREFIX)].contains(&0);
    if [ours, base, theirs].into_iter().any(is_binary) {
        return Ok(MergeResult::Binary);
    }
    let folder = tempfile::tempdir().map_err(|error| Problem::io("create", &std::env::temp_dir(), &error))?;
    for (name, bytes) in [("ours", ours), ("base", base), ("theirs", theirs)] {
        let path = folder.path().join(name);
        let written = std::fs::File::create_new(&path).and_then(|mut file| file.write_all(bytes));
        written.map_err(|error| Problem::io("write", &path, &error))?;
    }
    let git = Git::at(folder.path())
        .env("GIT_CEILING_DIRECTORIES", folder.path().parent().unwrap_or(folder.path()))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = git.try_run(&["merge-file", "-p", "-q", "ours", "base", "theirs"], b"")?;
    match output.status {
        0 => Ok(MergeResult::Clean(output.stdout)),
        1..=127 => Ok(MergeResult::Conflict),
        _ => Ok(MergeResult::Binary),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_of_different_lines_fit_and_edits_of_one_line_do_not() {
        let base = b"1\n2\n3\n4\n5\n6\n7\n";
        let ours = b"one\n2\n3\n4\n5\n6\n7\n";
        let theirs = b"1\n2\n3\n4\n5\n6\nseven\n";
        let merged = merge_texts(ours, base, theirs).unwrap();
        assert_eq!(merged, MergeResult::Clean(b"one\n2\n3\n4\n5\n6\nseven\n".to_vec()));
        assert_eq!(merge_texts(ours, base, b"uno\n2\n3\n4\n5\n6\n7\n").unwrap(), MergeResult::Conflict);
        assert_eq!(merge_texts(ours, b"\0", theirs).unwrap(), MergeResult::Binary);
        let MergeResult::Clean(merged) = merged else { panic!() };
        assert_eq!(
            merge_texts(ours, base, &merged).unwrap(),
            MergeResult::Clean(merged.clone()),
            "a merge that is merged again stays as it is"
        );
    }
}
