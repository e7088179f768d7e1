//! Reading a log of any size in one pass. Only lines near a word that can belong to a diagnostic are kept.

use super::choose::{ChosenProblem, choose};
use super::diagnostic::{Diagnosis, Diagnostic, LogWindow};
use super::documents;
use super::kept_lines::{KeptLine, KeptLines};
use super::lines::{Line, LineLevel, read_line};
use super::matchers::Matcher;
use super::segment;
use super::tools;
use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind};
use std::collections::HashSet;
use std::sync::LazyLock;

/// Of a log longer than both together, give the reader the first and the last of these.
pub const HEAD_BYTES: u64 = 8 * 1024 * 1024;
pub const TAIL_BYTES: u64 = 56 * 1024 * 1024;

/// Lines that are kept before and after a line with a word of the prefilter.
const CONTEXT_LINES: usize = 40;
/// Lines before and after a diagnostic that are stored.
const WINDOW_LINES: usize = 20;
const WINDOW_BYTES: usize = 256 * 1024;
/// The most text that rules read: the first and the last of what the prefilter kept.
const KEPT_HEAD: usize = 512 * 1024;
const KEPT_TAIL: usize = 1536 * 1024;
/// The longest part of a line that is kept.
const MAX_LINE: usize = 64 * 1024;
/// A report in SARIF or JUnit XML is read as a whole up to this size.
const MAX_DOCUMENT: usize = 64 * 1024 * 1024;

/// Words of which at least one stands in every diagnostic, in any case.
const WORDS: [&str; 149] = [
    "error",
    "err!",
    "fail",
    "panic",
    "exception",
    "fatal",
    "critical",
    "severe",
    "denied",
    "refused",
    "not found",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "unable",
    "undefined",
    "unresolved",
    "unexpected",
    "invalid",
    "missing",
    "no such",
    "not ok",
    "abort",
    "killed",
    "segmentation",
    "core dumped",
    "traceback",
    "conflict",
    "rejected",
    "timed out",
    "timeout",
    "deadline",
    "expired",
    "no space",
    "out of memory",
    "oom",
    "unbound",
    "assert",
    "caused by",
    "exit code",
    "exit status",
    "exited with",
    "unreachable",
    "violat",
    "too many",
    "duplicate",
    "deadlock",
    "ora-",
    "x509",
    "warning",
    "✖",
    "✕",
    "×",
    "✗",
    "●",
    "❌",
    "错误",
    "异常",
    "报错",
    "失败",
    "no module",
    "no matching",
    "not a ",
    "does not",
    "doesn't",
    "goroutine",
    "File \"",
    "    at ",
    "\tat ",
    ".go:",
    "not installed",
    "unknown",
    "unauthorized",
    "forbidden",
    "crash",
    "msg ",
    "enoent",
    "too large",
    "no rule",
    "signal ",
    "stopped",
    "passed",
    "success",
    "ok\t",
    "backoff",
    "unrecognized",
    "is not ",
    "already",
    "would reformat",
    "not formatted",
    "expected",
    ".py:",
    ".rb:",
    ".md:",
    ".yml:",
    ".yaml:",
    "[warn",
    "terminat",
    "sanitizer",
    "unused",
    "mismatch",
    "rror",
    "\n$ ",
    ".sh line",
    " err]",
    " err ",
    "\ne0",
    "\ne1",
    "\nf1",
    "declined",
    "segfault",
    "vulnerabilit",
    "diff in ",
    ".kt:",
    ".proto:",
    ".erl:",
    "| p:",
    "issue",
    "illegal",
    "exceeded",
    "unsupported",
    "corrupt",
    "incompatible",
    "crossed",
    "bad ",
    "not been",
    "won't",
    "no package",
    "not exist",
    "not allowed",
    "no tests",
    "no test files",
    "exception caught",
    "\ncrit: ",
    "lockfile",
    "last generated",
    "specified",
    "not something we",
    "needs merge",
    "prelude.",
    "readonly",
    "no stash",
    "unterminated",
    "unclosed",
    "bad substitution",
    "must be",
    "requires",
    "required",
];

static PREFILTER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasickBuilder::new().ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA)).build(WORDS).ok()
});

/// Reads a log piece by piece.
#[derive(Default)]
pub struct DiagnosisReader {
    matchers: Vec<Matcher>,
    /// Bytes that no line end has followed yet, after up to [`CONTEXT_LINES`] whole lines.
    pending: Vec<u8>,
    /// Bytes of `pending` that were searched.
    searched: usize,
    /// The number of the first line in `pending`.
    first_pending: usize,
    /// Lines up to this number are kept whatever they say.
    keep_until: usize,
    /// The next line that has not been kept.
    next_unkept: usize,
    lines: usize,
    warnings: usize,
    head: KeptLines,
    middle: KeptLines,
    tail: KeptLines,
    document: Option<Vec<u8>>,
    started: bool,
}

impl DiagnosisReader {
    pub fn new() -> Self {
        Self::default()
    }

    /// A reader that also knows matchers of the user.
    pub fn with_matchers(matchers: Vec<Matcher>) -> Self {
        Self { matchers, ..Self::default() }
    }

    /// Takes the next piece of the log. A piece may end anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        if !self.started && !bytes.is_empty() {
            self.started = true;
            self.first_pending = 1;
            self.next_unkept = 1;
            self.keep_until = CONTEXT_LINES;
            if !self.matchers.is_empty() {
                self.keep_until = usize::MAX;
            }
            if documents::begins_document(bytes) {
                self.document = Some(Vec::new());
            }
        }
        if let Some(document) = &mut self.document {
            let room = MAX_DOCUMENT.saturating_sub(document.len());
            document.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
        }
        for piece in bytes.chunks(256 * 1024) {
            self.pending.extend_from_slice(piece);
            self.search(false);
        }
    }

    /// Ends the log and says what it shows.
    pub fn finish(mut self) -> Diagnosis {
        self.search(true);
        let document =
            self.document.take().and_then(|bytes| documents::parse(&String::from_utf8_lossy(&bytes)));
        let mut lines = Vec::new();
        self.tail.shorten(KEPT_TAIL, &mut self.middle);
        let kept = [&self.head, &self.middle, &self.tail];
        let raw: Vec<KeptLine> = kept.into_iter().flat_map(KeptLines::to_lines).collect();
        let mut expected = 1;
        for kept in &raw {
            if kept.number != expected {
                // Lines were dropped here: no block goes on.
                lines.push(Line::from_clean(kept.number.saturating_sub(1), ""));
            }
            read_line(kept.number, &kept.text, &mut lines);
            expected = kept.number + 1;
        }
        separate_services(&mut lines);
        let segments = segment::split(&lines);
        let chosen = match document {
            Some(found) => choose(found, &[], &|_| false),
            None => {
                let found = tools::recognize(&lines, &self.matchers);
                choose(found.diagnostics, &segments, &stream_lines(&lines))
            }
        };
        let windows = cut_windows(&chosen, &raw);
        let ChosenProblem { problem, also, command, passed } = chosen;
        Diagnosis { problem, also, windows, command, passed, lines: self.lines, warnings: self.warnings }
    }

    /// Searches what is pending for words and keeps the lines around them.
    fn search(&mut self, is_last: bool) {
        let end = if is_last {
            self.pending.len()
        } else {
            memchr::memrchr(b'\n', &self.pending).map_or(0, |at| at + 1)
        };
        if end <= self.searched {
            // A line without end must not fill the memory.
            if !is_last && self.pending.len() > self.searched + 4 * MAX_LINE {
                self.pending.truncate(self.searched + 2 * MAX_LINE);
            }
            return;
        }
        let pending = std::mem::take(&mut self.pending);
        let text = pending.get(..end).unwrap_or_default();
        let mut at = self.searched;
        // The number of the line that begins at `at`.
        let mut number = self.first_pending + count_lines(text.get(..at).unwrap_or_default());
        if let Some(prefilter) = PREFILTER.as_ref() {
            while let Some(found) = prefilter.find(aho_corasick::Input::new(text).range(at..text.len())) {
                // A command at the start of a line is found by the line end before it.
                let hit_start = found.start() + usize::from(text[found.start()] == b'\n');
                let line_start = memchr::memrchr(b'\n', &text[..hit_start]).map_or(0, |at| at + 1);
                let line_start = line_start.max(at);
                number += count_lines(&text[at..line_start]);
                let line_end =
                    memchr::memchr(b'\n', &text[found.end()..]).map_or(text.len(), |at| found.end() + at + 1);
                self.keep_around(text, line_start, number);
                let hit = &text[found.range()];
                self.warnings += usize::from(hit.eq_ignore_ascii_case(b"warning"));
                at = line_end;
                number += 1;
                if at >= text.len() {
                    break;
                }
            }
        }
        self.keep_rest(text);
        let total = count_lines(text) + usize::from(is_last && !text.is_empty() && !text.ends_with(b"\n"));
        self.lines = self.first_pending + total - 1;
        // The last lines stay, for a word in what follows.
        let from = nth_line_from_end(text, CONTEXT_LINES);
        self.first_pending += count_lines(text.get(..from).unwrap_or_default());
        self.searched = end - from;
        self.pending = pending.get(from..).unwrap_or_default().to_vec();
    }

    /// Keeps the lines before a hit, and remembers to keep those after it.
    fn keep_around(&mut self, text: &[u8], line_start: usize, number: usize) {
        let first = number.saturating_sub(CONTEXT_LINES).max(self.next_unkept);
        let mut start = line_start;
        let mut at = number;
        while at > first && start > 0 {
            start = memchr::memrchr(b'\n', &text[..start - 1]).map_or(0, |at| at + 1);
            at -= 1;
        }
        // Lines that an earlier hit asked for come first.
        if self.next_unkept < at && self.next_unkept <= self.keep_until {
            self.keep_pending_until(text, self.keep_until.min(at - 1));
        }
        let mut rest = start;
        while at <= number {
            let end = memchr::memchr(b'\n', &text[rest..]).map_or(text.len(), |end| rest + end);
            if at >= self.next_unkept {
                self.keep_line(at, &text[rest..end]);
            }
            rest = (end + 1).min(text.len());
            at += 1;
        }
        self.keep_until = self.keep_until.max(number.saturating_add(CONTEXT_LINES));
    }

    /// Keeps what an earlier hit asked for, as far as it has been read; and lines that begin a segment.
    fn keep_rest(&mut self, text: &[u8]) {
        let last = self.first_pending + count_lines(text);
        if self.next_unkept <= self.keep_until {
            self.keep_pending_until(text, self.keep_until.min(last));
        }
    }

    fn keep_pending_until(&mut self, text: &[u8], last: usize) {
        let mut number = self.first_pending;
        let mut rest = 0;
        while rest < text.len() && number <= last {
            let end = memchr::memchr(b'\n', &text[rest..]).map_or(text.len(), |end| rest + end);
            if number >= self.next_unkept {
                self.keep_line(number, &text[rest..end]);
            }
            rest = end + 1;
            number += 1;
        }
    }

    fn keep_line(&mut self, number: usize, raw: &[u8]) {
        self.next_unkept = number + 1;
        let raw = raw.get(..MAX_LINE).unwrap_or(raw);
        if self.head.bytes.len() + raw.len() <= KEPT_HEAD && self.tail.lines.is_empty() {
            self.head.push(number, raw);
            return;
        }
        self.tail.push(number, raw);
        if self.tail.bytes.len() > 4 * KEPT_TAIL {
            self.tail.shorten(KEPT_TAIL, &mut self.middle);
        }
    }
}

fn count_lines(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

/// Where the last lines of a text begin.
fn nth_line_from_end(text: &[u8], lines: usize) -> usize {
    let mut at = text.len();
    for _ in 0..=lines {
        match memchr::memrchr(b'\n', text.get(..at).unwrap_or_default()) {
            Some(found) => at = found,
            None => return 0,
        }
    }
    at + 1
}

/// Puts the lines of each service together, where several write into one log: a stack is not to be torn apart.
fn separate_services(lines: &mut [Line]) {
    let mut services: Vec<&str> = lines.iter().filter_map(|line| line.service.as_deref()).collect();
    services.sort_unstable();
    services.dedup();
    if services.len() < 2 || services.len() > 64 {
        return;
    }
    let mut order: Vec<String> = Vec::new();
    for line in lines.iter() {
        if let Some(service) = &line.service
            && !order.contains(service)
        {
            order.push(service.clone());
        }
    }
    lines.sort_by_key(|line| {
        line.service
            .as_ref()
            .map_or(usize::MAX, |name| order.iter().position(|known| known == name).unwrap_or(usize::MAX))
    });
}

/// Tells lines of a stream: half of the lines of such a log have time stamps and state a level, and so do these.
fn stream_lines(lines: &[Line]) -> impl Fn(usize) -> bool {
    let states_level = |line: &Line| {
        line.stamped && (line.level != LineLevel::Unstated || tools::generic::begins_with_level(&line.text))
    };
    let written = lines.iter().filter(|line| !line.text.is_empty() || line.structured).count();
    let stated: HashSet<usize> =
        lines.iter().filter(|line| states_level(line)).map(|line| line.number).collect();
    let is_stream = written >= 4 && stated.len() * 2 >= written;
    move |number| is_stream && (stated.contains(&number) || stated.contains(&number.saturating_sub(1)))
}

/// The lines around each diagnostic, as they were printed.
fn cut_windows(chosen: &ChosenProblem, raw: &[KeptLine]) -> Vec<LogWindow> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    let found: Vec<&Diagnostic> = chosen.problem.iter().chain(&chosen.also).collect();
    for diagnostic in found {
        let first = diagnostic.first_line.saturating_sub(WINDOW_LINES).max(1);
        let last = diagnostic.last_line.min(diagnostic.first_line + 2 * WINDOW_LINES) + WINDOW_LINES;
        ranges.push((first, last));
    }
    let mut windows: Vec<LogWindow> = Vec::new();
    let mut bytes = 0;
    let mut done: Vec<(usize, usize)> = Vec::new();
    for (first, last) in ranges {
        let mut lines = Vec::new();
        let (mut from, mut to) = (0, 0);
        for kept in raw.iter().filter(|kept| (first..=last).contains(&kept.number)) {
            if done.iter().any(|(first, last)| (*first..=*last).contains(&kept.number)) {
                continue;
            }
            bytes += kept.text.len();
            if bytes > WINDOW_BYTES {
                break;
            }
            if lines.is_empty() {
                from = kept.number;
            }
            to = kept.number;
            lines.push(kept.text.trim_end_matches('\r').to_owned());
        }
        if !lines.is_empty() {
            windows.push(LogWindow { first_line: from, last_line: to, lines });
        }
        done.push((first, last));
    }
    windows.sort_by_key(|window| window.first_line);
    windows
}
