//! The file that has a manifest: a line of JSON, a record for each file, and the sum of both.

use super::FileIdentity;
use super::base::{BaseFile, BaseManifest};
use super::blob_id::BlobId;
use super::rules::BaseRules;
use capsid_model::hash::hex;
use capsid_model::{Code, Problem, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

/// The first line of a stored manifest.
#[derive(Serialize, Deserialize)]
struct Header {
    version: u32,
    head: Option<String>,
    files: usize,
    rules: BaseRules,
}

const VERSION: u32 = 1;

impl BaseManifest {
    /// The SHA-256 of the manifest as it is stored.
    pub fn sha256(&self) -> Result<String> {
        let mut hashing = Hashing { inner: std::io::sink(), hasher: Sha256::new() };
        self.write_to(&mut hashing).map_err(|error| internal(&error))?;
        Ok(hex(&hashing.hasher.finalize()))
    }

    /// Stores it in a file that only its owner can read, and returns its SHA-256.
    pub fn write(&self, path: &Path) -> Result<String> {
        let fail = |error: std::io::Error| Problem::io("write", path, &error);
        let folder = capsid_disk::files::parent_folder(path);
        let file = tempfile::Builder::new().prefix(".capsid-").tempfile_in(folder).map_err(fail)?;
        let sum = self.write_with_sum(file.as_file()).map_err(fail)?;
        file.as_file().sync_all().map_err(fail)?;
        file.persist(path).map_err(|error| fail(error.error))?;
        std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(fail)?;
        Ok(sum)
    }

    fn write_with_sum(&self, file: &std::fs::File) -> std::io::Result<String> {
        let buffered = BufWriter::with_capacity(128 << 10, file);
        let mut out = Hashing { inner: buffered, hasher: Sha256::new() };
        self.write_to(&mut out)?;
        let Hashing { mut inner, hasher } = out;
        let sum = hasher.finalize();
        inner.write_all(&sum)?;
        inner.flush()?;
        Ok(hex(&sum))
    }

    fn write_to(&self, out: &mut impl Write) -> std::io::Result<()> {
        let header = Header {
            version: VERSION,
            head: self.head.clone(),
            files: self.files.len(),
            rules: self.rules.clone(),
        };
        serde_json::to_writer(&mut *out, &header)?;
        out.write_all(b"\n")?;
        let mut record = Vec::with_capacity(256);
        for file in &self.files {
            record.clear();
            let length = u32::try_from(file.name.len()).map_err(std::io::Error::other)?;
            record.extend(length.to_le_bytes());
            record.extend(&file.name);
            record.extend(file.identity.mode.to_le_bytes());
            record.extend(file.identity.size.to_le_bytes());
            record.extend(file.identity.modified.to_le_bytes());
            record.extend(file.identity.changed.to_le_bytes());
            record.extend(file.identity.inode.to_le_bytes());
            let blob = file.blob.as_ref().map_or(&b""[..], BlobId::as_bytes);
            record.push(blob.len() as u8);
            record.extend(blob);
            out.write_all(&record)?;
        }
        Ok(())
    }

    /// Reads what [`BaseManifest::write`] stored, and checks its sum.
    pub fn read(path: &Path) -> Result<Self> {
        let file = capsid_disk::files::open(path)?.ok_or_else(|| damaged(path))?;
        let fail = |error: std::io::Error| Problem::io("read", path, &error);
        let mut bytes = Vec::new();
        BufReader::new(file).read_to_end(&mut bytes).map_err(fail)?;
        let (content, sum) = bytes.split_last_chunk::<32>().ok_or_else(|| damaged(path))?;
        if Sha256::digest(content)[..] != sum[..] {
            return Err(damaged(path));
        }
        Self::parse(content).ok_or_else(|| damaged(path))
    }

    fn parse(content: &[u8]) -> Option<Self> {
        let end = memchr::memchr(b'\n', content)?;
        let header: Header = serde_json::from_slice(&content[..end]).ok()?;
        if header.version != VERSION {
            return None;
        }
        let mut rest = Fields(&content[end + 1..]);
        let mut files = Vec::with_capacity(header.files.min(1 << 20));
        while !rest.0.is_empty() {
            let length = usize::try_from(u32::from_le_bytes(rest.array()?)).ok()?;
            let name = rest.next(length)?.to_vec();
            let identity = FileIdentity {
                mode: u32::from_le_bytes(rest.array()?),
                size: u64::from_le_bytes(rest.array()?),
                modified: i64::from_le_bytes(rest.array()?),
                changed: i64::from_le_bytes(rest.array()?),
                inode: u64::from_le_bytes(rest.array()?),
            };
            let length = usize::from(rest.array::<1>()?[0]);
            let blob = BlobId::from_bytes(rest.next(length)?);
            files.push(BaseFile { name, identity, blob });
        }
        (files.len() == header.files).then_some(Self { head: header.head, rules: header.rules, files })
    }
}

/// The rest of a manifest that is being read.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn next(&mut self, length: usize) -> Option<&'a [u8]> {
        let (field, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(field)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.next(N)?.try_into().ok()
    }
}

/// Hashes what it writes.
struct Hashing<W> {
    inner: W,
    hasher: Sha256,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let length = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..length]);
        Ok(length)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

fn internal(error: &std::io::Error) -> Problem {
    Problem::new(Code::Internal, format!("The manifest cannot be written: {error}."))
}

fn damaged(path: &Path) -> Problem {
    let message = format!("`{}` is not the manifest of a run, or is damaged.", path.display());
    Problem::new(Code::StoreDamaged, message).fix("Discard the run and start a new one.")
}
