//! What Cursor's own records say about who wrote the lines of a conversation.

use super::database::{CursorDatabase, unreadable};
use crate::shape::start_of;
use crate::{Action, ActionKind, TranscriptSource};
use capsid_model::exact::{ExactFields, ExactJson};
use capsid_model::{Result, Time, fields};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use std::path::Path;

/// Files and requests that are named.
const MAX_NAMES: i64 = 200;
/// Commits that are named.
const MAX_COMMITS: usize = 50;
const MESSAGE_MAX: usize = 120;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// What was authored in a conversation; none if nothing was recorded of it.
///
/// The records do not say which conversation a commit comes from. One from before the conversation began cannot come
/// from it and is left out; where a date is not known, the commit stays.
pub(super) fn read(
    source: &TranscriptSource,
    path: &Path,
    created_at: Option<i64>,
) -> Result<Option<Action>> {
    let database = CursorDatabase::open(path)?;
    let began = created_at.map(|created| Time(created.saturating_sub(DAY_MS)).date());
    let authorship = rollup(database.connection(), &source.session, began.as_deref())
        .map_err(|error| unreadable(path, &error))?;
    let Some(result) = authorship else { return Ok(None) };
    let models = result.get("models").cloned().unwrap_or_default();
    let count = |name: &str| result.get(name).and_then(ExactJson::as_i64).unwrap_or_default();
    let summary = format!(
        "AI authorship: {} AI-authored edits across {} files",
        count("ai_authored_edits"),
        count("file_count")
    );
    let mut environment = source.hook_fields.clone();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    environment.insert("ai_tracking_db".to_owned(), name.into());
    environment.insert("authorship_models".to_owned(), models);
    let model = source.hook_fields.get("model").and_then(ExactJson::as_str).unwrap_or_default().to_owned();
    Ok(Some(Action {
        key: format!("authorship:{}", source.session),
        kind: ActionKind::System,
        environment,
        model,
        summary,
        result: result.into(),
        ..Action::default()
    }))
}

fn rollup(
    database: &Connection,
    session: &str,
    began: Option<&str>,
) -> rusqlite::Result<Option<ExactFields>> {
    let number = |sql: &str| database.query_row(sql, [session], |row| row.get::<_, i64>(0));
    let total = number("SELECT count(*) FROM ai_code_hashes WHERE conversationId = ?1")?;
    if total == 0 {
        return Ok(None);
    }
    let names = |column: &str| {
        let sql = format!(
            "SELECT DISTINCT {column} FROM ai_code_hashes \
             WHERE conversationId = ?1 AND {column} <> '' ORDER BY 1 LIMIT {MAX_NAMES}"
        );
        let mut query = database.prepare(&sql)?;
        query.query_map([session], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
    };
    let authored =
        number("SELECT count(*) FROM ai_code_hashes WHERE conversationId = ?1 AND source = 'composer'")?;
    let files = number(
        "SELECT count(DISTINCT fileName) FROM ai_code_hashes WHERE conversationId = ?1 AND fileName <> ''",
    )?;
    // Older versions score no commits.
    let (commits, commit_count) = commits(database, began).unwrap_or_default();
    Ok(Some(fields! {
        "conversation_id": session,
        "models": names("model")?,
        "ai_authored_edits": authored,
        "total_tracked_edits": total,
        "files_touched": names("fileName")?,
        "file_count": files,
        "request_ids": names("requestId")?,
        "commits": commits,
        "commit_count": commit_count,
    }))
}

/// The newest commits that can come from the conversation, and how many there are.
fn commits(database: &Connection, began: Option<&str>) -> rusqlite::Result<(Vec<ExactJson>, usize)> {
    let mut query = database.prepare(
        "SELECT commitHash, branchName, commitMessage, commitDate, linesAdded, composerLinesAdded, \
         humanLinesAdded, v2AiPercentage FROM scored_commits ORDER BY scoredAt DESC, commitHash",
    )?;
    let mut rows = query.query([])?;
    let mut commits = Vec::new();
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let date = value(row, 3)?;
        if is_before(date.as_str(), began) {
            continue;
        }
        count += 1;
        if commits.len() < MAX_COMMITS {
            let commit = fields! {
                "commit": start(value(row, 0)?, 12),
                "branch": value(row, 1)?,
                "message": start(value(row, 2)?, MESSAGE_MAX),
                "date": date,
                "lines_added": value(row, 4)?,
                "composer_lines_added": value(row, 5)?,
                "human_lines_added": value(row, 6)?,
                "v2_ai_percentage": value(row, 7)?,
            };
            commits.push(commit.into());
        }
    }
    Ok((commits, count))
}

/// Whether a date in ISO form is before a day.
fn is_before(date: Option<&str>, day: Option<&str>) -> bool {
    let (Some(date), Some(day)) = (date.and_then(|date| date.get(..10)), day) else { return false };
    let is_iso = date.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    is_iso && date < day
}

fn start(value: ExactJson, limit: usize) -> ExactJson {
    match value {
        ExactJson::String(text) => start_of(&text, limit).into(),
        other => other,
    }
}

fn value(row: &Row<'_>, index: usize) -> rusqlite::Result<ExactJson> {
    Ok(match row.get_ref(index)? {
        ValueRef::Null => ExactJson::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned().into(),
    })
}
