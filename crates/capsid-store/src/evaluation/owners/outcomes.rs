//! Arbitrated outcomes: what the hub's runner, an administrator or an appointed owner decided of an asset. They alone say
//! whose reports were right.

use crate::assets::id::AssetId;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::evaluation::owners::audits;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// Records what an arbiter decided. A later decision takes the place of the earlier.
pub fn record_outcome(tx: &mut dyn Tx, id: &AssetId, passed: bool, arbiter: &str, now: Time) -> Result<()> {
    tx.run(
        "INSERT INTO arbitrated_outcomes (asset_id, passed, arbiter, at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (asset_id) DO UPDATE SET passed = excluded.passed, arbiter = excluded.arbiter, at = excluded.at",
        params![id, passed, arbiter, now],
    )?;
    Ok(())
}

/// Keeps the outcome that there is beside the one that takes its place: reports from before it were settled by it. An appeal
/// keeps nothing, because what it overturns was wrong.
pub fn keep_outcome(tx: &mut dyn Tx, id: &AssetId) -> Result<()> {
    tx.run(
        "INSERT INTO earlier_outcomes (asset_id, passed, at)
         SELECT asset_id, passed, at FROM arbitrated_outcomes WHERE asset_id = $1 ON CONFLICT DO NOTHING",
        params![id],
    )?;
    Ok(())
}

row! {
    /// What an arbiter decided of an asset.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct ArbitratedOutcome {
        pub passed: bool = "o.passed",
        pub at: i64 = "o.at",
    }
}

/// What an arbiter decided of an asset last; nothing while none decided.
pub fn find_outcome(tx: &mut dyn Tx, id: &AssetId) -> Result<Option<ArbitratedOutcome>> {
    tx.query_first(
        select!(ArbitratedOutcome, "FROM arbitrated_outcomes o WHERE o.asset_id = $1"),
        params![id],
    )
}

/// The same, unless the asset was demoted since: what was decided before is not about what was found then.
pub fn find_current_outcome(tx: &mut dyn Tx, id: &AssetId) -> Result<Option<ArbitratedOutcome>> {
    tx.query_first(
        select!(
            ArbitratedOutcome,
            "FROM arbitrated_outcomes o JOIN assets a ON a.asset_id = o.asset_id
             WHERE o.asset_id = $1 AND (a.demoted_at IS NULL OR o.at > a.demoted_at)"
        ),
        params![id],
    )
}

/// Keeps what a node said of an asset before an arbiter decided. It is about to say something else, and stands by what it
/// said until then all the same.
pub fn keep_settled(tx: &mut dyn Tx, node_id: &str, id: &AssetId) -> Result<()> {
    tx.run(
        "INSERT INTO settled_reports (asset_id, node_id, overall_ok, grade, reported_at)
         SELECT r.asset_id, r.node_id, r.overall_ok, r.grade, r.created_at
         FROM reports r JOIN arbitrated_outcomes o ON o.asset_id = r.asset_id
         WHERE r.node_id = $1 AND r.asset_id = $2 AND r.created_at <= o.at
         ON CONFLICT (asset_id, node_id) DO UPDATE SET overall_ok = excluded.overall_ok, grade = excluded.grade,
            reported_at = excluded.reported_at",
        params![node_id, id],
    )?;
    Ok(())
}

/// How many reports of an account an outcome settled since a moment, and how many of these agreed with it. A report is settled
/// by the first outcome after it. One for each asset counts. Audits count with them.
pub fn count_settled(tx: &mut dyn Tx, user_id: &str, since: i64) -> Result<(u32, u32)> {
    let rows = tx.query_all::<(AssetId, bool)>(
        "SELECT r.asset_id, CASE WHEN r.overall_ok = o.passed THEN 1 ELSE 0 END
         FROM (SELECT asset_id, node_id, overall_ok, grade, created_at, seq FROM reports
            UNION ALL SELECT asset_id, node_id, overall_ok, grade, reported_at, 0 FROM settled_reports) r
            JOIN nodes n ON n.node_id = r.node_id
            JOIN (SELECT asset_id, passed, at FROM arbitrated_outcomes
                UNION ALL SELECT asset_id, passed, at FROM earlier_outcomes) o ON o.asset_id = r.asset_id
         WHERE n.owner = $1 AND r.created_at > $2 AND r.created_at <= o.at
            AND NOT EXISTS (SELECT 1 FROM earlier_outcomes e
                WHERE e.asset_id = r.asset_id AND e.at >= r.created_at AND e.at < o.at)
            AND r.grade NOT IN ('self', 'unverified', 'probe') ORDER BY r.asset_id, r.created_at, r.seq",
        params![user_id, since],
    )?;
    // The last report of the owner on an asset is the one that it stands by.
    let last = rows.chunk_by(|one, next| one.0 == next.0).filter_map(|reports| reports.last());
    let agreed: Vec<bool> = last.map(|(_, agrees)| *agrees).collect();
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let (settled, agreed) = (count(agreed.len()), count(agreed.iter().filter(|agrees| **agrees).count()));
    let (audited, answered) = audits::count_settled(tx, user_id, since)?;
    Ok((settled.saturating_add(audited), agreed.saturating_add(answered)))
}
