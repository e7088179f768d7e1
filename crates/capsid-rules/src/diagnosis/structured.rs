//! Lines that are JSON or logfmt: an error becomes its message and its stack, other levels become nothing.

use super::lines::{Line, LineLevel, parse_level, read_line};
use serde_json::{Map, Value};

/// Adds the lines that a structured line holds. False if the text is not structured.
pub(super) fn expand(text: &str, line: &Line, out: &mut Vec<Line>) -> bool {
    let trimmed = text.trim_start();
    if trimmed.starts_with('{') && trimmed.ends_with('}') && trimmed.contains("\":") {
        return match serde_json::from_str::<Map<String, Value>>(trimmed) {
            Ok(object) => expand_object(&object, line, out),
            Err(_) => false,
        };
    }
    if let Some(fields) = parse_logfmt(text) {
        push_entry(&fields, line, out);
        return true;
    }
    false
}

fn expand_object(object: &Map<String, Value>, line: &Line, out: &mut Vec<Line>) -> bool {
    let text = |key: &str| object.get(key).and_then(Value::as_str);
    if let (Some(log), true) = (text("log"), object.contains_key("stream") || object.contains_key("time")) {
        for part in log.trim_end_matches('\n').split('\n') {
            read_line(line.number, part, out);
        }
        return true;
    }
    // `go test -json`.
    if text("Action").is_some() && (object.contains_key("Package") || object.contains_key("ImportPath")) {
        for part in text("Output").unwrap_or_default().trim_end_matches('\n').split('\n') {
            push_text(part, LineLevel::Unstated, false, line, out);
        }
        return true;
    }
    // `cargo --message-format=json`.
    if let Some(message) = object.get("message").and_then(Value::as_object)
        && let Some(rendered) = message.get("rendered").and_then(Value::as_str)
    {
        for part in rendered.split('\n') {
            push_text(part, LineLevel::Unstated, false, line, out);
        }
        return true;
    }
    if text("reason").is_some() {
        return true;
    }
    let fields = Entry::from_object(object);
    if fields.level == LineLevel::Unstated && fields.message.is_empty() && fields.stack.is_none() {
        return false;
    }
    push_entry(&fields, line, out);
    true
}

/// What a structured line says.
#[derive(Default)]
struct Entry {
    level: LineLevel,
    message: String,
    error: Option<String>,
    stack: Option<String>,
    logger: Option<String>,
}

impl Entry {
    fn from_object(object: &Map<String, Value>) -> Self {
        let mut entry = Self::default();
        if let (Some(Value::String(severity)), true) = (object.get("s"), object.contains_key("t")) {
            return Self::from_mongod(object, severity);
        }
        let level = [
            "level",
            "severity",
            "levelname",
            "log.level",
            "lvl",
            "loglevel",
            "Level",
            "@l",
            "severityText",
            "LogLevel",
        ]
        .into_iter()
        .find_map(|key| object.get(key))
        .or_else(|| object.get("log").and_then(|log| log.get("level")));
        entry.level = match level {
            // The numbers of pino and bunyan.
            Some(Value::Number(number)) => match number.as_u64().unwrap_or_default() {
                50.. => LineLevel::Error,
                40.. => LineLevel::Warning,
                _ => LineLevel::Info,
            },
            Some(Value::String(name)) => parse_level(name),
            _ => LineLevel::Unstated,
        };
        let string = |value: &Value| value.as_str().map(str::to_owned).filter(|text| !text.is_empty());
        entry.message = ["msg", "message", "event", "@m", "@mt", "Message", "text", "body"]
            .into_iter()
            .find_map(|key| object.get(key).and_then(string))
            .unwrap_or_default();
        entry.logger = ["logger", "name", "logger_name", "loggerName", "caller"]
            .into_iter()
            .find_map(|key| object.get(key).and_then(string));
        for key in [
            "err",
            "error",
            "exception",
            "exc_info",
            "thrown",
            "exc",
            "cause",
            "stack",
            "stack_trace",
            "stacktrace",
            "stackTrace",
            "error.stack_trace",
            "@x",
            "traceback",
            "Exception",
            "error.message",
        ] {
            match object.get(key) {
                Some(Value::String(text)) if text.contains('\n') && is_stack(text) => {
                    entry.stack.get_or_insert_with(|| text.clone());
                }
                Some(Value::String(text)) if !text.is_empty() && !key.contains("stack") => {
                    entry.error.get_or_insert_with(|| text.clone());
                }
                Some(Value::Object(inner)) => entry.read_error(inner),
                _ => {}
            }
        }
        if entry.message.contains('\n') && is_stack(&entry.message) && entry.stack.is_none() {
            entry.stack = Some(entry.message.clone());
        }
        entry
    }

    /// The log of MongoDB: one letter is the level, the error stands among the attributes.
    fn from_mongod(object: &Map<String, Value>, severity: &str) -> Self {
        let attributes = object.get("attr");
        let error = attributes.and_then(|attributes| attributes.get("error"));
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            value => value.get("errmsg").and_then(Value::as_str).map(str::to_owned),
        };
        Self {
            level: match severity {
                "E" | "F" => LineLevel::Error,
                "W" => LineLevel::Warning,
                _ => LineLevel::Info,
            },
            message: object.get("msg").and_then(Value::as_str).unwrap_or_default().to_owned(),
            error: error.and_then(text),
            ..Self::default()
        }
    }

    fn read_error(&mut self, inner: &Map<String, Value>) {
        let text = |keys: &[&str]| {
            keys.iter()
                .find_map(|key| inner.get(*key))
                .and_then(Value::as_str)
                .filter(|text| !text.is_empty())
        };
        let stack =
            text(&["stack", "stack_trace", "stacktrace", "stackTrace", "extendedStackTrace", "backtrace"]);
        if let Some(stack) = stack.filter(|stack| is_stack(stack)) {
            self.stack.get_or_insert_with(|| stack.to_owned());
        }
        let name = text(&["type", "name", "class", "kind"]);
        let message = text(&["message", "msg", "detail", "reason"]);
        let joined = match (name, message) {
            (Some(name), Some(message)) if name != "Error" => Some(format!("{name}: {message}")),
            (_, Some(message)) => Some(message.to_owned()),
            (Some(name), None) => Some(name.to_owned()),
            (None, None) => None,
        };
        if let Some(joined) = joined {
            self.error.get_or_insert(joined);
        }
    }
}

/// Whether a text is the stack of an exception, not the place where a message was logged.
fn is_stack(text: &str) -> bool {
    if text.contains("Traceback (most recent call last)") {
        return true;
    }
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    first.contains(|c: char| c.is_alphabetic())
        && !first.trim_start().starts_with("at ")
        && lines.any(|line| line.trim_start().starts_with("at ") || line.trim_start().starts_with("File \""))
}

fn push_entry(entry: &Entry, line: &Line, out: &mut Vec<Line>) {
    if entry.level != LineLevel::Error && !(entry.level == LineLevel::Unstated && entry.stack.is_some()) {
        push_text("", entry.level, true, line, out);
        return;
    }
    if let Some(stack) = &entry.stack {
        for part in stack.trim_end().split('\n') {
            push_text(part.trim_end_matches('\r'), LineLevel::Unstated, false, line, out);
        }
        push_text("", LineLevel::Unstated, false, line, out);
        return;
    }
    let message = entry.message.lines().next().unwrap_or_default().trim();
    let error = entry.error.as_deref().and_then(|error| error.lines().next()).unwrap_or_default().trim();
    let text = match (message, error) {
        ("", error) => error.to_owned(),
        (message, "") => message.to_owned(),
        (message, error) if message.contains(error) => message.to_owned(),
        (message, error) => format!("{message}: {error}"),
    };
    push_text(&text, LineLevel::Error, true, line, out);
    if let Some(last) = out.last_mut() {
        last.logger.clone_from(&entry.logger);
    }
}

fn push_text(text: &str, level: LineLevel, structured: bool, line: &Line, out: &mut Vec<Line>) {
    out.push(Line {
        number: line.number,
        text: text.to_owned(),
        level,
        stamped: line.stamped || structured,
        structured,
        service: line.service.clone(),
        logger: None,
    });
}

/// `level=error msg="…" error=…`, in any order and among other pairs.
fn parse_logfmt(text: &str) -> Option<Entry> {
    let has = |key: &str| text.starts_with(key) || text.contains(&format!(" {key}"));
    if !text.contains('=') || !(has("level=") || has("lvl=") || has("severity=")) {
        return None;
    }
    if !(has("msg=") || has("message=") || has("err=") || has("error=") || has("event=")) {
        return None;
    }
    let mut entry = Entry::default();
    let mut rest = text;
    while let Some(equals) = rest.find('=') {
        let key = rest[..equals].rsplit([' ', '\t']).next().unwrap_or_default();
        let after = &rest[equals + 1..];
        let (value, next) = read_value(after);
        match key {
            "level" | "lvl" | "severity" => entry.level = parse_level(&value),
            "msg" | "message" | "event" => entry.message = value,
            "err" | "error" | "exception" => entry.error = Some(value),
            "logger" | "caller" => entry.logger = Some(value),
            _ => {}
        }
        rest = next;
    }
    (entry.level != LineLevel::Unstated).then_some(entry)
}

fn read_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', '\t']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut escaped = false;
    for (at, c) in quoted.char_indices() {
        match c {
            _ if escaped => {
                value.push(if c == 'n' { '\n' } else { c });
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return (value, &quoted[at + 1..]),
            c => value.push(c),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(raw: &str) -> Vec<String> {
        let mut out = Vec::new();
        read_line(1, raw, &mut out);
        out.into_iter().map(|line| line.text).filter(|text| !text.is_empty()).collect()
    }

    #[test]
    fn an_error_becomes_its_message_or_its_stack() {
        assert_eq!(
            texts(r#"{"level":"error","msg":"reserve failed","error":"no stock"}"#),
            ["reserve failed: no stock"]
        );
        assert_eq!(
            texts(r#"time=2026-01-01T00:00:00Z level=error msg="reserve failed" error="no \"x\"" n=3"#),
            ["reserve failed: no \"x\""]
        );
        assert_eq!(
            texts(
                r#"{"level":50,"err":{"type":"E","message":"m","stack":"E: m\n    at f (a.js:1:2)"},"msg":"x"}"#
            ),
            ["E: m", "    at f (a.js:1:2)"]
        );
        assert!(texts(r#"{"level":30,"msg":"request done","error":null}"#).is_empty());
        assert!(texts(r#"level=info msg="retry after error""#).is_empty());
    }
}
