//! Writes an archive: streamed, hashed while it is written, and in place only when it is complete.

use super::digest::HashingReader;
use super::{
    CAPSULE_LINES, CAPSULES, CHECKSUMS, DISTILLER_LOG, EVENTS, GENE_LINES, GENES, MANIFEST, MEMORY_GRAPH,
};
use crate::store::{AssetStore, lines};
use capsid_disk::files::parent_folder;
use capsid_model::{Code, Object, Problem, Result, SCHEMA_VERSION, Time, Value, json};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// An archive is a copy for its owner, and for nobody else on the machine that it is unpacked on.
const MODE: u32 = 0o600;

/// The origin of the archive in the manifest.
#[derive(Debug, Clone, Default)]
pub struct ManifestInput {
    /// The agent's id; may be empty.
    pub agent_id: String,
    /// The agent's name; may be empty.
    pub agent_name: String,
    /// The platform it was made on.
    pub platform: String,
    /// The version of the program that made it.
    pub version: String,
    pub now: Time,
}

/// What to do when there is a file at the archive's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingFile {
    /// Leave it and say so.
    Keep,
    /// Put the archive in its place.
    Replace,
}

/// What an archive holds.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportReport {
    pub path: PathBuf,
    pub files: Vec<String>,
    pub manifest: Object,
}

/// Writes the store, the memory graph and the distiller's log into one file. Takes the store's lock.
pub fn export(
    store: &AssetStore,
    evolution: &Path,
    memory: &Path,
    out: &Path,
    manifest: &ManifestInput,
    existing: ExistingFile,
) -> Result<ExportReport> {
    if !store.exists() {
        return Err(Problem::new(
            Code::NotInitialised,
            format!("There is no store in `{}`.", store.folder.display()),
        )
        .fix("Run `capsid init` first."));
    }
    if existing == ExistingFile::Keep && out.exists() {
        return Err(file_exists_error(out));
    }
    let _lock = store.lock()?;
    let sources = sources(store, evolution, memory);
    let manifest_document = describe(store, &evolution.join("memory_graph.jsonl"), manifest)?;
    let mut writer = ArchiveWriter::beside(out, manifest.now)?;
    let mut text = serde_json::to_string_pretty(&manifest_document).unwrap_or_default();
    text.push('\n');
    writer.add(MANIFEST, text.as_bytes(), text.len() as u64, MODE)?;
    for (name, path) in &sources {
        writer.add_file(name, path)?;
    }
    let files = writer.finish(existing)?;
    Ok(ExportReport { path: out.to_owned(), files, manifest: manifest_document })
}

fn sources(store: &AssetStore, evolution: &Path, memory: &Path) -> [(&'static str, PathBuf); 7] {
    let asset = |name: &str| store.folder.join(name);
    [
        (GENES, asset("genes.json")),
        (GENE_LINES, asset("genes.jsonl")),
        (CAPSULES, asset("capsules.json")),
        (CAPSULE_LINES, asset("capsules.jsonl")),
        (EVENTS, asset("events.jsonl")),
        (MEMORY_GRAPH, evolution.join("memory_graph.jsonl")),
        (DISTILLER_LOG, memory.join("distiller_log.jsonl")),
    ]
}

fn describe(store: &AssetStore, graph: &Path, input: &ManifestInput) -> Result<Object> {
    let (mut events, mut successes, mut entries) = (0_u64, 0_u64, 0_u64);
    store.events.each(|event, _| {
        events += 1;
        successes += u64::from(event.outcome.is_success());
        ControlFlow::Continue(())
    })?;
    lines::scan(graph, |_| {
        entries += 1;
        ControlFlow::Continue(())
    })?;
    let rate = if events == 0 { 0.0 } else { successes as f64 / events as f64 };
    let manifest = json!({
        "gep_version": "1.0.0",
        "schema_version": SCHEMA_VERSION,
        "created_at": input.now.iso(),
        "agent_id": input.agent_id,
        "agent_name": input.agent_name,
        "statistics": {
            "total_events": events,
            "total_genes": store.genes.texts()?.len(),
            "total_capsules": store.capsules.texts()?.len(),
            "success_rate": rate,
            "memory_graph_entries": entries,
        },
        "source": {"platform": input.platform, "version": input.version},
    });
    Ok(match manifest {
        Value::Object(manifest) => manifest,
        _ => Object::new(),
    })
}

/// An archive that is being written to a temporary file next to its path.
struct ArchiveWriter<'a> {
    out: &'a Path,
    tar: tar::Builder<GzEncoder<BufWriter<NamedTempFile>>>,
    checksums: String,
    files: Vec<String>,
    seconds: u64,
}

impl<'a> ArchiveWriter<'a> {
    fn beside(out: &'a Path, now: Time) -> Result<Self> {
        let temporary = tempfile::Builder::new()
            .prefix(".capsid-")
            .tempfile_in(parent_folder(out))
            .map_err(|error| Problem::io("write", out, &error))?;
        let gzip = GzEncoder::new(BufWriter::new(temporary), Compression::default());
        Ok(Self {
            out,
            tar: tar::Builder::new(gzip),
            checksums: String::new(),
            files: Vec::new(),
            seconds: u64::try_from(now.0 / 1000).unwrap_or_default(),
        })
    }

    fn add_file(&mut self, name: &str, path: &Path) -> Result<()> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Problem::io("read", path, &error)),
        };
        let metadata = file.metadata().map_err(|error| Problem::io("read", path, &error))?;
        let size = metadata.len();
        // A line appended meanwhile is left for the next archive: the size is written before the content.
        self.add(name, file.take(size), size, mode(&metadata))
    }

    fn add(&mut self, name: &str, content: impl Read, size: u64, mode: u32) -> Result<()> {
        let mut content = HashingReader::new(content);
        let mut header = header(size, self.seconds, mode);
        self.tar
            .append_data(&mut header, name, &mut content)
            .map_err(|error| Problem::io("write", self.out, &error))?;
        let (read, digest) = content.finish();
        if read != size {
            return Err(Problem::new(Code::IoError, format!("`{name}` became shorter while it was read."))
                .fix("Run the command again."));
        }
        self.checksums.push_str(&format!("{digest}  {name}\n"));
        self.files.push(name.to_owned());
        Ok(())
    }

    fn finish(mut self, existing: ExistingFile) -> Result<Vec<String>> {
        let fail = |error: std::io::Error| Problem::io("write", self.out, &error);
        let mut header = header(self.checksums.len() as u64, self.seconds, MODE);
        self.tar.append_data(&mut header, CHECKSUMS, self.checksums.as_bytes()).map_err(fail)?;
        self.files.push(CHECKSUMS.to_owned());
        let mut buffer = self.tar.into_inner().and_then(GzEncoder::finish).map_err(fail)?;
        buffer.flush().map_err(fail)?;
        let temporary = buffer.into_inner().map_err(|error| fail(error.into_error()))?;
        temporary.as_file().sync_all().map_err(fail)?;
        match existing {
            ExistingFile::Replace => temporary.persist(self.out).map_err(|e| fail(e.error))?,
            ExistingFile::Keep => {
                temporary.persist_noclobber(self.out).map_err(|error| match error.error.kind() {
                    std::io::ErrorKind::AlreadyExists => file_exists_error(self.out),
                    _ => fail(error.error),
                })?
            }
        };
        #[cfg(unix)]
        File::open(parent_folder(self.out)).and_then(|folder| folder.sync_all()).map_err(fail)?;
        Ok(self.files)
    }
}

/// The mode of a file's copy in the archive: its own, without what others may do.
fn mode(source: &std::fs::Metadata) -> u32 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::mode(source) & MODE;
    #[cfg(not(unix))]
    return if source.permissions().readonly() { 0o400 } else { MODE };
}

fn header(size: u64, seconds: u64, mode: u32) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    header.set_size(size);
    header.set_mode(mode);
    header.set_mtime(seconds);
    header
}

fn file_exists_error(out: &Path) -> Problem {
    Problem::new(Code::InputInvalid, format!("`{}` exists already.", out.display()))
        .fix("Choose another path, or give `--replace` to replace it.")
}
