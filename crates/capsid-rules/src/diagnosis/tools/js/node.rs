//! Exceptions of Node.js, Deno and Bun.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::errno;
use crate::diagnosis::finding::{Finding, LogView, class_by_words};
use crate::diagnosis::frames::{StackFrame, is_in_app, is_js_in_app, parse_js};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;
use crate::diagnosis::tools::sql;

static THROWN: Pattern = Pattern::new(
    r"^(?:.*?\b(?:Uncaught(?: \(in promise\))?|Unhandled[\w ]*?|UnhandledPromiseRejectionWarning|triggerUncaughtException)[:,]? +)?(?:error: (?:Uncaught (?:\(in promise\) )?)?)?\[?((?:[A-Za-z_$][\w$]*\.)*[A-Z][\w$]*(?:Error|Exception|Rejection|Warning)|Error|error)(?: \[(\w+)\])?(?:: (.*)|:)?$",
);
static CODE_FIELD: Pattern = Pattern::new(r"^\s*(?:code|\[?errorCode\]?): '([\w-]+)',?$");
static CAUSE: Pattern = Pattern::new(r"^\s*\[cause\]: (?:([A-Z]\w*): )?(.+)$");
static SOURCE_LINE: Pattern = Pattern::new(r"^(?:file://)?([/\\.\w][^:]*\.[cm]?[jt]sx?):([0-9]+)$");
static MODULE: Pattern =
    Pattern::new(r#"Cannot find (?:module|package) ['"]([^'"]+)['"]|Module not found "([^"]+)""#);

/// An exception with its stack.
pub(crate) struct JsException {
    pub kind: String,
    pub code: String,
    pub message: String,
    pub frame: Option<StackFrame>,
    pub last: usize,
}

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.contains("heap out of memory") && (text.contains("FATAL ERROR") || text.contains("JavaScript")) {
        return Some(
            Finding::new("node", "js", ProblemClass::OutOfMemory, at)
                .code("heap_out_of_memory")
                .message("JavaScript heap out of memory"),
        );
    }
    if log.text(at + 1).starts_with("(Use `node --trace-uncaught") {
        let frame = source_position(log, at);
        return Some(
            Finding::new("node", "js", ProblemClass::Exception, at)
                .code("throw")
                .message(text.trim_start_matches("Uncaught "))
                .at_frame(frame.as_ref())
                .until(at + 1),
        );
    }
    if !text.contains("Error")
        && !text.contains("error")
        && !text.contains("Exception")
        && !text.contains("Rejection")
    {
        return None;
    }
    let exception = read_exception(log, at)?;
    Some(to_finding("node", exception, at))
}

/// Reads `Type [CODE]: message` and the frames below it.
pub(crate) fn read_exception(log: &LogView<'_>, at: usize) -> Option<JsException> {
    let text = log.text(at).trim_start();
    let groups = THROWN.captures(text)?;
    let (first_frame, ()) = log.find_after(at, 7, |text| is_frame(text).then_some(()))?;
    // Another exception between the two has the frames.
    if (at + 1..first_frame).any(|index| {
        !log.text(index).starts_with(' ')
            && THROWN.captures(log.text(index)).is_some_and(|groups| groups.some(3).is_some())
    }) {
        return None;
    }
    let mut exception = JsException {
        kind: groups.get(1).to_owned(),
        code: groups.get(2).to_owned(),
        message: groups.get(3).trim_end_matches(['{', ' ']).trim_end_matches(']').to_owned(),
        frame: None,
        last: first_frame,
    };
    if exception.message.is_empty() && first_frame > at + 1 {
        log.text(at + 1).trim().clone_into(&mut exception.message);
    }
    let mut index = first_frame;
    while index < (first_frame + 120).min(log.len()) {
        let text = log.text(index);
        if is_frame(text) {
            if let Some(frame) = parse_js(text)
                && exception.frame.is_none()
                && is_js_in_app(&frame)
            {
                exception.frame = Some(frame);
            }
        } else if !read_property(text, &mut exception) && !text.starts_with("Emitted '") {
            break;
        }
        exception.last = index;
        index += 1;
    }
    if exception.frame.is_none() || exception.kind.ends_with("SyntaxError") {
        exception.frame = source_position(log, at).or(exception.frame);
    }
    Some(exception)
}

fn is_frame(text: &str) -> bool {
    let plain = text.trim_start();
    plain.starts_with("at ") && parse_js(text).is_some()
}

/// Fields that Node.js prints below a stack.
fn read_property(text: &str, exception: &mut JsException) -> bool {
    let plain = text.trim();
    if let Some(groups) = CODE_FIELD.captures(plain) {
        if exception.code.is_empty() {
            groups.get(1).clone_into(&mut exception.code);
        }
        return true;
    }
    if let Some(groups) = plain.contains("[cause]").then(|| CAUSE.captures(plain)).flatten() {
        let said = groups.get(2).trim_end_matches(['{', ' ']);
        if errno::classify(groups.get(1), said).is_some() {
            said.clone_into(&mut exception.message);
        }
        return true;
    }
    let is_field = text.starts_with("  ") || matches!(plain, "}" | "]" | "},");
    is_field && !plain.is_empty() && !plain.contains("●")
}

/// The line `path:line` that Node.js prints above the source of a syntax error.
fn source_position(log: &LogView<'_>, at: usize) -> Option<StackFrame> {
    let (_, frame) = log.find_before(at, 8, |text| {
        let groups = SOURCE_LINE.captures(text)?;
        let file = groups.get(1).to_owned();
        is_in_app("", &file).then(|| StackFrame { function: None, file, line: groups.number(2) })
    })?;
    Some(frame)
}

pub(crate) fn to_finding(tool: &str, exception: JsException, at: usize) -> Finding {
    let JsException { kind, code, message, frame, last } = exception;
    let short = kind.rsplit('.').next().unwrap_or(&kind).to_owned();
    // Data that a program reads is not its source.
    let is_data = message.contains("JSON") && short == "SyntaxError";
    let class = if is_data { ProblemClass::Exception } else { class_of(&short) };
    let message = match message.split_once(", \"") {
        Some((said, _)) if is_data && message.ends_with("is not valid JSON") => {
            format!("{said} is not valid JSON")
        }
        _ => message,
    };
    let mut finding = Finding::new(tool, "js", class, at)
        .code(if short == "error" { "Error".to_owned() } else { short.clone() })
        .message(message.clone())
        .values(short == "AssertionError")
        .at_frame(frame.as_ref())
        .until(last);
    if let Some((name, class)) = missing_module(&message) {
        finding.class = class;
        return finding.code("MODULE_NOT_FOUND").message(format!("Cannot find module {}", symbol(&name)));
    }
    if let Some(error) = sql::classify(&kind, &message, &code) {
        sql::apply(&mut finding, error);
        return finding;
    }
    let named = if code.starts_with("ERR_") && !code.starts_with("ERR_TLS") { "" } else { code.as_str() };
    if let Some(error) = errno::classify(&format!("{short} {named}"), &message) {
        finding.apply_system(error);
    } else if let Some(class) = class_by_words(&short, &message) {
        finding.class = class;
    }
    finding
}

/// The module that a message misses. A file of one's own is a mistake in the code, a package a missing dependency.
pub(crate) fn missing_module(message: &str) -> Option<(String, ProblemClass)> {
    let groups = MODULE.captures(message)?;
    let name = groups.some(1).or_else(|| groups.some(2))?;
    let own = name.starts_with(['.', '/', '~'])
        || name.starts_with("file:")
        || name.contains(":\\")
        || name.starts_with("@/");
    if own {
        let last = name.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or(name);
        return Some((last.to_owned(), ProblemClass::Exception));
    }
    Some((name.to_owned(), ProblemClass::DependencyError))
}

fn class_of(kind: &str) -> ProblemClass {
    match kind {
        "SyntaxError" => ProblemClass::SyntaxError,
        _ => ProblemClass::Exception,
    }
}
