//! Durable file operations: what returned Ok survives a crash of the program and of the machine.

use capsid_model::{Code, Problem, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// How the names of temporary files begin.
const TEMPORARY: &str = ".capsid-";

/// Replaces a file: temporary file with a unique name next to it, fsync, rename, fsync of the folder.
///
/// A reader sees the old content or the new one. An error leaves the old content.
pub fn replace(path: &Path, content: &[u8]) -> Result<()> {
    replace_with_mode(path, content, 0o644)
}

/// The same for what only its owner may read.
pub fn replace_private(path: &Path, content: &[u8]) -> Result<()> {
    replace_with_mode(path, content, 0o600)
}

/// The same for a secret: whatever the old file's permissions were, only its owner may read the new one.
pub fn replace_secret(path: &Path, content: &[u8]) -> Result<()> {
    persist(path, prepare_secret(path, content)?)
}

/// Creates a file that holds a secret, atomically; returns whether it did: an existing file stays as it is.
pub fn create_secret(path: &Path, content: &[u8]) -> Result<bool> {
    let temporary = prepare_secret(path, content)?;
    temporary.as_file().sync_all().map_err(|error| Problem::io("write", path, &error))?;
    match temporary.persist_noclobber(path) {
        Ok(_) => sync_folder(parent_folder(path)).map(|()| true),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(Problem::io("write", path, &error.error)),
    }
}

/// Creates an empty file that only its owner may read, if there is none.
pub fn create_private(path: &Path) -> Result<()> {
    create_folder(parent_folder(path))?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(Problem::io("write", path, &error)),
    }
}

fn replace_with_mode(path: &Path, content: &[u8], new_mode: u32) -> Result<()> {
    let temporary = prepare(path, content)?;
    copy_mode(path, temporary.as_file(), new_mode);
    persist(path, temporary)
}

/// Replaces a file with content that is too large to be held at once: `write` gives it piece by piece.
pub fn replace_with(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut temporary = prepare(path, b"")?;
    let mut out = std::io::BufWriter::with_capacity(64 << 10, temporary.as_file_mut());
    write(&mut out)?;
    out.flush().map_err(|error| Problem::io("write", path, &error))?;
    drop(out);
    copy_mode(path, temporary.as_file(), 0o644);
    persist(path, temporary)
}

fn prepare_secret(path: &Path, content: &[u8]) -> Result<NamedTempFile> {
    let temporary = prepare(path, content)?;
    set_mode(temporary.as_file(), 0o600);
    Ok(temporary)
}

fn prepare(path: &Path, content: &[u8]) -> Result<NamedTempFile> {
    let folder = parent_folder(path);
    create_folder(folder)?;
    let fail = |error: std::io::Error| Problem::io("write", path, &error);
    let mut temporary = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder).map_err(fail)?;
    temporary.write_all(content).map_err(fail)?;
    Ok(temporary)
}

fn persist(path: &Path, temporary: NamedTempFile) -> Result<()> {
    let fail = |error: std::io::Error| Problem::io("write", path, &error);
    temporary.as_file().sync_all().map_err(fail)?;
    temporary.persist(path).map_err(|error| fail(error.error))?;
    sync_folder(parent_folder(path))
}

/// Appends complete lines in one write, then fsyncs. A torn last line is moved aside first.
///
/// If the write fails midway, the part is cut off again, so earlier lines stay as they were.
pub fn append(path: &Path, lines: &str) -> Result<()> {
    let fail = |error: std::io::Error| Problem::io("append to", path, &error);
    create_folder(parent_folder(path))?;
    refuse_link(path)?;
    let is_new = !path.exists();
    let mut file = OpenOptions::new().create(true).read(true).append(true).open(path).map_err(fail)?;
    let glue = repair_torn_tail(path, &mut file)?;
    let before = file.metadata().map_err(fail)?.len();
    let bytes = if glue { format!("\n{lines}") } else { lines.to_owned() };
    if let Err(error) = file.write_all(bytes.as_bytes()) {
        // Best effort: a reader skips a torn line, and the next append moves it aside.
        let _ = file.set_len(before);
        return Err(fail(error));
    }
    file.sync_data().map_err(fail)?;
    if is_new { sync_folder(parent_folder(path)) } else { Ok(()) }
}

/// Moves a torn last line aside, if there is one.
pub fn repair(path: &Path) -> Result<()> {
    refuse_link(path)?;
    match OpenOptions::new().read(true).write(true).open(path) {
        Ok(mut file) => repair_torn_tail(path, &mut file).map(|_| ()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Problem::io("open", path, &error)),
    }
}

/// Makes the file end at a line's end. Returns whether the last line is complete and only lacks its line break.
///
/// A fragment is copied to `<name>.torn-<offset>` before it is cut off; earlier bytes are never touched.
fn repair_torn_tail(path: &Path, file: &mut File) -> Result<bool> {
    let fail = |error: std::io::Error| Problem::io("repair the end of", path, &error);
    let length = file.metadata().map_err(fail)?.len();
    let start = last_line_start(file, length).map_err(fail)?;
    if start == length {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(start)).map_err(fail)?;
    let mut fragment = Vec::new();
    file.take(length - start).read_to_end(&mut fragment).map_err(fail)?;
    if serde_json::from_slice::<serde::de::IgnoredAny>(&fragment).is_ok() {
        return Ok(true);
    }
    replace(&torn_path(path, start), &fragment)?;
    file.set_len(start).map_err(fail)?;
    file.sync_data().map_err(fail)?;
    Ok(false)
}

/// Where the text after the last line break begins; the length of the file when it ends with one.
fn last_line_start(file: &mut File, length: u64) -> std::io::Result<u64> {
    const CHUNK: u64 = 64 * 1024;
    let mut buffer = vec![0; CHUNK as usize];
    let mut end = length;
    while end > 0 {
        let start = end.saturating_sub(CHUNK);
        let part = &mut buffer[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(part)?;
        if let Some(at) = memchr::memrchr(b'\n', part) {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

fn torn_path(path: &Path, offset: u64) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".torn-{offset}"));
    path.with_file_name(name)
}

/// Opens a file for reading; nothing when there is none. Anything but a file is refused: a pipe would wait for ever.
pub fn open(path: &Path) -> Result<Option<File>> {
    let opened = fs::metadata(path).and_then(|meta| match meta.is_file() {
        true => File::open(path),
        false => Err(std::io::Error::other("it is not a file")),
    });
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Problem::io("read", path, &error)),
    }
}

/// The engine writes through no link: one that came with a clone could lead anywhere.
fn refuse_link(path: &Path) -> Result<()> {
    let plain = match fs::symlink_metadata(path) {
        Ok(meta) => meta.is_file(),
        Err(_) => true,
    };
    if plain {
        return Ok(());
    }
    let message = format!("`{}` is not a plain file, so nothing is appended to it.", path.display());
    Err(Problem::new(Code::StoreDamaged, message)
        .fix("Put a file in its place, or name another folder with GEP_ASSETS_DIR or EVOLUTION_DIR."))
}

/// The content of a file, or nothing when it does not exist.
pub fn read_optional(path: &Path) -> Result<Option<String>> {
    let Some(bytes) = read_bytes(path)? else { return Ok(None) };
    Ok(Some(
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    ))
}

/// The bytes of a file, or nothing when it does not exist.
pub fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    let Some(mut file) = open(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| Problem::io("read", path, &error))?;
    Ok(Some(bytes))
}

/// Removes a file durably; one that is already gone is fine.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Ok(()) => sync_folder(parent_folder(path)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Problem::io("remove", path, &error)),
    }
}

/// Removes temporary files that a killed process left. The caller must exclude every other writer of the folder.
pub fn remove_temp_files(folder: &Path) -> Result<()> {
    truncate_to_newest(folder, TEMPORARY, 0)
}

/// Removes all but the newest files whose names begin with `prefix`; names sort by age.
pub fn truncate_to_newest(folder: &Path, prefix: &str, count: usize) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    let named =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(named).collect();
    paths.sort();
    let surplus = paths.len().saturating_sub(count);
    paths[..surplus].iter().try_for_each(|path| remove(path))
}

/// Makes a folder and those above it.
pub fn create_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|error| Problem::io("create the folder", path, &error))
}

/// Makes a folder and those above it, for their owner alone; folders that exist stay as they are.
pub fn create_private_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| Problem::io("create the folder", folder, &error))
}

/// The folder that holds a path; the present one for a bare name.
pub fn parent_folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A replaced file retains its permissions; a new one gets `new_mode`.
fn copy_mode(path: &Path, temporary: &File, new_mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(path).map_or(new_mode, |meta| meta.permissions().mode() & 0o777);
        set_mode(temporary, mode);
    }
    #[cfg(not(unix))]
    let _ = (path, temporary, new_mode);
}

fn set_mode(file: &File, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A file system without permissions ignores this.
        let _ = file.set_permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = (file, mode);
}

fn sync_folder(folder: &Path) -> Result<()> {
    #[cfg(unix)]
    File::open(folder)
        .and_then(|file| file.sync_all())
        .map_err(|error| Problem::io("sync the folder", folder, &error))?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_torn_at_any_byte_is_moved_aside_and_earlier_lines_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let first = "{\"id\":\"a\"}\n{\"id\":\"ü\"}\n";
        let last = "{\"id\":\"c\",\"text\":\"…\"}\n";
        for cut in 0..last.len() {
            let mut bytes = first.as_bytes().to_vec();
            bytes.extend_from_slice(&last.as_bytes()[..cut]);
            fs::write(&path, &bytes).unwrap();
            append(&path, "{\"id\":\"d\"}\n").unwrap();
            let now = fs::read_to_string(&path).unwrap();
            assert!(now.starts_with(first), "cut at {cut}");
            assert!(now.ends_with("{\"id\":\"d\"}\n"));
            let is_complete = cut == last.len() - 1;
            assert_eq!(
                now.contains("\"c\""),
                is_complete,
                "a whole line that lacks its break is kept, cut at {cut}"
            );
            let torn = torn_path(&path, first.len() as u64);
            if cut > 0 && !is_complete {
                assert_eq!(fs::read(&torn).unwrap(), &last.as_bytes()[..cut]);
                fs::remove_file(torn).unwrap();
            }
        }
    }

    #[test]
    fn garbage_and_nul_tails_are_moved_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        for garbage in [&b"\0\0\0\0\0\0"[..], b"\xff\xfe{", b"{\"a\":1}x"] {
            fs::write(&path, [b"{\"id\":\"a\"}\n", garbage].concat()).unwrap();
            append(&path, "{}\n").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "{\"id\":\"a\"}\n{}\n");
            assert_eq!(fs::read(torn_path(&path, 11)).unwrap(), garbage);
        }
    }

    #[test]
    fn a_replace_that_cannot_be_done_leaves_the_old_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("genes.json");
        replace(&path, b"old").unwrap();
        let blocked = path.join("below-a-file");
        assert!(replace(&blocked, b"x").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[cfg(unix)]
    #[test]
    fn a_secret_is_its_owners_alone_and_is_made_once() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        assert!(create_secret(&path, b"one").unwrap());
        assert!(!create_secret(&path, b"two").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        replace_secret(&path, b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }
}
