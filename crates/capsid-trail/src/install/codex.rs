//! Codex: `notify` at the top level of `config.toml`. Codex knows one such program, and no list.

use super::mcp_toml::{parse, toml_list};
use super::settings_file::SettingsFile;
use super::splice::{TextSplice, apply};
use super::{HookStatus, InstallContext, InstallOutcome, command, mcp_toml};
use capsid_model::{Code, Problem, Result};
use capsid_transcript::Tool;
use std::ops::Range;
use std::path::PathBuf;
use toml_edit::{Document, Item, Table};

/// Marks the end of what we added.
const MARK: &str = "# Added by capsid: seal each completed turn";

/// The folder of Codex's settings.
pub(super) fn folder(context: &InstallContext<'_>) -> PathBuf {
    context.codex_home.clone().unwrap_or_else(|| context.home.join(".codex"))
}

pub(super) fn file(context: &InstallContext<'_>) -> Result<SettingsFile> {
    context.read(folder(context).join("config.toml"))
}

pub(super) fn install(context: &InstallContext<'_>, words: &[String]) -> Result<InstallOutcome> {
    let file = file(context)?;
    let mut installed = InstallOutcome::new(vec![file.path.clone()]);
    let document = parse(&file, file.text())?;
    warn_of_tables(document.as_table(), "", &mut installed);
    let list = toml_list(words);
    let splice = match notify(&file, &document)? {
        None => {
            installed.record("notify", "added");
            Some(addition(&file, &document, &list))
        }
        Some(setting) if setting.words == words || setting.chained => {
            installed.record("notify", "already registered");
            None
        }
        Some(setting) if setting.ours => {
            installed.record("notify", "updated");
            Some(TextSplice { range: setting.value, text: list })
        }
        Some(setting) => {
            installed.warn(describe_conflict(&setting, words));
            return Ok(installed);
        }
    };
    if let Some(splice) = splice {
        let text = apply(file.text(), vec![splice])?;
        check(&file, &text)?;
        file.write(&text)?;
    }
    installed.registered = true;
    Ok(installed)
}

pub(super) fn uninstall(context: &InstallContext<'_>) -> Result<InstallOutcome> {
    let file = file(context)?;
    let mut installed = InstallOutcome::new(vec![file.path.clone()]);
    let document = parse(&file, file.text())?;
    match notify(&file, &document)? {
        Some(setting) if setting.ours => {
            let text = apply(file.text(), vec![TextSplice::cut(line_range(file.text(), &setting))])?;
            parse(&file, &text)?;
            // Only a file that we made ends in a line end and held nothing else.
            match text.is_empty() && file.text().ends_with('\n') {
                true => file.remove()?,
                false => file.write(&text).map(|_| ())?,
            }
            installed.record("notify", "removed");
        }
        Some(setting) if setting.chained => {
            installed.warn(
                "notify: left, for it runs other programs too; take `capsid trail hook codex` out of it",
            );
        }
        _ => installed.record("notify", "not registered"),
    }
    Ok(installed)
}

pub(super) fn status(context: &InstallContext<'_>) -> Result<HookStatus> {
    let file = file(context)?;
    let document = parse(&file, file.text())?;
    Ok(match notify(&file, &document)? {
        Some(setting) if setting.ours || setting.chained => HookStatus::Installed,
        _ => HookStatus::NotInstalled,
    })
}

/// A top-level `notify`.
struct NotifySetting {
    words: Vec<String>,
    start: usize,
    value: Range<usize>,
    /// Whether it runs our hook and nothing else.
    ours: bool,
    /// Whether it is a script of the user's that runs our hook among others.
    chained: bool,
}

fn notify(file: &SettingsFile, document: &Document<&str>) -> Result<Option<NotifySetting>> {
    let Some((key, item)) = document.as_table().get_key_value("notify") else { return Ok(None) };
    let no_list = || file.invalid("`notify` is not a list of texts");
    let list = item.as_array().ok_or_else(no_list)?;
    let words: Option<Vec<String>> = list.iter().map(|word| word.as_str().map(str::to_owned)).collect();
    let words = words.ok_or_else(no_list)?;
    let (start, value) =
        key.span().zip(item.span()).map(|(key, value)| (key.start, value)).ok_or_else(no_list)?;
    let ours = command::are_ours(&words, Tool::Codex);
    let chained = !ours && words.iter().any(|word| word.contains("trail hook codex"));
    Ok(Some(NotifySetting { words, start, value, ours, chained }))
}

/// A line of its own after the last top-level key, or before the first table.
fn addition(file: &SettingsFile, document: &Document<&str>, list: &str) -> TextSplice {
    let text = file.text();
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let line = format!("notify = {list} {MARK}");
    let offset = match last_value_end(document.as_table()) {
        Some(end) => text[end..].find('\n').map_or(text.len(), |length| end + length + 1),
        None => first_header(document.as_table()).map_or(text.len(), |header| above_header(text, header)),
    };
    let unended = offset == text.len() && !text.is_empty() && !text.ends_with('\n');
    // An empty file gets no line end. This distinguishes it from a file that did not exist.
    let text = match (unended, text.is_empty() && file.exists()) {
        (true, _) => format!("{newline}{line}"),
        (false, true) => line,
        (false, false) => format!("{line}{newline}"),
    };
    TextSplice::insert(offset, text)
}

/// The end of the last value before any table; values of dotted keys count.
fn last_value_end(table: &Table) -> Option<usize> {
    let ends = table.iter().filter_map(|(_, item)| match item {
        Item::Value(value) => value.span().map(|span| span.end),
        Item::Table(table) if table.is_dotted() => last_value_end(table),
        _ => None,
    });
    ends.max()
}

/// The start of the first table header.
fn first_header(table: &Table) -> Option<usize> {
    let headers = table.iter().filter_map(|(_, item)| match item {
        Item::Table(table) => own_header(table).into_iter().chain(first_header(table)).min(),
        Item::ArrayOfTables(tables) => tables
            .iter()
            .filter_map(|table| own_header(table).into_iter().chain(first_header(table)).min())
            .min(),
        _ => None,
    });
    headers.min()
}

fn own_header(table: &Table) -> Option<usize> {
    if table.is_implicit() || table.is_dotted() { None } else { table.span().map(|span| span.start) }
}

/// The position above a header at which a line can be added without separating the header from its comment.
fn above_header(text: &str, header: usize) -> usize {
    let start = above_comments(text, header);
    // The empty line above our own table came with it, and goes with it only from there.
    if mcp_toml::is_added(text, header) { mcp_toml::above(text, start).unwrap_or(start) } else { start }
}

/// The start of the comment directly above a header.
fn above_comments(text: &str, header: usize) -> usize {
    let mut start = text[..header].rfind('\n').map_or(0, |end| end + 1);
    while let Some(above) = text[..start].strip_suffix('\n') {
        let line = above.rfind('\n').map_or(0, |end| end + 1);
        let comment = above[line..].trim_start();
        // `#:` is a directive to editors for the entire file.
        if !comment.starts_with('#') || comment.starts_with("#:") {
            break;
        }
        start = line;
    }
    start
}

/// The line of our `notify` with its end, or with the end of the line before it where it has none.
fn line_range(text: &str, setting: &NotifySetting) -> Range<usize> {
    let line_start = text[..setting.start].rfind('\n').map_or(0, |end| end + 1);
    let line_end =
        text[setting.value.end..].find('\n').map_or(text.len(), |length| setting.value.end + length + 1);
    let after = text[setting.value.end..line_end].trim();
    if !text[line_start..setting.start].trim().is_empty() || !(after.is_empty() || after == MARK) {
        return setting.start..setting.value.end;
    }
    let ended = text[..line_end].ends_with('\n');
    let before = text[..line_start].strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text));
    match before {
        Some(before) if !ended => before.len()..line_end,
        _ => line_start..line_end,
    }
}

/// An edit that Codex could not read, or would not follow, must not reach the disk.
fn check(file: &SettingsFile, text: &str) -> Result<()> {
    match notify(file, &parse(file, text)?)? {
        Some(setting) if setting.ours => Ok(()),
        _ => Err(Problem::new(Code::Internal, "An edit of a settings file did not take effect.")
            .fix("Add `notify` by hand, and report the file's form.")),
    }
}

fn describe_conflict(setting: &NotifySetting, words: &[String]) -> String {
    let ours = command::line(words, super::CommandSyntax::Unix);
    let theirs = command::line(&setting.words, super::CommandSyntax::Unix);
    let whose = if command::is_reference(&theirs) { "agent-capsule's" } else { "another program's" };
    format!(
        "notify: left, for it is {whose} and Codex runs one program only; to run both, name a script there \
         that calls `{theirs} \"$1\"` and then `{ours} \"$1\"`"
    )
}

/// A `notify` inside a table is one that Codex never reads.
fn warn_of_tables(table: &Table, path: &str, installed: &mut InstallOutcome) {
    for (name, item) in table.iter() {
        let Item::Table(inner) = item else { continue };
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let words = inner.get("notify").and_then(Item::as_array);
        let words: Vec<String> =
            words.into_iter().flatten().filter_map(|word| word.as_str().map(str::to_owned)).collect();
        let line = command::line(&words, super::CommandSyntax::Unix);
        if command::is_reference(&line) || command::are_ours(&words, Tool::Codex) {
            installed
                .warn(format!("`notify` inside the table [{path}] is not read by Codex; remove it there"));
        }
        warn_of_tables(inner, &path, installed);
    }
}
