//! Cline: the folder of a task, whose files are rewritten with every change.
//!
//! What the user sees (`ui_messages.json`) gives the actions, what the model sees (`api_conversation_history.json`)
//! gives their results, and `task_metadata.json` says where all of it comes from. A file that is caught half-written
//! is an error for this time: nothing is taken from it, so nothing is lost. The files are lists that can grow long;
//! their items are read one by one.

mod action_builder;
mod api;
mod array;
mod dispatch;
mod index;
mod messages;
mod tools;

use crate::shape::cap;
use crate::{Action, ActionKind, ReadReport, TranscriptSource};
use action_builder::ClineActionBuilder;
use api::ApiHistory;
use capsid_model::exact::{ExactFields, ExactJson, parse_lossy};
use capsid_model::{Code, Problem, Result, fields};
use index::ClineIndex;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The file that makes a folder a task.
pub(crate) const MESSAGES: &str = "ui_messages.json";
pub(crate) const HISTORY: &str = "api_conversation_history.json";
const METADATA: &str = "task_metadata.json";
/// Longest metadata that is read.
const METADATA_BYTES: u64 = 16 << 20;
/// How far into the history the first message is looked for.
const FIRST_BYTES: u64 = 1 << 20;

/// Reads a task: where it comes from, then one action after the other.
pub fn read(source: &TranscriptSource, each: &mut dyn FnMut(Action) -> Result<()>) -> Result<ReadReport> {
    let path = source.path.join(MESSAGES);
    let index = ClineIndex::build(&path)?;
    let api = ApiHistory::open(&source.path.join(HISTORY))?;
    let metadata = metadata(&source.path.join(METADATA))?;
    let mut report = ReadReport { broken: index.broken, finished: index.finished, ..ReadReport::default() };
    let base = environment(source, metadata.as_ref());
    let model = metadata.as_ref().and_then(|metadata| last(metadata, "model_usage")?.text("model_id"));
    let model = model.unwrap_or_default().to_owned();
    if let Some(metadata) = &metadata {
        each(provenance(metadata, base.clone(), &model))?;
    }
    let mut builder = ClineActionBuilder::new(base, model, api);
    let mut messages = array::ArrayItems::open(&path)?;
    for (at, entry) in index.entries.iter().enumerate() {
        let Some(message) = messages.at(entry.position)? else {
            report.broken += 1;
            continue;
        };
        let mut parts = Vec::new();
        for part in index.parts_of(at) {
            parts.extend(messages.at(part)?);
        }
        let is_last = index.last_action == Some(at) && !index.finished;
        let next = dispatch::add_message(
            &mut builder,
            &format!("{}:{at}", entry.stamp),
            &message,
            &parts,
            is_last,
            &mut report,
        )?;
        if let Some(action) = next {
            each(action)?;
        }
    }
    if let Some(action) = builder.rest(index.entries.len(), !index.finished) {
        each(action)?;
    }
    Ok(report)
}

/// A file that exists must be complete.
fn metadata(path: &Path) -> Result<Option<ExactJson>> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Problem::io("read", path, &error)),
    };
    let mut bytes = Vec::new();
    file.take(METADATA_BYTES).read_to_end(&mut bytes).map_err(|error| Problem::io("read", path, &error))?;
    match parse_lossy(&bytes) {
        Ok(metadata) if metadata.as_object().is_some() => Ok(Some(metadata)),
        _ => Err(half_written(path, "is no whole JSON object")),
    }
}

/// The problem with a file that is not complete.
fn half_written(path: &Path, what: &str) -> Problem {
    Problem::new(Code::TranscriptUnreadable, format!("`{}` {what}.", path.display())).fix(
        "Nothing is lost: it may be written just now, so try again. If it stays so, restore the file from a backup.",
    )
}

/// The folders a task works in, from its first message to the model.
pub(crate) fn working_folders(task: &Path) -> Vec<PathBuf> {
    const HEADS: [&str; 2] = ["Working Directory (", "Workspace Directory ("];
    let Ok(Some(first)) = array::first(&task.join(HISTORY), FIRST_BYTES) else { return Vec::new() };
    let blocks = first.get("content").and_then(ExactJson::as_array).unwrap_or_default();
    let texts = blocks.iter().filter_map(|block| block.text("text"));
    let folder = |text: &str| {
        let (_, rest) = HEADS.iter().find_map(|head| text.split_once(head))?;
        let (folder, _) = rest.split_once(") Files").or_else(|| rest.split_once(')'))?;
        Some(PathBuf::from(folder))
    };
    texts.filter_map(folder).collect()
}

fn last<'a>(metadata: &'a ExactJson, name: &str) -> Option<&'a ExactJson> {
    metadata.get(name)?.as_array()?.last()
}

fn environment(source: &TranscriptSource, metadata: Option<&ExactJson>) -> ExactFields {
    let mut environment = source.hook_fields.clone();
    let history = metadata.and_then(|metadata| last(metadata, "environment_history"));
    for name in ["os_name", "cline_version"] {
        let value = history.and_then(|history| history.get(name)).filter(|value| value.is_truthy());
        environment.extend(value.map(|value| (name.to_owned(), value.clone())));
    }
    environment
}

fn provenance(metadata: &ExactJson, mut environment: ExactFields, model: &str) -> Action {
    let list = |name: &str| {
        ExactJson::from(metadata.get(name).and_then(ExactJson::as_array).unwrap_or_default().to_vec())
    };
    let count = |list: &ExactJson| list.as_array().map_or(0, <[ExactJson]>::len);
    let (files, models) = (list("files_in_context"), list("model_usage"));
    environment.insert("files_in_context_count".to_owned(), count(&files).into());
    environment.insert("model_usage_count".to_owned(), count(&models).into());
    Action {
        key: "provenance".to_owned(),
        kind: ActionKind::System,
        environment,
        model: model.to_owned(),
        summary: "session provenance".to_owned(),
        result: cap(fields! {
            "files_in_context": files,
            "model_usage": models,
            "environment_history": list("environment_history"),
        }
        .into()),
        ..Action::default()
    }
}

#[cfg(test)]
mod tests;
