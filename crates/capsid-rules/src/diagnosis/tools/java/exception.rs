//! Exceptions of the JVM, with their causes.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::{StackFrame, is_in_app, parse_java};
use crate::diagnosis::pattern::Pattern;
use crate::diagnosis::tools::sql;

/// One exception of a chain.
#[derive(Clone, Debug, Default)]
pub(crate) struct JavaException {
    /// With its package.
    pub kind: String,
    pub message: String,
    pub frame: Option<StackFrame>,
}

impl JavaException {
    pub(crate) fn short_kind(&self) -> &str {
        self.kind.rsplit(['.', '$']).next().unwrap_or(&self.kind)
    }
}

static THROWN: Pattern = Pattern::new(
    r#"^(?:\[ERROR\] )?(?:Exception in thread "[^"]*" |Caused by: |Suppressed: |Cause: |\[?[Ee]rror\]? |=> |.*? nested exception is )*((?:[a-z_][\w]*\.)+[A-Z][\w$]*|[A-Z][\w$]*(?:Exception|Error))(?:: (.*))?$"#,
);

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if !(text.contains("Exception") || text.contains("Error") || text.contains('.'))
        || text.trim_start().starts_with("at ")
    {
        return None;
    }
    let (exception, last) = read_chain(log, at)?;
    Some(to_finding("java", &exception, at).until(last))
}

/// Reads an exception and its causes; the innermost with an own frame is the problem.
pub(crate) fn read_chain(log: &LogView<'_>, at: usize) -> Option<(JavaException, usize)> {
    let text = log.text(at).trim_start();
    let groups = THROWN.captures(text)?;
    // A message may have several lines before the first frame.
    let (first_frame, ()) = log.find_after(at, 12, |text| is_java_frame(text).then_some(()))?;
    if (at + 1..first_frame).any(|index| {
        THROWN.is_match(log.text(index).trim_start())
            && !log.text(index).trim_start().starts_with("Caused by")
    }) {
        return None;
    }
    let mut chain = vec![to_exception(groups.get(1), groups.get(2))];
    let mut index = at + 1;
    let mut suppressed = false;
    let mut last = at;
    while index < (at + 800).min(log.len()) {
        let text = log.text(index);
        let plain = text.trim_start();
        if let Some((whole, frame)) = parse_java(text).filter(|_| is_java_frame(text)) {
            if !suppressed
                && is_in_app(&whole, &frame.file)
                && !frame.file.is_empty()
                && let Some(open) = chain.last_mut()
                && open.frame.is_none()
            {
                open.frame = Some(frame);
            }
        } else if plain.starts_with("Caused by: ") {
            suppressed = false;
            if let Some(groups) = THROWN.captures(plain) {
                chain.push(to_exception(groups.get(1), groups.get(2)));
            }
        } else if plain.starts_with("Suppressed: ") {
            suppressed = true;
        } else if !(plain.starts_with("... ") || index < first_frame) {
            break;
        }
        last = index;
        index += 1;
    }
    let chosen = chain.iter().rposition(|exception| exception.frame.is_some()).unwrap_or(chain.len() - 1);
    Some((chain.swap_remove(chosen), last))
}

pub(crate) fn is_java_frame(text: &str) -> bool {
    let plain = text.trim_start();
    plain.starts_with("at ")
        && plain.ends_with([')', ']'])
        && (plain.contains(".java:")
            || plain.contains(".kt:")
            || plain.contains(".scala:")
            || plain.contains(".groovy:")
            || plain.contains("(Native Method)")
            || plain.contains("(Unknown Source)")
            || plain.contains("(<generated>)"))
}

static LOCAL: Pattern = Pattern::new(r"<local[0-9]+>");

fn to_exception(kind: &str, message: &str) -> JavaException {
    JavaException {
        kind: kind.to_owned(),
        message: LOCAL.replace_all(message, |_| "<local>".to_owned()),
        frame: None,
    }
}

pub(crate) fn to_finding(tool: &str, exception: &JavaException, at: usize) -> Finding {
    let kind = exception.short_kind();
    let mut finding = Finding::new(tool, "java", ProblemClass::Exception, at)
        .code(kind)
        .message(exception.message.clone())
        .at_frame(exception.frame.as_ref());
    if let Some(error) = sql::classify(&exception.kind, &exception.message, "") {
        sql::apply(&mut finding, error);
        return finding;
    }
    finding.or_system()
}
