//! A settings file on the disk: its text, its permissions, and whether it is still what it was.

use capsid_disk::files;
use capsid_model::{Code, Problem, Result};
use std::fs;
use std::io::Read;
use std::path::Path;

/// No settings file is larger by far.
const MAX_BYTES: u64 = 4 << 20;

#[cfg(unix)]
pub(super) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o111 == 0o111)
}

#[cfg(not(unix))]
pub(super) fn is_executable(path: &Path) -> bool {
    path.exists()
}

#[cfg(unix)]
pub(super) fn make_executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(|error| Problem::io("make executable", path, &error))
}

#[cfg(not(unix))]
pub(super) fn make_executable(_path: &Path) -> Result<()> {
    Ok(())
}

/// Refuses to go on where a file is no longer what it was.
pub(super) fn refuse_if_changed(path: &Path, target: &Path, original: Option<&str>) -> Result<()> {
    if read_text(target)?.as_deref() == original {
        return Ok(());
    }
    let message = format!("`{}` changed while it was being edited.", path.display());
    Err(Problem::new(Code::HookFileInvalid, message).fix("Run the command again."))
}

pub(super) fn invalid(path: &Path, why: &str) -> Problem {
    Problem::new(Code::HookFileInvalid, format!("`{}` was left as it is: {why}.", path.display()))
        .fix("Put the file in order, then run the command again.")
}

pub(super) fn read_text(path: &Path) -> Result<Option<String>> {
    let Some(file) = files::open(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| Problem::io("read", path, &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(invalid(path, "it is larger than any settings file"));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| invalid(path, "it is not UTF-8"))
}
