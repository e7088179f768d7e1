//! Ignore rules that a cycle wrote itself: what they hide is its own work, and counts.

use super::listing::{Listing, Since};
use super::names::{self, Name};
use super::shadow::Shadow;
use capsid_model::Result;
use capsid_sandbox::git::Git;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

impl Shadow {
    /// Files that came since an earlier snapshot and are ignored only by a rule that came with them.
    pub(super) fn hidden_by_new_rules(&self, since: &Since, listing: &Listing) -> Result<BTreeSet<Name>> {
        let came: BTreeSet<Name> = listing
            .extras
            .ignored
            .iter()
            .filter(|name| !since.extras.hides(name.strip_suffix(b"/").unwrap_or(name)))
            // A name that begins with a colon would be read as more than a name.
            .map(|name| names::below(b".", name))
            .collect();
        if came.is_empty() {
            return Ok(BTreeSet::new());
        }
        let git = Git::at(&self.repo.root);
        let ask = ["check-ignore", "--no-index", "-v", "-z", "--stdin"];
        let answer = git.try_run(&ask, &names::join(&came))?.stdout;
        let hidden = self.newly_hidden(since, &answer)?;
        let (folders, files): (Vec<Name>, Vec<Name>) =
            hidden.into_iter().partition(|name| name.ends_with(b"/"));
        let git = git.env("GIT_LITERAL_PATHSPECS", "1");
        let mut found: BTreeSet<Name> = files.into_iter().collect();
        for some in folders.chunks(500) {
            let list = ["ls-files", "-z", "-o", "--"].map(Path::new);
            let args: Vec<&Path> =
                list.into_iter().chain(some.iter().map(|name| names::to_path(name))).collect();
            found.extend(names::split(&git.run(&args)?).map(<[u8]>::to_vec));
        }
        Ok(found)
    }

    /// Reads which rule ignores what, and gives what no rule of the earlier snapshot's files would.
    fn newly_hidden(&self, since: &Since, answer: &[u8]) -> Result<Vec<Name>> {
        let mut earlier: BTreeMap<Name, Vec<u8>> = BTreeMap::new();
        let mut hidden = Vec::new();
        let fields: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
        for record in fields.chunks_exact(4) {
            let (source, rule) = (record[0], record[2]);
            let name = record[3].strip_prefix(b"./").unwrap_or(record[3]);
            // Rules outside the work tree are not the cycle's to write; the guard watches the nearest.
            if !source.ends_with(b".gitignore") || source.starts_with(b"/") {
                continue;
            }
            if !earlier.contains_key(source) {
                earlier.insert(source.to_vec(), self.content(since, source)?);
            }
            let known = earlier[source]
                .split(|byte| *byte == b'\n')
                .any(|line| line.trim_ascii_end() == rule.trim_ascii_end());
            if !known {
                hidden.push(name.to_vec());
            }
        }
        Ok(hidden)
    }

    /// The content that a file had in an earlier snapshot; nothing if it was not there.
    fn content(&self, since: &Since, name: &[u8]) -> Result<Vec<u8>> {
        if !since.files.contains(name) {
            return Ok(Vec::new());
        }
        let mut object = std::ffi::OsString::from(format!("{}:", since.tree));
        object.push(names::to_path(name));
        self.git.run(&["cat-file".as_ref(), "blob".as_ref(), object.as_os_str()])
    }
}
