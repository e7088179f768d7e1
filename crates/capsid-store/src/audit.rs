//! The audit: every change of state, by whom and why. Rows are only ever added; the database refuses anything else.

use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

const HOUR_MS: i64 = 3_600_000;

row! {
    /// One change of state.
    #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
    pub struct AuditEntry {
        pub at: i64 = "at",
        /// `node:…`, `user:…`, `operator` or `hub`.
        pub actor: String = "actor",
        pub action: String = "action",
        pub before: Option<String> = "before",
        pub after: Option<String> = "after",
        pub reason: Option<String> = "reason",
    }
}

/// What a change is about.
#[derive(Debug, Clone, Copy)]
pub struct AuditChange<'a> {
    pub kind: &'a str,
    pub subject: &'a str,
    pub action: &'a str,
    pub before: Option<&'a str>,
    pub after: Option<&'a str>,
    pub reason: Option<&'a str>,
}

/// Writes a change down.
pub fn add(tx: &mut dyn Tx, actor: &str, change: AuditChange<'_>, now: Time) -> Result<()> {
    tx.run(
        "INSERT INTO audit (at, actor, kind, subject, action, before, after, reason)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        params![
            now,
            actor,
            change.kind,
            change.subject,
            change.action,
            change.before,
            change.after,
            change.reason
        ],
    )?;
    Ok(())
}

/// Writes down a change that its actor can make again and again, at most once an hour.
pub fn add_hourly(tx: &mut dyn Tx, actor: &str, change: AuditChange<'_>, now: Time) -> Result<()> {
    let written = tx.exists(
        "SELECT 1 FROM audit WHERE kind = $1 AND subject = $2 AND actor = $3 AND action = $4 AND at > $5",
        params![change.kind, change.subject, actor, change.action, now.0 - HOUR_MS],
    )?;
    if written { Ok(()) } else { add(tx, actor, change, now) }
}

/// The newest that happened to a thing, oldest first.
pub fn newest(tx: &mut dyn Tx, kind: &str, subject: &str, limit: i64) -> Result<Vec<AuditEntry>> {
    let mut entries = tx.query_all(
        select!(
            AuditEntry,
            "FROM audit
         WHERE kind = $1 AND subject = $2 ORDER BY seq DESC LIMIT $3"
        ),
        params![kind, subject, limit],
    )?;
    entries.reverse();
    Ok(entries)
}

/// What happened to a thing, oldest first.
pub fn list_for_subject(tx: &mut dyn Tx, kind: &str, subject: &str, limit: i64) -> Result<Vec<AuditEntry>> {
    tx.query_all(
        select!(
            AuditEntry,
            "FROM audit
         WHERE kind = $1 AND subject = $2 ORDER BY seq LIMIT $3"
        ),
        params![kind, subject, limit],
    )
}

/// Which changes.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    pub subject: Option<String>,
    pub actor: Option<String>,
    pub action: Option<String>,
}

row! {
    /// A change in a list of changes of anything.
    #[derive(Debug, Clone)]
    pub struct AuditRow {
        pub seq: i64 = "seq",
        /// asset, node, user, task or bounty.
        pub kind: String = "kind",
        pub subject: String = "subject",
        pub entry: AuditEntry = AuditEntry::COLUMNS,
    }
}

/// Which changes of and by a node.
#[derive(Debug, Clone)]
pub struct NodeAuditFilter {
    pub node_id: String,
    pub action: Option<String>,
    /// From this moment on.
    pub since: i64,
    /// Before this moment.
    pub until: i64,
}

macro_rules! of_node {
    () => {
        "FROM audit WHERE seq IN (SELECT seq FROM audit WHERE kind = 'node' AND subject = $1
                UNION SELECT seq FROM audit WHERE actor = 'node:' || $1)
            AND (CAST($2 AS TEXT) IS NULL OR action = CAST($2 AS TEXT)) AND at >= $3 AND at < $4"
    };
}

/// What happened to a node and what it did, newest first.
pub fn list_for_node(
    tx: &mut dyn Tx,
    filter: &NodeAuditFilter,
    limit: i64,
    offset: i64,
) -> Result<Vec<AuditRow>> {
    tx.query_all(
        select!(AuditRow, concat!(of_node!(), " ORDER BY seq DESC LIMIT $5 OFFSET $6")),
        params![&filter.node_id, &filter.action, filter.since, filter.until, limit, offset],
    )
}

/// How much happened to a node and how much it did.
pub fn count_for_node(tx: &mut dyn Tx, filter: &NodeAuditFilter) -> Result<i64> {
    tx.count(
        concat!("SELECT COUNT(*) ", of_node!()),
        params![&filter.node_id, &filter.action, filter.since, filter.until],
    )
}

/// How many changes are looked at for one page. The audit only grows, and an actor may have done nothing for years.
const LOOKED_AT: i64 = 50_000;

/// Changes before a place, newest first, and where to go on. Where few changes fit, a page may be short.
pub fn list(
    tx: &mut dyn Tx,
    filter: &AuditFilter,
    before: i64,
    limit: i64,
) -> Result<(Vec<AuditRow>, Option<i64>)> {
    let entries = match &filter.subject {
        // One stretch of the index for each kind of thing.
        Some(subject) => tx.query_all(
            select!(
                AuditRow,
                "FROM audit
             WHERE kind IN ('asset', 'node', 'user', 'task', 'bounty') AND subject = $1 AND seq < $2
                AND ($3 IS NULL OR actor = $3) AND ($4 IS NULL OR action = $4) ORDER BY seq DESC LIMIT $5"
            ),
            params![subject, before, &filter.actor, &filter.action, limit + 1],
        )?,
        None => tx.query_all(
            select!(
                AuditRow,
                "FROM (
                SELECT * FROM audit WHERE seq < $1 ORDER BY seq DESC LIMIT $2) a
             WHERE ($3 IS NULL OR actor = $3) AND ($4 IS NULL OR action = $4) ORDER BY seq DESC LIMIT $5"
            ),
            params![before, LOOKED_AT, &filter.actor, &filter.action, limit + 1],
        )?,
    };
    page(tx, entries, filter.subject.is_some(), before, limit)
}

fn page(
    tx: &mut dyn Tx,
    mut entries: Vec<AuditRow>,
    is_whole: bool,
    before: i64,
    limit: i64,
) -> Result<(Vec<AuditRow>, Option<i64>)> {
    if entries.len() as i64 > limit {
        entries.truncate(limit as usize);
        let next = entries.last().map(|last| last.seq);
        return Ok((entries, next));
    }
    if is_whole {
        return Ok((entries, None));
    }
    // All that was looked at is told; what lies before it comes next.
    let last = tx.query_first::<i64>(
        "SELECT seq FROM audit WHERE seq < $1 ORDER BY seq DESC LIMIT 1 OFFSET $2",
        params![before, LOOKED_AT - 1],
    )?;
    Ok((entries, last))
}
