//! What accounts earned, by what. The ledger knows every movement; this knows the sums.

use crate::bounties::Bounty;
use crate::bounties::settling::{Share, Terms};
use crate::tasks::Task;
use crate::tx::Tx;
use crate::{bounties, nodes, params, swarm, tasks};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::bounties::{commission, payout};

pub(crate) const DAY_MS: i64 = 86_400_000;

/// Adds to what an account earned; nothing when the amount is zero.
pub fn note(tx: &mut dyn Tx, account: &str, source: &str, amount: i64, now: Time) -> Result<()> {
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
    tx.each(
        "SELECT source, CAST(SUM(amount) AS BIGINT) FROM earnings WHERE account = $1 GROUP BY source",
        params![account],
        &mut |row| {
            let source = row.text(0)?;
            for (sum, _) in sums.iter_mut().zip(SOURCES).filter(|(_, name)| *name == source) {
                *sum += row.int(1)?;
            }
            Ok(())
        },
    )?;
    Ok(sums)
}

/// The most bounties that are added up.
const MOST_PENDING: i64 = 1000;

/// What a node would be paid if all that it handed in, and that nobody has decided on yet, were accepted now.
pub fn pending(tx: &mut dyn Tx, node_id: &str, terms: &Terms) -> Result<i64> {
    let waiting: Vec<String> = tx.all(
        "SELECT b.bounty_id FROM bounties b WHERE b.status = 'matched' AND b.bounty_id IN (
            SELECT t.bounty_id FROM tasks t WHERE t.claimed_by = $1
            UNION SELECT m.bounty_id FROM bounties m WHERE m.status = 'matched' AND m.matched_node = $1)
         ORDER BY b.seq LIMIT $2",
        params![node_id, MOST_PENDING],
        |row| row.string(0),
    )?;
    let mut sum = 0;
    for bounty_id in waiting {
        let Some(bounty) = bounties::get(tx, &bounty_id)? else { continue };
        let Some(whole) = tasks::get(tx, &bounty.task_id)? else { continue };
        let shares = expected(tx, &bounty, &whole, terms)?;
        sum += shares.iter().filter(|(share, _)| share.node_id == node_id).map(|(_, net)| net).sum::<i64>();
    }
    Ok(sum)
}

/// What everybody who works on a bounty's task would be paid if what is handed in for it were accepted now: without
/// what the hub keeps, and without what nodes of low reputation do not get.
pub fn expected(tx: &mut dyn Tx, bounty: &Bounty, whole: &Task, terms: &Terms) -> Result<Vec<(Share, i64)>> {
    let kept = commission(bounty.amount, terms.kept_of(bounty));
    let shares = swarm::shares(tx, bounty, whole)?;
    let amounts = swarm::amounts(tx, bounty.amount - kept, whole, &shares)?;
    let mut net = Vec::with_capacity(shares.len());
    for (share, amount) in shares.into_iter().zip(amounts) {
        let reputation = nodes::get(tx, &share.node_id)?.map_or(0.0, |node| node.reputation);
        net.push((share, payout(amount, reputation, terms.reduces)));
    }
    Ok(net)
}
