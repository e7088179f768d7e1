//! Assignments: the hub asks validators to run a candidate's validation. It asks nodes that have a stake, were heard
//! of lately and belong to others than the publisher, one of each owner; those with the least to do come first. The
//! hub itself never runs a command. Owners without a stake are asked only what the hub knows (`newcomers`).

mod newcomers;
mod validators;

use crate::assets::id::AssetId;
use crate::db::row::{Json, joined, row, select};
use crate::db::tx::Tx;
use crate::evaluation::owners::audits::{self, AuditChoice};
use crate::evaluation::owners::{self, NodeOwnership, OWNERSHIP_COLUMNS};
use crate::evaluation::{stakes, weighted_reports};
use crate::nodes::NodeRow;
use crate::params;
use capsid_model::gate::{self, CommandPolicy};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::proof::ProofLevel;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use subtle::ConstantTimeEq;
use validators::{EarlierAssignee, MAX_OPEN, Validator, load_earlier, load_validators, order_validators};

/// A validator that let an assignment expire is not asked about the same asset for so long.
const ASK_AGAIN_MS: i64 = 6 * 3_600_000;
/// So many times as many owners as are wanted are asked about one asset at most, where their answers do not count.
const MAX_REPLACED: usize = 4;
/// How many a validator gets that comes to ask. Today's clients do two at a time.
const ASSIGNED_PER_REQUEST: usize = 2;
/// How many candidates are looked at in one transaction.
const BATCH: i64 = 50;

/// How assignments are made.
#[derive(Debug, Clone)]
pub struct AssignmentTerms {
    /// How many validators are asked about one asset.
    pub validators: usize,
    pub valid_ms: i64,
    /// Whether owners are drawn at random, and nobody gets work by asking for it. Otherwise those with the least to do are
    /// asked, and whoever asks gets some.
    pub is_drawn: bool,
    /// How many of all assignments are audits, 0 to 1.
    pub audit_share: f64,
    /// What task ids and nonces are made of: nobody else may know it.
    pub chance: [u8; 32],
}

/// What a validator shows to prove that it was asked.
#[derive(Debug, Clone)]
pub struct AssignmentTicket {
    pub task_id: String,
    /// What only the one who was asked knows.
    pub nonce: String,
    /// The asset that the report says it is about, where it says so.
    pub asset_id: Option<AssetId>,
}

/// What a validator is asked to do.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Assignment {
    pub task_id: String,
    /// To be sent back with the report.
    pub nonce: String,
    pub target_asset_id: AssetId,
    /// What is to be run.
    pub validation_commands: Vec<String>,
    #[serde(skip)]
    pub expires_at: i64,
}

/// The open assignments of a node, oldest first.
pub fn open_for(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<Vec<Assignment>> {
    let open = tx.query_all::<(String, String, AssetId, i64, i64, Json<GeneCommands>)>(
        "SELECT x.task_id, x.nonce, x.asset_id, x.expires_at, x.created_at, g.body FROM assignments x
            JOIN assets c ON c.asset_id = x.asset_id JOIN bundles b ON b.bundle_id = c.bundle_id
            JOIN assets g ON g.asset_id = b.gene_id
         WHERE x.node_id = $1 AND x.state = 'open' AND x.expires_at > $2 AND c.status = 'candidate'
         ORDER BY x.created_at, x.task_id LIMIT 20",
        params![node_id, now],
    )?;
    let assigned =
        open.into_iter().map(|(task_id, nonce, target_asset_id, expires_at, created_at, Json(gene))| {
            let validation_commands = gene.commands();
            (created_at, Assignment { task_id, nonce, target_asset_id, validation_commands, expires_at })
        });
    let mut all: Vec<(i64, Assignment)> = assigned.collect();
    all.extend(audits::open_for(tx, node_id, now)?);
    all.sort_by(|(at, one), (other_at, other)| (at, &one.task_id).cmp(&(other_at, &other.task_id)));
    all.truncate(MAX_OPEN as usize);
    Ok(all.into_iter().map(|(_, assignment)| assignment).collect())
}

/// The open assignments of a validator that comes to ask. One that has little to do gets more at once.
pub fn poll(tx: &mut dyn Tx, node: &NodeRow, terms: &AssignmentTerms, now: Time) -> Result<Vec<Assignment>> {
    let open = open_for(tx, &node.node_id, now)?;
    let staked = stakes::is_validator(tx, &node.node_id)?;
    if !staked {
        newcomers::record_request(tx, node, terms, now)?;
    }
    if open.len() >= ASSIGNED_PER_REQUEST || !staked || node.status != "active" || terms.is_drawn {
        return Ok(open);
    }
    let wanted = ASSIGNED_PER_REQUEST - open.len();
    if assign_to(tx, node, wanted, terms, now)? == 0 {
        return Ok(open);
    }
    open_for(tx, &node.node_id, now)
}

/// Takes a ticket: the asset that its holder was asked about, or nothing where it does not hold. It holds once.
pub fn redeem(
    tx: &mut dyn Tx,
    node_id: &str,
    ticket: &AssignmentTicket,
    now: Time,
) -> Result<Option<AssetId>> {
    let assignment = tx.query_first::<(AssetId, String)>(
        "SELECT asset_id, nonce FROM assignments
         WHERE task_id = $1 AND node_id = $2 AND state = 'open' AND expires_at > $3 FOR UPDATE",
        params![&ticket.task_id, node_id, now],
    )?;
    let Some((id, nonce)) = assignment else { return Ok(None) };
    if !bool::from(nonce.as_bytes().ct_eq(ticket.nonce.as_bytes())) {
        return Ok(None);
    }
    tx.run("UPDATE assignments SET state = 'reported' WHERE task_id = $1", params![&ticket.task_id])?;
    Ok(Some(id))
}

/// Closes what was not reported in time, a few at a time, and tells how many that were.
pub fn expire(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    tx.run(
        "UPDATE assignments SET state = 'expired' WHERE task_id IN (
            SELECT task_id FROM assignments WHERE state = 'open' AND expires_at <= $1 LIMIT 1000)",
        params![now],
    )
}

/// How far a walk through the candidates came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssignmentStep {
    /// How many assignments were made.
    pub made: u64,
    /// Where to go on; nothing at the end.
    pub next: Option<i64>,
}

/// Asks validators about the next few candidates after a place in the order of publication.
pub fn assign_next(
    tx: &mut dyn Tx,
    after: i64,
    terms: &AssignmentTerms,
    now: Time,
) -> Result<AssignmentStep> {
    let mut validators = load_validators(tx, terms.is_drawn, now)?;
    let mut newcomers = newcomers::load_newcomers(tx, terms, now)?;
    if validators.is_empty() && newcomers.is_empty() {
        return Ok(AssignmentStep { made: 0, next: None });
    }
    let candidates = tx.query_all::<(i64, ProofLevel, String, AssignableAsset)>(
        joined!(
            " ",
            "SELECT c.seq, c.proof, n.status,",
            AssignableAsset::COLUMNS,
            "FROM assets c JOIN nodes n ON n.node_id = c.node_id
             WHERE c.status = 'candidate' AND c.asset_type = 'Capsule' AND c.seq > $1 ORDER BY c.seq LIMIT $2"
        ),
        params![after, BATCH],
    )?;
    let full = candidates.len() as i64 == BATCH;
    let next = candidates.last().map(|(seq, ..)| *seq).filter(|_| full);
    let mut made = 0;
    for (_, proof, publisher, candidate) in candidates {
        // A weak validation is asked about too: a validator may show that it fails without the change.
        if proof < ProofLevel::Weak || publisher != "active" {
            continue;
        }
        made += cover(tx, &candidate, &mut validators, terms, now)?;
        made += newcomers::ask_newcomers(tx, &candidate, &mut newcomers, terms, now)?;
    }
    Ok(AssignmentStep { made, next })
}

row! {
    /// An asset that others should look at.
    struct AssignableAsset {
        asset_id: AssetId = "c.asset_id",
        publisher: NodeOwnership = OWNERSHIP_COLUMNS,
    }
}

/// Asks a validator that came by itself, about the newest candidates that still want one.
fn assign_to(
    tx: &mut dyn Tx,
    node: &NodeRow,
    wanted: usize,
    terms: &AssignmentTerms,
    now: Time,
) -> Result<u64> {
    let candidates = tx.query_all::<AssignableAsset>(select!(AssignableAsset, "FROM (
            SELECT asset_id, node_id, proof, seq FROM assets WHERE status = 'candidate' AND asset_type = 'Capsule'
            ORDER BY seq DESC LIMIT 500) c JOIN nodes n ON n.node_id = c.node_id
         WHERE c.proof IN ('weak', 'real') AND n.status = 'active' AND c.node_id <> $1
            AND NOT EXISTS (SELECT 1 FROM assignments m WHERE m.asset_id = c.asset_id AND m.node_id = $1
                AND (m.state <> 'expired' OR m.expires_at > $2))
            AND (SELECT COUNT(*) FROM assignments x WHERE x.asset_id = c.asset_id AND (x.state = 'open'
                OR (x.state = 'reported' AND EXISTS (SELECT 1 FROM reports r WHERE r.asset_id = x.asset_id
                    AND r.node_id = x.node_id AND r.weight > 0)))) < $3
         ORDER BY c.seq LIMIT 20"), params![&node.node_id, now.0 - ASK_AGAIN_MS, terms.validators as i64])?;
    let owner = owners::owner_of(tx, node)?;
    let mut validators = vec![Validator { node_id: node.node_id.clone(), owner, open: 0 }];
    let mut made = 0;
    for candidate in candidates {
        if made as usize >= wanted {
            break;
        }
        made += cover(tx, &candidate, &mut validators, terms, now)?;
    }
    Ok(made)
}

/// Asks as many validators about a candidate as are still missing.
fn cover(
    tx: &mut dyn Tx,
    candidate: &AssignableAsset,
    validators: &mut [Validator],
    terms: &AssignmentTerms,
    now: Time,
) -> Result<u64> {
    let policy = tx.trust().owners;
    let earlier = load_earlier(tx, &candidate.asset_id)?;
    let reports = weighted_reports::load_others(tx, &candidate.asset_id)?;
    let owners = |is_meant: fn(&EarlierAssignee) -> bool| {
        let meant = earlier.iter().filter(move |assignee| is_meant(assignee));
        meant.map(|assignee| assignee.node.owner_key(&policy))
    };
    let reporting =
        reports.into_iter().filter(|report| report.vote.weight > 0.0).map(|report| report.vote.owner);
    let covering: BTreeSet<String> = owners(EarlierAssignee::takes_place).chain(reporting).collect();
    // Whoever answered is not asked again, even if the answer does not count.
    let mut heard: BTreeSet<String> = owners(|assignee| !assignee.is_expired()).collect();
    let still_wanted = (terms.validators * MAX_REPLACED).saturating_sub(heard.len());
    let missing = terms.validators.saturating_sub(covering.len()).min(still_wanted);
    if missing == 0 || !runnable(&validation_of(tx, &candidate.asset_id)?) {
        return Ok(0);
    }
    heard.extend(covering);
    heard.insert(candidate.publisher.owner_key(&policy));
    // An owner that did not answer with one node is not asked at once with another.
    let is_rested = |validator: &Validator| {
        let mut before = earlier.iter().filter(|assignee| {
            assignee.node.node_id == validator.node_id || assignee.node.owner_key(&policy) == validator.owner
        });
        before.all(|assignee| assignee.is_expired() && assignee.expires_at <= now.0 - ASK_AGAIN_MS)
    };
    order_validators(validators, terms.is_drawn.then_some(&terms.chance), &candidate.asset_id);
    let mut made = 0;
    for validator in validators.iter_mut() {
        if made as usize >= missing {
            break;
        }
        let is_own = validator.node_id == candidate.publisher.node_id;
        if is_own || validator.open >= MAX_OPEN || heard.contains(&validator.owner) || !is_rested(validator) {
            continue;
        }
        match audits::choose(tx, &candidate.asset_id, &validator.node_id, terms, now)? {
            AuditChoice::Nothing => continue,
            AuditChoice::Audit => {
                validator.open += 1;
                continue;
            }
            AuditChoice::Candidate => {}
        }
        ask(tx, &candidate.asset_id, &validator.node_id, terms, now)?;
        heard.insert(validator.owner.clone());
        validator.open += 1;
        made += 1;
    }
    Ok(made)
}

/// Asks a node about an asset.
pub(in crate::evaluation) fn ask(
    tx: &mut dyn Tx,
    id: &AssetId,
    node_id: &str,
    terms: &AssignmentTerms,
    now: Time,
) -> Result<()> {
    let derived = |what: &str| {
        let mut hash = Sha256::new();
        hash.update(terms.chance);
        hash.update(what.as_bytes());
        hash.update(id.0);
        hash.update(node_id.as_bytes());
        capsid_model::hash::hex(&hash.finalize())
    };
    let (task_id, nonce) =
        (format!("val_{}", cut(&derived("task"), 24)), cut(&derived("nonce"), 32).to_owned());
    tx.run(
        "INSERT INTO assignments (task_id, nonce, asset_id, node_id, state, created_at, expires_at)
         VALUES ($1, $2, $3, $4, 'open', $5, $6)
         ON CONFLICT (asset_id, node_id) DO UPDATE SET task_id = excluded.task_id, nonce = excluded.nonce,
            state = 'open', created_at = excluded.created_at, expires_at = excluded.expires_at
         WHERE assignments.state = 'expired'",
        params![&task_id, &nonce, id, node_id, now, now.0.saturating_add(terms.valid_ms)],
    )?;
    Ok(())
}

fn cut(digits: &str, length: usize) -> &str {
    digits.get(..length).unwrap_or(digits)
}

/// The validation of a capsule: that of the gene it came with.
pub fn validation_of(tx: &mut dyn Tx, id: &AssetId) -> Result<Vec<String>> {
    let gene = tx.query_first::<Json<GeneCommands>>(
        "SELECT g.body FROM assets c JOIN bundles b ON b.bundle_id = c.bundle_id
            JOIN assets g ON g.asset_id = b.gene_id WHERE c.asset_id = $1",
        params![id],
    )?;
    Ok(gene.map(|Json(gene)| gene.commands()).unwrap_or_default())
}

/// The part of a gene that says how it is validated.
#[derive(serde::Deserialize)]
struct GeneCommands {
    #[serde(default)]
    validation: serde_json::Value,
}

impl GeneCommands {
    /// Its commands. Anybody may publish a gene whose validation is no list of texts: such a gene has none.
    fn commands(self) -> Vec<String> {
        serde_json::from_value(self.validation).unwrap_or_default()
    }
}

/// Whether a validator's sandbox would run the commands. What the operator of this hub allows beyond the usual is
/// nothing that a validator elsewhere would run.
fn runnable(commands: &[String]) -> bool {
    let usual = CommandPolicy::default();
    !commands.is_empty() && commands.iter().all(|command| gate::check(command, &usual).is_ok())
}

#[cfg(test)]
mod tests {
    use super::{GeneCommands, runnable};

    #[test]
    fn only_what_a_sandbox_runs_is_handed_out() {
        let of = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        assert!(runnable(&of(&["node tests/retry.test.js"])));
        assert!(!runnable(&[]));
        assert!(!runnable(&of(&["node -e 'process.exit(0)'"])));
        assert!(!runnable(&of(&["node tests/retry.test.js", "node -p 1"])));
        assert!(!runnable(&of(&["cargo test"])));
    }

    #[test]
    fn a_gene_without_a_list_has_no_commands() {
        let commands = |gene: &str| serde_json::from_str::<GeneCommands>(gene).unwrap().commands();
        assert!(commands("{}").is_empty());
        assert!(commands(r#"{"validation":7}"#).is_empty());
        assert_eq!(commands(r#"{"validation":["node a.js"]}"#), ["node a.js"]);
    }
}
