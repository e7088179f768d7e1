//! Reads a changed sample and looks for each of its strings.

use super::mutate::{Entry, Mutator};
use capsid_model::exact::{ExactFields, ExactJson, parse_lossy};
use capsid_model::{Value, fields};
use capsid_transcript::{Action, DropReason, ReadReport, Tool, TranscriptSource};
use std::fmt::Write;
use std::path::Path;

const NOTABLE: usize = 12;
/// Kinds of lines that are dropped, and the reason.
const DROPPED: [(&str, DropReason); 7] = [
    ("progress", DropReason::Progress),
    ("turn_diff", DropReason::Progress),
    ("task_started", DropReason::Progress),
    ("agent_message_delta", DropReason::Delta),
    ("exec_command_end", DropReason::Repeated),
    ("patch_apply_end", DropReason::Repeated),
    ("plan_update", DropReason::Repeated),
];
/// Members of which only the length or the hash is stored.
const SUMMARISED: [&str; 4] = ["originalFile", "encrypted_content", "data", "screenshot"];
/// Names of identifiers, times and kinds.
const LINKS: [&str; 14] =
    ["id", "uuid", "Id", "ID", "Uuid", "_id", "timestamp", "At", "type", "say", "ask", "role", "kind", "ids"];

pub struct Reading {
    entries: Vec<Entry>,
    pub actions: Vec<Action>,
    pub report: ReadReport,
}

fn source(tool: Tool, path: &Path) -> TranscriptSource {
    TranscriptSource {
        tool,
        session: "talk".to_owned(),
        path: path.to_owned(),
        text_transcript: None,
        authorship: None,
        hook_fields: fields! {},
    }
}

fn read(source: &TranscriptSource, entries: Vec<Entry>) -> Reading {
    let mut actions = Vec::new();
    let report = capsid_transcript::read(source, &mut |action| {
        actions.push(action);
        Ok(())
    })
    .unwrap();
    let mut keys: Vec<&str> = actions.iter().map(|action| action.key.as_str()).collect();
    keys.sort_unstable();
    let count = keys.len();
    keys.dedup();
    assert_eq!(keys.len(), count, "a key twice");
    Reading { entries, actions, report }
}

fn cut_line(text: &str, end: usize) -> String {
    text[..end].to_owned()
}

/// An item without its first colon is no JSON, and the list around it still is one.
fn break_item(text: &str, _: usize) -> String {
    text.replacen(':', "", 1)
}

fn written(entries: &[Entry]) -> String {
    entries.iter().map(|entry| entry.text() + "\n").collect()
}

pub fn lines(tool: Tool, documents: Vec<Value>, mutator: &mut Mutator) -> Reading {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("talk.jsonl");
    let entries = mutator.change(documents, &cut_line);
    std::fs::write(&path, written(&entries)).unwrap();
    read(&source(tool, &path), entries)
}

pub fn text(documents: Vec<Value>, mutator: &mut Mutator) -> Reading {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("talk.jsonl");
    let entries = mutator.change(documents, &cut_line);
    std::fs::write(&path, written(&entries)).unwrap();
    let source = TranscriptSource { text_transcript: Some(path.clone()), ..source(Tool::Cursor, &path) };
    read(&source, entries)
}

pub fn bubbles(documents: Vec<Value>, mutator: &mut Mutator) -> Reading {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.vscdb");
    let entries = mutator.change(documents, &cut_line);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch(
            "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; CREATE TABLE cursorDiskKV (key TEXT, value BLOB); BEGIN;",
        ).unwrap();
    let put = |key: &str, value: &str| {
        connection.execute("INSERT INTO cursorDiskKV VALUES (?1, ?2)", [key, value]).unwrap();
    };
    let ids: Vec<Value> =
        (0..entries.len()).map(|at| capsid_model::json!({"bubbleId": format!("b{at}")})).collect();
    let talk = capsid_model::json!({"status": "completed", "fullConversationHeadersOnly": ids});
    put("composerData:talk", &talk.to_string());
    for (at, entry) in entries.iter().enumerate() {
        put(&format!("bubbleId:talk:b{at}"), &entry.text());
    }
    connection.execute_batch("COMMIT;").unwrap();
    drop(connection);
    read(&source(Tool::Cursor, &path), entries)
}

pub fn task(messages: Vec<Value>, history: Vec<Value>, mutator: &mut Mutator) -> Reading {
    let folder = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for (name, documents) in [("ui_messages.json", messages), ("api_conversation_history.json", history)] {
        let entries = mutator.change(documents, &break_item);
        let items: Vec<String> = entries.iter().map(Entry::text).collect();
        std::fs::write(folder.path().join(name), format!("[{}]", items.join(","))).unwrap();
        all.extend(entries);
    }
    read(&source(Tool::Cline, folder.path()), all)
}

impl Reading {
    /// The transcript as it was read.
    pub fn written(&self) -> String {
        written(&self.entries)
    }

    /// The strings that are in no record and that no reason names.
    pub fn lost(&self) -> Vec<String> {
        let shown = self.shown_text();
        let mut lost = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::Cut(text) => match parse_lossy(text.as_bytes()) {
                    // What was cut off was only white space.
                    Ok(document) if document.as_object().is_some() => {
                        self.find_lost("", &document, &document, &shown, &mut lost);
                    }
                    _ if is_shown(text.trim(), &shown) => {}
                    _ => lost.push(format!("cut: {text}")),
                },
                Entry::Whole(_) => {
                    let document = parse_lossy(entry.text().as_bytes()).unwrap();
                    self.find_lost("", &document, &document, &shown, &mut lost);
                }
            }
        }
        lost
    }

    /// All that the records hold, in one text.
    fn shown_text(&self) -> String {
        let mut shown = String::new();
        for action in &self.actions {
            for text in [&action.prompt, &action.analysis, &action.reasoning, &action.model, &action.summary]
            {
                writeln!(shown, "{text}").unwrap();
            }
            writeln!(shown, "{}\n{}", action.authority.policy_reference, action.side_effects.join("\n"))
                .unwrap();
            strings_of(&action.environment.clone().into(), &mut shown);
            strings_of(&action.usage.clone().into(), &mut shown);
            strings_of(&action.result, &mut shown);
            if let Some(call) = &action.call {
                writeln!(shown, "{}", call.tool).unwrap();
                strings_of(&call.arguments, &mut shown);
                strings_of(&call.result, &mut shown);
            }
        }
        shown
    }

    fn find_lost(
        &self,
        name: &str,
        value: &ExactJson,
        entry: &ExactJson,
        shown: &str,
        lost: &mut Vec<String>,
    ) {
        match value {
            ExactJson::String(text) => {
                // A text that is a document is looked at member by member.
                let document =
                    parse_lossy(text.as_bytes()).ok().filter(|document| document.as_object().is_some());
                if let Some(document) = document.filter(|_| !is_shown(text.trim(), shown)) {
                    return self.find_lost(name, &document, entry, shown, lost);
                }
                if !is_shown(text.trim(), shown) && !self.is_named(name, text, entry) {
                    lost.push(format!("{name}: {text}"));
                }
            }
            ExactJson::Array(items) => {
                items.iter().for_each(|item| self.find_lost(name, item, entry, shown, lost));
            }
            ExactJson::Object(fields) => {
                fields.iter().for_each(|(name, value)| self.find_lost(name, value, entry, shown, lost));
            }
            _ => {}
        }
    }

    /// Whether a reason of the report names the string.
    fn is_named(&self, name: &str, text: &str, entry: &ExactJson) -> bool {
        let has = |reason: DropReason| self.report.dropped.contains_key(&reason);
        let kinds = [entry.text("type"), entry.at(&["payload", "type"]).and_then(ExactJson::as_str)];
        let is_dropped = DROPPED.iter().any(|(kind, reason)| kinds.contains(&Some(kind)) && has(*reason));
        let is_link = LINKS.iter().any(|end| name.ends_with(end)) && !text.contains(char::is_whitespace);
        let is_image = text.starts_with("data:") && self.shown_text().contains("base64_length");
        let is_summary = SUMMARISED.contains(&name);
        // A line whose identifier came before, and what a compaction repeats.
        let is_repeated = has(DropReason::RepeatedHistory)
            && self.entries.iter().filter(|other| is_same_line(other, entry)).count() > 1;
        is_dropped
            || (is_link && has(DropReason::Identifier))
            || is_image
            || (is_summary && has(DropReason::Summarised))
            || is_repeated
            || (name == "request" && has(DropReason::Repeated))
    }
}

fn is_same_line(other: &Entry, entry: &ExactJson) -> bool {
    let Entry::Whole(other) = other else { return false };
    entry.text("uuid").is_some_and(|uuid| other["uuid"].as_str() == Some(uuid))
        || entry.text("type") == Some("session_meta") && other["type"] == "session_meta"
}

fn strings_of(value: &ExactJson, shown: &mut String) {
    match value {
        ExactJson::String(text) => writeln!(shown, "{text}").unwrap(),
        ExactJson::Array(items) => items.iter().for_each(|item| strings_of(item, shown)),
        ExactJson::Object(fields) => of_fields(fields, shown),
        _ => {}
    }
}

fn of_fields(fields: &ExactFields, shown: &mut String) {
    for (name, value) in fields {
        writeln!(shown, "{name}").unwrap();
        strings_of(value, shown);
    }
}

/// Whether a text, or each of its lines, or each string of the document that it is, is in a record.
fn is_shown(text: &str, shown: &str) -> bool {
    if text.chars().count() < NOTABLE || shown.contains(text) {
        return true;
    }
    if let Ok(document) = parse_lossy(text.as_bytes())
        && (document.as_object().is_some() || document.as_array().is_some())
    {
        let mut strings = String::new();
        strings_of(&document, &mut strings);
        let members: Vec<&str> = strings.lines().collect();
        return members.iter().all(|line| is_line_shown(line, shown) || line.starts_with("data:"));
    }
    text.lines().count() > 1 && text.lines().all(|line| is_line_shown(line, shown))
}

fn is_line_shown(line: &str, shown: &str) -> bool {
    let line = line.trim();
    // The head of a result that a call is found by.
    if line.starts_with('[') && line.ends_with("] Result:") {
        return true;
    }
    let plain = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim();
    plain.chars().count() < NOTABLE || shown.contains(line) || shown.contains(plain)
}
