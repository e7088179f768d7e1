//! Hooks in JSON settings: an object `hooks` with a list for each event.

use super::json::{self, JsonContainer};
use super::layout::{FileStyle, ItemLayout};
use super::settings_file::SettingsFile;
use super::splice::{TextSplice, apply};
use super::{HookStatus, InstallOutcome, command};
use capsid_model::{Code, Problem, Result};
use capsid_transcript::Tool;
use jsonc_parser::ast::{Object, Value};
use std::ops::Range;

/// More entries of ours than anyone has.
const MAX_ENTRIES: usize = 100;

/// How a tool stores its hooks.
pub(super) struct HookLists {
    pub tool: Tool,
    /// The events at which we are called.
    pub events: &'static [&'static str],
    /// Whether the entries of an event are groups, each with a list `hooks` of its own.
    pub grouped: bool,
    /// Which of our commands it is about.
    pub call: HookCall,
}

/// What a tool calls us for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookCall {
    /// To seal what was done.
    Seal,
    /// Recalls proven solutions.
    Recall,
}

/// A command found in a list.
struct FoundHook {
    event: usize,
    line: String,
    /// The range of the command's text.
    span: Range<usize>,
    /// Which members lead from the root to the least that can be removed with it.
    path: Vec<usize>,
}

impl HookLists {
    /// Adds our command to each event that lacks it. Gives the new text.
    pub fn add(&self, file: &SettingsFile, line: &str, installed: &mut InstallOutcome) -> Result<String> {
        let mut text = file.text().to_owned();
        for (index, event) in self.events.iter().enumerate() {
            let hooks = self.find(file, &text)?;
            let here = || hooks.iter().filter(|hook| hook.event == index);
            let ours: Vec<&FoundHook> = here().filter(|hook| self.is_ours(&hook.line)).collect();
            if self.call == HookCall::Seal && here().any(|hook| command::is_reference(&hook.line)) {
                installed.warn(format!(
                    "{event}: agent-capsule is registered too, so both would seal each session; remove one of them"
                ));
            }
            let word = match ours.first() {
                Some(_) if ours.iter().any(|hook| hook.line == line) => "already registered",
                Some(other) => {
                    let literal = serde_json::Value::from(line).to_string();
                    text = apply(&text, vec![TextSplice { range: other.span.clone(), text: literal }])?;
                    "updated"
                }
                None => {
                    text = self.added(file, &text, event, line)?;
                    "added"
                }
            };
            installed.record(event, word);
        }
        self.check(file, &text, line)?;
        Ok(text)
    }

    /// Removes our commands from a text of the file. Gives the new text.
    pub fn remove(&self, file: &SettingsFile, text: &str, installed: &mut InstallOutcome) -> Result<String> {
        let mut text = text.to_owned();
        let mut removed = vec![false; self.events.len()];
        for _ in 0..MAX_ENTRIES {
            // The last goes first, so that what was added last finds its surroundings as they were.
            let hooks = self.find(file, &text)?;
            let Some(ours) = hooks.iter().rfind(|hook| self.is_ours(&hook.line)) else {
                break;
            };
            let root = json::parse(&text).map_err(|reason| file.invalid(&reason))?;
            let chain = root.map(|root| json::chain(&root, &ours.path)).unwrap_or_default();
            text = apply(&text, json::remove(&text, &chain))?;
            removed[ours.event] = true;
        }
        if self.find(file, &text)?.iter().any(|hook| self.is_ours(&hook.line)) {
            return Err(file.invalid("it holds too many entries of this hook"));
        }
        for (event, removed) in self.events.iter().zip(removed) {
            installed.record(event, if removed { "removed" } else { "not registered" });
        }
        Ok(text)
    }

    /// Whether each event calls us.
    pub fn status(&self, file: &SettingsFile) -> Result<HookStatus> {
        let hooks = self.find(file, file.text())?;
        let registered =
            |index: &usize| hooks.iter().any(|hook| hook.event == *index && self.is_ours(&hook.line));
        let missing: Vec<usize> = (0..self.events.len()).filter(|index| !registered(index)).collect();
        let names = || missing.iter().map(|&index| self.events[index].to_owned()).collect();
        Ok(HookStatus::for_missing(missing.len(), self.events.len(), names))
    }

    fn is_ours(&self, line: &str) -> bool {
        match self.call {
            HookCall::Seal => command::is_ours(line, self.tool),
            HookCall::Recall => command::is_start(line, self.tool),
        }
    }

    /// Whether anyone else has a hook here, at whichever event.
    pub fn has_foreign(&self, file: &SettingsFile, text: &str) -> Result<bool> {
        let Some(root) = json::parse(text).map_err(|reason| file.invalid(&reason))? else { return Ok(false) };
        let entries = |value: &Value<'_>| value.as_array().map_or(1, |list| list.elements.len());
        let all: usize = match object(file, &root, "it")?.get("hooks").map(|member| &member.value) {
            Some(Value::Object(hooks)) => hooks.properties.iter().map(|event| entries(&event.value)).sum(),
            _ => 0,
        };
        let found_hooks = self.find(file, text)?;
        Ok(all > found_hooks.iter().filter(|hook| self.is_ours(&hook.line)).count())
    }

    fn find(&self, file: &SettingsFile, text: &str) -> Result<Vec<FoundHook>> {
        let mut all = Vec::new();
        let Some(root) = json::parse(text).map_err(|reason| file.invalid(&reason))? else { return Ok(all) };
        let Some((hooks_at, hooks)) = member(file, object(file, &root, "it")?, "hooks")? else {
            return Ok(all);
        };
        let hooks_object = object(file, hooks, "`hooks`")?;
        for (index, event) in self.events.iter().enumerate() {
            let Some((event_at, list)) = member(file, hooks_object, event)? else { continue };
            let Value::Array(entries) = list else {
                return Err(file.invalid(&format!("`hooks.{event}` is not a list")));
            };
            for (entry_at, entry) in entries.elements.iter().enumerate() {
                all.extend(self.commands(entry).map(|(line, span, below)| {
                    let path = [hooks_at, event_at, entry_at].into_iter().chain(below).collect();
                    FoundHook { event: index, line, span, path }
                }));
            }
        }
        Ok(all)
    }

    /// The commands of one entry, and what leads from the entry to those that share it with others.
    fn commands<'b>(
        &self,
        entry: &'b Value<'_>,
    ) -> impl Iterator<Item = (String, Range<usize>, Vec<usize>)> + use<'b> {
        let members = entry.as_object().map(|entry| entry.properties.as_slice()).unwrap_or_default();
        let group = members.iter().enumerate().find(|(_, member)| member.name.as_str() == "hooks");
        let (at, hooks) = match group.and_then(|(at, member)| Some((at, member.value.as_array()?))) {
            Some((at, list)) if self.grouped => (at, list.elements.as_slice()),
            _ if self.grouped => (0, Default::default()),
            _ => (0, std::slice::from_ref(entry)),
        };
        let alone = hooks.len() == 1;
        hooks.iter().enumerate().filter_map(move |(index, hook)| {
            let (line, span) = text_of(hook, "command")?;
            Some((line, span, if alone { Vec::new() } else { vec![at, index] }))
        })
    }

    /// The text with our command at an event that has none.
    fn added(&self, file: &SettingsFile, text: &str, event: &str, line: &str) -> Result<String> {
        let hook = serde_json::json!({ "type": "command", "command": line });
        let entry = if self.grouped { serde_json::json!({ "hooks": [hook] }) } else { hook };
        let list = serde_json::json!([entry]);
        let hooks = serde_json::json!({ event: list });
        let Some(root) = json::parse(text).map_err(|reason| file.invalid(&reason))? else {
            return Ok(new_root(file, text, &serde_json::json!({ "hooks": hooks })));
        };
        let root_object = object(file, &root, "it")?;
        let hooks_member = member(file, root_object, "hooks")?;
        let event_member = match hooks_member {
            Some((_, hooks)) => member(file, object(file, hooks, "`hooks`")?, event)?,
            None => None,
        };
        type Render<'a> = Box<dyn Fn(&ItemLayout) -> String + 'a>;
        let (target, render): (&Value<'_>, Render<'_>) = match (hooks_member, event_member) {
            (_, Some((_, list))) => (list, Box::new(|layout| layout.value(&entry))),
            (Some((_, hooks)), None) => (hooks, Box::new(|layout| layout.member(event, &list))),
            (None, None) => (&root, Box::new(|layout| layout.member("hooks", &hooks))),
        };
        append(text, &root, target, &*render)
    }

    /// An edit that the tool could not read, or would not follow, must not reach the disk.
    fn check(&self, file: &SettingsFile, text: &str, line: &str) -> Result<()> {
        let hooks = self.find(file, text)?;
        let everywhere = (0..self.events.len())
            .all(|index| hooks.iter().any(|hook| hook.event == index && hook.line == line));
        match everywhere {
            true => Ok(()),
            false => Err(Problem::new(Code::Internal, "An edit of a settings file did not take effect.")
                .fix("Add the hook by hand, and report the file's form.")),
        }
    }
}

/// The text with a member added to one of its containers.
pub(super) fn append(
    text: &str,
    root: &Value<'_>,
    target: &Value<'_>,
    render: &dyn Fn(&ItemLayout) -> String,
) -> Result<String> {
    let (Some(root), Some(target)) = (JsonContainer::from_value(root), JsonContainer::from_value(target))
    else {
        return Ok(text.to_owned());
    };
    apply(
        text,
        json::append(text, &FileStyle::detect(text, &root.span, root.members.first()), &target, render),
    )
}

/// The root where there was none. A blank file gets it on one line and its white space stays.
pub(super) fn new_root(file: &SettingsFile, text: &str, root: &serde_json::Value) -> String {
    match file.exists() {
        true => format!("{}{text}", ItemLayout::one_line("").value(root)),
        false => format!("{}\n", ItemLayout::lines(&FileStyle::usual(), "").value(root)),
    }
}

/// The member of a name, and which one it is. Twice the same name is no file to edit: readers differ on which counts.
pub(super) fn member<'a, 'b>(
    file: &SettingsFile,
    object: &'b Object<'a>,
    name: &str,
) -> Result<Option<(usize, &'b Value<'a>)>> {
    let mut named = object.properties.iter().enumerate().filter(|(_, member)| member.name.as_str() == name);
    let first = named.next().map(|(index, member)| (index, &member.value));
    match named.next() {
        Some(_) => Err(file.invalid(&format!("`{name}` stands in it twice"))),
        None => Ok(first),
    }
}

/// The value as an object, or why the file cannot be edited.
pub(super) fn object<'a, 'b>(
    file: &SettingsFile,
    value: &'b Value<'a>,
    what: &str,
) -> Result<&'b Object<'a>> {
    value.as_object().ok_or_else(|| file.invalid(&format!("{what} is not a JSON object")))
}

pub(super) fn text_of(value: &Value<'_>, name: &str) -> Option<(String, Range<usize>)> {
    let text = value.as_object()?.get_string(name)?;
    Some((text.value.clone().into_owned(), json::span(&text.range)))
}
