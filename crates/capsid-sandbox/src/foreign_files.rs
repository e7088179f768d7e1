//! Files whose owner or group does not exist in the sandbox. The kernel cannot copy them to a write layer, so a layer over
//! the tree holds copies that belong to the user.

use capsid_model::{Code, Problem, Result};
use std::fs::{self, DirBuilder, Metadata};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// How much is copied; more than that is for a copy of the whole tree.
const MAX_FILES: usize = 20_000;
const MAX_BYTES: u64 = 1 << 30;
/// How many ids the superuser's sandbox has.
const MAPPED_IDS: u32 = 65_536;

/// What was found and copied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignFiles {
    /// How many files and folders there are.
    pub count: usize,
    /// How many bytes were copied.
    pub bytes: u64,
    /// One of their groups, to be named in a message.
    pub group: Option<u32>,
}

/// Whether a file cannot be changed in a private view unless it is copied.
fn is_foreign(meta: &Metadata) -> bool {
    let own = rustix::process::geteuid();
    if own.is_root() {
        return meta.uid() >= MAPPED_IDS || meta.gid() >= MAPPED_IDS;
    }
    meta.uid() != own.as_raw() || meta.gid() != rustix::process::getegid().as_raw()
}

/// Counts the foreign files of a tree.
pub fn count_foreign_files(root: &Path) -> Result<ForeignFiles> {
    let mut found = ForeignFiles::default();
    walk(root, Path::new(""), None, &mut found)?;
    Ok(found)
}

/// Copies the foreign files of a tree into a layer, which then goes over the tree. It fails if there are too many.
pub fn copy_foreign_files(root: &Path, layer: &Path) -> Result<ForeignFiles> {
    let mut found = ForeignFiles::default();
    walk(root, Path::new(""), Some(layer), &mut found)?;
    Ok(found)
}

fn walk(root: &Path, inside: &Path, layer: Option<&Path>, found: &mut ForeignFiles) -> Result<()> {
    let folder = root.join(inside);
    let problem = |error: std::io::Error| Problem::io("read", &folder, &error);
    let meta = fs::symlink_metadata(&folder).map_err(problem)?;
    if is_foreign(&meta) {
        add(&meta, found)?;
        if let Some(layer) = layer {
            copy_folder(root, inside, layer)?;
        }
    }
    let Ok(entries) = fs::read_dir(&folder) else {
        // What the user cannot read, the program cannot change either.
        return Ok(());
    };
    for entry in entries {
        let entry = entry.map_err(problem)?;
        let path = inside.join(entry.file_name());
        let meta = entry.metadata().map_err(problem)?;
        if meta.is_dir() {
            walk(root, &path, layer, found)?;
        } else if is_foreign(&meta) {
            add(&meta, found)?;
            if let Some(layer) = layer {
                copy_file(root, &path, &meta, layer)?;
            }
        }
    }
    Ok(())
}

fn add(meta: &Metadata, found: &mut ForeignFiles) -> Result<()> {
    found.count += 1;
    found.group.get_or_insert(meta.gid());
    if meta.is_file() {
        found.bytes = found.bytes.saturating_add(meta.len());
    }
    if found.count > MAX_FILES || found.bytes > MAX_BYTES {
        let message = format!(
            "More than {MAX_FILES} files or {} MiB belong to the group {} or another owner that the sandbox cannot map.",
            MAX_BYTES >> 20,
            meta.gid()
        );
        return Err(Problem::new(Code::SandboxUnavailable, message).fix(
            "Set `view = \"copy\"` under `[cycle]` in `capsid.toml`, or change the group of these files.",
        ));
    }
    Ok(())
}

/// Makes a folder and those around it, with the modes that they have in the tree.
fn copy_folder(root: &Path, inside: &Path, layer: &Path) -> Result<PathBuf> {
    let copy = layer.join(inside);
    if copy.is_dir() {
        return Ok(copy);
    }
    if let Some(parent) = inside.parent() {
        copy_folder(root, parent, layer)?;
    }
    let problem = |error: std::io::Error| Problem::io("write", &copy, &error);
    DirBuilder::new().recursive(true).mode(0o700).create(&copy).map_err(problem)?;
    let mode = fs::metadata(root.join(inside)).map_err(problem)?.mode() & 0o7777;
    // The group of the copy is another one, so the right to hand it on is dropped.
    fs::set_permissions(&copy, fs::Permissions::from_mode(mode & !0o2000)).map_err(problem)?;
    Ok(copy)
}

fn copy_file(root: &Path, inside: &Path, meta: &Metadata, layer: &Path) -> Result<()> {
    let (from, to) = (root.join(inside), layer.join(inside));
    copy_folder(root, inside.parent().unwrap_or(Path::new("")), layer)?;
    let problem = |error: std::io::Error| Problem::io("copy", &from, &error);
    if meta.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(&from).map_err(problem)?, &to).map_err(problem);
    }
    if !meta.is_file() {
        // Sockets and the like do not work in a view anyway.
        return Ok(());
    }
    match fs::copy(&from, &to) {
        Ok(_) => {
            let source = fs::metadata(&from).map_err(problem)?;
            let times = fs::FileTimes::new()
                .set_modified(source.modified().map_err(problem)?)
                .set_accessed(source.accessed().map_err(problem)?);
            fs::File::options().append(true).open(&to).and_then(|file| file.set_times(times)).or_else(
                |error| {
                    // A read-only file keeps the time of its copy; git reads it once more.
                    if error.kind() == std::io::ErrorKind::PermissionDenied {
                        Ok(())
                    } else {
                        Err(problem(error))
                    }
                },
            )
        }
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(problem(error)),
    }
}
