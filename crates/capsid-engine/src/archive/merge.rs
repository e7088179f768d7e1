//! Taking documents and lines that are not there yet. What is there is never changed.

use crate::store::collection::{Collection, parse_document};
use crate::store::lines;
use capsid_disk::files;
use capsid_model::asset::{IdVerdict, verify_text};
use capsid_model::{Object, Result, Value, canonical};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;

/// Lines are appended in batches of about this many bytes.
const BATCH: usize = 1 << 20;

/// The most conflicts and refusals that are reported one by one.
const MAX_NOTES: usize = 20;

/// What became of the records of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergeSummary {
    pub added: u64,
    pub unchanged: u64,
    /// Exists already with other content; the local one stays.
    pub conflicts: u64,
    /// Not taken: no id, no record, or an id that is not the hash of the content.
    pub refused: u64,
    /// The first conflicts and refusals, one sentence each.
    pub notes: Vec<String>,
}

impl MergeSummary {
    fn conflict(&mut self, id: &str) {
        self.conflicts += 1;
        self.record(id, "differs from the local one, which was kept");
    }

    fn refuse(&mut self, id: &str, reason: &str) {
        self.refused += 1;
        self.record(id, reason);
    }

    fn record(&mut self, id: &str, what: &str) {
        if self.notes.len() < MAX_NOTES {
            let id = capsid_model::text::inert_line(capsid_model::text::cut(id, 120));
            self.notes.push(format!("`{id}` {what}."));
        }
    }
}

/// Adds the documents whose ids are new, in one durable rewrite.
pub fn documents(incoming: &[String], local: &Collection, kind: &str) -> Result<MergeSummary> {
    let mut merged = MergeSummary::default();
    let mut known: HashMap<String, String> =
        local.texts()?.into_iter().filter_map(|text| Some((id_of(&parse_document(&text)?)?, text))).collect();
    let mut new = Vec::new();
    for text in incoming {
        let id = match accepted(text, Some(kind)) {
            Ok(id) => id,
            Err((id, reason)) => {
                merged.refuse(&id, reason);
                continue;
            }
        };
        match known.get(&id) {
            Some(there) if same(there, text) => merged.unchanged += 1,
            Some(_) => merged.conflict(&id),
            None => {
                new.push(text.clone());
                known.insert(id, text.clone());
            }
        }
    }
    local.extend(&new)?;
    merged.added = new.len() as u64;
    Ok(merged)
}

/// Appends the lines whose ids are new, in their order and byte for byte.
pub fn append_lines(incoming: &Path, local: &Path) -> Result<MergeSummary> {
    let mut merged = MergeSummary::default();
    let mut known = HashSet::new();
    lines::scan(local, |line| {
        known.extend(text_of(line).and_then(parse_document).as_ref().and_then(id_of));
        ControlFlow::Continue(())
    })?;
    let mut batch = String::new();
    let mut failed = None;
    lines::scan(incoming, |line| {
        let text = text_of(line).unwrap_or_default();
        match accepted(text, None) {
            Ok(id) => {
                if known.insert(id) {
                    merged.added += 1;
                    batch.push_str(text);
                    batch.push('\n');
                } else {
                    merged.unchanged += 1;
                }
            }
            Err((id, reason)) => merged.refuse(&id, reason),
        }
        if batch.len() >= BATCH {
            failed = files::append(local, &std::mem::take(&mut batch)).err();
        }
        match failed {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    })?;
    if let Some(problem) = failed {
        return Err(problem);
    }
    if !batch.is_empty() {
        files::append(local, &batch)?;
    }
    Ok(merged)
}

/// The id of a record that may be taken, or its name and why it may not.
fn accepted(text: &str, kind: Option<&str>) -> std::result::Result<String, (String, &'static str)> {
    let unnamed = || "a record".to_owned();
    let document = parse_document(text).ok_or_else(|| (unnamed(), "is not a JSON object"))?;
    let id = id_of(&document).ok_or_else(|| (unnamed(), "has no id"))?;
    if kind.is_some() && document.get("type").and_then(Value::as_str) != kind {
        return Err((id, "is of another type than its place says"));
    }
    match verify_text(text) {
        Ok(IdVerdict::Mismatch { .. }) => Err((id, "does not match its own asset id")),
        Ok(_) => Ok(id),
        Err(_) => Err((id, "is not a JSON object")),
    }
}

fn same(one: &str, other: &str) -> bool {
    one == other
        || canonical::canonical_text(one)
            .is_ok_and(|one| canonical::canonical_text(other).is_ok_and(|other| one == other))
}

fn text_of(line: &[u8]) -> Option<&str> {
    std::str::from_utf8(line).ok()
}

fn id_of(document: &Object) -> Option<String> {
    document.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()).map(str::to_owned)
}
