//! Looks through the sealed records of what agents did in this repository. Chains are only read, and no more than a
//! bounded part of them: the newest sessions, and of each the newest records.

use capsid_engine::recall::history::{RecallLocation, RecallPiece, RecallSearch, quoted, shortened, snippet};
use capsid_model::exact::{ExactJson, parse};
use capsid_model::{Result, Time};
use capsid_rules::meaning::SearchableText;
use capsid_seal::chain::ChainReader;
use capsid_seal::sources::{ChainSource, open_any};
use capsid_seal::{StoredRecord, TrailHome};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The most files of sessions that are looked into.
const MAX_FILES: usize = 200;
/// The most records of one session.
const MAX_RECORDS: u64 = 2000;
/// The most bytes of records, over all.
const MAX_BYTES: usize = 24 * 1024 * 1024;
/// How much of a record's text is searched.
const SEARCHED: usize = 6000;
/// How much of a request is shown before what came of it.
const SHOWN_REQUEST: usize = 120;
/// The tool under whose name the engine seals its event log, which is searched itself.
const ENGINE: &str = "capsid";

/// Looks through the trail's home for records of this repository, or of a session that does not say where it was.
pub(super) fn search_trail(home: &TrailHome, repository: &Path, search: &mut RecallSearch) {
    let real = repository.canonicalize().unwrap_or_else(|_| repository.to_owned());
    let mut left = MAX_BYTES;
    for file in newest_files(home) {
        // One bad file does not hide the others; `capsid trail verify` says what is wrong with it.
        let chains = open_any(&file).map(|sources| sources.chains).unwrap_or_default();
        for chain in chains.iter().filter(|chain| !chain.is_meta && chain.tool.as_deref() != Some(ENGINE)) {
            if left == 0 {
                return;
            }
            let _ = scan_chain(chain, &real, search, &mut left);
        }
    }
}

/// The databases of chains, the one that was written last first.
fn newest_files(home: &TrailHome) -> Vec<PathBuf> {
    let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
    let mut add = |path: PathBuf| {
        if path.extension().is_some_and(|extension| extension == "db")
            && let Ok(meta) = std::fs::metadata(&path)
            && meta.is_file()
        {
            files.push((meta.modified().unwrap_or(SystemTime::UNIX_EPOCH), path));
        }
    };
    for path in listed(&home.chains()) {
        if path.is_dir() {
            listed(&path).into_iter().for_each(&mut add);
        } else {
            add(path);
        }
    }
    home.shared().map(Path::to_owned).into_iter().for_each(&mut add);
    files.sort_by(|one, other| other.cmp(one));
    files.truncate(MAX_FILES);
    files.into_iter().map(|(_, path)| path).collect()
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn scan_chain(
    chain: &ChainSource,
    repository: &Path,
    search: &mut RecallSearch,
    left: &mut usize,
) -> Result<()> {
    let count = ChainReader::open(chain.path())?.count(chain.tenant.as_deref())?;
    let first = count.saturating_sub(MAX_RECORDS);
    let name = name_of(chain);
    for (position, stored) in (first..).zip(chain.records_from(first)?) {
        let stored = stored?;
        *left = left.saturating_sub(stored.canonical.len());
        if *left == 0 {
            break;
        }
        if let Ok(content) = parse(&stored.canonical)
            && is_of(&content, repository)
        {
            scan_record(search, &name, position, &content, &stored);
        }
    }
    Ok(())
}

/// The name by which `capsid trail inspect` finds the chain.
fn name_of(chain: &ChainSource) -> String {
    match (&chain.tool, &chain.session) {
        (Some(tool), Some(session)) => format!("{tool}/{session}"),
        (None, Some(session)) => session.clone(),
        _ => chain.path().display().to_string(),
    }
}

/// Whether a record is of this repository, as far as it says where it was made.
fn is_of(content: &ExactJson, repository: &Path) -> bool {
    match text(content, &["context", "environment", "cwd"]) {
        "" => true,
        folder => {
            let folder = Path::new(folder);
            folder.starts_with(repository)
                || folder.canonicalize().is_ok_and(|real| real.starts_with(repository))
        }
    }
}

fn scan_record(
    search: &mut RecallSearch,
    name: &str,
    position: u64,
    content: &ExactJson,
    stored: &StoredRecord,
) {
    let (request, summary) = (text(content, &["trigger", "request"]), text(content, &["outcome", "summary"]));
    let title = format!("{}\n{summary}", request.lines().next().unwrap_or_default());
    let mut body = String::new();
    for part in [
        content.at(&["trigger", "request"]),
        content.at(&["reasoning", "analysis"]),
        content.at(&["reasoning", "reasoning"]),
        content.at(&["outcome", "error"]),
        content.at(&["execution", "tool_calls"]),
        content.at(&["outcome", "result"]),
    ] {
        part.into_iter().for_each(|part| gather(part, &mut body));
    }
    search.scan_text(
        &SearchableText { title: &title, body: &body, ..SearchableText::default() },
        Some(name),
        || {
            let quote = match (request.trim(), summary.trim()) {
                ("", summary) => summary.to_owned(),
                (request, "") => request.to_owned(),
                (request, summary) => format!("{} → {summary}", shortened(request, SHOWN_REQUEST)),
            };
            RecallPiece {
                location: RecallLocation::Trail,
                id: format!("{name}#{position}"),
                at: when(content, stored),
                ended: Some(text(content, &["outcome", "status"]))
                    .filter(|status| !status.is_empty())
                    .map(snippet),
                text: snippet(&quote),
                show: format!("capsid trail inspect {} --seq {position}", quoted(name)),
            }
        },
    );
}

/// When it was done, as far as the record says so; else when it was sealed, which may be much later.
fn when(content: &ExactJson, stored: &StoredRecord) -> Option<String> {
    let done = Time::parse(text(content, &["context", "environment", "timestamp"]));
    let sealed = stored.seal.signed_at.as_deref();
    done.or_else(|| Time::parse(sealed?)).map(Time::iso).or_else(|| sealed.map(str::to_owned))
}

fn text<'a>(content: &'a ExactJson, names: &[&str]) -> &'a str {
    content.at(names).and_then(ExactJson::as_str).unwrap_or_default()
}

/// All texts of a value, one a line, until there is enough to search.
fn gather(value: &ExactJson, into: &mut String) {
    if into.len() > SEARCHED {
        return;
    }
    match value {
        ExactJson::String(text) => {
            into.push_str(capsid_model::text::cut(text, SEARCHED));
            into.push('\n');
        }
        ExactJson::Array(items) => items.iter().for_each(|item| gather(item, into)),
        ExactJson::Object(members) => members.values().for_each(|member| gather(member, into)),
        _ => {}
    }
}
