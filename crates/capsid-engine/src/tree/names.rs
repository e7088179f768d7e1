//! Names of files as git gives them: bytes, relative to the work tree, parted by `/`.

use capsid_model::{Value, json};
use std::path::{Path, PathBuf};

/// A path inside the work tree, byte for byte.
pub type Name = Vec<u8>;

/// The names in a list that ends each with a NUL byte.
pub fn split(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == 0).filter(|name| !name.is_empty())
}

/// The list that git reads with `-z --stdin`.
pub fn join<'a>(names: impl IntoIterator<Item = &'a Name>) -> Vec<u8> {
    let mut list = Vec::new();
    for name in names {
        list.extend_from_slice(name);
        list.push(0);
    }
    list
}

/// Where a name is on disk.
pub fn place(root: &Path, name: &[u8]) -> PathBuf {
    root.join(to_path(name))
}

/// The path a name stands for.
#[cfg(unix)]
pub fn to_path(name: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(name))
}

/// The path a name stands for; names are UTF-8 here.
#[cfg(not(unix))]
pub fn to_path(name: &[u8]) -> &Path {
    Path::new(std::str::from_utf8(name).unwrap_or_default())
}

/// The name of a path.
#[cfg(unix)]
pub fn of_path(path: &Path) -> Name {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}

/// The name of a path, with the separator that git uses.
#[cfg(not(unix))]
pub fn of_path(path: &Path) -> Name {
    path.to_string_lossy().replace('\\', "/").into_bytes()
}

/// The name as a person sees it.
pub fn show(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// A name below a folder of the work tree.
pub fn below(folder: &[u8], name: &[u8]) -> Name {
    if folder.is_empty() {
        return name.to_vec();
    }
    [folder, b"/", name].concat()
}

/// Every folder above a name, the nearest first, without the work tree itself.
pub fn folders(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let end = rest.iter().rposition(|byte| *byte == b'/')?;
        rest = &rest[..end];
        Some(rest)
    })
}

/// Whether a name stays inside the work tree: no part is empty, `.` or `..`.
pub fn is_inside(name: &[u8]) -> bool {
    name.split(|byte| *byte == b'/').all(|part| !matches!(part, b"" | b"." | b".."))
}

/// A name in JSON: a text, or a list of bytes when it is no UTF-8.
pub fn to_value(name: &[u8]) -> Value {
    std::str::from_utf8(name).map_or_else(|_| json!(name), |text| json!(text))
}

/// Reads what [`to_value`] wrote.
pub fn read(value: &Value) -> Option<Name> {
    match value {
        Value::String(text) => Some(text.as_bytes().to_vec()),
        Value::Array(bytes) => {
            bytes.iter().map(|byte| byte.as_u64().and_then(|byte| u8::try_from(byte).ok())).collect()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_survives_json_even_when_it_is_no_text() {
        for name in [&b"a b/\xc3\xbc"[..], b"\xff\n"] {
            assert_eq!(read(&to_value(name)).unwrap(), name);
        }
        assert_eq!(read(&json!([300])), None);
    }

    #[test]
    fn folders_go_from_the_nearest_to_the_top() {
        let all: Vec<&[u8]> = folders(b"a/b/c").collect();
        assert_eq!(all, [&b"a/b"[..], b"a"]);
        assert_eq!(folders(b"a").count(), 0);
    }
}
