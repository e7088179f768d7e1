//! Reads the small files in `~/.evomap`: plain, small, text, writable only by the user. Others are reported and left.

use capsid_disk::files;
use capsid_model::{Code, Problem, Result};
use std::io::Read;
use std::path::Path;

/// The required permissions of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilePrivacy {
    /// Others may read it.
    Readable,
    /// Its owner alone may read it.
    Secret,
}

/// The text of a file; nothing where there is none.
pub(crate) fn read(path: &Path, privacy: FilePrivacy, most: u64) -> Result<Option<String>> {
    let unreadable = |error: &std::io::Error| invalid(path, &format!("cannot be read: {error}"));
    let meta = match std::fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
    };
    // A link could lead to a device that never ends, or a pipe that never begins.
    if !meta.is_file() {
        return Err(invalid(path, "is not a plain file"));
    }
    check_mode(path, &meta, privacy)?;
    let Some(file) = files::open(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > most {
        return Err(invalid(path, &format!("is larger than {most} bytes")));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| invalid(path, "is not text"))
}

/// The folder, made where it is missing: its owner alone may enter.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    match std::fs::metadata(folder) {
        Ok(meta) if meta.is_dir() => return check_mode(folder, &meta, FilePrivacy::Readable),
        Ok(_) => return Err(invalid(folder, "is not a folder")),
        Err(_) => {}
    }
    files::create_folder(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
            .map_err(|error| Problem::io("set the permissions of", folder, &error))?;
    }
    Ok(())
}

#[cfg(unix)]
fn check_mode(path: &Path, meta: &std::fs::Metadata, privacy: FilePrivacy) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = meta.permissions().mode();
    let (forbidden, what) = match privacy {
        FilePrivacy::Readable => (0o022, "can be changed by others"),
        FilePrivacy::Secret => (0o077, "can be read by others"),
    };
    if mode & forbidden == 0 {
        return Ok(());
    }
    let right = if meta.is_dir() { "700" } else { "600" };
    Err(Problem::new(Code::IdentityInvalid, format!("`{}` {what}.", path.display()))
        .fix(format!("Run `chmod {right} {}`, if nobody else has used it.", path.display())))
}

#[cfg(not(unix))]
fn check_mode(_: &Path, _: &std::fs::Metadata, _: FilePrivacy) -> Result<()> {
    Ok(())
}

/// What is wrong with a file of the identity. It was left as it is.
pub(crate) fn invalid(path: &Path, what: &str) -> Problem {
    Problem::new(Code::IdentityInvalid, format!("`{}` {what}; it was left as it is.", path.display()))
        .fix("Correct it, or move it away and run `capsid node hello`; a hub that knows this node may then ask its owner to reset the secret.")
}
