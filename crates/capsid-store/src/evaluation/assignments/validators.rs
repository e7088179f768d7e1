//! Whom the hub may ask to validate an asset: nodes that have staked enough and were heard of lately. Decisions are about owners, so
//! each node comes with its owner.

use crate::assets::id::AssetId;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::evaluation::owners::{NodeOwnership, OWNERSHIP_COLUMNS};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::owners::OwnerPolicy;
use sha2::{Digest, Sha256};

/// A validator that was not heard of for so long is taken to be away.
pub(super) const AWAY_AFTER_MS: i64 = 30 * 60_000;
/// The most that a validator is asked for at a time.
pub(super) const MAX_OPEN: i64 = 20;
/// How many are looked at where those with the least to do are asked.
const LEAST_BUSY: i64 = 200;

/// A node that may be asked.
pub(super) struct Validator {
    pub node_id: String,
    pub owner: String,
    /// How much it has to do already.
    pub open: i64,
}

row! {
    /// A node that may be asked, as it is stored.
    pub(super) struct ValidatorRow {
        node: NodeOwnership = OWNERSHIP_COLUMNS,
        open: i64 = "n.open",
    }
}

/// Who may be asked, those with the least to do first. In a draw everybody has to be among them, or some could never be drawn.
pub(super) fn load_validators(tx: &mut dyn Tx, is_drawn: bool, now: Time) -> Result<Vec<Validator>> {
    let (policy, least) = (tx.trust().owners, tx.trust().validator_stake);
    let rows = tx.query_all::<ValidatorRow>(
        select!(
            ValidatorRow,
            "FROM (
            SELECT m.node_id, m.owner, m.issued_network,
                (SELECT COUNT(*) FROM assignments x WHERE x.node_id = m.node_id AND x.state = 'open') AS open
            FROM stakes s JOIN nodes m ON m.node_id = s.node_id
            WHERE s.status = 'active' AND s.amount >= $4 AND m.status = 'active' AND m.last_seen_at > $1) n
         WHERE n.open < $2 ORDER BY n.open, n.node_id LIMIT $3"
        ),
        params![now.0 - AWAY_AFTER_MS, MAX_OPEN, if is_drawn { i64::MAX } else { LEAST_BUSY }, least],
    )?;
    Ok(rows.into_iter().map(|row| row.into_validator(&policy)).collect())
}

impl ValidatorRow {
    pub fn into_validator(self, policy: &OwnerPolicy) -> Validator {
        Validator { owner: self.node.owner_key(policy), node_id: self.node.node_id, open: self.open }
    }
}

/// Brings validators into the order in which they are asked about an asset: as they are drawn, or by what they have to do.
pub(super) fn order_validators(validators: &mut [Validator], drawn_by: Option<&[u8; 32]>, id: &AssetId) {
    let Some(chance) = drawn_by else {
        validators.sort_by(|a, b| a.open.cmp(&b.open).then_with(|| a.node_id.cmp(&b.node_id)));
        return;
    };
    let place = |name: &str| draw(chance, id, name);
    validators.sort_by_cached_key(|validator| (place(&validator.owner), place(&validator.node_id)));
}

/// The place of a name in the draw for an asset. Every name has the same chance to come first, and nobody can foretell it.
fn draw(chance: &[u8; 32], id: &AssetId, name: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(chance);
    hash.update(b"draw");
    hash.update(id.0);
    hash.update(name.as_bytes());
    hash.finalize().into()
}

row! {
    /// Who was asked about an asset before.
    pub(super) struct EarlierAssignee {
        pub node: NodeOwnership = OWNERSHIP_COLUMNS,
        /// open, reported or expired.
        pub state: String = "x.state",
        pub expires_at: i64 = "x.expires_at",
        /// Whether it gave a report that counts.
        has_counted: bool = "CASE WHEN EXISTS (SELECT 1 FROM reports r WHERE r.asset_id = x.asset_id AND r.node_id = x.node_id AND r.weight > 0) THEN 1 ELSE 0 END",
    }
}

impl EarlierAssignee {
    /// Whether it did not answer in time.
    pub fn is_expired(&self) -> bool {
        self.state == "expired"
    }

    /// Whether it takes one of the places. One that did not answer, that could not run the commands, or whose word has no weight is
    /// replaced.
    pub fn takes_place(&self) -> bool {
        self.state == "open" || (self.state == "reported" && self.has_counted)
    }
}

/// Who was asked about an asset before.
pub(super) fn load_earlier(tx: &mut dyn Tx, id: &AssetId) -> Result<Vec<EarlierAssignee>> {
    tx.query_all(
        select!(
            EarlierAssignee,
            "FROM assignments x JOIN nodes n ON n.node_id = x.node_id WHERE x.asset_id = $1 ORDER BY x.task_id"
        ),
        params![id],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_draws_are_evenly_distributed() {
        let owners: Vec<String> = (0..10).map(|n| format!("user:{n}")).collect();
        let mut drawn = [0_u32; 10];
        for round in 0..10_000_u64 {
            let mut chance = [0; 32];
            chance[..8].copy_from_slice(&round.to_le_bytes());
            let first = (0..10).min_by_key(|at| draw(&chance, &AssetId([7; 32]), &owners[*at])).unwrap();
            drawn[first] += 1;
        }
        assert!(drawn.iter().all(|count| (880..=1120).contains(count)), "{drawn:?}");
    }
}
