//! Who is asked what the hub knows, and how often.

use super::copy;
use crate::assets;
use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::evaluation::assignments::{self, AssignmentTerms};
use crate::evaluation::owners;
use crate::nodes::{self, NodeRow};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use sha2::{Digest, Sha256};

/// How many originals are looked at for a copy.
const ORIGINALS: i64 = 50;

/// What becomes of a node that was drawn for a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::evaluation) enum AuditChoice {
    /// It is asked about the candidate itself.
    Candidate,
    /// It was asked something else in its place.
    Audit,
    /// Its word weighs nothing yet, and it had its audit for this candidate.
    Nothing,
}

/// Chooses what a drawn node is asked. An owner whose word weighs nothing is asked only what the hub knows; others now and
/// then. Where there is nothing to copy, everybody is asked about the candidate.
pub(in crate::evaluation) fn choose(
    tx: &mut dyn Tx,
    candidate: &AssetId,
    node_id: &str,
    terms: &AssignmentTerms,
    now: Time,
) -> Result<AuditChoice> {
    if terms.audit_share <= 0.0 {
        return Ok(AuditChoice::Candidate);
    }
    let Some(node) = nodes::get(tx, node_id)? else { return Ok(AuditChoice::Candidate) };
    let owner = owners::owner_of(tx, &node)?;
    let is_weightless = owners::load_standing(tx, &owner)?.weight <= 0.0;
    if had_audit(tx, candidate, node_id)? {
        return Ok(if is_weightless { AuditChoice::Nothing } else { AuditChoice::Candidate });
    }
    let chance = draw(&terms.chance, candidate, node_id);
    if !is_weightless && !is_drawn(&chance, terms.audit_share) {
        return Ok(AuditChoice::Candidate);
    }
    Ok(match make(tx, candidate, &node, &chance, now)? {
        Some(audit) => {
            assignments::ask(tx, &audit, node_id, terms, now)?;
            AuditChoice::Audit
        }
        None => AuditChoice::Candidate,
    })
}

/// Asks a node something that the hub knows, in the place of a candidate. False where it had that, or there is nothing to
/// copy.
pub(in crate::evaluation) fn ask(
    tx: &mut dyn Tx,
    candidate: &AssetId,
    node_id: &str,
    terms: &AssignmentTerms,
    now: Time,
) -> Result<bool> {
    let Some(node) = nodes::get(tx, node_id)? else { return Ok(false) };
    if had_audit(tx, candidate, node_id)? {
        return Ok(false);
    }
    let chance = draw(&terms.chance, candidate, node_id);
    let audit = make(tx, candidate, &node, &chance, now)?;
    audit.map_or(Ok(false), |audit| assignments::ask(tx, &audit, node_id, terms, now).map(|()| true))
}

fn had_audit(tx: &mut dyn Tx, candidate: &AssetId, node_id: &str) -> Result<bool> {
    tx.exists("SELECT 1 FROM audits WHERE candidate = $1 AND node_id = $2", params![candidate, node_id])
}

/// What is drawn for a node and a candidate. Nobody else can foretell it.
fn draw(chance: &[u8; 32], candidate: &AssetId, node_id: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(chance);
    hash.update(b"audit");
    hash.update(candidate.0);
    hash.update(node_id.as_bytes());
    hash.finalize().into()
}

/// Whether an audit comes before the candidate. It does not take the candidate's place for good, so that it is so many of
/// all assignments.
fn is_drawn(chance: &[u8; 32], share: f64) -> bool {
    let [first, second, ..] = *chance;
    let drawn = f64::from(u16::from_be_bytes([first, second])) / f64::from(u16::MAX);
    share >= 1.0 || drawn < share / (1.0 - share)
}

/// Makes an audit for a node out of something that the runner reproduced and that the node has nothing to do with. Half of
/// them fail.
fn make(
    tx: &mut dyn Tx,
    candidate: &AssetId,
    node: &NodeRow,
    chance: &[u8; 32],
    now: Time,
) -> Result<Option<AssetId>> {
    let mut originals = tx.query_all::<AssetId>(
        "SELECT j.asset_id FROM runner_jobs j JOIN assets c ON c.asset_id = j.asset_id
            JOIN nodes p ON p.node_id = c.node_id
         WHERE j.state = 'done' AND j.outcome = 'reproduced' AND c.status IN ('candidate', 'promoted', 'stale')
            AND c.scan_version > 0 AND c.asset_id <> $4 AND c.node_id <> $1 AND ($2 IS NULL OR p.owner IS NULL OR p.owner <> $2)
            AND NOT EXISTS (SELECT 1 FROM audits a WHERE a.original = j.asset_id AND a.node_id = $1)
            AND NOT EXISTS (SELECT 1 FROM reports r WHERE r.asset_id = j.asset_id AND r.node_id = $1)
            AND NOT EXISTS (SELECT 1 FROM assignments x WHERE x.asset_id = j.asset_id AND x.node_id = $1)
         ORDER BY j.seq DESC LIMIT $3",
        params![&node.node_id, &node.owner, ORIGINALS, candidate],
    )?;
    originals.sort_by_cached_key(|id| draw(chance, id, "original"));
    let [_, _, half, a, b, c, d, e, f, ..] = *chance;
    let (passes, fresh) = (half & 1 == 1, capsid_model::hash::hex(&[a, b, c, d, e, f]));
    for original in originals {
        let Some(body) = assets::body(tx, &original)? else { continue };
        let commands = assignments::validation_of(tx, &original)?;
        let Some((audit_id, copied)) = copy::make_copy(&body, &commands, passes, &fresh) else { continue };
        tx.run(
            "INSERT INTO audits (audit_id, node_id, candidate, original, passes, body, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
            params![&audit_id, &node.node_id, candidate, &original, passes, &copied, now],
        )?;
        return Ok(Some(audit_id));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_five_assignments_is_an_audit_and_half_of_them_fail() {
        let (mut audits, mut failing) = (0_u32, 0_u32);
        for round in 0..10_000_u64 {
            let mut chance = [0; 32];
            chance[..8].copy_from_slice(&round.to_le_bytes());
            let chance = draw(&chance, &AssetId([7; 32]), "node_a");
            if is_drawn(&chance, 0.2) {
                audits += 1;
                failing += u32::from(chance[2] & 1 == 0);
            }
        }
        // One before four others is one in five.
        assert!((2_350..=2_650).contains(&audits), "{audits}");
        assert!((audits * 9 / 20..=audits * 11 / 20).contains(&failing), "{failing} of {audits}");
        assert!(is_drawn(&[255; 32], 1.0));
    }
}
