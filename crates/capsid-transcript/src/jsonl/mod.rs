//! A growing file of one JSON document per line, read in bounded memory.
//!
//! Only what the file held when it was opened is read. A line is numbered by its place in the file, from 0, blank and
//! broken ones included, so that a better reader would give the same lines the same numbers. What stands after the
//! last newline is a line only if it is whole; else its writer is not done, and it is left for the next time.

mod loose;

pub(crate) use loose::{IgnoredValue, LooseValue, PeekLine};

use capsid_model::exact::{ExactJson, parse_lossy};
use capsid_model::{Problem, Result};
use std::fs::File;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Longest line that is read: its bytes and its value are held at the same time.
pub const LINE_MAX: usize = 16 << 20;
const CHUNK: usize = 256 << 10;

/// One line of a file.
#[derive(Debug, Clone, Copy)]
pub struct JsonLine<'a> {
    /// Its place among the lines, from 0.
    pub number: u64,
    /// Where it is in the file.
    pub position: BytePosition,
    /// Its bytes without the newline; none if there are more than [`LINE_MAX`].
    pub bytes: &'a [u8],
    /// Whether a newline ends it.
    pub ended: bool,
}

/// Where a line's bytes are in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BytePosition {
    pub offset: u64,
    pub length: u64,
}

impl JsonLine<'_> {
    /// Whether it was passed over for its length.
    pub fn is_too_long(&self) -> bool {
        self.position.length > LINE_MAX as u64
    }
}

/// A line's end: how long it is, how much of it the buffer still holds, and whether a newline follows.
struct LineEnd {
    length: u64,
    retained: usize,
    ended: bool,
}

/// Reads the lines of a file one after the other.
#[derive(Debug)]
pub struct LineReader {
    file: File,
    path: PathBuf,
    /// How much of the file is still to be read.
    left: u64,
    buffer: Vec<u8>,
    /// The part of the buffer that was read and not yet given.
    start: usize,
    end: usize,
    /// Where `start` is in the file.
    offset: u64,
    number: u64,
}

impl LineReader {
    /// Opens a file up to its present end.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |error| Problem::io("open", path, &error);
        let file = File::open(path).map_err(failed)?;
        let left = file.metadata().map_err(failed)?.len();
        Self::part(file, path, left)
    }

    /// The same lines once more, without what was written since.
    pub fn reread(&self) -> Result<Self> {
        let file = File::open(&self.path).map_err(|error| Problem::io("open", &self.path, &error))?;
        Self::part(file, &self.path, self.offset + (self.end - self.start) as u64 + self.left)
    }

    fn part(file: File, path: &Path, left: u64) -> Result<Self> {
        let buffer = vec![0; CHUNK];
        Ok(Self { file, path: path.to_owned(), left, buffer, start: 0, end: 0, offset: 0, number: 0 })
    }

    /// The next line that is not blank.
    pub fn next(&mut self) -> Result<Option<JsonLine<'_>>> {
        loop {
            let Some(LineEnd { length, retained, ended }) = self.find_end()? else { return Ok(None) };
            let position = BytePosition { offset: self.offset, length };
            let number = self.number;
            let from = self.start;
            self.start += retained + usize::from(ended);
            self.offset += length + u64::from(ended);
            self.number += 1;
            let too_long = length > LINE_MAX as u64;
            let blank = self.buffer[from..from + retained].iter().all(u8::is_ascii_whitespace);
            if too_long || !blank {
                let bytes = if too_long { &[] } else { &self.buffer[from..from + retained] };
                return Ok(Some(JsonLine { number, position, bytes, ended }));
            }
        }
    }

    /// How long the line at `start` is; one that is too long is let go while its end is sought.
    fn find_end(&mut self) -> Result<Option<LineEnd>> {
        let mut searched = 0;
        let mut dropped = 0_u64;
        loop {
            if let Some(newline) = memchr::memchr(b'\n', &self.buffer[self.start + searched..self.end]) {
                let retained = searched + newline;
                return Ok(Some(LineEnd { length: dropped + retained as u64, retained, ended: true }));
            }
            searched = self.end - self.start;
            if dropped > 0 || searched > LINE_MAX {
                dropped += searched as u64;
                (self.start, self.end, searched) = (0, 0, 0);
            }
            if !self.fill()? {
                let length = dropped + searched as u64;
                return Ok((length > 0).then_some(LineEnd { length, retained: searched, ended: false }));
            }
        }
    }

    /// Reads more behind what is there. False at the end.
    fn fill(&mut self) -> Result<bool> {
        if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.end == self.buffer.len() {
                let grown = (self.buffer.len() * 2).min(LINE_MAX + CHUNK);
                self.buffer.resize(grown, 0);
            }
        }
        let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(self.buffer.len() - self.end);
        loop {
            match self.file.read(&mut self.buffer[self.end..self.end + room]) {
                Ok(count) => {
                    self.end += count;
                    self.left = if count == 0 { 0 } else { self.left - count as u64 };
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Problem::io("read", &self.path, &error)),
            }
        }
    }
}

/// Reads lines again whose places are known.
#[derive(Debug)]
pub struct LineRereader {
    file: File,
    last: Option<(BytePosition, ExactJson)>,
}

impl LineRereader {
    /// Opens the file once more.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| Problem::io("open", path, &error))?;
        Ok(Self { file, last: None })
    }

    /// The document at a place; none if the file was changed there.
    pub fn at(&mut self, position: BytePosition) -> Option<&ExactJson> {
        if self.last.as_ref().is_none_or(|(last, _)| *last != position) {
            self.last = None;
            let document = self.read(position)?;
            self.last = Some((position, document));
        }
        self.last.as_ref().map(|(_, document)| document)
    }

    fn read(&mut self, position: BytePosition) -> Option<ExactJson> {
        let length = usize::try_from(position.length).ok().filter(|&length| length <= LINE_MAX)?;
        let mut bytes = vec![0; length];
        self.file.seek(SeekFrom::Start(position.offset)).ok()?;
        self.file.read_exact(&mut bytes).ok()?;
        parse_lossy(&bytes).ok()
    }
}

/// Tables by numbers that [`short`] made, which need no second hashing.
pub(crate) type KeyTable<T> = std::collections::HashMap<u64, T, BuildHasherDefault<IdentityHasher>>;
/// Sets of such numbers.
pub(crate) type KeyNumbers = std::collections::HashSet<u64, BuildHasherDefault<IdentityHasher>>;

/// Takes a number for its own hash.
#[derive(Debug, Default)]
pub(crate) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// A name as a number, so that an index of a long transcript stays small; who looks something up checks the name.
/// Another number in every process, so that no transcript can be made to fill a table badly.
pub(crate) fn short(name: &str) -> u64 {
    static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    let mut hasher = SEED.build_hasher();
    hasher.write(name.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests;
