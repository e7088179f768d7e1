//! The nodes that publish a batch, locked, with all that decides on what they publish.

use crate::db::row::{FromRow, select};
use crate::db::row_batch::{RowBatch, RowsSql};
use crate::db::tx::Tx;
use crate::evaluation::owners::NodeOwnership;
use crate::nodes::NodeRow;
use crate::{ledger, params};
use capsid_model::problem::Result;
use capsid_rules::evaluation::owners::OwnerLevel;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A node that publishes, and what its row does not say.
#[derive(Debug, Clone)]
pub struct PublishingNode {
    pub row: NodeRow,
    /// Whether its account is banned.
    pub has_banned_owner: bool,
    /// Who counts as its owner.
    pub owner: String,
    pub level: OwnerLevel,
    /// The milli-credits that it holds.
    pub balance: i64,
    /// Its reputation as scores count it.
    pub reputation: f64,
}

/// In the order of their ids, so that two batches do not wait for each other.
const LOCK_NODES: RowsSql = RowsSql {
    sqlite: select!(NodeRow, "FROM nodes WHERE node_id = $1 FOR UPDATE"),
    postgres: select!(NodeRow, "FROM nodes WHERE node_id = ANY($1) ORDER BY node_id FOR UPDATE"),
};
const FIND_BANNED: RowsSql = RowsSql {
    sqlite: "SELECT user_id FROM users WHERE user_id = $1 AND banned_at IS NOT NULL",
    postgres: "SELECT user_id FROM users WHERE user_id = ANY($1) AND banned_at IS NOT NULL",
};
const FIND_LEVELS: RowsSql = RowsSql {
    sqlite: "SELECT owner, level FROM owners WHERE owner = $1",
    postgres: "SELECT owner, level FROM owners WHERE owner = ANY($1)",
};
const FIND_BALANCES: RowsSql = RowsSql {
    sqlite: "SELECT account, balance FROM accounts WHERE account = $1",
    postgres: "SELECT account, balance FROM accounts WHERE account = ANY($1)",
};

/// Locks nodes and gives those that there are, by their ids.
pub(super) fn lock_nodes<'i>(
    tx: &mut dyn Tx,
    ids: impl Iterator<Item = &'i str>,
) -> Result<BTreeMap<String, PublishingNode>> {
    let policy = tx.trust().owners;
    let rows = query::<NodeRow>(tx, LOCK_NODES, ids)?;
    let owners: Vec<String> = rows.iter().map(|row| NodeOwnership::from(row).owner_key(&policy)).collect();
    let users = rows.iter().filter_map(|row| row.owner.as_deref());
    let banned: HashSet<String> = query(tx, FIND_BANNED, users)?.into_iter().collect();
    let levels: HashMap<String, i64> =
        query(tx, FIND_LEVELS, owners.iter().map(String::as_str))?.into_iter().collect();
    let accounts: Vec<String> = rows.iter().map(|row| ledger::node_account(&row.node_id)).collect();
    let balances: HashMap<String, i64> =
        query(tx, FIND_BALANCES, accounts.iter().map(String::as_str))?.into_iter().collect();
    let nodes = rows.into_iter().zip(owners).zip(accounts).map(|((row, owner), account)| {
        let known = levels.get(&owner).and_then(|level| OwnerLevel::from_number(*level));
        let level = known.unwrap_or_default().max(policy.least_level);
        let node = PublishingNode {
            has_banned_owner: row.owner.as_ref().is_some_and(|user| banned.contains(user)),
            balance: balances.get(&account).copied().unwrap_or_default(),
            reputation: policy.capped_reputation(row.reputation, level),
            owner,
            level,
            row,
        };
        (node.row.node_id.clone(), node)
    });
    Ok(nodes.collect())
}

/// The rows for some texts, each asked for once.
fn query<'t, T: FromRow>(
    tx: &mut dyn Tx,
    sql: RowsSql,
    texts: impl Iterator<Item = &'t str>,
) -> Result<Vec<T>> {
    let mut batch = RowBatch::default();
    texts.collect::<BTreeSet<_>>().into_iter().for_each(|text| batch.push(params![text]));
    let mut found = Vec::new();
    batch.query_each(tx, sql, |row| {
        found.push(row);
        Ok(())
    })?;
    Ok(found)
}
