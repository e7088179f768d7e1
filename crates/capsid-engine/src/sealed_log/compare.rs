//! Compares the log with what was sealed of it.

use super::entry::{Baseline, Entry, Line};
use capsid_model::hash::{hex, sha256_hex};
use capsid_model::{Problem, Result};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparison {
    /// Lines that are as they were sealed.
    pub intact: u64,
    /// Lines after the last sealed one.
    pub unsealed: u64,
    /// The first difference.
    pub difference: Option<Difference>,
}

/// The first place where the log is not what was sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The number of the line, from 1.
    pub line: u64,
    /// The id of the record that was sealed there; empty when it has none.
    pub id: String,
    /// What was done.
    pub kind: Change,
}

/// What was done to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The line holds something else than was sealed.
    Edited,
    /// The line is gone, and later ones are there.
    Removed,
    /// The log ends before the line.
    Cut,
    /// The line is somewhere else.
    Reordered,
    /// Something that was never sealed stands before the line.
    Inserted,
    /// Something in the part that was sealed as one was changed.
    Baseline,
}

impl Change {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Edited => "edited",
            Self::Removed => "removed",
            Self::Cut => "cut",
            Self::Reordered => "reordered",
            Self::Inserted => "inserted",
            Self::Baseline => "changed",
        }
    }
}

/// Compares a log with its sealed entries, which are in order. Reads the log once, and once more where they differ.
pub fn compare(path: &Path, entries: &[Entry]) -> Result<Comparison> {
    let (baseline, lines) = since_baseline(entries);
    let mut log = Log::open(path)?;
    let mut found = Comparison::default();
    if let Some(baseline) = baseline {
        if !log.begins_with(baseline)? {
            found.difference =
                Some(Difference { line: baseline.lines, id: String::new(), kind: Change::Baseline });
            return Ok(found);
        }
        found.intact = baseline.lines;
    }
    for line in &lines {
        let Some(read) = log.next()? else {
            found.difference = Some(line.differs(Change::Cut));
            return Ok(found);
        };
        if sha256_hex(&read) != line.sha256 {
            let kind = what_happened(path, &lines, line, &sha256_hex(&read))?;
            found.difference = Some(line.differs(kind));
            return Ok(found);
        }
        found.intact += 1;
    }
    while log.next()?.is_some() {
        found.unsealed += 1;
    }
    Ok(found)
}

/// The last baseline and the lines sealed after it.
fn since_baseline(entries: &[Entry]) -> (Option<&Baseline>, Vec<&Line>) {
    let last = entries.iter().rposition(|entry| matches!(entry, Entry::Baseline(_)));
    let baseline = last.and_then(|at| match &entries[at] {
        Entry::Baseline(baseline) => Some(baseline),
        Entry::Line(_) => None,
    });
    let lines = entries[last.map_or(0, |at| at + 1)..].iter().filter_map(|entry| match entry {
        Entry::Line(line) => Some(line),
        Entry::Baseline(_) => None,
    });
    (baseline, lines.collect())
}

impl Line {
    fn differs(&self, kind: Change) -> Difference {
        Difference { line: self.number, id: self.id.clone(), kind }
    }
}

/// Tells an edit from a removal, an insertion and a new order, by where the lines are that do not match.
fn what_happened(path: &Path, lines: &[&Line], expected: &Line, actual: &str) -> Result<Change> {
    let mut there: HashMap<String, u64> = HashMap::new();
    let mut log = Log::open(path)?;
    while let Some(line) = log.next()? {
        *there.entry(sha256_hex(&line)).or_default() += 1;
    }
    let is_elsewhere = there.contains_key(&expected.sha256);
    let was_sealed = lines.iter().any(|line| line.sha256 == actual);
    Ok(match (is_elsewhere, was_sealed) {
        (true, true) => Change::Reordered,
        (true, false) => Change::Inserted,
        (false, true) => Change::Removed,
        (false, false) => Change::Edited,
    })
}

/// The log, line by line.
struct Log {
    reader: Option<BufReader<File>>,
    path: std::path::PathBuf,
}

impl Log {
    fn open(path: &Path) -> Result<Self> {
        let reader = capsid_disk::files::open(path)?.map(BufReader::new);
        Ok(Self { reader, path: path.to_owned() })
    }

    fn begins_with(&mut self, baseline: &Baseline) -> Result<bool> {
        let Some(reader) = &mut self.reader else { return Ok(baseline.end == 0) };
        let mut hash = Sha256::new();
        let mut left = baseline.end;
        let mut buffer = vec![0; 64 * 1024];
        while left > 0 {
            let part = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            match reader.read_exact(&mut buffer[..part]) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
                Err(error) => return Err(Problem::io("read", &self.path, &error)),
            }
            hash.update(&buffer[..part]);
            left -= part as u64;
        }
        Ok(hex(&hash.finalize()) == baseline.sha256)
    }

    /// The next line without its break; an unfinished one at the end counts.
    fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let mut line = Vec::new();
        let read =
            reader.read_until(b'\n', &mut line).map_err(|error| Problem::io("read", &self.path, &error))?;
        if read == 0 {
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        Ok(Some(line))
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    fn entries(lines: &[&str]) -> Vec<Entry> {
        let mut start = 0;
        let mut out = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            let end = start + line.len() as u64 + 1;
            let sha256 = sha256_hex(line.as_bytes());
            let number = index as u64 + 1;
            out.push(Entry::Line(Line { number, start, end, sha256, id: (*line).to_owned() }));
            start = end;
        }
        out
    }

    fn found(log: &str, entries: &[Entry]) -> Comparison {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        std::fs::write(&path, log).unwrap();
        compare(&path, entries).unwrap()
    }

    #[test]
    fn each_kind_of_change_is_named_with_its_line() {
        let sealed = entries(&["a", "b", "c", "d"]);
        assert_eq!(found("a\nb\nc\nd\n", &sealed), Comparison { intact: 4, ..Comparison::default() });
        assert_eq!(found("a\nb\nc\nd\ne\n", &sealed).unsealed, 1);
        for (log, line, kind) in [
            ("a\nX\nc\nd\n", 2, Change::Edited),
            ("a\nc\nd\n", 2, Change::Removed),
            ("a\nb\n", 3, Change::Cut),
            ("", 1, Change::Cut),
            ("a\nc\nb\nd\n", 2, Change::Reordered),
            ("a\nX\nb\nc\nd\n", 2, Change::Inserted),
            ("a\nb\nb\nc\nd\n", 3, Change::Reordered),
        ] {
            let difference = found(log, &sealed).difference.unwrap();
            assert_eq!((difference.line, difference.kind), (line, kind), "{log:?}");
            assert_eq!(found(log, &sealed).intact, line - 1);
        }
    }

    #[test]
    fn a_baseline_stands_for_all_before_it() {
        let baseline = Baseline { lines: 2, end: 4, sha256: sha256_hex(b"a\nb\n"), accepted: None };
        let mut sealed = entries(&["old", "older"]);
        sealed.push(Entry::Baseline(baseline));
        sealed.push(Entry::Line(Line {
            number: 3,
            start: 4,
            end: 6,
            sha256: sha256_hex(b"c"),
            id: String::new(),
        }));
        assert_eq!(found("a\nb\nc\n", &sealed).intact, 3);
        assert_eq!(found("a\nB\nc\n", &sealed).difference.unwrap().kind, Change::Baseline);
        assert_eq!(found("a\n", &sealed).difference.unwrap().kind, Change::Baseline);
        assert_eq!(found("a\nb\nC\n", &sealed).difference.unwrap().line, 3);
    }
}
