//! Counters: each is the number of rows that it stands for. Only those that are wrong come out of the database.

use super::FsckReport;
use crate::assets::id::AssetId;
use crate::db::tx::{Dialect, Tx};
use crate::params;
use capsid_model::problem::Result;

pub fn check(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    assets(tx, report)?;
    nodes(tx, report)?;
    reputations(tx, report)
}

/// A counter of assets: its name, and what finds the assets where it is wrong, with both values.
const OF_ASSETS: [(&str, &str); 4] = [
    (
        "call_count",
        "SELECT asset_id, stored, counted FROM (SELECT a.asset_id, a.call_count AS stored, CAST(COALESCE(
            (SELECT SUM(d.calls) FROM fetch_days d WHERE d.asset_id = a.asset_id), 0) AS BIGINT) AS counted
            FROM assets a) t WHERE stored <> counted",
    ),
    (
        "reuse_count",
        "SELECT asset_id, stored, counted FROM (SELECT a.asset_id, a.reuse_count AS stored,
            (SELECT COUNT(*) FROM fetches f WHERE f.asset_id = a.asset_id AND f.counts = 1) AS counted
            FROM assets a) t WHERE stored <> counted",
    ),
    (
        "upvotes",
        "SELECT asset_id, stored, counted FROM (SELECT a.asset_id, a.upvotes AS stored,
            (SELECT COUNT(*) FROM votes v WHERE v.asset_id = a.asset_id AND v.value > 0) AS counted
            FROM assets a) t WHERE stored <> counted",
    ),
    (
        "downvotes",
        "SELECT asset_id, stored, counted FROM (SELECT a.asset_id, a.downvotes AS stored,
            (SELECT COUNT(*) FROM votes v WHERE v.asset_id = a.asset_id AND v.value < 0) AS counted
            FROM assets a) t WHERE stored <> counted",
    ),
];

fn assets(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    for (name, sql) in OF_ASSETS {
        tx.query_each(sql, params![], |(id, stored, counted): (AssetId, i64, i64)| {
            let problem = format!("`{name}` is {stored}, but {counted} were counted.");
            report.asset_differs("counter_wrong", id, problem);
            Ok(())
        })?;
    }
    Ok(())
}

/// What a publisher's capsules add up to. How often one was rejected or withdrawn is in the audit.
pub(super) struct CapsuleTotals {
    pub node_id: String,
    pub stored: [i64; 4],
    pub counted: [i64; 4],
}

type TotalColumns = (String, (i64, i64, i64, i64), (i64, i64, i64, i64));

impl CapsuleTotals {
    fn new((node_id, stored, counted): TotalColumns) -> Self {
        Self { node_id, stored: stored.into(), counted: counted.into() }
    }
}

/// The audit names assets by their text, which each database makes of the bytes in its own way.
macro_rules! totals {
    ($text:literal, $where:literal) => {
        concat!(
            "SELECT node_id, p, m, r, v, cp, cm, cr, cv FROM (SELECT n.node_id, n.total_published AS p,
                n.total_promoted AS m, n.total_rejected AS r, n.total_revoked AS v,
                (SELECT COUNT(*) FROM assets a WHERE a.node_id = n.node_id AND a.asset_type = 'Capsule') AS cp,
                (SELECT COUNT(*) FROM assets a WHERE a.node_id = n.node_id AND a.asset_type = 'Capsule'
                    AND a.promoted_at IS NOT NULL) AS cm,
                (SELECT COUNT(*) FROM assets a JOIN audit u ON u.kind = 'asset' AND u.after = 'rejected'
                    AND u.subject = ",
            $text,
            " WHERE a.node_id = n.node_id AND a.asset_type = 'Capsule') AS cr,
                (SELECT COUNT(*) FROM assets a JOIN audit u ON u.kind = 'asset' AND u.after = 'revoked'
                    AND u.subject = ",
            $text,
            " WHERE a.node_id = n.node_id AND a.asset_type = 'Capsule') AS cv
             FROM nodes n) t ",
            $where
        )
    };
}

fn nodes(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let sql = match tx.dialect() {
        Dialect::Sqlite => totals!(
            "'sha256:' || lower(hex(a.asset_id))",
            "WHERE p <> cp OR m <> cm OR r <> cr OR v <> cv ORDER BY node_id"
        ),
        Dialect::Postgres => totals!(
            "'sha256:' || encode(a.asset_id, 'hex')",
            "WHERE p <> cp OR m <> cm OR r <> cr OR v <> cv ORDER BY node_id"
        ),
    };
    tx.query_each(sql, params![], |columns| {
        let totals = CapsuleTotals::new(columns);
        let names = ["published", "promoted", "rejected", "revoked"];
        for ((name, stored), counted) in names.into_iter().zip(totals.stored).zip(totals.counted) {
            if stored != counted {
                let problem = format!("`total_{name}` is {stored}, but {counted} were counted.");
                report.node_differs("total_wrong", &totals.node_id, problem);
            }
        }
        Ok(())
    })
}

/// What a node's capsules add up to now.
pub(super) fn totals(tx: &mut dyn Tx, node_id: &str) -> Result<Option<CapsuleTotals>> {
    let sql = match tx.dialect() {
        Dialect::Sqlite => totals!("'sha256:' || lower(hex(a.asset_id))", "WHERE node_id = $1"),
        Dialect::Postgres => totals!("'sha256:' || encode(a.asset_id, 'hex')", "WHERE node_id = $1"),
    };
    Ok(tx.query_first(sql, params![node_id])?.map(CapsuleTotals::new))
}

/// A reputation moves with scores that move by themselves, so that only its bounds are certain.
fn reputations(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let impossible =
        "SELECT node_id, reputation, penalty FROM nodes WHERE NOT (reputation >= 0 AND reputation <= 100)
        OR NOT (penalty >= 0 AND penalty <= 100)
        OR (owner IS NULL AND total_promoted = 0 AND reputation > 50) ORDER BY node_id";
    tx.query_each(impossible, params![], |(node_id, reputation, penalty): (String, f64, f64)| {
        let problem = format!(
            "The reputation {reputation} with a penalty of {penalty} cannot come from the node's record."
        );
        report.node_differs("reputation_wrong", &node_id, problem);
        Ok(())
    })
}
