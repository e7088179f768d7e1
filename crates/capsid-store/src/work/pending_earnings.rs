//! What nodes would earn by work that nobody has decided on yet.

use crate::db::tx::Tx;
use crate::nodes::NodeRow;
use crate::params;
use crate::work::bounties::settle::SettlementTerms;
use capsid_model::problem::Result;
use capsid_rules::work::bounties::payout;
use capsid_rules::work::swarm::share;
use capsid_rules::work::tasks::SubtaskRole;
use std::collections::BTreeMap;

/// The most bounties that are added up, the newest ones; and the most tasks of swarms that are looked at.
const MAX_PENDING: i64 = 1000;

/// What a node would be paid if all that it handed in, and that nobody has decided on yet, were accepted now.
pub fn sum_pending(tx: &mut dyn Tx, node: &NodeRow, terms: &SettlementTerms) -> Result<i64> {
    let single = single_payee(tx, &node.node_id, terms)?;
    let amounts = single.into_iter().chain(in_swarms(tx, &node.node_id, terms)?);
    Ok(amounts.map(|amount| payout(amount, node.reputation, terms.reduces)).sum())
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
        "SELECT b.bounty_id, b.amount, b.source, w.claimed_by, p.claimed_by, p.swarm_role, p.weight
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
