//! Names and links that are never applied: they could reach git's own files or leave the tree.

use crate::tree::names::{self, Name};

/// Links are followed this often, as the kernel does.
const MAX_LINKS: usize = 40;

/// Whether a part of a path is another spelling of `.git` on some file system: git refuses them all.
pub(super) fn is_git_spelling(part: &[u8]) -> bool {
    is_ntfs_git(part) || is_hfs_git(part)
}

/// NTFS ignores case and what follows a colon, drops spaces and dots at the end, and knows `git~1`.
fn is_ntfs_git(part: &[u8]) -> bool {
    let lower = part.to_ascii_lowercase();
    let rest = lower.strip_prefix(b".git").or_else(|| lower.strip_prefix(b"git~1"));
    let Some(rest) = rest else { return false };
    let end = rest.iter().position(|byte| matches!(byte, b':' | b'\\')).unwrap_or(rest.len());
    rest[..end].iter().all(|byte| matches!(byte, b' ' | b'.'))
}

/// HFS+ ignores case and some characters that cannot be seen.
fn is_hfs_git(part: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(part) else { return false };
    let seen = text.chars().filter(|char| !is_ignored_by_hfs(*char));
    seen.flat_map(char::to_lowercase).eq(".git".chars())
}

fn is_ignored_by_hfs(char: char) -> bool {
    matches!(
        char,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
    )
}

/// Whether a link leads out of the tree, by itself or through other links.
pub(super) fn leads_out(name: &[u8], target: &[u8], read_link: &dyn Fn(&[u8]) -> Option<Name>) -> bool {
    let mut at: Vec<Name> = names::folders(name).next().map(split).unwrap_or_default();
    let mut todo: Vec<Name> = Vec::new();
    if !push_target(&mut todo, target) {
        return true;
    }
    let mut links = 0;
    while let Some(part) = todo.pop() {
        match part.as_slice() {
            b"" | b"." => {}
            b".." if at.pop().is_none() => return true,
            b".." => {}
            _ => {
                at.push(part);
                let Some(inner) = read_link(&at.join(&b'/')) else { continue };
                links += 1;
                // A loop leads nowhere.
                if links > MAX_LINKS {
                    return false;
                }
                at.pop();
                if !push_target(&mut todo, &inner) {
                    return true;
                }
            }
        }
    }
    false
}

/// Puts the parts of a target on top of what is still to be followed; false if it is absolute.
fn push_target(todo: &mut Vec<Name>, target: &[u8]) -> bool {
    todo.extend(split(target).into_iter().rev());
    !target.starts_with(b"/")
}

fn split(path: &[u8]) -> Vec<Name> {
    path.split(|byte| *byte == b'/').map(<[u8]>::to_vec).collect()
}

#[cfg(test)]
#[path = "unsafe_paths_tests.rs"]
mod tests;
