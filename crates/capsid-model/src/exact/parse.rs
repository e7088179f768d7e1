//! The reader: what lies inside what. It keeps its own stack, so that no depth can overflow the thread's.

use super::scan::JsonScanner;
use super::{ExactFields, ExactJson};
use crate::{Code, Problem, Result};

/// How deep lists and objects may lie in one another.
const MAX_DEPTH: usize = 1000;

/// Reads a JSON document; a lone surrogate is an error. `NaN` and the infinities are read, as Python reads them.
pub fn parse(text: &str) -> Result<ExactJson> {
    document(&mut JsonScanner::new(text, false))
}

/// Reads a JSON document in which no object has a name twice: two readers might take it for two different things.
pub fn parse_unambiguous(text: &str) -> Result<ExactJson> {
    let twice = |name: &str| {
        Problem::new(Code::JsonInvalid, format!("The name `{name}` stands twice in one object."))
            .fix("Leave one of the two out.")
    };
    read_document(&mut JsonScanner::new(text, false), Some(&twice))
}

/// Reads a JSON document from what some program wrote: bytes that are no UTF-8 and lone surrogates become U+FFFD,
/// and a byte order mark in front is no error.
pub fn parse_lossy(bytes: &[u8]) -> Result<ExactJson> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // The strict check is several times as fast as the one that mends.
    match std::str::from_utf8(bytes) {
        Ok(text) => document(&mut JsonScanner::new(text, true)),
        Err(_) => document(&mut JsonScanner::new(&String::from_utf8_lossy(bytes), true)),
    }
}

/// A list or an object whose end has not been read yet.
enum OpenContainer {
    Array(Vec<ExactJson>),
    Object(ExactFields, String),
}

/// What to say of a name that stands twice; nothing where the last one counts.
type DuplicateKeyMessage<'a> = Option<&'a dyn Fn(&str) -> Problem>;

fn document(scanner: &mut JsonScanner<'_>) -> Result<ExactJson> {
    read_document(scanner, None)
}

fn read_document(scanner: &mut JsonScanner<'_>, twice: DuplicateKeyMessage<'_>) -> Result<ExactJson> {
    let mut open: Vec<OpenContainer> = Vec::new();
    loop {
        let Some(mut value) = value_or_open(scanner, &mut open)? else { continue };
        loop {
            let more = match open.last_mut() {
                None => return scanner.end().map(|()| value),
                Some(OpenContainer::Array(items)) => {
                    items.push(value);
                    scanner.more(b']')?
                }
                Some(OpenContainer::Object(fields, name)) => {
                    if let Some(twice) = twice.filter(|_| fields.contains_key(name)) {
                        return Err(twice(name));
                    }
                    fields.insert(std::mem::take(name), value);
                    let more = scanner.more(b'}')?;
                    if more {
                        *name = scanner.name()?;
                    }
                    more
                }
            };
            if more {
                break;
            }
            value = match open.pop() {
                Some(OpenContainer::Array(items)) => ExactJson::Array(items),
                Some(OpenContainer::Object(fields, _)) => ExactJson::Object(fields),
                None => ExactJson::Null,
            };
        }
    }
}

/// A whole value, or nothing where a list or an object that is not empty begins.
fn value_or_open(scanner: &mut JsonScanner<'_>, open: &mut Vec<OpenContainer>) -> Result<Option<ExactJson>> {
    match scanner.next_after_space() {
        Some(b'[') => {
            enter(scanner, open)?;
            if scanner.next_after_space() == Some(b']') {
                scanner.step();
                return Ok(Some(ExactJson::Array(Vec::new())));
            }
            open.push(OpenContainer::Array(Vec::new()));
            Ok(None)
        }
        Some(b'{') => {
            enter(scanner, open)?;
            if scanner.next_after_space() == Some(b'}') {
                scanner.step();
                return Ok(Some(ExactJson::Object(ExactFields::new())));
            }
            let name = scanner.name()?;
            open.push(OpenContainer::Object(ExactFields::new(), name));
            Ok(None)
        }
        _ => scanner.scalar().map(Some),
    }
}

fn enter(scanner: &mut JsonScanner<'_>, open: &[OpenContainer]) -> Result<()> {
    if open.len() >= MAX_DEPTH {
        let message = format!("The document is nested more than {MAX_DEPTH} levels deep.");
        return Err(Problem::new(Code::JsonTooDeep, message).fix("Make the document flatter."));
    }
    scanner.step();
    Ok(())
}
