//! What accounts earned, by what. The ledger knows every movement; this knows the sums.

use crate::db::tx::Tx;
use crate::work::bounties::BountyRow;
use crate::work::bounties::settle::{BountyShare, SettlementTerms};
use crate::work::swarm;
use crate::work::tasks::TaskRow;
use crate::{nodes, params};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::work::bounties::payout;
use capsid_rules::work::swarm::share;
use capsid_rules::work::tasks::SubtaskRole;
use std::collections::BTreeMap;

pub(crate) const DAY_MS: i64 = 86_400_000;

/// Adds to what an account earned; nothing when the amount is zero.
pub fn record_earning(tx: &mut dyn Tx, account: &str, source: &str, amount: i64, now: Time) -> Result<()> {
    if amount == 0 {
        return Ok(());
    }
    tx.run(
        "INSERT INTO earnings (account, source, day, amount) VALUES ($1, $2, $3, $4)
         ON CONFLICT (account, source, day) DO UPDATE SET amount = earnings.amount + excluded.amount",
        params![account, source, now.0.div_euclid(DAY_MS), amount],
    )?;
    Ok(())
}

/// What an account can earn by.
pub const SOURCES: [&str; 8] =
    ["promotion", "reuse", "bounty", "swarm", "validation", "service", "sale", "referral"];

/// What an account earned by each source, in the order of [`SOURCES`].
pub fn by_source(tx: &mut dyn Tx, account: &str) -> Result<[i64; 8]> {
    let mut sums = [0; 8];
    let earned = tx.query_all::<(String, i64)>(
        "SELECT source, CAST(SUM(amount) AS BIGINT) FROM earnings WHERE account = $1 GROUP BY source",
        params![account],
    )?;
    for (source, amount) in earned {
        for (sum, _) in sums.iter_mut().zip(SOURCES).filter(|(_, name)| *name == source) {
            *sum += amount;
        }
    }
    Ok(sums)
}

/// The most bounties that are added up, the newest ones; and the most tasks of swarms that are looked at.
const MAX_PENDING: i64 = 1000;

/// What a node would be paid if all that it handed in, and that nobody has decided on yet, were accepted now.
pub fn pending(tx: &mut dyn Tx, node_id: &str, terms: &SettlementTerms) -> Result<i64> {
    let reputation = nodes::get(tx, node_id)?.map_or(0.0, |node| node.reputation);
    let mut sum = 0;
    for amount in single_payee(tx, node_id, terms)?.into_iter().chain(in_swarms(tx, node_id, terms)?) {
        sum += payout(amount, reputation, terms.reduces);
    }
    Ok(sum)
}

/// What waits for a node that did whole tasks.
fn single_payee(tx: &mut dyn Tx, node_id: &str, terms: &SettlementTerms) -> Result<Vec<i64>> {
    let waiting = tx.query_all::<(i64, String)>(
        "SELECT b.amount, b.source FROM bounties b JOIN tasks w ON w.task_id = b.task_id
         WHERE b.matched_node = $1 AND b.status = 'matched' AND w.decomposed_at IS NULL
         ORDER BY b.seq DESC LIMIT $2",
        params![node_id, MAX_PENDING],
    )?;
    Ok(waiting.iter().map(|(amount, source)| terms.net(*amount, source)).collect())
}

/// A swarm whose bounty waits for a decision.
#[derive(Default)]
struct PendingSwarm {
    net: i64,
    proposes: bool,
    merges: bool,
    /// The weight of each solver's part, and whether it is the node's.
    solvers: Vec<(i64, bool)>,
}

impl PendingSwarm {
    /// What the node gets.
    fn amounts(&self) -> Vec<i64> {
        let weights: Vec<i64> = self.solvers.iter().map(|(weight, _)| *weight).collect();
        let shared = share(self.net, &weights);
        let solved = self.solvers.iter().zip(shared.solvers).filter(|((_, own), _)| *own);
        let others = [(self.proposes, shared.proposer), (self.merges, shared.aggregator)];
        let others = others.into_iter().filter(|(own, _)| *own);
        solved.map(|(_, amount)| amount).chain(others.map(|(_, amount)| amount)).collect()
    }
}

/// What waits for a node that proposed, did or merged parts of tasks.
fn in_swarms(tx: &mut dyn Tx, node_id: &str, terms: &SettlementTerms) -> Result<Vec<i64>> {
    let mut swarms: BTreeMap<String, PendingSwarm> = BTreeMap::new();
    let parts = tx.query_all::<(String, i64, String, Option<String>, Option<String>, SubtaskRole, i64)>(
        "SELECT b.bounty_id, b.amount, b.source, w.claimed_by, p.claimed_by, p.swarm_role, COALESCE(p.weight, 0)
         FROM bounties b JOIN tasks w ON w.task_id = b.task_id JOIN tasks p ON p.parent_task_id = w.task_id
         WHERE b.status = 'matched' AND b.bounty_id IN (SELECT t.bounty_id FROM tasks t WHERE t.claimed_by = $1
            AND (t.parent_task_id IS NOT NULL OR t.decomposed_at IS NOT NULL) ORDER BY t.seq DESC LIMIT $2)
         ORDER BY p.seq",
        params![node_id, MAX_PENDING],
    )?;
    for (bounty, amount, source, proposer, claimed_by, role, weight) in parts {
        let swarm = swarms.entry(bounty).or_default();
        swarm.net = terms.net(amount, &source);
        swarm.proposes = proposer.as_deref() == Some(node_id);
        let own = claimed_by.as_deref() == Some(node_id);
        match role {
            SubtaskRole::Aggregator => swarm.merges = own,
            SubtaskRole::Solver => swarm.solvers.push((weight, own)),
        }
    }
    Ok(swarms.values().flat_map(PendingSwarm::amounts).collect())
}

/// What everybody who works on a bounty's task would be paid if what is handed in for it were accepted now: without
/// what the hub keeps, and without what nodes of low reputation do not get.
pub fn expected(
    tx: &mut dyn Tx,
    bounty: &BountyRow,
    whole: &TaskRow,
    terms: &SettlementTerms,
) -> Result<Vec<(BountyShare, i64)>> {
    let shares = swarm::shares(tx, bounty, whole)?;
    let amounts = swarm::amounts(tx, terms.net(bounty.amount, &bounty.source), whole, &shares)?;
    let mut net = Vec::with_capacity(shares.len());
    for (share, amount) in shares.into_iter().zip(amounts) {
        let reputation = nodes::get(tx, &share.node_id)?.map_or(0.0, |node| node.reputation);
        net.push((share, payout(amount, reputation, terms.reduces)));
    }
    Ok(net)
}
