//! The log of what may say something else than before. Whoever changes an asset, a report, a task or what was told of the
//! graph names it here, in the same transaction; every hub's worker follows the log and looks at it again.

use crate::assets::id::AssetId;
use crate::db::DAY_MS;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// How long a hub may be away and go on where it was. After that it makes its index again.
const KEPT_MS: i64 = DAY_MS;

/// Something that the graph has statements of, or that the search finds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Subject {
    /// An asset by its id, with its bundles and the tasks that it solves. Also whether it is in the graph at all, so the
    /// reports on it are looked at with it.
    Asset(String),
    /// An asset whose place in the search changed. The graph says nothing of it.
    Ranked(String),
    /// A report by its asset and its node.
    Report(String, String),
    Task(String),
    /// What somebody told of a thing.
    Note(i64, String),
    /// A relation that somebody told of.
    Relation(i64),
}

impl Subject {
    pub fn asset(id: &AssetId) -> Self {
        Self::Asset(id.to_string())
    }

    pub fn ranked(id: &AssetId) -> Self {
        Self::Ranked(id.to_string())
    }

    pub fn report(asset: &AssetId, node_id: &str) -> Self {
        Self::Report(asset.to_string(), node_id.to_owned())
    }
}

/// Notes that some subjects changed.
pub(crate) fn append(tx: &mut dyn Tx, subjects: &[Subject], now: Time) -> Result<()> {
    if subjects.is_empty() {
        return Ok(());
    }
    let subjects = json!(subjects).to_string();
    tx.run("INSERT INTO changes (subjects, created_at) VALUES ($1, $2)", params![&subjects, now])?;
    Ok(())
}

/// Forgets what every hub has followed long ago, a few at a time. The last change stays, so that a hub can tell an older
/// database from this one.
pub fn forget_old(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    tx.run(
        "DELETE FROM changes WHERE seq IN (SELECT c.seq FROM changes c
            WHERE c.seq < (SELECT MAX(x.seq) FROM changes x) AND c.created_at < $1 ORDER BY c.seq LIMIT 1000)",
        params![now.0 - KEPT_MS],
    )
}
