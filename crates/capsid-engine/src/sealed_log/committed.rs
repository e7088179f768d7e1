//! What git has of the log: a line in a commit came from somebody whom the history names.

use super::LogChain;
use super::compare::{LogComparison, compare};
use super::entry::SealedEntry;
use capsid_model::Result;
use capsid_model::hash::sha256_hex;
use capsid_sandbox::git::Git;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};

impl LogChain {
    /// Compares the log with what was sealed of it. Lines that git merged in are no difference.
    pub(super) fn compare(&self, entries: &[SealedEntry]) -> Result<LogComparison> {
        compare(&self.log, entries, &|| self.committed_lines())
    }

    /// The hashes of the lines of the log as it was committed last, or is being merged.
    pub(super) fn committed_lines(&self) -> Result<HashSet<String>> {
        let mut lines = HashSet::new();
        let Ok(path) = self.log.strip_prefix(&self.root) else { return Ok(lines) };
        let git = Git::at(&self.root);
        for commit in ["HEAD", "MERGE_HEAD"] {
            let mut name = OsString::from(format!("{commit}:"));
            name.push(path);
            let output = git.try_run(&[OsStr::new("cat-file"), OsStr::new("blob"), &name], b"")?;
            if output.status == 0 {
                lines.extend(output.stdout.split(|byte| *byte == b'\n').map(sha256_hex));
            }
        }
        Ok(lines)
    }
}
