//! What is mounted where.

use std::path::{Path, PathBuf};

/// The places below a folder at which something else is mounted.
pub fn mounts_below(root: &Path) -> Vec<PathBuf> {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let points = table.lines().filter_map(|line| line.split(' ').nth(4)).map(unescape);
    points.filter(|point| point != root && point.starts_with(root)).collect()
}

/// Spaces and the like are written in octal there.
fn unescape(text: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let octal = (first == b'\\' && after.len() >= 3)
            .then(|| u8::from_str_radix(std::str::from_utf8(&after[..3]).ok()?, 8).ok())
            .flatten();
        bytes.push(octal.unwrap_or(first));
        rest = if octal.is_some() { &after[3..] } else { after };
    }
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_with_a_space_is_read_as_it_is() {
        assert_eq!(unescape("/a\\040b/c\\134d"), PathBuf::from("/a b/c\\d"));
        assert_eq!(unescape("/plain\\"), PathBuf::from("/plain\\"));
    }
}
