//! Cursor: conversations in the editor's state database, or the text transcript where the database knows nothing.
//!
//! The database is never written and never held: a small one is copied first, and of a large one single values are
//! looked up, each in a moment of its own.
//!
//! One action has one name. The database names it by its bubble, the text transcript by its line. A session whose
//! text was sealed before the database knew it would be sealed again under other names, so [`line_keys`] says which
//! line of the text each bubble's words stand in: what is sealed under the one name need not be under the other.
//! A database that cannot be read at the moment is an error and never a reason to take the text instead.

mod authorship;
mod bubble;
mod conversation;
mod database;
mod edit;
mod request;
mod subagent;
mod text;
mod tool_call;

use crate::jsonl::short;
use crate::{Action, ActionKind, ReadReport, TranscriptSource};
use bubble::Bubbles;
use capsid_model::exact::{ExactFields, ExactJson, parse_lossy};
use capsid_model::{Code, Problem, Result};
use conversation::Composer;
use database::CursorDatabase;
use std::collections::{HashMap, VecDeque};
use std::path::Path;

pub(crate) use database::is_database;

/// Reads a conversation: what is known of its authorship, then one action after the other.
pub fn read(source: &TranscriptSource, each: &mut dyn FnMut(Action) -> Result<()>) -> Result<ReadReport> {
    let mut report = ReadReport::default();
    let state = open_state(source)?;
    let composer = match &state {
        Some(state) => Composer::load(state, &source.session)?,
        None => None,
    };
    if let Some(path) = &source.authorship {
        let created = composer.as_ref().and_then(|composer| composer.created_at().as_i64());
        match authorship::read(source, path, created) {
            Ok(Some(action)) => each(action)?,
            Ok(None) => {}
            Err(_) => {
                report.broken += 1;
                *report.noted.entry("authorship that cannot be read".to_owned()).or_default() += 1;
            }
        }
    }
    let mut has_messages = false;
    // Records that say only that there is nothing.
    let mut empty = Vec::new();
    if let (Some(state), Some(composer)) = (&state, &composer) {
        let mut given = |action: Action| {
            if !has_messages && is_empty(&action) {
                empty.push(action);
                return Ok(());
            }
            has_messages = true;
            empty.drain(..).try_for_each(&mut *each)?;
            each(action)
        };
        read_bubbles(source, state, composer, &mut report, &mut given)?;
    }
    match &source.text_transcript {
        Some(path) if !has_messages => text::read(source, path, &mut report, each)?,
        _ => empty.into_iter().try_for_each(&mut *each)?,
    }
    Ok(report)
}

/// Whether the record is of a message that the database does not have, or of a request without anything after it.
fn is_empty(action: &Action) -> bool {
    action.kind == ActionKind::System
        && [":absent", ":prompt", "leftover:end"].iter().any(|end| action.key.ends_with(end))
}

/// For a session that was sealed from its text transcript before: which line's key each bubble's words have.
pub fn line_keys(source: &TranscriptSource) -> Result<HashMap<String, String>> {
    let mut lines: HashMap<u64, VecDeque<String>> = HashMap::new();
    let mut report = ReadReport::default();
    if let Some(path) = &source.text_transcript {
        text::read(source, path, &mut report, &mut |action| {
            if action.kind == ActionKind::Chat {
                lines.entry(short(&action.analysis)).or_default().push_back(action.key);
            }
            Ok(())
        })?;
    }
    let mut keys = HashMap::new();
    let Some(state) = open_state(source)?.filter(|_| !lines.is_empty()) else { return Ok(keys) };
    if let Some(composer) = Composer::load(&state, &source.session)? {
        read_bubbles(source, &state, &composer, &mut report, &mut |action| {
            let same = lines.get_mut(&short(&action.analysis)).and_then(VecDeque::pop_front);
            if action.kind == ActionKind::Chat
                && let Some(line) = same
            {
                keys.insert(action.key, line);
            }
            Ok(())
        })?;
    }
    Ok(keys)
}

/// What a hook reported, as the environment of each action; empty values are left out.
pub fn hook_fields(hook: &ExactJson) -> ExactFields {
    const TOLD: [(&str, &str); 8] = [
        ("cwd", "cwd"),
        ("git_branch", "git_branch"),
        ("model", "model"),
        ("cursor_version", "cursor_version"),
        ("workspace_roots", "workspace_roots"),
        ("user_email", "user_email"),
        ("hook_event_name", "hook_event"),
        ("status", "status"),
    ];
    let usage_member = |(from, to): &(&str, &str)| {
        let value = hook.get(from).filter(|value| value.is_truthy())?;
        Some(((*to).to_owned(), value.clone()))
    };
    TOLD.iter().filter_map(usage_member).collect()
}

/// The conversations that a state database knows, in the order of their ids.
pub(crate) fn conversations(path: &Path) -> Result<Vec<String>> {
    CursorDatabase::open(path)?.conversations()
}

/// Whether a state database knows a conversation.
pub(crate) fn is_known(path: &Path, session: &str) -> Result<bool> {
    CursorDatabase::open(path)?.has(&conversation::key(session))
}

/// The value of a state database's table of items.
pub(crate) fn item(path: &Path, key: &str) -> Result<Option<ExactJson>> {
    Ok(CursorDatabase::open(path)?.item(key)?.and_then(|bytes| parse_lossy(&bytes).ok()))
}

/// The state database; none when the source is a text transcript only.
fn open_state(source: &TranscriptSource) -> Result<Option<CursorDatabase>> {
    if is_database(&source.path) {
        return CursorDatabase::open(&source.path).map(Some);
    }
    if source.text_transcript.is_some() {
        return Ok(None);
    }
    source.path.metadata().map_err(|error| Problem::io("read", &source.path, &error))?;
    let message = format!("`{}` is no state database of Cursor.", source.path.display());
    Err(Problem::new(Code::TranscriptUnreadable, message)
        .fix("Give the path of Cursor's `state.vscdb`, or of a text transcript."))
}

fn read_bubbles(
    source: &TranscriptSource,
    state: &CursorDatabase,
    composer: &Composer,
    report: &mut ReadReport,
    each: &mut dyn FnMut(Action) -> Result<()>,
) -> Result<()> {
    report.finished = composer.is_finished();
    let mut bubbles = Bubbles::new(source, state, composer);
    let entries = composer.entries();
    for (index, entry) in entries.iter().enumerate() {
        let is_last = index + 1 == entries.len();
        let bytes = match entry.inline {
            Some(inline) => inline.as_bytes().to_vec(),
            None => match state.bubble(&source.session, &entry.id)? {
                database::CursorValue::Absent => {
                    let header = parse_lossy(entry.header.as_bytes()).unwrap_or_default();
                    each(bubbles.absent(&entry.id, header, is_last))?;
                    continue;
                }
                database::CursorValue::TooLarge(bytes) => {
                    report.broken += 1;
                    each(bubbles.too_large(&entry.id, bytes))?;
                    continue;
                }
                database::CursorValue::Bytes(bytes) => bytes,
            },
        };
        let Some(bubble) = parse_lossy(&bytes).ok().filter(|bubble| bubble.as_object().is_some()) else {
            report.broken += 1;
            each(bubbles.unreadable(&entry.id, &bytes))?;
            continue;
        };
        drop(bytes);
        bubbles.actions(&entry.id, bubble, is_last, report).into_iter().try_for_each(&mut *each)?;
    }
    bubbles.rest().into_iter().try_for_each(&mut *each)?;
    bubbles.count_into(report);
    Ok(())
}

/// The folder of a session that has one only.
fn only_root(environment: &ExactFields) -> Option<ExactJson> {
    match environment.get("workspace_roots")?.as_array()? {
        [root] => root.as_str().map(ExactJson::from),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
