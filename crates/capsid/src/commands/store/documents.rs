//! The documents in asset files: a file holds one, an array, a store's list, or one a line.

use capsid_model::{Code, Problem, Result, Value, canonical, text};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// One document of a file, as its exact text.
pub(crate) struct AssetDocument {
    /// The file, with the document's number when it holds several.
    pub location: String,
    /// Whether it is all that its file holds.
    alone: bool,
    bytes: Vec<u8>,
}

impl AssetDocument {
    /// Its text.
    pub fn text(&self) -> Result<&str> {
        std::str::from_utf8(&self.bytes).map_err(|_| {
            Problem::new(Code::JsonInvalid, "It is not UTF-8 text.").fix("Save the file as UTF-8.")
        })
    }

    /// What a rule makes of it. That it cannot be read is its own result where others can be, and is an error
    /// where it is all there is.
    pub fn try_to<T>(&self, rule: impl Fn(&str) -> Result<T>) -> Result<Result<T>> {
        match self.text().and_then(rule) {
            Err(problem) if self.alone => Err(at(&self.location, problem)),
            made => Ok(made),
        }
    }

    /// Its location and, if it has one, its id.
    pub fn name(&self) -> String {
        let value = self.text().and_then(canonical::read).unwrap_or_default();
        let location = text::inert_line(&self.location);
        match value.get("id").and_then(Value::as_str) {
            Some(id) => format!("{location}: {}", text::inert_line(id)),
            None => location,
        }
    }
}

/// A problem with the location of its document.
pub(crate) fn at(location: &str, mut problem: Problem) -> Problem {
    problem.message = format!("`{location}`: {}", problem.message);
    problem
}

/// The documents of files; `-` is stdin.
pub(crate) fn read_all(files: &[String]) -> Result<Vec<AssetDocument>> {
    let mut documents = Vec::new();
    for file in files {
        let bytes = read_bytes(file)?;
        documents.extend(split(file, bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)));
    }
    Ok(documents)
}

/// The bytes of a file; `-` is stdin.
pub(crate) fn read_bytes(file: &str) -> Result<Vec<u8>> {
    read(file).map_err(|error| Problem::io("read", Path::new(file), &error))
}

/// Reads a file or stdin, up to a size that no asset file comes near.
fn read(file: &str) -> std::io::Result<Vec<u8>> {
    const MAX: u64 = 1 << 30;
    let mut bytes = Vec::new();
    let source: Box<dyn Read> =
        if file == "-" { Box::new(std::io::stdin()) } else { Box::new(std::fs::File::open(file)?) };
    source.take(MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX {
        return Err(std::io::Error::other("it holds more than 1 GiB"));
    }
    Ok(bytes)
}

fn split(file: &str, bytes: &[u8]) -> Vec<AssetDocument> {
    let several =
        |location: String, bytes: &[u8]| AssetDocument { location, alone: false, bytes: bytes.to_owned() };
    if let Ok(items) = serde_json::from_slice::<Vec<&RawValue>>(bytes) {
        let numbered = items.iter().zip(1..);
        return numbered.map(|(item, n)| several(format!("{file}:{n}"), item.get().as_bytes())).collect();
    }
    if let Some((member, items)) = store_list(bytes) {
        let numbered = items.iter().enumerate();
        return numbered
            .map(|(n, item)| several(format!("{file}:{member}[{n}]"), item.get().as_bytes()))
            .collect();
    }
    let lines: Vec<(usize, &[u8])> = (1..)
        .zip(bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    if are_documents(file, &lines) {
        return lines.iter().map(|(n, line)| several(format!("{file}:{n}"), line)).collect();
    }
    // Whatever it is, reading it later reports what is wrong with it and where.
    vec![AssetDocument { location: file.to_owned(), alone: true, bytes: bytes.to_owned() }]
}

/// Whether a file has one document a line. Some lines of it may be broken: a document spread over lines has no whole
/// object on its first line, and if it breaks off, none on both of its ends.
fn are_documents(file: &str, lines: &[(usize, &[u8])]) -> bool {
    let is_json = |line: &[u8]| serde_json::from_slice::<&RawValue>(line).is_ok();
    let is_object = |line: &[u8]| line.starts_with(b"{") && is_json(line);
    match lines {
        [] => file.ends_with(".jsonl"),
        [_] => false,
        [(_, first), .., (_, last)] => {
            is_object(first)
                || (is_object(last) && !matches!(*first, b"[" | b"{"))
                || (file.ends_with(".jsonl") && lines.iter().any(|(_, line)| is_object(line)))
                || lines.iter().all(|(_, line)| is_json(line))
        }
    }
}

/// The list of a store file such as `genes.json`, with the name of its member.
fn store_list(bytes: &[u8]) -> Option<(&'static str, Vec<Box<RawValue>>)> {
    let members: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(bytes).ok()?;
    if members.contains_key("type") {
        return None;
    }
    ["genes", "capsules", "failed_capsules"]
        .into_iter()
        .find_map(|name| Some((name, serde_json::from_str(members.get(name)?.get()).ok()?)))
}
