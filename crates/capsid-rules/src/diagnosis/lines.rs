//! From raw lines to the text that a tool printed: colors, time stamps and the prefixes of CI systems are removed.

use super::pattern::Pattern;
use super::structured;

/// The longest line that is read; the rest of a longer one is dropped.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// The level that a line states about itself.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum LineLevel {
    #[default]
    Unstated,
    Info,
    Warning,
    Error,
}

/// One line without its prefixes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// Its number in the log, counted from one.
    pub number: usize,
    pub text: String,
    pub level: LineLevel,
    /// Whether a time stood before it.
    pub stamped: bool,
    /// Whether it was JSON or logfmt.
    pub structured: bool,
    /// The service whose output it is, where several write into one log.
    pub service: Option<String>,
    /// The module that a structured line names.
    pub logger: Option<String>,
}

impl Line {
    pub(crate) fn from_clean(number: usize, text: &str) -> Self {
        Self { number, text: text.to_owned(), ..Self::default() }
    }

    /// The text without a leading `[ERROR] `.
    pub(crate) fn body(&self) -> &str {
        let text = self.text.as_str();
        text.strip_prefix("[ERROR]")
            .or_else(|| text.strip_prefix("[error]"))
            .map_or(text, |rest| rest.strip_prefix(' ').unwrap_or(rest))
    }
}

/// Reads one raw line. A structured line can hold several: a message and its stack.
pub(crate) fn read_line(number: usize, raw: &str, out: &mut Vec<Line>) {
    let raw = raw.get(..raw.floor_char_boundary(MAX_LINE_BYTES)).unwrap_or(raw);
    let text = strip_controls(raw);
    let text = text.trim_end();
    let text = text.rsplit('\r').next().unwrap_or(text);
    let mut line = Line { number, ..Line::default() };
    let rest = strip_prefixes(text, &mut line);
    if structured::expand(rest, &line, out) {
        return;
    }
    rest.clone_into(&mut line.text);
    out.push(line);
}

/// Removes escape sequences of terminals.
fn strip_controls(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.bytes().any(|b| b == 0x1b || b == 0 || b == 8) && !text.starts_with('\u{feff}') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
                Some(']' | '_' | 'P' | '^' | 'X') => {
                    while let Some(c) = chars.next() {
                        if c == '\u{7}' {
                            break;
                        }
                        if c == '\u{1b}' {
                            chars.next();
                            break;
                        }
                    }
                }
                Some('(' | ')' | '#' | '%') => {
                    chars.next();
                }
                _ => {}
            },
            '\0' | '\u{8}' | '\u{feff}' => {}
            c => out.push(c),
        }
    }
    out.into()
}

static ISO: Pattern = Pattern::new(
    r"^[\[(]?[0-9]{4}[-/.][0-9]{2}[-/.][0-9]{2}(?:[T _]?[ ]?[0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:[.,:][0-9]+)?[ ]?(?:Z|UTC|GMT|C?E?S?T|EDT|P[SD]T|M[SD]T|CDT|BST|JST|[+-][0-9]{2}:?[0-9]{2})?)?[\])]?[:,|]?(?:[ \t]|$)",
);
static SYSLOG: Pattern = Pattern::new(
    r"^(?:<[0-9]+>)?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ 0-9]?[0-9] [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)? [\w.:-]+ (?:[\w./@()-]+(?:\[[0-9]+\])?:(?: |$))?",
);
static AFTER_ISO: Pattern = Pattern::new(
    r"^(?:[0-9]{2}[OE]\+? ?|[\w.-]+ (?:kernel|systemd)(?:\[[0-9]+\])?: |[\w.-]+ [\w./-]+\[[0-9]+\]: |(?:app|heroku)\[[\w.-]+\]: |[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}[ \t]+|\[[0-9]+(?:-[0-9]+)?\] (?:[\w-]+@[\w-]+ )?)",
);
static POSTGRES_PID: Pattern = Pattern::new(
    r"^\[[0-9]+\] (?:[\w-]+@[\w-]+ )?(?:LOG|ERROR|FATAL|PANIC|DETAIL|HINT|STATEMENT|WARNING|NOTICE|CONTEXT):",
);
static CLOCK: Pattern = Pattern::new(
    r"^[0-9]{2}/[0-9]{2}/[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)? |^[0-9]{1,2}:[0-9]{2}[AP]M |^\[?[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?: ?[APap][Mm])?(?:\]:?(?:[ \t]|$)|:?[ \t]+)",
);
static KERNEL: Pattern = Pattern::new(r"^\[ *[0-9]+\.[0-9]{3,}\] ");
static KLOG: Pattern =
    Pattern::new(r"^[IWEF][0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]+ +[0-9]+ [\w.-]+:[0-9]+\] ");
static COMPOSE: Pattern = Pattern::new(r"^([A-Za-z][\w.-]*) +\|(?: |$)");
static POD: Pattern = Pattern::new(r"^\[pod/[\w./-]+\] |^\[[^\]\[]+/[^\]\[]+\] +\| ");
static TASK: Pattern = Pattern::new(
    r"^(?:@[\w.-]+/[\w.-]+: |@?[\w./-]+:(?:build|test|lint|dev|typecheck|type-check|check|check-types|start|compile)(?::[\w-]+)*: |[@\w./-]+ (?:build|test|lint|dev|start|typecheck|compile|install|postinstall|prepare)(?::[\w-]+)*: )",
);
static STEP: Pattern = Pattern::new(r"^#[0-9]+ [0-9]+\.[0-9]{2,3}(?: |$)|^[0-9]+\.[0-9]{2,3} ");
static STEP_NAME: Pattern = Pattern::new(
    r"^#[0-9]+ (?:\[|ERROR|DONE|CACHED|CANCELED|WARN|sha256:|exporting|naming|transferring|load|resolve|writing)",
);
static APACHE: Pattern = Pattern::new(
    r"^\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} [ 0-9][0-9] [0-9:.]+ [0-9]{4}\] (?:\[[^\]]+\] )*",
);
static LEVEL_TAG: Pattern = Pattern::new(r"(?i)^\[(info|debug|trace|notice|warn|warning|error)\] ?");

/// Removes up to three prefixes (a second part of a stamp does not count).
fn strip_prefixes<'t>(text: &'t str, line: &mut Line) -> &'t str {
    let mut rest = text;
    let mut after_iso = false;
    for _ in 0..4 {
        let Some(first) = rest.bytes().next() else { break };
        let before = rest.len();
        rest = strip_one(rest, first, after_iso, line);
        if rest.len() == before {
            break;
        }
        after_iso = line.stamped;
    }
    rest
}

fn strip_one<'t>(rest: &'t str, first: u8, after_iso: bool, line: &mut Line) -> &'t str {
    let skip = |pattern: &Pattern| pattern.find_range(rest).map(|range| range.end);
    if rest.starts_with("##[") {
        return strip_marker(rest, line);
    }
    if let Some(rest) = rest.strip_prefix("INTERNALERROR> ") {
        return rest;
    }
    let mut end = None;
    let mut is_time = false;
    if first.is_ascii_digit() || matches!(first, b'[' | b'(') {
        end = skip(&ISO).or_else(|| skip(&CLOCK)).or_else(|| skip(&KERNEL)).or_else(|| skip(&APACHE));
        is_time = end.is_some();
    }
    if end.is_none() && after_iso && POSTGRES_PID.is_match(rest) {
        let rest = rest.split_once("] ").map_or(rest, |(_, rest)| rest);
        return rest.split_once(' ').filter(|(head, _)| head.contains('@')).map_or(rest, |(_, rest)| rest);
    }
    if end.is_none() && after_iso && (first != b'[' || rest.len() > 1) {
        end = skip(&AFTER_ISO).filter(|_| first != b'[');
    }
    if end.is_none() && (first == b'#' || first.is_ascii_digit()) {
        end = skip(&STEP);
        if end.is_none() && STEP_NAME.is_match(rest) {
            end = rest.find(' ').map(|at| at + 1);
        }
    }
    if end.is_none() && first == b'[' {
        if let Some(groups) = LEVEL_TAG.captures(rest) {
            line.level = parse_level(groups.get(1));
            if line.level == LineLevel::Error {
                return rest;
            }
            end = Some(groups.range().end);
        } else {
            end = skip(&POD);
        }
    }
    if end.is_none() && (first.is_ascii_alphabetic() || matches!(first, b'<' | b'@')) {
        if let Some(stop) = skip(&SYSLOG) {
            (end, is_time) = (Some(stop), true);
        } else if let Some(stop) = skip(&KLOG) {
            line.level = match first {
                b'E' | b'F' => LineLevel::Error,
                b'W' => LineLevel::Warning,
                _ => LineLevel::Info,
            };
            (end, is_time) = (Some(stop), true);
        } else if let Some(groups) = rest.contains('|').then(|| COMPOSE.captures(rest)).flatten() {
            line.service.get_or_insert_with(|| groups.get(1).to_owned());
            end = Some(groups.range().end);
        } else if rest.contains(": ") {
            end = skip(&TASK);
        }
    }
    line.stamped |= is_time;
    let stripped = end.and_then(|end| rest.get(end..)).unwrap_or(rest);
    // Python's logging puts a dash between its fields.
    match stripped.strip_prefix("- ") {
        Some(after)
            if is_time
                && rest.get(..rest.len() - stripped.len()).is_some_and(|stamp| stamp.contains(',')) =>
        {
            after
        }
        _ => stripped,
    }
}

/// Markers of GitHub and Azure. Groups and commands stay: they begin a segment.
fn strip_marker<'t>(rest: &'t str, line: &mut Line) -> &'t str {
    for (marker, level) in [
        ("##[error]", LineLevel::Error),
        ("##[warning]", LineLevel::Warning),
        ("##[debug]", LineLevel::Info),
        ("##[notice]", LineLevel::Info),
    ] {
        if let Some(rest) = rest.strip_prefix(marker) {
            line.level = level;
            return rest;
        }
    }
    rest
}

/// A level by its usual names.
pub(crate) fn parse_level(name: &str) -> LineLevel {
    match name.to_ascii_lowercase().as_str() {
        "error" | "err" | "fatal" | "critical" | "crit" | "panic" | "dpanic" | "alert" | "emerg"
        | "emergency" | "severe" => LineLevel::Error,
        "warn" | "warning" => LineLevel::Warning,
        "info" | "debug" | "trace" | "notice" | "verbose" | "information" | "log" => LineLevel::Info,
        _ => LineLevel::Unstated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(raw: &str) -> String {
        let mut out = Vec::new();
        read_line(1, raw, &mut out);
        out.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn prefixes_of_ci_systems_and_loggers_are_removed() {
        for raw in [
            "2026-11-03T08:15:22.0370001Z error: x",
            "2026-11-03 08:15:22,004 error: x",
            "2026/11/03 08:15:22 error: x",
            "[2026-11-03T08:15:22+01:00] error: x",
            "Nov  3 08:15:22 host app[12]: error: x",
            "[91231.118824] error: x",
            "E1116 13:38:29.182955   27190 memcache.go:265] error: x",
            "[12:00:01] error: x",
            "web-1  | error: x",
            "web-1  | 2026-11-03T08:15:22Z error: x",
            "#8 1.82 error: x",
            "2026-11-03T08:15:22Z ##[error]error: x",
            "[INFO] error: x",
            "\u{1b}[31;1merror\u{1b}[0m: x\r",
            "10%\r50%\rerror: x",
            "2026-11-03T08:15:22.123456Z 00O error: x",
            "{\"log\":\"error: x\\n\",\"stream\":\"stderr\"}",
        ] {
            assert_eq!(clean(raw), "error: x", "{raw:?}");
        }
    }

    #[test]
    fn a_prefix_takes_one_space_and_leaves_an_empty_line_empty() {
        assert_eq!(clean("[12:00:01]   File \"a.py\", line 2, in f"), "  File \"a.py\", line 2, in f");
        for raw in ["[12:00:01] ", "Nov  3 08:15:22 host app[12]: ", "#8 1.82 ", "#8 1.82"] {
            assert_eq!(clean(raw), "", "{raw:?}");
        }
    }

    #[test]
    fn what_is_no_prefix_stays() {
        for raw in [
            "  --> src/lib.rs:1:12",
            "12 | let x = 1;",
            "#0 /srv/a.php(8): owner(Array)",
            "[ERROR] cache is cold",
            "    at greet (/srv/a.js:7:24)",
            "1) Cart adds",
        ] {
            assert_eq!(clean(raw), raw);
        }
    }
}
