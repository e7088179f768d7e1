//! Reading line files from either end without holding them in memory, whatever their size.

use capsid_disk::files;
use capsid_model::{Problem, Result};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A longer line is passed over: no record of ours comes near it.
const MAX_LINE: usize = 16 * 1024 * 1024;

const CHUNK: usize = 64 * 1024;

/// Calls `visit` with each non-blank line, first to last. A missing file has none.
pub fn scan(path: &Path, mut visit: impl FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
    scan_numbered(path, |_, line| line.map_or(ControlFlow::Continue(()), &mut visit))
}

/// The same with the number of each line in the file, from 1, and nothing for a line that is too long to be read.
pub fn scan_numbered(
    path: &Path,
    mut visit: impl FnMut(u64, Option<&[u8]>) -> ControlFlow<()>,
) -> Result<()> {
    let Some(file) = files::open(path)? else {
        return Ok(());
    };
    let mut reader = BufReader::with_capacity(CHUNK, file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let fail = |error: std::io::Error| Problem::io("read", path, &error);
        let read = (&mut reader).take(MAX_LINE as u64).read_until(b'\n', &mut line).map_err(fail)?;
        if read == 0 {
            break;
        }
        let is_whole = read < MAX_LINE || line.last() == Some(&b'\n');
        if !is_whole {
            reader.skip_until(b'\n').map_err(fail)?;
        }
        let text = Some(line.trim_ascii()).filter(|_| is_whole);
        if text != Some(b"") && visit(number, text).is_break() {
            break;
        }
    }
    Ok(())
}

/// The non-blank lines of a file from the last to the first, read in chunks from the end.
pub struct ReverseLines {
    path: PathBuf,
    file: Option<File>,
    /// Bytes before this offset have not been read.
    offset: u64,
    /// Bytes read and not yet handed out, in file order.
    held: Vec<u8>,
    /// Whether what comes next is the beginning of a line that is too long to be one of ours.
    skipping: bool,
}

impl ReverseLines {
    /// Starts at the end of the file; a missing file has no lines.
    pub fn open(path: &Path) -> Result<Self> {
        let file = files::open(path)?;
        let offset = match &file {
            Some(file) => file.metadata().map_err(|error| Problem::io("read", path, &error))?.len(),
            None => 0,
        };
        Ok(Self { path: path.to_owned(), file, offset, held: Vec::new(), skipping: false })
    }

    /// Reads chunks until the held bytes contain a line break or the file begins.
    fn fill(&mut self) -> Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        // Chunks grow with what is held, so that a long line is not copied over and over.
        while self.offset > 0 && memchr::memchr(b'\n', &self.held).is_none() {
            let size = (self.held.len().clamp(CHUNK, MAX_LINE) as u64).min(self.offset);
            let mut chunk = vec![0; size as usize];
            let read =
                file.seek(SeekFrom::Start(self.offset - size)).and_then(|_| file.read_exact(&mut chunk));
            read.map_err(|error| Problem::io("read", &self.path, &error))?;
            if self.held.len() > MAX_LINE {
                self.held.clear();
                self.skipping = true;
            }
            chunk.append(&mut self.held);
            self.held = chunk;
            self.offset -= size;
        }
        Ok(())
    }

    /// The next line towards the beginning.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            self.fill()?;
            let line = match memchr::memrchr(b'\n', &self.held) {
                Some(at) => {
                    let line = self.held.split_off(at + 1);
                    self.held.truncate(at);
                    line
                }
                None if self.offset == 0 && !self.held.is_empty() => std::mem::take(&mut self.held),
                None if self.offset == 0 => return Ok(None),
                None => continue,
            };
            let text = line.trim_ascii();
            if !std::mem::take(&mut self.skipping) && !text.is_empty() {
                return Ok(Some(text.to_vec()));
            }
        }
    }
}

/// The last `count` non-blank lines, in file order. The cost grows with what is returned, not with the file.
pub fn tail(path: &Path, count: usize) -> Result<Vec<String>> {
    let mut reader = ReverseLines::open(path)?;
    let mut lines = Vec::new();
    while lines.len() < count {
        match reader.next_line()? {
            Some(line) => lines.push(String::from_utf8_lossy(&line).into_owned()),
            None => break,
        }
    }
    lines.reverse();
    Ok(lines)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_see_the_same_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let mut expected: Vec<String> =
            (0..3000).map(|n| format!("line {n}{}", "x".repeat(n % 97))).collect();
        expected.push("y".repeat(300_000));
        expected.push("last without a break".to_owned());
        std::fs::write(&path, format!("\n{}", expected.join("\n\n"))).unwrap();
        let mut forward = Vec::new();
        scan(&path, |line| {
            forward.push(String::from_utf8(line.to_vec()).unwrap());
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(forward, expected);
        assert_eq!(tail(&path, usize::MAX).unwrap(), expected);
        assert_eq!(tail(&path, 2).unwrap(), expected[expected.len() - 2..]);
    }

    #[test]
    fn a_missing_or_empty_file_has_no_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        assert!(tail(&path, 5).unwrap().is_empty());
        std::fs::write(&path, "\n\n").unwrap();
        assert!(tail(&path, 5).unwrap().is_empty());
    }

    #[test]
    fn a_line_beyond_all_measure_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        std::fs::write(&path, format!("a\n{}\nb\n", "x".repeat(MAX_LINE + 5))).unwrap();
        let mut seen = Vec::new();
        scan(&path, |line| {
            seen.push(line.to_vec());
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(seen, [b"a".to_vec(), b"b".to_vec()]);
        let long = "x".repeat(3 * MAX_LINE);
        std::fs::write(&path, format!("a\n{long}\nb\n")).unwrap();
        assert_eq!(tail(&path, 5).unwrap(), ["a", "b"]);
    }
}
