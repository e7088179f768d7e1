//! Python tracebacks, with chains of exceptions.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView, class_by_words};
use crate::diagnosis::frames::{StackFrame, is_comprehension, is_in_app, parse_python};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;
use crate::diagnosis::tools::sql;

/// One exception of a chain.
#[derive(Clone, Debug, Default)]
pub(crate) struct PythonException {
    /// With its module.
    pub kind: String,
    pub message: String,
    pub frames: Vec<StackFrame>,
    /// Whether the next exception names this one as its direct cause.
    is_direct_cause: bool,
    pub last: usize,
}

impl PythonException {
    /// The last frame of the user's own code.
    pub(crate) fn in_app_frame(&self) -> Option<&StackFrame> {
        self.frames.iter().rev().find(|frame| is_in_app("", &frame.file))
    }

    pub(crate) fn short_kind(&self) -> &str {
        self.kind.rsplit('.').next().unwrap_or(&self.kind)
    }
}

const HEADER: &str = "Traceback (most recent call last)";

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.contains(HEADER) {
        let (exception, last) = read_chain(log, at)?;
        return Some(to_finding("python", &exception, at).until(last));
    }
    if text.contains("No module named ") {
        let groups = RUN_MODULE.captures(text)?;
        let name = groups.get(1).trim_matches('\'');
        return Some(
            Finding::new("python", "python", ProblemClass::DependencyError, at)
                .code("ModuleNotFoundError")
                .message(format!("No module named {}", symbol(name))),
        );
    }
    if text.contains("File \"") {
        return recognize_syntax(log, at);
    }
    None
}

/// `python -m` names the interpreter, not an exception.
static RUN_MODULE: Pattern = Pattern::new(
    r"^(?:\S*/)?python[0-9.]*: (?:Error while finding module specification.*)?No module named ('?[\w.]+'?)",
);
static KIND: Pattern = Pattern::new(r"^([A-Za-z_][\w.]*)(?:: (.*)|:)?$");

/// Reads a traceback and those that follow it, and chooses the exception that is the problem.
pub(crate) fn read_chain(log: &LogView<'_>, at: usize) -> Option<(PythonException, usize)> {
    let mut chain = vec![read_one(log, at)?];
    loop {
        let last = chain.last()?.last;
        // A message may go on for some lines before the next traceback.
        let linked = log.find_after(last, 8, |text| {
            let plain = text.trim_start_matches([' ', '|', '+']);
            if plain.starts_with("The above exception was the direct cause") {
                Some(true)
            } else if plain.starts_with("During handling of the above exception") {
                Some(false)
            } else {
                None
            }
        });
        let Some((index, direct)) = linked else { break };
        let Some((header, ())) = log.find_after(index, 3, |text| text.contains(HEADER).then_some(())) else {
            break;
        };
        let Some(next) = read_one(log, header) else { break };
        if let Some(previous) = chain.last_mut() {
            previous.is_direct_cause = direct;
        }
        chain.push(next);
    }
    let last = chain.last()?.last;
    let mut chosen = chain.len() - 1;
    for at in (0..chain.len() - 1).rev() {
        if !chain[at].is_direct_cause {
            break;
        }
        if chain[at].in_app_frame().is_some() {
            chosen = at;
        }
    }
    // A time limit cancels what it waits for.
    if chain[chosen].short_kind() == "CancelledError" && chain.len() > chosen + 1 {
        let frames = std::mem::take(&mut chain[chosen].frames);
        chosen += 1;
        if chain[chosen].in_app_frame().is_none() {
            chain[chosen].frames = frames;
        }
    }
    Some((chain.swap_remove(chosen), last))
}

/// Reads one traceback: its frames and the line that names the exception.
fn read_one(log: &LogView<'_>, at: usize) -> Option<PythonException> {
    let header = log.text(at);
    let start = header.find("Traceback")?;
    // Inside an exception group every line begins with a bar.
    let is_group = header.contains("+ Exception Group")
        || header.trim_start().starts_with('|')
        || header.trim_start().starts_with('+');
    let indent = if header[..start].trim().is_empty() { start } else { 0 };
    let strip = |text: &'_ str| -> String {
        if is_group {
            let plain = text.trim_start();
            let plain = plain.strip_prefix("| ").or_else(|| plain.strip_prefix("+ ")).unwrap_or(plain);
            return plain.to_owned();
        }
        let spaces = text.len() - text.trim_start_matches(' ').len();
        text.get(indent.min(spaces)..).unwrap_or(text).to_owned()
    };
    let mut exception = PythonException::default();
    for index in at + 1..(at + 600).min(log.len()) {
        let text = strip(log.text(index));
        if text.starts_with([' ', '\t']) || text.is_empty() {
            if text.is_empty() && index > at + 1 && exception.frames.is_empty() {
                return None;
            }
            if let Some(frame) = parse_python(&text)
                && !is_comprehension(&text)
            {
                exception.frames.push(frame);
            }
            continue;
        }
        let groups = KIND.captures(text.trim_end())?;
        exception.kind = groups.get(1).to_owned();
        exception.message = groups.get(2).to_owned();
        if exception.message.is_empty() && text.ends_with(':') {
            exception.message = strip(log.text(index + 1)).trim().to_owned();
        }
        exception.last = index;
        return Some(exception);
    }
    None
}

/// The class of an exception by its name.
pub(crate) fn class_of(kind: &str) -> ProblemClass {
    match kind {
        "SyntaxError" | "IndentationError" | "TabError" => ProblemClass::SyntaxError,
        "ModuleNotFoundError" | "PackageNotFoundError" | "DistributionNotFound" | "VersionConflict" => {
            ProblemClass::DependencyError
        }
        "MemoryError" | "OutOfMemoryError" => ProblemClass::OutOfMemory,
        "TimeoutError" | "TimeoutExpired" | "ReadTimeout" | "ConnectTimeout" => ProblemClass::Timeout,
        _ => ProblemClass::Exception,
    }
}

/// An exception as a problem of its own, outside of a test.
pub(crate) fn to_finding(tool: &str, exception: &PythonException, at: usize) -> Finding {
    let kind = exception.short_kind();
    let mut finding = Finding::new(tool, "python", class_of(kind), at)
        .code(kind)
        .message(exception.message.clone())
        .values(kind == "AssertionError")
        .at_frame(exception.in_app_frame());
    if let Some(error) = sql::classify(&exception.kind, &exception.message, "") {
        sql::apply(&mut finding, error);
        return finding;
    }
    if finding.class != ProblemClass::SyntaxError && finding.class != ProblemClass::DependencyError {
        finding = finding.or_system();
    } else if let Some(class) = class_by_words(kind, "") {
        finding.class = class;
    }
    finding
}

/// A syntax error that the interpreter prints without a traceback.
fn recognize_syntax(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let frame = parse_python(log.text(at))?;
    let (index, (kind, message)) = log.find_after(at, 6, |text| {
        let text = text.trim_start_matches("E ").trim_start();
        let (kind, message) = text.split_once(": ").unwrap_or((text, ""));
        ["SyntaxError", "IndentationError", "TabError"]
            .contains(&kind)
            .then(|| (kind.to_owned(), message.to_owned()))
    })?;
    Some(
        Finding::new("python", "python", ProblemClass::SyntaxError, at)
            .code(kind)
            .message(message)
            .position(&frame.file, frame.line)
            .until(index),
    )
}
