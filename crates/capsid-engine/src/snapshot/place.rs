//! Puts files in place: each is whole or not there, whatever moment the program dies at.

use super::names;
use capsid_model::{Problem, Result};
use std::fs::Permissions;
use std::io::{self, Write};
use std::path::Path;

/// Writes a file through a temporary one in `workshop`, synced, with permissions if they matter.
pub fn bytes(path: &Path, bytes: &[u8], mode: Option<u32>, workshop: &Path) -> Result<()> {
    try_bytes(path, bytes, mode, workshop).map_err(|error| Problem::io("write", path, &error))
}

/// The same, with nothing but the reason when it fails.
pub fn try_bytes(path: &Path, bytes: &[u8], mode: Option<u32>, workshop: &Path) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(workshop)?;
    file.write_all(bytes)?;
    set_mode(file.path(), mode.unwrap_or(0o644))?;
    file.as_file().sync_all()?;
    let from = file.into_temp_path();
    rename(&from, path)?;
    // It has its place now, and is no temporary file any more.
    let _ = from.keep();
    Ok(())
}

/// Makes the folders above a name, unless something that is no folder is among them.
pub fn folders(root: &Path, name: &[u8]) -> io::Result<()> {
    let mut missing = Vec::new();
    for folder in names::folders(name).map(|folder| names::place(root, folder)) {
        match folder.symlink_metadata() {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return Err(in_the_way("something that is no folder is above it")),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(error),
            Err(_) => missing.push(folder),
        }
    }
    missing.iter().rev().try_for_each(std::fs::create_dir)
}

/// Why nothing can be put at a place.
pub fn in_the_way(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, what)
}

/// Moves a finished file or symbolic link over whatever file is at `to`.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => across_devices(from, to),
        other => other,
    }
}

/// The work tree may be on another disk than its git directory; then the temporary file is a neighbour of its target.
fn across_devices(from: &Path, to: &Path) -> io::Result<()> {
    let folder = to.parent().unwrap_or(Path::new("."));
    let room = tempfile::Builder::new().prefix(".capsid-").tempdir_in(folder)?;
    let copy = room.path().join("file");
    let meta = from.symlink_metadata()?;
    if meta.is_symlink() {
        link(&std::fs::read_link(from)?, &copy)?;
    } else {
        std::fs::copy(from, &copy)?;
        std::fs::File::open(&copy)?.sync_all()?;
    }
    std::fs::rename(&copy, to)?;
    std::fs::remove_file(from)
}

/// Makes a symbolic link.
#[cfg(unix)]
pub fn link(target: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}

/// Symbolic links need rights that are rare here.
#[cfg(not(unix))]
pub fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Sets the permissions of a file.
#[cfg(unix)]
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Permissions are the folder's here.
#[cfg(not(unix))]
pub fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

/// The permissions of a file.
#[cfg(unix)]
pub fn mode(permissions: &Permissions) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    permissions.mode() & 0o7777
}

/// Permissions are the folder's here.
#[cfg(not(unix))]
pub fn mode(_: &Permissions) -> u32 {
    0o644
}
