//! Reading an archive that anyone may have made into a fresh folder, and checking it before anything is taken.

use super::digest::HashingReader;
use super::{CHECKSUMS, CONTENT, EVENTS, MANIFEST, MEMORY_GRAPH, invalid};
use capsid_disk::files;
use capsid_model::{Object, Problem, Result, Value};
use flate2::read::GzDecoder;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use tar::EntryType;
use tempfile::TempDir;

/// The most that an archive may unpack to.
const MAX_BYTES: u64 = 4 << 30;

/// The most entries, folders and extension headers included.
const MAX_ENTRIES: usize = 64;

/// The most of a file that has to be held in memory.
const MAX_DOCUMENT: u64 = 128 << 20;

/// The most of what may follow the last entry: padding, and nothing else.
const MAX_TRAILER: u64 = 1 << 20;

/// The content of an archive that was checked, in a folder that goes away with it.
pub struct UnpackedArchive {
    /// The folder, laid out like the archive.
    pub folder: TempDir,
    /// The archive's manifest.
    pub manifest: Object,
}

/// Unpacks and checks.
pub fn unpack(archive: &Path) -> Result<UnpackedArchive> {
    let file = File::open(archive).map_err(|error| Problem::io("read", archive, &error))?;
    let folder = tempfile::Builder::new()
        .prefix("capsid-import-")
        .tempdir()
        .map_err(|error| Problem::io("create a folder in", &std::env::temp_dir(), &error))?;
    let digests = write_out(BufReader::new(file), folder.path())?;
    check_digests(folder.path(), &digests)?;
    let manifest = read_manifest(folder.path())?;
    Ok(UnpackedArchive { folder, manifest })
}

/// Writes each file into the folder and gives the hash of each.
fn write_out(file: impl Read, folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut tar = tar::Archive::new(GzDecoder::new(file));
    let mut digests = BTreeMap::new();
    let (mut count, mut bytes) = (0, 0_u64);
    // Raw: no header may rename or resize the next one, and none is read into memory for that.
    for entry in tar.entries().map_err(damaged)?.raw(true) {
        let mut entry = entry.map_err(damaged)?;
        count += 1;
        bytes = bytes.saturating_add(entry.header().size().map_err(damaged)?);
        if count > MAX_ENTRIES || bytes > MAX_BYTES {
            return Err(invalid("The archive is larger than an archive may be."));
        }
        if let Some(name) = file_name(&entry)? {
            let digest = write_entry(&mut entry, &name, folder)?;
            if digests.insert(name.clone(), digest).is_some() {
                return Err(invalid(format!("The archive holds `{name}` twice.")));
            }
        }
    }
    drain(tar.into_inner())?;
    Ok(digests)
}

/// The name of a file to keep; nothing for what may be passed over.
fn file_name(entry: &tar::Entry<'_, impl Read>) -> Result<Option<String>> {
    let path = entry.path_bytes();
    let shown = String::from_utf8_lossy(&path);
    let name = shown.strip_prefix("./").unwrap_or(&shown);
    let refused = || {
        let name = capsid_model::text::inert_line(capsid_model::text::cut(&shown, 200));
        invalid(format!("The archive holds `{name}`, which has no place in one."))
    };
    match entry.header().entry_type() {
        EntryType::XHeader | EntryType::XGlobalHeader => Ok(None),
        EntryType::Directory if is_folder(name.trim_end_matches('/')) => Ok(None),
        EntryType::Regular if is_file(name) => {
            let size = entry.header().size().map_err(damaged)?;
            if size > MAX_DOCUMENT && name != EVENTS && name != MEMORY_GRAPH {
                return Err(invalid(format!("`{name}` in the archive is too large.")));
            }
            Ok(Some(name.to_owned()))
        }
        _ => Err(refused()),
    }
}

fn is_file(name: &str) -> bool {
    name == MANIFEST || name == CHECKSUMS || CONTENT.contains(&name)
}

fn is_folder(name: &str) -> bool {
    let holds = |file: &&str| file.split_once('/').is_some_and(|(folder, _)| folder == name);
    name.is_empty() || name == "." || CONTENT.iter().any(holds)
}

fn write_entry(entry: &mut impl Read, name: &str, folder: &Path) -> Result<String> {
    let path = folder.join(name);
    if let Some(parent) = path.parent() {
        files::create_folder(parent)?;
    }
    let fail = |error: std::io::Error| Problem::io("write", &path, &error);
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut out = options.open(&path).map_err(fail)?;
    let mut content = HashingReader::new(entry);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match content.read(&mut buffer).map_err(damaged)? {
            0 => break,
            count => out.write_all(&buffer[..count]).map_err(fail)?,
        }
    }
    Ok(content.finish().1)
}

/// Reads to the end, because the compressed stream's own checksum is there.
fn drain(rest: impl Read) -> Result<()> {
    let mut rest = rest.take(MAX_TRAILER + 1);
    match std::io::copy(&mut rest, &mut std::io::sink()).map_err(damaged)? {
        0..=MAX_TRAILER => Ok(()),
        _ => Err(invalid("The archive goes on after its end.")),
    }
}

fn check_digests(folder: &Path, digests: &BTreeMap<String, String>) -> Result<()> {
    let text = files::read_optional(&folder.join(CHECKSUMS))?
        .ok_or_else(|| invalid(format!("The archive has no `{CHECKSUMS}`.")))?;
    let mut checked = BTreeSet::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (digest, name) = line
            .split_once("  ")
            .filter(|(_, name)| is_file(name))
            .ok_or_else(|| invalid(format!("A line of `{CHECKSUMS}` cannot be read.")))?;
        match digests.get(name) {
            Some(listed) if listed.eq_ignore_ascii_case(digest) => checked.insert(name),
            Some(_) => {
                return Err(invalid(format!("`{name}` in the archive is not what its checksum says.")));
            }
            None => return Err(invalid(format!("The archive lacks `{name}`."))),
        };
    }
    match CONTENT.iter().find(|name| digests.contains_key(**name) && !checked.contains(**name)) {
        Some(name) => Err(invalid(format!("`{name}` in the archive has no checksum."))),
        None => Ok(()),
    }
}

fn read_manifest(folder: &Path) -> Result<Object> {
    let text = files::read_optional(&folder.join(MANIFEST))?
        .ok_or_else(|| invalid(format!("The archive has no `{MANIFEST}`.")))?;
    let manifest: Object = serde_json::from_str(&text)
        .map_err(|_| invalid(format!("`{MANIFEST}` in the archive is not a JSON object.")))?;
    match manifest.get("gep_version").and_then(Value::as_str) {
        Some(version) if version.starts_with("1.") => Ok(manifest),
        _ => Err(invalid("The archive is of a version that this program does not know.")),
    }
}

/// Takes the error by value, as `map_err` passes it.
#[allow(clippy::needless_pass_by_value)]
fn damaged(error: std::io::Error) -> Problem {
    invalid(format!("The archive cannot be read to its end: {error}."))
}
