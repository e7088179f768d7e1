//! Lists of validation reports, newest first.

use crate::assets::id::AssetId;
use crate::assets::list::COUNTED;
use crate::db::tx::{Row, Tx};
use crate::params;
use capsid_model::problem::Result;

/// What a validator reported, without its words.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportRow {
    /// Its place in the order of arrival.
    pub seq: i64,
    pub report_id: String,
    pub asset_id: AssetId,
    pub node_id: String,
    pub overall_ok: bool,
    pub weight: f64,
    pub label: String,
    /// The surroundings it ran in.
    pub env_fingerprint_key: Option<String>,
    pub commands_passed: Option<i64>,
    pub commands_total: Option<i64>,
    /// How well it was reproduced, 0 to 1.
    pub reproduction_score: Option<f64>,
    /// What kind of failure it was.
    pub failure_class: Option<String>,
    pub created_at: i64,
}

fn read(row: &dyn Row) -> Result<ReportRow> {
    Ok(ReportRow {
        seq: row.int(0)?,
        report_id: row.string(1)?,
        asset_id: AssetId::read(row, 2)?,
        node_id: row.string(3)?,
        overall_ok: row.flag(4)?,
        weight: row.real(5)?,
        label: row.string(6)?,
        env_fingerprint_key: row.string_or(7)?,
        commands_passed: row.int_or(8)?,
        commands_total: row.int_or(9)?,
        reproduction_score: row.real_or(10)?,
        failure_class: row.string_or(11)?,
        created_at: row.int(12)?,
    })
}

macro_rules! reported {
    ($where:literal) => {
        concat!(
            "SELECT seq, report_id, asset_id, node_id, overall_ok, weight, label, env_fingerprint_key, commands_passed,
                commands_total, reproduction_score, failure_class, created_at FROM reports WHERE ",
            $where,
            " AND seq < $1 ORDER BY seq DESC LIMIT $2 OFFSET $3"
        )
    };
}

/// Reports on an asset, of a node, or both, that came before a sequence.
pub fn list(
    tx: &mut dyn Tx,
    asset: Option<&AssetId>,
    node: Option<&str>,
    before: i64,
    skip: usize,
    limit: usize,
) -> Result<Vec<ReportRow>> {
    let (limit, skip) = (limit as i64, skip as i64);
    match (asset, node) {
        (Some(id), Some(node)) => {
            tx.all(reported!("asset_id = $4 AND node_id = $5"), params![before, limit, skip, id, node], read)
        }
        (Some(id), None) => tx.all(reported!("asset_id = $4"), params![before, limit, skip, id], read),
        (None, Some(node)) => tx.all(reported!("node_id = $4"), params![before, limit, skip, node], read),
        (None, None) => tx.all(reported!("seq > 0"), params![before, limit, skip], read),
    }
}

macro_rules! counted {
    ($where:literal) => {
        concat!("SELECT COUNT(*) FROM (SELECT 1 AS one FROM reports WHERE ", $where, " LIMIT $1) c")
    };
}

/// How many such reports there are; when that is more than can be counted in passing, at least how many.
pub fn total(tx: &mut dyn Tx, asset: Option<&AssetId>, node: Option<&str>) -> Result<(i64, bool)> {
    let total = match (asset, node) {
        (Some(id), Some(node)) => {
            tx.number(counted!("asset_id = $2 AND node_id = $3"), params![COUNTED, id, node])
        }
        (Some(id), None) => tx.number(counted!("asset_id = $2"), params![COUNTED, id]),
        (None, Some(node)) => tx.number(counted!("node_id = $2"), params![COUNTED, node]),
        (None, None) => tx.number(counted!("seq > 0"), params![COUNTED]),
    }?;
    Ok((total, total >= COUNTED))
}
