//! Our MCP server in Codex's `config.toml`: the table `[mcp_servers.capsid]` at the end.

use super::InstallOutcome;
use super::mcp_json::{NAME, is_ours, may_stay};
use super::settings_file::SettingsFile;
use super::splice::{TextSplice, apply};
use capsid_model::{Code, Problem, Result};
use std::ops::Range;
use toml_edit::{Document, Item, TableLike, Value};

const SERVERS: &str = "mcp_servers";

/// Follows the header that we added.
const MARK: &str = "# Added by capsid";

pub(super) fn parse<'a>(file: &SettingsFile, text: &'a str) -> Result<Document<&'a str>> {
    Document::parse(text)
        .map_err(|error| file.invalid(&format!("it is not valid TOML ({})", error.message().trim())))
}

pub(super) fn toml_list(words: &[String]) -> String {
    Value::from_iter(words.iter().map(String::as_str)).to_string()
}

/// Our table as it was found.
struct McpTomlEntry {
    command: (String, Range<usize>),
    arguments: (Vec<String>, Range<usize>),
    /// From its header to the end of its last value; nothing when it is not written as one table.
    block: Option<Range<usize>>,
}

pub(super) fn install(file: &SettingsFile, words: &[String], installed: &mut InstallOutcome) -> Result<()> {
    let (program, arguments) = words.split_first().ok_or_else(|| file.invalid("no server was named"))?;
    let (text, word) = match find(file, file.text())? {
        None => (added(file, program, arguments)?, "added"),
        Some(entry) => updated(file, &entry, program, arguments)?,
    };
    if find(file, &text)?.is_none_or(|entry| entry.arguments.0 != arguments) {
        return Err(Problem::new(Code::Internal, "An edit of a settings file did not take effect.")
            .fix("Add the server by hand, and report the file's form."));
    }
    file.write(&text)?;
    installed.record(&format!("{SERVERS}.{NAME}"), word);
    installed.registered = true;
    Ok(())
}

/// Whether our entry is there.
pub(super) fn is_installed(file: &SettingsFile) -> Result<bool> {
    Ok(find(file, file.text())?.is_some())
}

pub(super) fn uninstall(file: &SettingsFile, installed: &mut InstallOutcome) -> Result<()> {
    let name = format!("{SERVERS}.{NAME}");
    let text = file.text();
    let entry = match find(file, text) {
        Ok(Some(entry)) => entry,
        Ok(None) => {
            installed.record(&name, "not registered");
            return Ok(());
        }
        // What is not ours is not ours to take.
        Err(problem) if parse(file, text).is_ok() => {
            installed.warn(problem.message);
            return Ok(());
        }
        Err(problem) => return Err(problem),
    };
    let block = entry
        .block
        .ok_or_else(|| file.invalid(&format!("`{name}` is not one table; take it out by hand")))?;
    let rest = apply(text, vec![TextSplice::cut(block_range(text, &block))])?;
    if find(file, &rest)?.is_some() {
        return Err(file.invalid(&format!("`{name}` stands in it more than once")));
    }
    installed.record(&name, "removed");
    // Only a file that we made ends in a line end and held nothing else.
    match rest.is_empty() && text.ends_with('\n') {
        true => file.remove(),
        false => file.write(&rest).map(|_| ()),
    }
}

fn find(file: &SettingsFile, text: &str) -> Result<Option<McpTomlEntry>> {
    let document = parse(file, text)?;
    let Some(servers) = document.as_table().get(SERVERS) else { return Ok(None) };
    let servers =
        servers.as_table_like().ok_or_else(|| file.invalid(&format!("`{SERVERS}` is not a table")))?;
    let Some(server) = servers.get(NAME) else { return Ok(None) };
    let entry = server.as_table_like().and_then(|table| {
        let command = table.get("command")?;
        let arguments = table.get("args")?;
        let words: Option<Vec<String>> =
            arguments.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect();
        Some(McpTomlEntry {
            command: (command.as_str()?.to_owned(), command.span()?),
            arguments: (words?, arguments.span()?),
            block: block(&document, server),
        })
    });
    let ours = entry.filter(|entry| is_ours(&entry.command.0, &entry.arguments.0));
    ours.map(Some).ok_or_else(|| {
        file.invalid(&format!("its server `{NAME}` is another program's; rename that one first"))
    })
}

/// The range of a table that has its own header and no tables below it.
fn block(document: &Document<&str>, server: &Item) -> Option<Range<usize>> {
    let table = server.as_table().filter(|table| !table.is_implicit() && !table.is_dotted())?;
    let below = table.iter().any(|(_, item)| match item {
        Item::Table(inner) => !inner.is_dotted(),
        Item::ArrayOfTables(_) => true,
        _ => false,
    });
    let start = table.span()?.start;
    // `[a]` before `[mcp_servers.capsid]` may share a line with nothing, so the header begins its line.
    let line = document.raw()[..start].rfind('\n').map_or(0, |end| end + 1);
    (!below).then(|| Some(line..last_value(table)?)).flatten()
}

fn last_value(table: &dyn TableLike) -> Option<usize> {
    let ends = table.iter().filter_map(|(_, item)| match item {
        Item::Value(value) => value.span().map(|span| span.end),
        Item::Table(inner) => last_value(inner),
        _ => None,
    });
    ends.max()
}

/// The block as it was added. What was there before had a line end, and then an empty line was added too; or it had
/// none, and then nothing ends the block either.
fn added(file: &SettingsFile, program: &str, arguments: &[String]) -> Result<String> {
    let text = file.text();
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let lines = [
        format!("[{SERVERS}.{NAME}] {MARK}"),
        format!("command = {}", Value::from(program).to_string().trim()),
        format!("args = {}", toml_list(arguments)),
    ];
    let block = lines.join(newline);
    let added = match (text.is_empty(), file.exists(), text.ends_with('\n')) {
        (true, false, _) => format!("{block}{newline}"),
        (true, true, _) => block,
        (false, _, true) => format!("{newline}{block}{newline}"),
        (false, _, false) => format!("{newline}{newline}{block}"),
    };
    let text = apply(text, vec![TextSplice::insert(text.len(), added)])?;
    match Document::parse(text.as_str()) {
        Ok(_) => Ok(text),
        Err(_) => Err(file.invalid(&format!("`{SERVERS}` is written so that no table can be added to it"))),
    }
}

/// Whether the header at a place is the one that we added.
pub(super) fn is_added(text: &str, header: usize) -> bool {
    text[header..].lines().next().is_some_and(|line| line.trim_end().ends_with(MARK))
}

/// Where the empty line above a line begins, if there is one.
pub(super) fn above(text: &str, line: usize) -> Option<usize> {
    let above = without_line_end(&text[..line])?;
    (above.is_empty() || above.ends_with('\n')).then_some(above.len())
}

fn without_line_end(text: &str) -> Option<&str> {
    let text = text.strip_suffix('\n')?;
    Some(text.strip_suffix('\r').unwrap_or(text))
}

/// The block's lines, with the empty line that was added before them.
fn block_range(text: &str, block: &Range<usize>) -> Range<usize> {
    let end = text[block.end..].find('\n').map_or(text.len(), |length| block.end + length + 1);
    let start = match above(text, block.start) {
        None => block.start,
        Some(above) if text[..end].ends_with('\n') => above,
        // What was there before had no line end either.
        Some(above) => without_line_end(&text[..above]).map_or(above, str::len),
    };
    start..end
}

fn updated(
    file: &SettingsFile,
    entry: &McpTomlEntry,
    program: &str,
    arguments: &[String],
) -> Result<(String, &'static str)> {
    let mut edits = Vec::new();
    if !may_stay(&entry.command.0, program) {
        let text = Value::from(program).to_string().trim().to_owned();
        edits.push(TextSplice { range: entry.command.1.clone(), text });
    }
    if entry.arguments.0 != arguments {
        edits.push(TextSplice { range: entry.arguments.1.clone(), text: toml_list(arguments) });
    }
    let word = if edits.is_empty() { "already registered" } else { "updated" };
    Ok((apply(file.text(), edits)?, word))
}
