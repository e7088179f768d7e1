//! The last row of the table: lines of level ERROR and messages of programs that no other rule knows.

mod extensions;
pub(crate) mod forms;
pub(crate) mod last_resort;
pub(crate) mod located;

use crate::diagnosis::diagnostic::{Diagnostic, DiagnosticRole, ProblemClass};
use crate::diagnosis::errno;
use crate::diagnosis::finding::{Finding, LogView, class_by_words};
use crate::diagnosis::lines::{Line, LineLevel, parse_level};
use crate::diagnosis::pattern::Pattern;
use crate::diagnosis::tools::js::tap::belongs_to_passed_test;

static LEVELED: Pattern = Pattern::new(
    r"^(?:\[[^\]]{1,40}\] ?|[\w.-]+ - |\([^)]{1,40}\) )*\[? ?(ERROR|ERR|FATAL|CRITICAL|CRIT|SEVERE|PANIC|EMERG|ALERT|Error|error|fatal|critical|crit|emerg) *\]?(?:\([0-9]+\))?(?:[ :\t]+|$)(.*)$",
);
static ANY_LEVEL: Pattern = Pattern::new(
    r"^(?:\[[^\]]{1,40}\] ?|[\w.-]+ - )*\[?(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE|trace|debug|info|warn|warning|error)\]?(?:[ :\t]|$)",
);
static LOGGER: Pattern = Pattern::new(
    r"^(?:(?:[0-9]+ )?--- )?(?:(?:\[[^\]]*\]|\([^)]*\)|<[^>]*>)\s*)*(?:(?:[a-zA-Z_$][\w$]*(?:[.:/][\w$:]+)+|[A-Z][A-Za-z0-9_$]{2,40}|[\w.]+:[\w.]+:[0-9]+)\s*(?:\[[^\]]*\]\s*)?(?:--? |: +))?(.+)$",
);
static LOGRUS: Pattern =
    Pattern::new(r#"^(?:ERRO|FATA|PANI)\[[0-9]+\]\s*(.+?)(?:\s{2,}.*?(?:error="?([^"]+)"?.*)?)?$"#);
static THREAD_FIRST: Pattern =
    Pattern::new(r"^(?:main|[\w.-]*[Tt]hread[\w.-]*|[a-z]+(?:-[\w]+)*-[0-9]+) (?:ERROR|FATAL|SEVERE) +(.+)$");
static RAILS: Pattern = Pattern::new(
    r"^(?:\[[0-9a-f-]{8,}\] )?((?:[A-Z]\w*::)+[A-Z]\w*(?:Error|NotFound|Invalid|Exception|Missing)) \((.+)\):?$",
);
static PYTHON_LOGGING: Pattern = Pattern::new(r"^(ERROR|CRITICAL):([\w.]+):(.+)$");
static PROGRAM: Pattern =
    Pattern::new(r"^([A-Za-z][\w.+/-]*(?:\[[0-9]+\])?): (?:(?:fatal )?[Ee]rror|ERROR|fatal|FATAL): (.+)$");
static PLAIN: Pattern = Pattern::new(
    r"^(?:\[(?:ERROR|Error|error|FATAL|CRITICAL)\]:? ?|(?:[Ee]rror|ERROR|[Ff]atal(?: error)?|FATAL|CRITICAL)(?: \[(\w+)\])?[:!]\s+)(.+)$",
);
static KIND: Pattern = Pattern::new(
    r"^(?:Uncaught |Unhandled exception: |\[[\w -]+\] )?((?:[A-Za-z_]\w*(?:\.|::|\\))*[A-Z]\w*(?:Error|Exception|Fault|Failure|Violation))(?: \[(\w+)\])?: (.+)$",
);
static CHINESE: Pattern =
    Pattern::new(r"^(?:\[[^\]]*\]\s*)*(?:\S{0,12}?)(?:错误|异常|报错|失败)\s*[：:]\s*(.+)$");
static TOOL_RESULT: Pattern = Pattern::new(r#"^\*\*TOOLRESULT\*\*: \{.*"status": ?"error""#);
static FAILED_TO: Pattern = Pattern::new(
    r"^(?:([\w.-]+): )?((?:Failed to|failed to|Unable to|unable to|Could not|could not|Cannot|Can't|FAILED to|Couldn't) [a-z]+ .+)$",
);
static BUILD_FAILED: Pattern = Pattern::new(
    r"^(?:Build|Compilation|Deployment|Deploy|Migration|Job|Task|Command|Installation|Upload|Test run|Tests|Lint|Type ?check)(?: \S+)? (?:failed|FAILED)(?:[.:!]|$| with| after)(.*)$",
);

/// Lines that speak of errors and report none.
const HARMLESS: [&str; 26] = [
    "none",
    "0 errors",
    "no error",
    "no errors",
    "error: none",
    "errors: 0",
    "without error",
    "not an error",
    "error handling",
    "error-handling",
    "error rate",
    "0 failed",
    "error count: 0",
    "ignored",
    "is deprecated",
    "retrying",
    "errors=0",
    "error=null",
    "error=nil",
    "error: null",
    "error: nil",
    "error: 0",
    "error: false",
    "errors: none",
    "errors: []",
    "fixed",
];

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let line = log.line(at)?;
    let text = line.text.trim_end();
    if text.len() < 4 || text.starts_with([' ', '\t']) && line.level != LineLevel::Error {
        return None;
    }
    if TOOL_RESULT.is_match(text) {
        let mut finding = generic(at, "app", text);
        finding.plain = Some(text.to_owned());
        return Some(finding);
    }
    if is_harmless(text) || is_foreseen(log, at) {
        return None;
    }
    recognize_structured(line, at)
        .or_else(|| recognize_level(line, at))
        .or_else(|| recognize_plain(line, at))
        .or_else(|| recognize_words(line, at))
}

/// What was foreseen is no problem: a line says so, or the test that printed it passed.
pub(super) fn is_foreseen(log: &LogView<'_>, at: usize) -> bool {
    let text = log.text(at).trim_start();
    let says_so = text
        .get(..6)
        .filter(|start| start.eq_ignore_ascii_case("expect"))
        .and_then(|_| text.get(6..))
        .is_some_and(|rest| {
            rest.starts_with("ed: ") || rest.starts_with("ing: ") || rest.starts_with("ed error")
        });
    says_so || belongs_to_passed_test(log, at)
}

fn is_harmless(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    HARMLESS.iter().any(|words| {
        lower.match_indices(words).any(|(at, _)| {
            let rest = &lower[at + words.len()..];
            rest.is_empty() || rest.starts_with([',', ';'])
        })
    })
}

fn generic(at: usize, family: &str, message: &str) -> Finding {
    let mut finding = Finding::new("app", family, ProblemClass::UnknownError, at)
        .message(message)
        .role(DiagnosticRole::Generic);
    if let Some(error) = errno::classify("", message) {
        finding.apply_system(error);
        return finding;
    }
    if message.contains("deadline exceeded") {
        return with_class(finding.code("deadline_exceeded"), ProblemClass::Timeout);
    }
    if let Some(class) = class_by_words("", message) {
        finding.class = class;
    }
    finding
}

fn with_class(mut finding: Finding, class: ProblemClass) -> Finding {
    finding.class = class;
    finding
}

/// JSON, logfmt, klog and lines that a CI system marked.
fn recognize_structured(line: &Line, at: usize) -> Option<Finding> {
    if line.level != LineLevel::Error || line.text.starts_with("[ERROR]") || line.text.starts_with("[error]")
    {
        return None;
    }
    let text = line.text.trim();
    if text.is_empty() {
        return None;
    }
    Some(with_kind(generic(at, "app", text), text))
}

/// A message that begins with the name of an exception has it as its code.
fn with_kind(finding: Finding, message: &str) -> Finding {
    if finding.code.is_some() {
        return finding;
    }
    match KIND.captures(message) {
        Some(groups) => {
            let kind = groups.get(1).rsplit(['.', ':', '\\']).next().unwrap_or_default().to_owned();
            let class = if finding.class == ProblemClass::UnknownError {
                ProblemClass::Exception
            } else {
                finding.class
            };
            let mut finding = with_class(finding.code(kind).message(groups.get(3)), class);
            "any".clone_into(&mut finding.family);
            finding
        }
        None => finding,
    }
}

/// `ERROR [thread] logger - M`, after a time or alone.
fn recognize_level(line: &Line, at: usize) -> Option<Finding> {
    let text = line.text.trim();
    if let Some(groups) = PYTHON_LOGGING.captures(text) {
        return Some(with_kind(generic(at, "app", groups.get(3).trim()), groups.get(3).trim()));
    }
    if let Some(groups) = LOGRUS.captures(text) {
        let message = match groups.some(2) {
            Some(error) => format!("{}: {error}", groups.get(1).trim()),
            None => groups.get(1).trim().to_owned(),
        };
        return Some(with_kind(generic(at, "app", &message), &message));
    }
    if let Some(groups) = line.stamped.then(|| THREAD_FIRST.captures(text)).flatten() {
        let message = groups.get(1);
        return Some(with_kind(generic(at, "app", message), message));
    }
    let groups = LEVELED.captures(text)?;
    let word = groups.get(1);
    let upper = word.bytes().all(|b| b.is_ascii_uppercase());
    // `[ERROR] x` and `error: x` keep the old form of their signature.
    let is_plain = PLAIN.is_match(text);
    if is_plain && !line.stamped || !upper && !line.stamped && !text.starts_with('[') {
        return None;
    }
    if parse_level(word) != LineLevel::Error && word != "PANIC" {
        return None;
    }
    let rest = groups.get(2).trim().trim_start_matches(['-', ':', '|']).trim_start();
    if rest.is_empty() || !upper && !line.stamped && rest.split_whitespace().count() < 2 {
        return None;
    }
    // `ERROR` at the start of a sentence is a level only where it stands apart.
    // env_logger closes the bracket after the module.
    let rest = rest
        .split_once("] ")
        .filter(|(module, _)| {
            !module.is_empty()
                && module.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b':' | b'_' | b'.'))
        })
        .map_or(rest, |(_, rest)| rest);
    // The name of an exception is no logger.
    let is_kind = KIND.is_match(rest);
    let message = if is_kind { rest } else { LOGGER.captures(rest).map_or(rest, |groups| groups.get(1)) };
    let message = if message.trim().is_empty() { rest } else { message };
    let mut finding = with_kind(generic(at, "app", message), message);
    if is_plain && finding.code.is_none() {
        finding.plain = Some(text.to_owned());
        finding.message = PLAIN.captures(text).map_or(message.to_owned(), |groups| groups.get(2).to_owned());
    }
    Some(finding)
}

/// Lines without a time: `[ERROR] x`, `error: x`, `program: error: x`, `SomeError: x`, 错误：x.
fn recognize_plain(line: &Line, at: usize) -> Option<Finding> {
    let text = line.text.trim_end();
    if let Some(groups) = PLAIN.captures(text) {
        let message = groups.get(2);
        let mut finding = generic(at, "app", message);
        if finding.code.is_none() {
            if let Some(code) = groups.some(1) {
                finding = finding.code(code);
            }
            let with = with_kind(finding.clone(), message);
            if with.code.is_some() && finding.code.is_none() {
                return Some(with);
            }
            finding.plain = Some(text.to_owned());
        }
        return Some(finding);
    }
    if let Some(groups) = KIND.captures(text) {
        let kind = groups.get(1).rsplit(['.', ':', '\\']).next().unwrap_or_default().to_owned();
        if kind.ends_with("Warning") {
            return None;
        }
        let mut finding = generic(at, "any", groups.get(3));
        if finding.family == "any" {
            let class = if finding.class == ProblemClass::UnknownError {
                ProblemClass::Exception
            } else {
                finding.class
            };
            finding = with_class(finding.code(kind), class);
            finding.plain = Some(text.to_owned());
        }
        return Some(finding);
    }
    if text.contains("::")
        && let Some(groups) = RAILS.captures(text)
    {
        let kind = groups.get(1).rsplit("::").next().unwrap_or_default().to_owned();
        return Some(
            Finding::new("ruby", "ruby", ProblemClass::Exception, at).code(kind).message(groups.get(2)),
        );
    }
    if let Some(groups) = PROGRAM.captures(text) {
        return Some(last_resort::program_finding(at, groups.get(1), groups.get(2)));
    }
    if text.contains(['错', '异', '报', '失']) {
        let groups = CHINESE.captures(text)?;
        let mut finding = generic(at, "app", groups.get(1));
        if text.starts_with('错')
            || text.starts_with('异')
            || text.starts_with('报')
            || text.starts_with('失')
        {
            finding.plain = Some(text.to_owned()).filter(|_| finding.code.is_none());
        }
        return Some(finding);
    }
    None
}

/// Sentences that report a failure without a level.
fn recognize_words(line: &Line, at: usize) -> Option<Finding> {
    let text = line.text.trim_end();
    if text.len() > 300 || text.ends_with('?') {
        return None;
    }
    if BUILD_FAILED.is_match(text) {
        return Some(generic(at, "app", text));
    }
    let groups = FAILED_TO.captures(text)?;
    Some(last_resort::program_finding(at, groups.get(1), groups.get(2)))
}

/// Whether a line states a level first.
pub(crate) fn begins_with_level(text: &str) -> bool {
    ANY_LEVEL.is_match(text)
}

/// A diagnostic for a bare text, as a last resort.
pub(crate) fn from_text(text: &str) -> Option<Diagnostic> {
    let mut finding = generic(0, "app", text);
    if finding.code.is_none() {
        finding.plain = Some(text.to_owned());
    }
    Some(finding.into_diagnostic(&[]))
}
