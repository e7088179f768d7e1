//! What a git tree cannot hold: folders without files, unusual permissions, and what was there but not taken.

use super::names::{self, Name};
use std::collections::{BTreeMap, BTreeSet};

/// The side of a snapshot that is not its tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extras {
    /// Ignored files, and ignored folders with a trailing `/`, that existed.
    pub ignored: BTreeSet<Name>,
    /// Things that exist and cannot be taken: unreadable files, sockets, names that git refuses.
    pub opaque: BTreeSet<Name>,
    /// Folders that hold no taken file.
    pub folders: BTreeSet<Name>,
    /// Permissions of files, where they are neither `0644` nor `0755`.
    pub modes: BTreeMap<Name, u32>,
    /// Permissions of folders around files, where they are not `0755`; the empty name is the work tree itself.
    pub folder_modes: BTreeMap<Name, u32>,
    /// Pipes, sockets and devices, which hold nothing.
    pub special: BTreeSet<Name>,
}

impl Extras {
    /// Whether something that was not taken existed at this name, or around it.
    pub fn hides(&self, name: &[u8]) -> bool {
        let folder_ignored = |folder: &[u8]| self.ignored.contains(&[folder, b"/"].concat());
        self.ignored.contains(name)
            || self.opaque.contains(name)
            || folder_ignored(name)
            || names::folders(name).any(|f| folder_ignored(f) || self.opaque.contains(f))
    }

    /// The form that is stored: entries that end with NUL, each begun by a letter for its kind.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut put = |head: &[u8], name: &[u8]| {
            out.extend_from_slice(head);
            out.extend_from_slice(name);
            out.push(0);
        };
        self.ignored.iter().for_each(|name| put(b"i", name));
        self.opaque.iter().for_each(|name| put(b"o", name));
        self.folders.iter().for_each(|name| put(b"d", name));
        for (name, mode) in &self.modes {
            put(format!("m{mode:04o} ").as_bytes(), name);
        }
        for (name, mode) in &self.folder_modes {
            put(format!("p{mode:04o} ").as_bytes(), name);
        }
        self.special.iter().for_each(|name| put(b"s", name));
        out
    }

    /// Reads the stored form; an entry of an unknown kind is passed over.
    pub fn decode(bytes: &[u8]) -> Self {
        let mut extras = Self::default();
        for entry in names::split(bytes) {
            let (kind, rest) = (entry[0], &entry[1..]);
            match kind {
                b'i' => extras.ignored.insert(rest.to_vec()),
                b'o' => extras.opaque.insert(rest.to_vec()),
                b'd' => extras.folders.insert(rest.to_vec()),
                b'm' => read_mode(rest, &mut extras.modes),
                b'p' => read_mode(rest, &mut extras.folder_modes),
                b's' => extras.special.insert(rest.to_vec()),
                _ => false,
            };
        }
        extras
    }

    /// The permissions of a folder around files.
    pub fn folder_mode(&self, folder: &[u8]) -> u32 {
        self.folder_modes.get(folder).copied().unwrap_or(USUAL_FOLDER)
    }
}

/// The permissions of a folder that are not written down.
pub const USUAL_FOLDER: u32 = 0o755;

fn read_mode(rest: &[u8], modes: &mut BTreeMap<Name, u32>) -> bool {
    let Some(space) = rest.iter().position(|byte| *byte == b' ') else {
        return false;
    };
    let digits = std::str::from_utf8(&rest[..space]).unwrap_or_default();
    match u32::from_str_radix(digits, 8) {
        Ok(mode) => modes.insert(rest[space + 1..].to_vec(), mode).is_none(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Extras {
        let set = |names: &[&str]| names.iter().map(|n| n.as_bytes().to_vec()).collect();
        Extras {
            ignored: set(&["build/", "a.o"]),
            opaque: set(&["pipe"]),
            folders: set(&["empty"]),
            modes: [(b"key with space".to_vec(), 0o600)].into(),
            folder_modes: [(b"".to_vec(), 0o700), (b"a b".to_vec(), 0o1777)].into(),
            special: set(&["socket"]),
        }
    }

    #[test]
    fn the_stored_form_reads_back() {
        assert_eq!(Extras::decode(&sample().encode()), sample());
        assert_eq!(Extras::decode(b"m\0mzz x\0?\0"), Extras::default());
    }

    #[test]
    fn an_ignored_folder_hides_what_is_in_it_and_nothing_beside_it() {
        for name in ["build", "build/x/y", "a.o", "pipe"] {
            assert!(sample().hides(name.as_bytes()), "{name}");
        }
        for name in ["builds", "a.o2", "empty/x", "b"] {
            assert!(!sample().hides(name.as_bytes()), "{name}");
        }
    }
}
