//! File names that are safe on every system, whatever a session is called.

use crate::hash::sha3_hex;
use std::collections::HashSet;

/// Longer names are cut: file systems allow 255 bytes, with the ending.
const MAX_LEN: usize = 160;

/// Gives each chain of a bundle a name of its own.
#[derive(Debug, Default)]
pub(super) struct ChainNames {
    used: HashSet<String>,
}

impl ChainNames {
    /// `<tool>-<session>`; characters that a file name cannot hold are replaced, and a hash keeps such a name unique.
    pub(super) fn name(&mut self, tool: &str, session: &str) -> String {
        let full_name = format!("{tool}-{session}");
        let mut name = String::new();
        for c in full_name.chars() {
            let safe = c.is_alphanumeric() || "-_.".contains(c);
            if name.len() + c.len_utf8() > MAX_LEN {
                break;
            }
            name.push(if safe { c } else { '_' });
        }
        if name != full_name || name.starts_with('.') || name.ends_with('.') {
            name = format!("{}-{}", name.trim_matches('.'), &sha3_hex(full_name.as_bytes())[..8]);
        }
        let mut unique = name.clone();
        let mut next = 2;
        // Some file systems take upper and lower case for the same.
        while !self.used.insert(unique.to_lowercase()) {
            unique = format!("{name}-{next}");
            next += 1;
        }
        unique
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::is_plain;

    #[test]
    fn usual_names_stay_and_odd_ones_are_safe_and_apart() {
        let mut names = ChainNames::default();
        assert_eq!(names.name("codex", "019e-a_b.c"), "codex-019e-a_b.c");
        assert_eq!(names.name("codex", "019E-A_B.C"), "codex-019E-A_B.C-2");
        let long = "x".repeat(500);
        let odd = ["../../etc", "a/b", "a\\b", "a:b", "a\0b", "..", "", long.as_str(), "ünïcode 🍐", "end."];
        let mut seen = HashSet::new();
        for session in odd {
            let name = names.name("cline", session);
            assert!(
                is_plain(&name) && name.len() < 200 && !name.ends_with('.'),
                "{session:?} gives {name:?}"
            );
            assert!(name.chars().all(|c| !c.is_control() && !c.is_whitespace()), "{name:?}");
            assert!(seen.insert(name));
        }
    }
}
