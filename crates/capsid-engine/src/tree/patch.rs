//! The change of a cycle as a patch.

use super::names;
use capsid_model::hash::sha256_hex;

/// How much a patch holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchForm {
    /// Text, with the full ids of files that are not: enough to read, and to tell any two changes apart.
    Readable,
    /// Everything, so that `git apply` makes the change again.
    Appliable,
}

/// A patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// As git prints it; a file name need not be UTF-8.
    pub bytes: Vec<u8>,
}

impl Patch {
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
