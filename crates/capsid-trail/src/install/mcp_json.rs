//! Our MCP server in JSON settings: a member of `mcpServers`.

use super::hook_lists::{append, member, new_root, object, text_of};
use super::settings_file::SettingsFile;
use super::splice::{TextSplice, apply};
use super::{InstallOutcome, command, finish_removal, json};
use capsid_model::{Code, Problem, Result};
use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use std::ops::Range;

const SERVERS: &str = "mcpServers";

/// The name under which tools know the server.
pub(super) const NAME: &str = "capsid";

/// Our entry as it was found.
struct McpJsonEntry {
    path: [usize; 2],
    command: (String, Range<usize>),
    arguments: (Vec<String>, Range<usize>),
}

/// Has the tool start the server: a program and its arguments.
pub(super) fn install(file: &SettingsFile, words: &[String], installed: &mut InstallOutcome) -> Result<()> {
    let text = with_server(file, words, installed)?;
    file.write(&text)?;
    installed.registered = true;
    Ok(())
}

/// Whether our entry is there.
pub(super) fn is_installed(file: &SettingsFile) -> Result<bool> {
    Ok(find(file, file.text())?.is_some())
}

pub(super) fn uninstall(file: &SettingsFile, installed: &mut InstallOutcome) -> Result<()> {
    let text = without_server(file, installed)?;
    finish_removal(file, &text)
}

pub(super) fn with_server(
    file: &SettingsFile,
    words: &[String],
    installed: &mut InstallOutcome,
) -> Result<String> {
    let (program, arguments) = words.split_first().ok_or_else(|| file.invalid("no server was named"))?;
    let (text, word) = match find(file, file.text())? {
        None => (added(file, program, arguments)?, "added"),
        Some(entry) => updated(file, &entry, program, arguments)?,
    };
    if find(file, &text)?.is_none_or(|entry| entry.arguments.0 != arguments) {
        return Err(Problem::new(Code::Internal, "An edit of a settings file did not take effect.")
            .fix("Add the server by hand, and report the file's form."));
    }
    installed.record(&format!("{SERVERS}.{NAME}"), word);
    Ok(text)
}

pub(super) fn without_server(file: &SettingsFile, installed: &mut InstallOutcome) -> Result<String> {
    let text = file.text();
    let entry = match find(file, text) {
        Ok(entry) => entry,
        // What is not ours is not ours to take.
        Err(problem) if is_foreign(file, text) => {
            installed.warn(problem.message);
            return Ok(text.to_owned());
        }
        Err(problem) => return Err(problem),
    };
    let word = if entry.is_some() { "removed" } else { "not registered" };
    installed.record(&format!("{SERVERS}.{NAME}"), word);
    let Some(entry) = entry else { return Ok(text.to_owned()) };
    let root = json::parse(text).map_err(|reason| file.invalid(&reason))?;
    let chain = root.map(|root| json::chain(&root, &entry.path)).unwrap_or_default();
    apply(text, json::remove(text, &chain))
}

/// Our entry, if there is one. Somebody else's server of our name is no file to edit.
fn find(file: &SettingsFile, text: &str) -> Result<Option<McpJsonEntry>> {
    let Some(root) = json::parse(text).map_err(|reason| file.invalid(&reason))? else { return Ok(None) };
    let Some((servers_at, servers)) = member(file, object(file, &root, "it")?, SERVERS)? else {
        return Ok(None);
    };
    let servers = object(file, servers, &format!("`{SERVERS}`"))?;
    let Some((at, server)) = member(file, servers, NAME)? else { return Ok(None) };
    let entry = text_of(server, "command").zip(arguments(server)).map(|(command, arguments)| McpJsonEntry {
        path: [servers_at, at],
        command,
        arguments,
    });
    let ours = |entry: &McpJsonEntry| is_ours(&entry.command.0, &entry.arguments.0);
    entry.filter(ours).map(Some).ok_or_else(|| file.invalid(&conflict_message()))
}

fn conflict_message() -> String {
    format!("its server `{NAME}` is another program's; rename that one first")
}

fn is_foreign(file: &SettingsFile, text: &str) -> bool {
    let named = |root: &Value<'_>| {
        let (_, servers) = member(file, root.as_object()?, SERVERS).ok()??;
        member(file, servers.as_object()?, NAME).ok()?.map(|_| ())
    };
    matches!(json::parse(text), Ok(Some(root)) if named(&root).is_some())
}

/// Whether a server runs this program as one.
pub(super) fn is_ours(program: &str, arguments: &[String]) -> bool {
    command::is_program(program) && arguments.iter().any(|argument| argument == "mcp")
}

/// Whether the program may stay as it is named: it is the same, or is looked up by its name as the user wished.
pub(super) fn may_stay(program: &str, ours: &str) -> bool {
    program == ours || program == NAME
}

fn arguments(server: &Value<'_>) -> Option<(Vec<String>, Range<usize>)> {
    let list = server.as_object()?.get_array("args")?;
    let words: Option<Vec<String>> =
        list.elements.iter().map(|word| Some(word.as_string_lit()?.value.clone().into_owned())).collect();
    Some((words?, json::span(&list.range())))
}

fn added(file: &SettingsFile, program: &str, arguments: &[String]) -> Result<String> {
    let text = file.text();
    let server = serde_json::json!({ "command": program, "args": arguments });
    let servers = serde_json::json!({ NAME: server });
    let Some(root) = json::parse(text).map_err(|reason| file.invalid(&reason))? else {
        return Ok(new_root(file, text, &serde_json::json!({ SERVERS: servers })));
    };
    match member(file, object(file, &root, "it")?, SERVERS)? {
        Some((_, existing)) => append(text, &root, existing, &|layout| layout.member(NAME, &server)),
        None => append(text, &root, &root, &|layout| layout.member(SERVERS, &servers)),
    }
}

fn updated(
    file: &SettingsFile,
    entry: &McpJsonEntry,
    program: &str,
    arguments: &[String],
) -> Result<(String, &'static str)> {
    let mut edits = Vec::new();
    if !may_stay(&entry.command.0, program) {
        let text = serde_json::Value::from(program).to_string();
        edits.push(TextSplice { range: entry.command.1.clone(), text });
    }
    if entry.arguments.0 != arguments {
        let words: Vec<String> =
            arguments.iter().map(|word| serde_json::Value::from(word.as_str()).to_string()).collect();
        edits.push(TextSplice { range: entry.arguments.1.clone(), text: format!("[{}]", words.join(", ")) });
    }
    let word = if edits.is_empty() { "already registered" } else { "updated" };
    Ok((apply(file.text(), edits)?, word))
}
