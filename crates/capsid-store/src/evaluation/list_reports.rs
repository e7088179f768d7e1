//! Lists of validation reports, newest first.

use crate::assets::id::AssetId;
use crate::assets::list::COUNTED;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::evaluation::evidence_grade::EvidenceGrade;

row! {
    /// What a validator reported, without its words.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ReportRow {
        /// Its place in the order of arrival.
        pub seq: i64 = "seq",
        pub report_id: String = "report_id",
        pub asset_id: AssetId = "asset_id",
        pub node_id: String = "node_id",
        pub overall_ok: bool = "overall_ok",
        pub weight: f64 = "weight",
        pub label: String = "label",
        /// What it rests on.
        pub grade: EvidenceGrade = "grade",
        /// Whether the commands passed without the change.
        pub control_bare: Option<bool> = "control_bare",
        pub control_base: Option<bool> = "control_base",
        /// The surroundings it ran in.
        pub env_fingerprint_key: Option<String> = "env_fingerprint_key",
        pub commands_passed: Option<i64> = "commands_passed",
        pub commands_total: Option<i64> = "commands_total",
        /// How well it was reproduced, 0 to 1.
        pub reproduction_score: Option<f64> = "reproduction_score",
        /// What kind of failure it was.
        pub failure_class: Option<String> = "failure_class",
        /// The public key that signed it.
        pub signed_by: Option<Vec<u8>> = "signed_by",
        pub created_at: i64 = "created_at",
    }
}

/// What the hub's own runner last found about an asset; nothing where it did not run it.
pub fn runner_outcome(tx: &mut dyn Tx, asset: &AssetId) -> Result<Option<bool>> {
    tx.query_first::<bool>(
        "SELECT overall_ok FROM reports WHERE asset_id = $1 AND grade = 'hub' AND weight > 0 ORDER BY seq DESC LIMIT 1",
        params![asset],
    )
}

macro_rules! reported {
    ($where:literal) => {
        select!(
            ReportRow,
            concat!("FROM reports WHERE ", $where, " AND seq < $1 ORDER BY seq DESC LIMIT $2 OFFSET $3")
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
            tx.query_all(reported!("asset_id = $4 AND node_id = $5"), params![before, limit, skip, id, node])
        }
        (Some(id), None) => tx.query_all(reported!("asset_id = $4"), params![before, limit, skip, id]),
        (None, Some(node)) => tx.query_all(reported!("node_id = $4"), params![before, limit, skip, node]),
        (None, None) => tx.query_all(reported!("seq > 0"), params![before, limit, skip]),
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
            tx.count(counted!("asset_id = $2 AND node_id = $3"), params![COUNTED, id, node])
        }
        (Some(id), None) => tx.count(counted!("asset_id = $2"), params![COUNTED, id]),
        (None, Some(node)) => tx.count(counted!("node_id = $2"), params![COUNTED, node]),
        (None, None) => tx.count(counted!("seq > 0"), params![COUNTED]),
    }?;
    Ok((total, total >= COUNTED))
}
