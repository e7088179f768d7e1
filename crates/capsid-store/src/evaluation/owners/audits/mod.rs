//! Audits: some of what validators are asked about has an answer that the hub knows. They look like other assignments; who
//! answers them wrongly did not run the commands, or lies.

mod choose;
mod copy;
mod record;
mod settle;

pub(in crate::evaluation) use choose::{AuditChoice, ask, choose};
pub(in crate::evaluation) use record::record;
pub use settle::settle_next;

use crate::assets::id::AssetId;
use crate::assets::list::{self, ListedAsset};
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::evaluation::assignments::{self, Assignment};
use crate::params;
use capsid_model::Object;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::assets::bundle::bundle_id;
use capsid_rules::assets::traits;
use capsid_rules::lifecycle::AssetType;

row! {
    /// A question with a known answer.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ValidatorAuditRow {
        pub audit_id: AssetId = "audit_id",
        /// Who is asked.
        pub node_id: String = "node_id",
        pub original: AssetId = "original",
        /// The known answer.
        pub passes: bool = "passes",
        pub body: String = "body",
        pub created_at: i64 = "created_at",
        pub overall_ok: Option<bool> = "overall_ok",
        pub grade: Option<String> = "grade",
        pub settled_at: Option<i64> = "settled_at",
    }
}

/// Finds an audit.
pub fn find(tx: &mut dyn Tx, id: &AssetId) -> Result<Option<ValidatorAuditRow>> {
    tx.query_first(select!(ValidatorAuditRow, "FROM audits WHERE audit_id = $1"), params![id])
}

/// The open audits of a node, in the form of other assignments, each with the time when it was made.
pub(in crate::evaluation) fn open_for(
    tx: &mut dyn Tx,
    node_id: &str,
    now: Time,
) -> Result<Vec<(i64, Assignment)>> {
    let open = tx.query_all::<(String, String, AssetId, i64, i64, AssetId)>(
        "SELECT x.task_id, x.nonce, x.asset_id, x.expires_at, x.created_at, a.original
         FROM assignments x JOIN audits a ON a.audit_id = x.asset_id
         WHERE x.node_id = $1 AND x.state = 'open' AND x.expires_at > $2 ORDER BY x.created_at, x.task_id LIMIT 20",
        params![node_id, now],
    )?;
    let mut assigned = Vec::with_capacity(open.len());
    for (task_id, nonce, target_asset_id, expires_at, created_at, original) in open {
        let validation_commands = assignments::validation_of(tx, &original)?;
        let one = Assignment { task_id, nonce, target_asset_id, validation_commands, expires_at };
        assigned.push((created_at, one));
    }
    Ok(assigned)
}

/// An audit as the candidate that it looks like.
pub fn show(tx: &mut dyn Tx, id: &AssetId) -> Result<Option<ListedAsset>> {
    let Some(audit) = find(tx, id)? else { return Ok(None) };
    let (Some(listed), Some(gene)) =
        (list::by_id(tx, &[audit.original])?.pop(), gene_of(tx, &audit.original)?)
    else {
        return Ok(None);
    };
    let object: Object = serde_json::from_str(&audit.body).unwrap_or_default();
    let card = traits::card(&object, AssetType::Capsule, &id.to_string());
    let bundle = bundle_id(&gene.to_string(), &id.to_string());
    Ok(Some(listed.into_new_candidate(*id, bundle, card, audit.created_at)))
}

/// The body of an audit, for the node that is asked about it now.
pub fn body_for(tx: &mut dyn Tx, node_id: &str, id: &AssetId, now: Time) -> Result<Option<String>> {
    tx.query_first(
        "SELECT a.body FROM audits a JOIN assignments x ON x.asset_id = a.audit_id AND x.node_id = a.node_id
         WHERE a.audit_id = $1 AND a.node_id = $2 AND x.state = 'open' AND x.expires_at > $3",
        params![id, node_id, now],
    )
}

/// The gene that an audit or its original came with.
pub fn gene_of(tx: &mut dyn Tx, id: &AssetId) -> Result<Option<AssetId>> {
    tx.query_first(
        "SELECT b.gene_id FROM assets c JOIN bundles b ON b.bundle_id = c.bundle_id
         WHERE c.asset_id = COALESCE((SELECT a.original FROM audits a WHERE a.audit_id = $1), $1)",
        params![id],
    )
}

/// How many audits of an account were settled since a moment, and how many of these it answered rightly.
pub(super) fn count_settled(tx: &mut dyn Tx, user_id: &str, since: i64) -> Result<(u32, u32)> {
    let (settled, agreed) = tx.query_one::<(i64, i64)>(
        "SELECT COUNT(*), CAST(COALESCE(SUM(CASE WHEN a.overall_ok = a.passes THEN 1 ELSE 0 END), 0) AS BIGINT)
         FROM audits a JOIN nodes n ON n.node_id = a.node_id
         WHERE n.owner = $1 AND a.settled_at IS NOT NULL AND a.reported_at > $2 AND a.grade IN ('assigned', 'reproduced')",
        params![user_id, since],
    )?;
    let count = |number: i64| u32::try_from(number).unwrap_or_default();
    Ok((count(settled), count(agreed)))
}
