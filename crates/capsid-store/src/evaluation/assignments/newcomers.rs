//! Owners without a stake that ask for something to validate. They get audits only: these pay like reports, so that an owner
//! can earn its first stake, and what it says weighs nothing until it has answered enough of them rightly.

use super::validators::{AWAY_AFTER_MS, MAX_OPEN, Validator, ValidatorRow, order_validators};
use super::{AssignableAsset, AssignmentTerms};
use crate::db::DAY_MS;
use crate::db::row::select;
use crate::db::tx::Tx;
use crate::evaluation::owners::audits;
use crate::nodes::NodeRow;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::owners::OwnerLevel;
use capsid_rules::identity::secrets::SecretState;
use std::collections::BTreeSet;

/// How many are in one draw. Those whose last audit is the longest ago come first, so everybody's turn comes.
const IN_DRAW: i64 = 200;
/// A request holds for so long.
const REQUEST_MS: i64 = DAY_MS;
/// A request is written down again after so long.
const RENEW_MS: i64 = 10 * 60_000;

/// Keeps that a node without a stake asks for something to validate, where this hub makes audits.
pub(super) fn record_request(
    tx: &mut dyn Tx,
    node: &NodeRow,
    terms: &AssignmentTerms,
    now: Time,
) -> Result<()> {
    if terms.audit_share <= 0.0 || node.owner.is_none() || node.secret_state != SecretState::Bound {
        return Ok(());
    }
    tx.run(
        "INSERT INTO audit_requests (node_id, asked_at) VALUES ($1, $2)
         ON CONFLICT (node_id) DO UPDATE SET asked_at = excluded.asked_at WHERE audit_requests.asked_at <= $3",
        params![&node.node_id, now, now.0 - RENEW_MS],
    )?;
    Ok(())
}

/// Who may be asked: nodes of accounts of level 1 that asked lately, one of each account, where none of its nodes has a stake.
pub(super) fn load_newcomers(tx: &mut dyn Tx, terms: &AssignmentTerms, now: Time) -> Result<Vec<Validator>> {
    if terms.audit_share <= 0.0 {
        return Ok(Vec::new());
    }
    let (policy, least) = (tx.trust().owners, tx.trust().validator_stake);
    let level = if policy.least_level >= OwnerLevel::Known { 0 } else { OwnerLevel::Known.number() };
    let rows = tx.query_all::<ValidatorRow>(
        select!(
            ValidatorRow,
            "FROM (
            SELECT m.node_id, m.owner, m.issued_network,
                (SELECT COUNT(*) FROM assignments x WHERE x.node_id = m.node_id AND x.state = 'open') AS open,
                COALESCE((SELECT MAX(a.created_at) FROM audits a WHERE a.node_id = m.node_id), 0) AS audited_at
            FROM audit_requests r JOIN nodes m ON m.node_id = r.node_id
                LEFT JOIN owners o ON o.owner = 'user:' || m.owner
            WHERE r.asked_at > $1 AND m.owner IS NOT NULL AND m.secret_state = 'bound' AND m.status = 'active'
                AND m.last_seen_at > $2 AND COALESCE(o.level, 0) >= $3
                AND NOT EXISTS (SELECT 1 FROM stakes s JOIN nodes k ON k.node_id = s.node_id
                    WHERE k.owner = m.owner AND s.status = 'active' AND s.amount >= $4)) n
         WHERE n.open < $5 ORDER BY n.audited_at, n.node_id LIMIT $6"
        ),
        params![now.0 - REQUEST_MS, now.0 - AWAY_AFTER_MS, level, least, MAX_OPEN, IN_DRAW],
    )?;
    let mut owners = BTreeSet::new();
    let newcomers = rows.into_iter().map(|row| row.into_validator(&policy));
    Ok(newcomers.filter(|newcomer| owners.insert(newcomer.owner.clone())).collect())
}

/// Asks a few newcomers what the hub knows, as if it were about a candidate. For each candidate these are as many as the
/// validators that are wanted, so what audits pay is bounded by what is published.
pub(super) fn ask_newcomers(
    tx: &mut dyn Tx,
    candidate: &AssignableAsset,
    newcomers: &mut [Validator],
    terms: &AssignmentTerms,
    now: Time,
) -> Result<u64> {
    if newcomers.is_empty() {
        return Ok(0);
    }
    let asked = tx.count(
        "SELECT COUNT(*) FROM audits a WHERE a.candidate = $1
            AND NOT EXISTS (SELECT 1 FROM stakes s WHERE s.node_id = a.node_id AND s.status = 'active')",
        params![&candidate.asset_id],
    )?;
    let wanted = terms.validators.saturating_sub(usize::try_from(asked).unwrap_or(usize::MAX));
    let publisher = candidate.publisher.owner_key(&tx.trust().owners);
    order_validators(newcomers, Some(&terms.chance), &candidate.asset_id);
    let mut made = 0;
    let others = newcomers.iter_mut().filter(|one| one.owner != publisher && one.open < MAX_OPEN);
    for newcomer in others.take(wanted) {
        if audits::ask(tx, &candidate.asset_id, &newcomer.node_id, terms, now)? {
            newcomer.open += 1;
            made += 1;
        }
    }
    Ok(made)
}
