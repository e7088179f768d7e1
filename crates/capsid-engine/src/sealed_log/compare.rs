//! Compares the log with what was sealed of it.

use super::entry::{Baseline, SealedEntry, SealedLine};
use super::merged::{self, LogLine};
use capsid_model::hash::{hex, sha256_hex};
use capsid_model::{Problem, Result};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogComparison {
    /// Lines that are as they were sealed.
    pub intact: u64,
    /// Lines after the last sealed one.
    pub unsealed: u64,
    pub difference: Option<LogDifference>,
    /// Where lines of another clone begin that git merged between the sealed ones.
    pub merge: Option<LogMerge>,
    /// Whether every line that was never sealed is a record that verifies, after all that it follows.
    pub unsealed_verify: bool,
    /// SHA-256 of each of these lines.
    pub unsealed_sha256: Vec<String>,
}

/// The first line of a merged log that was sealed elsewhere in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogMerge {
    /// The number of the line, from 1.
    pub line: u64,
    /// The id of the record that was sealed there; empty when it has none.
    pub id: String,
}

/// The first place where the log is not what was sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogDifference {
    /// The number of the line, from 1.
    pub line: u64,
    /// The id of the record that was sealed there; empty when it has none.
    pub id: String,
    pub kind: LogChange,
}

/// What was done to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogChange {
    /// The line holds something else than was sealed.
    Edited,
    /// The line is gone, and later ones are there.
    Removed,
    /// The log ends before the line.
    Cut,
    /// The line is somewhere else.
    Reordered,
    /// Something that was never sealed is before the line.
    Inserted,
    /// Something in the part that was sealed as one was changed.
    Baseline,
}

impl LogChange {
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

/// Gives the hashes of the lines of the log that are in a commit.
pub(super) type CommittedLines<'a> = &'a dyn Fn() -> Result<HashSet<String>>;

/// Compares a log with its sealed entries, which are in order. Reads the log once, and once more where they differ.
pub(super) fn compare(
    path: &Path,
    entries: &[SealedEntry],
    committed: CommittedLines<'_>,
) -> Result<LogComparison> {
    let (baseline, lines) = since_baseline(entries);
    let mut log = LogReader::open(path)?;
    let mut comparison = LogComparison::default();
    if let Some(baseline) = baseline {
        if !log.begins_with(baseline)? {
            comparison.difference =
                Some(LogDifference { line: baseline.lines, id: String::new(), kind: LogChange::Baseline });
            return Ok(comparison);
        }
        comparison.intact = baseline.lines;
    }
    for line in &lines {
        let Some(read) = log.next()? else {
            comparison.difference = Some(line.differs(LogChange::Cut));
            return Ok(comparison);
        };
        if sha256_hex(&read) != line.sha256 {
            if let Some(merged) = compare_merged(path, (baseline, &lines), line, committed)? {
                return Ok(merged);
            }
            let kind = classify_change(path, &lines, line, &sha256_hex(&read))?;
            comparison.difference = Some(line.differs(kind));
            return Ok(comparison);
        }
        comparison.intact += 1;
    }
    let mut unsealed = Vec::new();
    while let Some(line) = log.next()? {
        unsealed.push(LogLine::parse(&line));
    }
    comparison.unsealed = unsealed.len() as u64;
    comparison.unsealed_verify = merged::are_records(&unsealed);
    comparison.unsealed_sha256 = unsealed.into_iter().map(|line| line.sha256).collect();
    Ok(comparison)
}

/// The comparison with a log that git merged; none when it is no merge. `first` is the first sealed line that is
/// elsewhere.
fn compare_merged(
    path: &Path,
    (baseline, lines): (Option<&Baseline>, &[&SealedLine]),
    first: &SealedLine,
    committed: CommittedLines<'_>,
) -> Result<Option<LogComparison>> {
    let mut log = LogReader::open(path)?;
    if let Some(baseline) = baseline {
        log.begins_with(baseline)?;
    }
    let mut all = Vec::new();
    while let Some(line) = log.next()? {
        all.push(LogLine::parse(&line));
    }
    let Some(places) = merged::find_sealed(&all, lines) else { return Ok(None) };
    let places: HashSet<usize> = places.into_iter().collect();
    let last = places.iter().copied().max().unwrap_or_default();
    let committed = committed()?;
    let is_known =
        |(place, line): (usize, &LogLine)| places.contains(&place) || committed.contains(&line.sha256);
    // What stands between the sealed lines came with git, or somebody inserted it.
    if !all.iter().enumerate().take(last).all(is_known) {
        return Ok(None);
    }
    let unsealed = all.into_iter().enumerate().filter(|(place, _)| !places.contains(place));
    let unsealed_sha256: Vec<String> = unsealed.map(|(_, line)| line.sha256).collect();
    Ok(Some(LogComparison {
        intact: baseline.map_or(0, |baseline| baseline.lines) + places.len() as u64,
        unsealed: unsealed_sha256.len() as u64,
        difference: None,
        merge: Some(LogMerge { line: first.number, id: first.id.clone() }),
        unsealed_verify: true,
        unsealed_sha256,
    }))
}

/// The last baseline and the lines sealed after it.
fn since_baseline(entries: &[SealedEntry]) -> (Option<&Baseline>, Vec<&SealedLine>) {
    let last = entries.iter().rposition(|entry| matches!(entry, SealedEntry::Baseline(_)));
    let baseline = last.and_then(|at| match &entries[at] {
        SealedEntry::Baseline(baseline) => Some(baseline),
        SealedEntry::Line(_) => None,
    });
    let lines = entries[last.map_or(0, |at| at + 1)..].iter().filter_map(|entry| match entry {
        SealedEntry::Line(line) => Some(line),
        SealedEntry::Baseline(_) => None,
    });
    (baseline, lines.collect())
}

impl SealedLine {
    fn differs(&self, kind: LogChange) -> LogDifference {
        LogDifference { line: self.number, id: self.id.clone(), kind }
    }
}

/// Distinguishes an edit from a removal, an insertion and a new order, by the positions of the lines that differ.
fn classify_change(
    path: &Path,
    lines: &[&SealedLine],
    expected: &SealedLine,
    actual: &str,
) -> Result<LogChange> {
    let mut there: HashMap<String, u64> = HashMap::new();
    let mut log = LogReader::open(path)?;
    while let Some(line) = log.next()? {
        *there.entry(sha256_hex(&line)).or_default() += 1;
    }
    let is_elsewhere = there.contains_key(&expected.sha256);
    let was_sealed = lines.iter().any(|line| line.sha256 == actual);
    Ok(match (is_elsewhere, was_sealed) {
        (true, true) => LogChange::Reordered,
        (true, false) => LogChange::Inserted,
        (false, true) => LogChange::Removed,
        (false, false) => LogChange::Edited,
    })
}

/// The log, line by line.
struct LogReader {
    reader: Option<BufReader<File>>,
    path: std::path::PathBuf,
}

impl LogReader {
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

    fn entries(lines: &[&str]) -> Vec<SealedEntry> {
        let mut start = 0;
        let mut out = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            let end = start + line.len() as u64 + 1;
            let sha256 = sha256_hex(line.as_bytes());
            let number = index as u64 + 1;
            out.push(SealedEntry::Line(SealedLine { number, start, end, sha256, id: (*line).to_owned() }));
            start = end;
        }
        out
    }

    fn comparison(log: &str, entries: &[SealedEntry]) -> LogComparison {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        std::fs::write(&path, log).unwrap();
        compare(&path, entries, &|| Ok(HashSet::new())).unwrap()
    }

    #[test]
    fn each_kind_of_change_is_named_with_its_line() {
        let sealed = entries(&["a", "b", "c", "d"]);
        assert_eq!(
            comparison("a\nb\nc\nd\n", &sealed),
            LogComparison { intact: 4, unsealed_verify: true, ..LogComparison::default() }
        );
        assert_eq!(comparison("a\nb\nc\nd\ne\n", &sealed).unsealed, 1);
        for (log, line, kind) in [
            ("a\nX\nc\nd\n", 2, LogChange::Edited),
            ("a\nc\nd\n", 2, LogChange::Removed),
            ("a\nb\n", 3, LogChange::Cut),
            ("", 1, LogChange::Cut),
            ("a\nc\nb\nd\n", 2, LogChange::Reordered),
            ("a\nX\nb\nc\nd\n", 2, LogChange::Inserted),
            ("a\nb\nb\nc\nd\n", 3, LogChange::Reordered),
        ] {
            let difference = comparison(log, &sealed).difference.unwrap();
            assert_eq!((difference.line, difference.kind), (line, kind), "{log:?}");
            assert_eq!(comparison(log, &sealed).intact, line - 1);
        }
    }

    #[test]
    fn a_baseline_stands_for_all_before_it() {
        let baseline = Baseline { lines: 2, end: 4, sha256: sha256_hex(b"a\nb\n"), accepted: None };
        let mut sealed = entries(&["old", "older"]);
        sealed.push(SealedEntry::Baseline(baseline));
        sealed.push(SealedEntry::Line(SealedLine {
            number: 3,
            start: 4,
            end: 6,
            sha256: sha256_hex(b"c"),
            id: String::new(),
        }));
        assert_eq!(comparison("a\nb\nc\n", &sealed).intact, 3);
        assert_eq!(comparison("a\nB\nc\n", &sealed).difference.unwrap().kind, LogChange::Baseline);
        assert_eq!(comparison("a\n", &sealed).difference.unwrap().kind, LogChange::Baseline);
        assert_eq!(comparison("a\nb\nC\n", &sealed).difference.unwrap().line, 3);
    }
}
