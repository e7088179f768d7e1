//! What the model saw: the calls it made and what each gave.
//!
//! A call is found by its tool and its input, never by its place: some actions have no call, and some calls no action.

use super::array::{ArrayItems, items};
use crate::DropReason;
use crate::jsonl::{BytePosition, IgnoredValue, LooseValue, PeekLine};
use crate::ledger::EntryLedger;
use crate::leftover::{RememberedTexts, ShownTexts};
use crate::shape::{cap_text, iso_time};
use capsid_model::exact::ExactJson;
use capsid_model::{Result, fields};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Characters of an input that are compared.
const TARGET_MAX: usize = 200;

/// How much of a message that cannot be read is held, and how many characters of it are stored.
const UNREADABLE_BYTES: usize = 64 << 10;
const UNREADABLE_MAX: usize = 4000;

/// The calls of a task.
#[derive(Default)]
pub(super) struct ApiHistory {
    calls: Vec<ApiCall>,
    items: Option<ArrayItems>,
    /// Calls before this one are all taken.
    first: usize,
    /// Every message, for what no action shows.
    messages: Vec<ApiPosition>,
}

/// Where a message is; of one that is no object, the beginning.
struct ApiPosition {
    position: BytePosition,
    unreadable: Option<Vec<u8>>,
}

struct ApiCall {
    name: String,
    id: String,
    targets: Vec<String>,
    /// The message in which the call was made, for the first of its calls.
    message: Option<BytePosition>,
    result: Option<(BytePosition, ResultLocation)>,
    is_used: bool,
}

/// The location of a result in a message: by the call's id, or in the block of a text.
enum ResultLocation {
    Id(String),
    Block(usize),
}

/// What a call gave.
#[derive(Default)]
pub(super) struct CallResult {
    pub(super) reasoning: Vec<String>,
    /// Its result; none while it is still to come.
    pub(super) result: Option<String>,
    /// Whether the result is marked as an error.
    pub(super) is_error: bool,
    /// Blocks of thinking that nobody can read.
    pub(super) redacted: usize,
    pub(super) id: String,
    /// The tool's name on the model's side.
    pub(super) name: String,
}

/// A message of the model's side that no action shows wholly.
pub(super) struct ApiRest {
    pub(super) role: String,
    pub(super) time: Option<ExactJson>,
    pub(super) thinking: String,
    /// Whether a call or a result is in it.
    pub(super) has_call: bool,
    pub(super) rest: ExactJson,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ApiMessage {
    role: LooseValue<IgnoredValue>,
    content: LooseValue<ApiBlock>,
}

impl PeekLine for ApiMessage {}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ApiBlock {
    r#type: LooseValue<IgnoredValue>,
    id: LooseValue<IgnoredValue>,
    name: LooseValue<IgnoredValue>,
    tool_use_id: LooseValue<IgnoredValue>,
    text: LooseValue<IgnoredValue>,
    input: LooseValue<ApiInput>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ApiInput {
    path: LooseValue<IgnoredValue>,
    command: LooseValue<IgnoredValue>,
    regex: LooseValue<IgnoredValue>,
    query: LooseValue<IgnoredValue>,
    url: LooseValue<IgnoredValue>,
    tool_name: LooseValue<IgnoredValue>,
    uri: LooseValue<IgnoredValue>,
    action: LooseValue<IgnoredValue>,
}

impl ApiInput {
    fn targets(&self) -> Vec<String> {
        let all = [
            &self.path,
            &self.command,
            &self.regex,
            &self.query,
            &self.url,
            &self.tool_name,
            &self.uri,
            &self.action,
        ];
        all.iter().map(|value| normal(value.text())).filter(|text| !text.is_empty()).collect()
    }
}

impl ApiHistory {
    /// Looks through the history once. There need not be one.
    pub(super) fn open(path: &Path) -> Result<Self> {
        if !path.is_file() {
            return Ok(Self::default());
        }
        let mut calls = Vec::new();
        let mut messages = Vec::new();
        let mut by_id = HashMap::new();
        items(path, &mut |position, bytes| {
            let message = ApiMessage::peek(bytes);
            let start = || bytes[..bytes.len().min(UNREADABLE_BYTES)].to_vec();
            let unreadable = message.is_none().then(start);
            messages.push(ApiPosition { position, unreadable });
            if let Some(message) = message {
                let blocks = message.content.list();
                if message.role.text() == "assistant" {
                    created_calls(blocks, position, &mut calls, &mut by_id);
                } else {
                    join_result(blocks, position, &mut calls, &by_id);
                }
            }
        })?;
        Ok(Self { calls, items: Some(ArrayItems::open(path)?), first: 0, messages })
    }

    /// Whether there is a history.
    pub(super) fn is_there(&self) -> bool {
        !self.messages.is_empty()
    }

    /// What the history holds and no action shows, message by message.
    pub(super) fn rest(
        &mut self,
        remembered: &RememberedTexts,
        ledger: &mut EntryLedger,
        each: &mut dyn FnMut(&mut EntryLedger, ApiRest) -> Result<()>,
    ) -> Result<()> {
        let shown_calls: HashSet<&str> =
            self.calls.iter().filter(|call| call.is_used).map(|call| call.id.as_str()).collect();
        let Some(items) = &mut self.items else { return Ok(()) };
        for ApiPosition { position, unreadable } in &self.messages {
            if let Some(start) = unreadable {
                let start = cap_text(&String::from_utf8_lossy(start), UNREADABLE_MAX);
                let rest = fields! { "unreadable": start, "bytes": position.length }.into();
                let (role, time, thinking) = Default::default();
                each(ledger, ApiRest { role, time, thinking, has_call: false, rest })?;
                continue;
            }
            let Some(message) = items.at(*position)? else { continue };
            let shown = ShownTexts::from_remembered(remembered);
            let thinking = thinking_besides(&message, &shown);
            if has_encrypted(&message) {
                ledger.count_dropped(DropReason::Summarised);
            }
            let Some(rest) = ledger.rest_of(&without_heads(&message, &shown_calls), &shown) else { continue };
            let kinds = rest.get("content").and_then(ExactJson::as_array).unwrap_or_default();
            let has_call = kinds.iter().any(|block| {
                ["input", "tool_use_id", "content"].iter().any(|name| block.get(name).is_some())
            });
            let role = message.text("role").unwrap_or_default().to_owned();
            let time = message.get("ts").and_then(iso_time);
            each(ledger, ApiRest { role, time, thinking, has_call, rest })?;
        }
        Ok(())
    }

    /// The first call not yet taken of one of these tools with one of these inputs.
    pub(super) fn join(&mut self, names: &[&str], targets: &[&str]) -> Result<Option<CallResult>> {
        let targets: Vec<String> =
            targets.iter().map(|text| normal(text)).filter(|text| !text.is_empty()).collect();
        let fits = |call: &ApiCall| {
            !call.is_used
                && names.contains(&call.name.as_str())
                && (targets.is_empty()
                    || call.targets.is_empty()
                    || call.targets.iter().any(|call| targets.iter().any(|target| same(call, target))))
        };
        while self.calls.get(self.first).is_some_and(|call| call.is_used) {
            self.first += 1;
        }
        let Some(index) = self.calls[self.first..].iter().position(fits) else { return Ok(None) };
        let call = &mut self.calls[self.first + index];
        call.is_used = true;
        let (message, result) = (call.message, call.result.take());
        let mut joined = CallResult { id: call.id.clone(), name: call.name.clone(), ..CallResult::default() };
        let Some(items) = &mut self.items else { return Ok(None) };
        if let Some(message) = message.map(|position| items.at(position)).transpose()?.flatten() {
            joined.reasoning = reasoning(&message);
            let blocks = message.get("content").and_then(ExactJson::as_array).unwrap_or_default();
            joined.redacted =
                blocks.iter().filter(|block| block.text("type") == Some("redacted_thinking")).count();
        }
        if let Some((position, location)) = result
            && let Some(message) = items.at(position)?
        {
            (joined.result, joined.is_error) = result_in(&message, &location);
        }
        Ok(Some(joined))
    }
}

/// The calls in a message of the model. What it thought before them belongs to the first.
fn created_calls(
    blocks: &[ApiBlock],
    position: BytePosition,
    calls: &mut Vec<ApiCall>,
    by_id: &mut HashMap<String, usize>,
) {
    let uses = blocks.iter().filter(|block| block.r#type.text() == "tool_use");
    for (at, block) in uses.enumerate() {
        by_id.insert(block.id.text().to_owned(), calls.len());
        calls.push(ApiCall {
            name: block.name.text().to_owned(),
            id: block.id.text().to_owned(),
            targets: block.input.one().map(ApiInput::targets).unwrap_or_default(),
            message: (at == 0).then_some(position),
            result: None,
            is_used: false,
        });
    }
}

/// Results: of a call by its id, or, in tasks whose calls are written in words, under a head that names both.
fn join_result(
    blocks: &[ApiBlock],
    position: BytePosition,
    calls: &mut Vec<ApiCall>,
    by_id: &HashMap<String, usize>,
) {
    for (at, block) in blocks.iter().enumerate() {
        let id = block.tool_use_id.text();
        match block.r#type.text() {
            "tool_result" => {
                if let Some(call) = by_id.get(id).and_then(|call| calls.get_mut(*call)) {
                    call.result = Some((position, ResultLocation::Id(id.to_owned())));
                }
            }
            "text" => {
                if let Some((name, target)) = head(block.text.text()) {
                    calls.push(ApiCall {
                        name: name.to_owned(),
                        id: String::new(),
                        targets: target.map(normal).into_iter().collect(),
                        message: None,
                        result: Some((position, ResultLocation::Block(at))),
                        is_used: false,
                    });
                }
            }
            _ => {}
        }
    }
}

/// The tool and the input in `[tool for 'input'] Result:`.
fn head(text: &str) -> Option<(&str, Option<&str>)> {
    let inside = text.strip_prefix('[')?;
    let (head, _) = inside.split_once("] Result:")?;
    let name = head.split(' ').next()?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let target =
        head.split_once(" for '").map(|(_, rest)| rest.split_once('\'').map_or(rest, |(target, _)| target));
    is_name.then_some((name, target))
}

fn result_in(message: &ExactJson, location: &ResultLocation) -> (Option<String>, bool) {
    let blocks = message.get("content").and_then(ExactJson::as_array).unwrap_or_default();
    match location {
        ResultLocation::Id(id) => {
            let block = blocks.iter().find(|block| block.text("tool_use_id") == Some(id));
            let text = block.map(|block| texts(block.get("content").unwrap_or(&ExactJson::Null)));
            let is_error = block.and_then(|block| block.get("is_error")?.as_bool()).unwrap_or(false);
            (text, is_error)
        }
        ResultLocation::Block(at) => {
            let text = |at: usize| blocks.get(at).and_then(|block| block.text("text"));
            let rest =
                text(*at).and_then(|text| text.split_once("] Result:")).map_or("", |(_, rest)| rest.trim());
            let next = text(at + 1)
                .filter(|next| head(next).is_none() && !next.starts_with("<environment_details>"));
            let result = if rest.is_empty() { next.unwrap_or_default() } else { rest };
            (Some(result.to_owned()), false)
        }
    }
}

/// The texts of a result; images are counted.
fn texts(content: &ExactJson) -> String {
    match content {
        ExactJson::String(text) => text.clone(),
        ExactJson::Array(blocks) => {
            let mut texts: Vec<String> =
                blocks.iter().filter_map(|block| block.text("text")).map(str::to_owned).collect();
            let images = blocks.iter().filter(|block| block.text("type") == Some("image")).count();
            if images > 0 {
                texts.push(format!("[{images} images]"));
            }
            texts.join("\n")
        }
        _ => String::new(),
    }
}

fn reasoning(message: &ExactJson) -> Vec<String> {
    let blocks = message.get("content").and_then(ExactJson::as_array).unwrap_or_default();
    blocks
        .iter()
        .filter(|block| block.text("type") == Some("thinking"))
        .filter_map(|block| block.text("thinking"))
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The message without the heads of results, without names of calls that are shown, and with encrypted thinking as its
/// hash.
fn without_heads(message: &ExactJson, shown_calls: &HashSet<&str>) -> ExactJson {
    let mut message = message.clone();
    let ExactJson::Object(fields) = &mut message else { return message };
    let Some(ExactJson::Array(blocks)) = fields.get_mut("content") else { return message };
    for block in blocks {
        let ExactJson::Object(block) = block else { continue };
        let is_redacted = block.get("type").and_then(ExactJson::as_str) == Some("redacted_thinking");
        if let Some(data) = block.get("data").and_then(ExactJson::as_str).filter(|_| is_redacted) {
            let data = crate::shape::digest(data);
            block.insert("data".to_owned(), data);
        }
        if let Some(proof) = block.get("signature").and_then(ExactJson::as_str) {
            let proof = crate::shape::signature(proof);
            block.insert("signature".to_owned(), proof);
        }
        // The page has another name for the tool.
        if block.get("id").and_then(ExactJson::as_str).is_some_and(|id| shown_calls.contains(id)) {
            block.shift_remove("name");
        }
        let text = block.get("text").and_then(ExactJson::as_str);
        let rest = text.filter(|text| head(text).is_some()).and_then(|text| text.split_once("] Result:"));
        if let Some(rest) = rest.map(|(_, rest)| rest.to_owned()) {
            block.insert("text".to_owned(), rest.into());
        }
    }
    message
}

/// Whether a message has thinking that nobody can read, which is stored by its hash.
fn has_encrypted(message: &ExactJson) -> bool {
    let blocks = message.get("content").and_then(ExactJson::as_array).unwrap_or_default();
    blocks.iter().any(|block| block.text("type") == Some("redacted_thinking"))
}

/// Thinking of a message that no action shows.
fn thinking_besides(message: &ExactJson, shown: &ShownTexts<'_>) -> String {
    let mut thinking = reasoning(message);
    thinking.retain(|text| !shown.shows(text));
    thinking.join("\n\n")
}

/// An input as it is compared.
fn normal(text: &str) -> String {
    let text = text.trim().replace('\\', "/");
    let text = text.strip_prefix("./").unwrap_or(&text).trim_end_matches('/');
    text.chars().take(TARGET_MAX).collect()
}

/// The same path, or the same path relative to another folder.
fn same(a: &str, b: &str) -> bool {
    let ends = |text: &str, end: &str| {
        text.len() > end.len() && text.ends_with(end) && text.as_bytes()[text.len() - end.len() - 1] == b'/'
    };
    a == b || (!a.contains(' ') && (ends(a, b) || ends(b, a)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_result_names_the_tool_and_its_input() {
        assert_eq!(head("[read_file for 'a b.ts'] Result:\nx"), Some(("read_file", Some("a b.ts"))));
        assert_eq!(head("[search_files for 'x' in '*.ts'] Result:"), Some(("search_files", Some("x"))));
        assert_eq!(head("[attempt_completion] Result: ok"), Some(("attempt_completion", None)));
        assert_eq!(head("[1, 2] Result:"), None);
        assert_eq!(head("words"), None);
    }

    #[test]
    fn paths_are_the_same_from_other_folders() {
        assert_eq!(normal(" .\\src\\a.ts/ "), "src/a.ts");
        assert!(same("src/a.ts", "/r/src/a.ts"));
        assert!(same("/r/src/a.ts", "src/a.ts"));
        assert!(!same("c/a.ts", "/r/src/a.ts"));
        assert!(!same("ls a", "x/ls a"));
    }
}
