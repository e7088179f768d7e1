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

use crate::leftover::RememberedTexts;
use crate::shape::{cap, without_images};
use crate::{Action, ActionKind, ReadReport, TranscriptSource, TriggerKind};
use action_builder::ClineActionBuilder;
use api::ApiHistory;
use capsid_model::exact::{ExactFields, ExactJson, parse_lossy, spaced};
use capsid_model::{Code, Problem, Result, fields};
use index::{BrokenItem, ClineIndex};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

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
    let broken = index.broken.len() as u64;
    let mut report = ReadReport { broken, finished: index.finished, ..ReadReport::default() };
    let base = environment(source, metadata.as_ref());
    let mut remembered = RememberedTexts::default();
    let given = each;
    let mut each = |action: Action| {
        remembered.remember(&action);
        given(action)
    };
    let model = metadata.as_ref().and_then(|metadata| last(metadata, "model_usage")?.text("model_id"));
    let model = model.unwrap_or_default().to_owned();
    let mut builder = ClineActionBuilder::new(base.clone(), model.clone(), api);
    if let Some(metadata) = &metadata {
        let mut provenance = provenance(metadata, base, &model);
        builder.ledger.begin(Rc::new(metadata.clone()));
        builder.ledger.show(&mut provenance);
        each(provenance)?;
    }
    for item in &index.broken {
        builder.ledger.count_noted("message that cannot be read");
        each(unreadable(item, &builder))?;
    }
    let mut messages = array::ArrayItems::open(&path)?;
    for (at, entry) in index.entries.iter().enumerate() {
        let Some(message) = messages.at(entry.position)? else {
            report.broken += 1;
            let item = BrokenItem { position: entry.position, start: Vec::new() };
            builder.ledger.count_noted("message that cannot be read");
            each(unreadable(&item, &builder))?;
            continue;
        };
        // It is in the action that it completes.
        if index.is_part(at) {
            builder.add_pending(&message);
            continue;
        }
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
    for record in rest_of_history(&mut builder, &remembered)? {
        given(record)?;
    }
    if let Some(rest) = builder.ledger.rest() {
        let record = crate::ledger::leftover("leftover:end".to_owned(), rest, builder.plain());
        given(Action { open: true, ..record })?;
    }
    builder.ledger.count_into(&mut report);
    Ok(report)
}

/// Records of what the model's side holds and no message of the page shows. A message may still come.
fn rest_of_history(builder: &mut ClineActionBuilder, remembered: &RememberedTexts) -> Result<Vec<Action>> {
    let mut records = Vec::new();
    let plain = builder.plain();
    let (mut api, mut ledger) = (std::mem::take(&mut builder.api), std::mem::take(&mut builder.ledger));
    api.rest(remembered, &mut ledger, &mut |ledger, left| {
        let what = match () {
            () if left.has_call => "call of the API without a message",
            () if !left.thinking.is_empty() => "thinking of the API without a message",
            () => "text of the API without a message",
        };
        ledger.count_noted(what);
        let mut environment = plain.environment.clone();
        environment.extend(left.time.map(|time| ("timestamp".to_owned(), time)));
        environment.insert("role".to_owned(), left.role.into());
        let digest = capsid_model::hash::sha256_hex(spaced(&left.rest).as_bytes());
        records.push(Action {
            key: format!("api:{}", &digest[..16]),
            kind: ActionKind::System,
            trigger: TriggerKind::System,
            environment,
            reasoning: left.thinking,
            summary: what.to_owned(),
            result: cap(without_images(left.rest)),
            open: true,
            ..plain.clone()
        });
        Ok(())
    })?;
    (builder.api, builder.ledger) = (api, ledger);
    Ok(records)
}

/// The record of an item that is no message.
fn unreadable(item: &BrokenItem, builder: &ClineActionBuilder) -> Action {
    let digest = capsid_model::hash::sha256_hex(&item.start);
    let key = format!("broken:{}:{}", &digest[..16], item.position.length);
    let plain = builder.plain();
    let record = crate::ledger::unreadable(key, &item.start, plain.environment, false);
    if item.start.is_empty() {
        let result = fields! { "bytes": item.position.length }.into();
        return Action { result, summary: "message too long to read".to_owned(), ..record };
    }
    record
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
    // Of several folders none is the one that a command runs in.
    if let [folder] = working_folders(&source.path).as_slice() {
        environment.insert("cwd".to_owned(), folder.to_string_lossy().into_owned().into());
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
        trigger: TriggerKind::System,
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
