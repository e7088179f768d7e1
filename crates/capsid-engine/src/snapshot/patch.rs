//! The change of a cycle as a patch.

use super::Snapshot;
use super::names;
use super::pairs::Pairs;
use super::shadow::Shadow;
use capsid_model::Result;
use capsid_model::hash::sha256_hex;

/// How much a patch holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchForm {
    /// Text, with the full ids of files that are not: enough to read, and to tell any two changes apart.
    Readable,
    /// Everything, so that `git apply` makes the change again.
    Appliable,
}

/// A patch from one snapshot to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// As git prints it; a file name need not be UTF-8.
    pub bytes: Vec<u8>,
}

impl Patch {
    /// Makes the patch, with the repositories inside the work tree after the outermost one.
    pub fn new(shadow: &Shadow, before: &Snapshot, after: &Snapshot, form: PatchForm) -> Result<Self> {
        let mut bytes = Vec::new();
        for pair in &Pairs::new(shadow, before, after)?.all {
            let [old, new] = pair.trees()?;
            let prefix = |side: &str| match pair.folder.is_empty() {
                true => format!("{side}/"),
                false => format!("{side}/{}/", names::show(&pair.folder)),
            };
            let (old_prefix, new_prefix) = (prefix("a"), prefix("b"));
            let mut args = vec!["diff-tree", "-r", "-p", "-M", "--full-index", "--no-ext-diff"];
            args.extend(["--no-textconv", "--no-color", "--src-prefix", &old_prefix]);
            args.extend(["--dst-prefix", &new_prefix]);
            if form == PatchForm::Appliable {
                args.push("--binary");
            }
            args.extend([old.as_str(), new.as_str()]);
            bytes.extend(pair.shadow.git.run(&args)?);
        }
        Ok(Self { bytes })
    }

    /// At most `max_bytes` of it, cut at a line and said so.
    pub fn text(&self, max_bytes: usize) -> String {
        if self.bytes.len() <= max_bytes {
            return names::show(&self.bytes);
        }
        let head = &self.bytes[..max_bytes];
        let end = head.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        format!("{}\n... [TRUNCATED]", names::show(&head[..end]))
    }

    /// The SHA-256 of the whole.
    pub fn hash(&self) -> String {
        sha256_hex(&self.bytes)
    }
}
