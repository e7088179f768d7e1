//! Where no rule knows the program: lines whose form alone says that something failed.

use super::generic;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::lines::{Line, LineLevel};
use crate::diagnosis::pattern::Pattern;

/// `Catalog Error: M`, `Error in x: M`, `DB::Exception: M`, `Unexpected error running x: M`.
static TITLED: Pattern = Pattern::new(
    r"^(?:[\w.#-]+: )?((?:[A-Z][\w.:/-]*[ _-]?){0,5}(?:[Ee]rror|ERROR|[Ee]xception|EXCEPTION|[Ff]ailure|FAILURE|[Ff]atal|FATAL)(?: (?:in|at|on|while|when|running|during|parsing|loading|reading|executing|processing|from|of|for|occurred)\b[^:]{0,80}| [0-9]{1,6}| \([^)]{1,60}\)| [A-Z]{1,5}-?[0-9]{2,6}| #[0-9]+)?): ?(.*)$",
);
/// Marks that stand for a failure at the start of a line.
static MARKED: Pattern = Pattern::new(
    r"^\s{0,4}(?:✖|✘|❌|✗|⨯|❗|🚨|🔴|💥|\[!\]|!!+|\[✗\]|\[x\]|\[FAIL(?:ED)?\]|FAIL(?:ED|URE)?:|\*\*\* ?ERROR)\s*(\S.{5,})$",
);
/// `program: M`.
static PROGRAM: Pattern =
    Pattern::new(r"^((?:[\w./-]*/)?([a-z][\w.+-]{1,30}))(?:\[[0-9]+\])?(?::[0-9]+)?: {1,2}(\S.{3,})$");
/// A failure in words, after a program or alone.
static WORDS: Pattern = Pattern::new(
    r"(?i)(?:^|[\s(\x22'`:\[,])(?:error|errors|fail(?:ed|ure|s)?|fatal|cannot|can't|can not|could not|couldn't|unable to|not found|no such|invalid|unknown|unrecogni[sz]ed|undefined|undeclared|does not exist|doesn't exist|not exist|illegal|denied|missing|unexpected|mismatch|not allowed|not permitted|already exists|already in use|timed out|timeout|refused|rejected|corrupt(?:ed)?|unsupported|not supported|incompatible|violat\w+|aborted|aborting|crashed|panic|unreachable|unauthorized|forbidden|expired|bad \w+|not a \w+|no \w+ found|exceeded|overflow|killed|conflict|not recognized|did not match|does not look like|unterminated|unclosed|unbalanced|too many|too few|not enough|must be|must specify|requires|required|not something|is not)\b",
);
/// Sentences that begin or end with a failure.
static SENTENCE: Pattern = Pattern::new(
    r"^(?:(?:ERROR|Error|Failed|FAILED|Failure|Fatal|FATAL|Invalid|Unknown|Unrecogni[sz]ed|Missing|Unexpected|Undefined|Undeclared|Illegal|No such|Cannot|Can't|Unable|Could not|Couldn't|Aborted|Aborting|Access denied|Permission denied|Not found|Timed out|Timeout|Unsupported|Unauthorized|Forbidden|Duplicate|Conflict|Rejected|Refused|Crash(?:ed)?)\b.*|(?:[A-Z\x22'`(\[].*\b)(?:failed|FAILED|not found|does not exist|doesn't exist|was denied|is denied|refused|timed out|already exists|not recognized|is not supported|not allowed|is undefined|is unavailable|has expired|mismatch|rejected|forbidden|unauthorized|is missing|is invalid|is not valid|crashed|aborted|is not defined|cannot be found|could not be found|was not found|is required|is corrupt(?:ed)?|is unreachable|not installed)[.!]{0,3})$",
);
/// What is written for people, not by a program that failed.
static PROSE: Pattern = Pattern::new(
    r"(?i)\b(?:if|when|whenever|should|please note|you can|we|our|your|this (?:page|section|guide)|for example|e\.g\.|TODO|FIXME)\b",
);
const NOT_PROGRAMS: [&str; 35] = [
    "note",
    "hint",
    "help",
    "warning",
    "warn",
    "info",
    "debug",
    "trace",
    "see",
    "usage",
    "todo",
    "fixme",
    "http",
    "https",
    "file",
    "author",
    "subject",
    "from",
    "commit",
    "version",
    "name",
    "description",
    "status",
    "title",
    "summary",
    "feat",
    "fix",
    "docs",
    "chore",
    "refactor",
    "test",
    "perf",
    "style",
    "build",
    "x-error-count",
];

/// What kind of line it is: the better one counts.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Certainty {
    /// A sentence.
    Sentence,
    /// A program or a mark stands before the words.
    Form,
}

/// Reads a line by its form alone. `failed` says that another line reports a failing command.
pub(crate) fn recognize(log: &LogView<'_>, at: usize, failed: bool) -> Option<(Certainty, Finding)> {
    let line = log.line(at)?;
    let text = line.text.trim_end();
    let text = text.strip_prefix("==> ").or_else(|| text.strip_prefix("===> ")).unwrap_or(text);
    if !is_candidate(line, text) || super::is_foreseen(log, at) {
        return None;
    }
    if let Some(groups) = TITLED.captures(text) {
        let message = groups.get(2).trim();
        let next = log.text(at + 1).trim();
        if message.is_empty() && !next.is_empty() {
            return Some((
                Certainty::Form,
                generic(at, "app", &format!("{}: {next}", groups.get(1))).until(at + 1),
            ));
        }
        let is_prose = !failed && (PROSE.is_match(message) || has_sentences(message));
        if message.split_whitespace().count() >= 2 && !is_prose {
            return Some((Certainty::Form, generic(at, "app", text)));
        }
    }
    if matches!(text, "Error" | "ERROR" | "Error!" | "Error:" | "ERROR:" | "Fatal error" | "Failed:") {
        let next = log.text(at + 1).trim();
        return (next.len() > 5).then(|| (Certainty::Form, generic(at, "app", next).until(at + 1)));
    }
    if let Some(groups) = MARKED.captures(text) {
        let message = groups.get(1).trim();
        let is_said = message.split_whitespace().count() >= 2 && !message.contains(" | ");
        return is_said.then(|| (Certainty::Form, generic(at, "app", message)));
    }
    if text.starts_with([' ', '\t']) {
        return None;
    }
    if let Some(groups) = PROGRAM.captures(text) {
        let (program, message) = (groups.get(2), groups.get(3));
        let is_program = !NOT_PROGRAMS.contains(&program) && !program.contains("..");
        if is_program && WORDS.is_match(message) && !message.ends_with([';', '{', ',']) {
            return Some((Certainty::Form, program_finding(at, program, message)));
        }
        return None;
    }
    let is_short = text.split_whitespace().count() <= if failed { 30 } else { 16 };
    let is_prose = !failed && (PROSE.is_match(text) || has_prose_beside(log, at));
    if is_short && !is_prose && SENTENCE.is_match(text) {
        return Some((Certainty::Sentence, generic(at, "app", text)));
    }
    None
}

fn is_candidate(line: &Line, text: &str) -> bool {
    (6..=500).contains(&text.len())
        && !matches!(line.level, LineLevel::Info | LineLevel::Warning)
        && !line.structured
        && !text.ends_with(['?', ';', '{'])
        && !text.starts_with(['#', '*', '-', '|', '>', '+', '/', '<', '@', '&'])
        && !text.contains("://localhost:") | text.contains("rror")
        && !super::is_harmless(text)
        && !super::begins_with_level(text) | text.starts_with("Error") | text.starts_with("ERROR")
        && WORDS.is_match(text)
}

/// The program whose words they are, where it is one of a system.
pub(super) fn program_finding(at: usize, program: &str, message: &str) -> Finding {
    const KNOWN: [&str; 50] = [
        "awk",
        "gawk",
        "mawk",
        "curl",
        "node",
        "xmllint",
        "tar",
        "unzip",
        "zip",
        "gzip",
        "gunzip",
        "bzip2",
        "xz",
        "zstd",
        "7z",
        "gpg",
        "openssl",
        "ssh-keygen",
        "ssh-add",
        "sed",
        "grep",
        "find",
        "xargs",
        "sort",
        "date",
        "bc",
        "diff",
        "patch",
        "ffmpeg",
        "convert",
        "magick",
        "pandoc",
        "dot",
        "yq",
        "envsubst",
        "jq",
        "crontab",
        "mount",
        "umount",
        "useradd",
        "groupadd",
        "sudo",
        "su",
        "iptables",
        "modprobe",
        "sysctl",
        "ip",
        "strip",
        "objcopy",
        "ar",
    ];
    let mut finding = generic(at, "app", message);
    if let Some(known) = KNOWN.iter().find(|known| **known == program) {
        (*known).clone_into(&mut finding.tool);
        if finding.code.is_none() {
            (*known).clone_into(&mut finding.family);
        }
    }
    finding
}

/// Whether a text is more than one sentence.
fn has_sentences(text: &str) -> bool {
    text.split_once(". ")
        .is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_uppercase()) && rest.contains(' '))
}

/// Whether the lines around are sentences of a text.
fn has_prose_beside(log: &LogView<'_>, at: usize) -> bool {
    let is_sentence = |text: &str| {
        let words = text.split_whitespace().count();
        words >= 9 && (text.ends_with('.') || text.ends_with('?')) && !text.starts_with([' ', '['])
            || text.starts_with("# ") && words <= 8
            || text.starts_with("## ")
    };
    (at.saturating_sub(4)..at).chain(at + 1..at + 4).any(|index| is_sentence(log.text(index)))
}
