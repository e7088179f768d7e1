//! The lines of the log that are sealed.

use super::entry::{AcceptedChange, Baseline, SealedEntry, SealedLine};
use super::member;
use capsid_disk::files;
use capsid_model::exact::parse_lossy;
use capsid_model::hash::{hex, sha256_hex};
use capsid_model::{Problem, Result};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// Whether what was sealed last still stands where it stood. A baseline is taken at its length: the whole of it is
/// compared only when somebody asks.
pub(super) fn holds(log: &Path, last: &SealedEntry) -> Result<bool> {
    let Some(mut file) = files::open(log)? else { return Ok(last.end() == 0) };
    let fail = |error: std::io::Error| Problem::io("read", log, &error);
    if file.metadata().map_err(fail)?.len() < last.end() {
        return Ok(false);
    }
    let SealedEntry::Line(line) = last else { return Ok(true) };
    file.seek(SeekFrom::Start(line.start)).map_err(fail)?;
    let mut bytes = Vec::new();
    file.take(line.end.saturating_sub(line.start)).read_to_end(&mut bytes).map_err(fail)?;
    Ok(bytes.pop() == Some(b'\n') && sha256_hex(&bytes) == line.sha256)
}

/// The complete lines from an offset in the log on; `number` is that of the line before it.
pub(super) fn after(log: &Path, start: u64, number: u64) -> Result<Vec<SealedEntry>> {
    let mut entries = Vec::new();
    walk(log, start, |line| {
        let document = parse_lossy(line.bytes).unwrap_or_default();
        entries.push(SealedEntry::Line(SealedLine {
            number: number + entries.len() as u64 + 1,
            start: line.start,
            end: line.start + line.bytes.len() as u64 + 1,
            sha256: sha256_hex(line.bytes),
            id: member(&document, "id").to_owned(),
        }));
    })?;
    Ok(entries)
}

/// All complete lines of the log as one, with what its owner accepted about them.
pub(super) fn baseline(log: &Path, accepted: Option<AcceptedChange>) -> Result<SealedEntry> {
    baseline_of(log, u64::MAX, accepted)
}

/// The first complete lines of the log as one.
pub(super) fn baseline_of(log: &Path, count: u64, accepted: Option<AcceptedChange>) -> Result<SealedEntry> {
    let mut hash = Sha256::new();
    let (mut lines, mut end) = (0, 0);
    walk(log, 0, |line| {
        if lines == count {
            return;
        }
        hash.update(line.bytes);
        hash.update(b"\n");
        lines += 1;
        end = line.start + line.bytes.len() as u64 + 1;
    })?;
    Ok(SealedEntry::Baseline(Baseline { lines, end, sha256: hex(&hash.finalize()), accepted }))
}

/// A complete line, without its break.
struct WholeLine<'a> {
    start: u64,
    bytes: &'a [u8],
}

/// Visits complete lines; an unfinished one at the end does not count yet.
fn walk(log: &Path, start: u64, mut visit: impl FnMut(WholeLine<'_>)) -> Result<()> {
    let Some(file) = files::open(log)? else { return Ok(()) };
    let fail = |error: std::io::Error| Problem::io("read", log, &error);
    let mut reader = BufReader::new(file);
    seek(&mut reader, start).map_err(fail)?;
    let mut offset = start;
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(fail)? as u64;
        if line.pop() != Some(b'\n') {
            return Ok(());
        }
        visit(WholeLine { start: offset, bytes: &line });
        offset += read;
    }
}

fn seek(reader: &mut BufReader<File>, start: u64) -> std::io::Result<u64> {
    reader.seek(SeekFrom::Start(start))
}
