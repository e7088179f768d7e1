//! Which calls are made next, so that receivers that do not answer keep nobody else waiting.
//!
//! Every node has its turn before one has a second, and what was never tried comes before what is tried again. While it
//! is not known that a node can be called, it is called once at a time, and all such nodes together leave room for
//! others. A host gets few calls at a time, however many nodes name it.

use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use std::collections::HashMap;

/// How many calls to one node may be under way, so that a slow one does not hold up others.
pub const MAX_OF_NODE: usize = 4;
/// Of how many nodes the calls are looked at in one go.
const NODES: usize = 64;

/// What there is room for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryCapacity {
    pub calls: usize,
    /// How many of them may be to nodes of which it is not known that calls arrive.
    pub probes: usize,
    /// How many may be to one host.
    pub of_host: usize,
    /// How many may be to hosts that have less room, by [`host`].
    pub hosts: HashMap<String, usize>,
    /// The node that was called last; others come first.
    pub after: String,
}

impl DeliveryCapacity {
    fn host_has(&self, host: &str) -> bool {
        self.hosts.get(host).copied().unwrap_or(self.of_host) > 0
    }

    /// Whether there is room for a call; it is used up.
    fn enter(&mut self, node: &WaitingNode) -> bool {
        if self.calls == 0 || (node.probes && self.probes == 0) || !self.host_has(&node.host) {
            return false;
        }
        self.calls -= 1;
        self.probes -= usize::from(node.probes);
        *self.hosts.entry(node.host.clone()).or_insert(self.of_host) -= 1;
        true
    }
}

/// The host and port of an address.
pub fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    rest[..end].trim_end_matches(":443").trim_end_matches('.').to_ascii_lowercase()
}

/// A node for which something is due.
struct WaitingNode {
    node_id: String,
    host: String,
    probes: bool,
    /// Whether something was never tried.
    is_new: bool,
    /// How many calls may be made to it.
    room: usize,
}

/// The calls that are to be made next, and the node that is called last. Only reads.
pub fn choose(tx: &mut dyn Tx, mut room: DeliveryCapacity, now: Time) -> Result<(Vec<i64>, String)> {
    let mut nodes = waiting(tx, now)?;
    nodes.retain(|node| {
        node.room > 0 && room.host_has(&node.host) && (!node.probes || room.probes > 0) && room.calls > 0
    });
    nodes.sort_by_key(|node| (!node.is_new, node.node_id <= room.after));
    nodes.truncate(NODES);
    let mut due: Vec<(bool, usize, usize, i64)> = Vec::new();
    for (turn, node) in nodes.iter().enumerate() {
        for (round, (again, seq)) in next_of_node(tx, node, now)?.into_iter().enumerate() {
            due.push((again, round, turn, seq));
        }
    }
    due.sort_unstable();
    let (mut chosen, mut last) = (Vec::new(), room.after.clone());
    for (_, round, turn, seq) in due {
        if room.enter(&nodes[turn]) {
            chosen.push(seq);
            if round == 0 {
                last.clone_from(&nodes[turn].node_id);
            }
        }
    }
    Ok((chosen, last))
}

/// Every node for which something is due. This steps from node to node, and so looks at one row of each, however many
/// wait.
const WAITING: &str = "WITH RECURSIVE waiting (node_id) AS (
        SELECT MIN(d.node_id) FROM deliveries d WHERE d.state NOT IN ('delivering', 'delivered', 'dead')
        UNION ALL
        SELECT (SELECT MIN(d.node_id) FROM deliveries d
                WHERE d.state NOT IN ('delivering', 'delivered', 'dead') AND d.node_id > p.node_id)
        FROM waiting p WHERE p.node_id IS NOT NULL)
    SELECT node_id, webhook_url, probes, is_new FROM (
        SELECT p.node_id, n.webhook_url, CASE WHEN w.probe_at IS NULL THEN 0 ELSE 1 END AS probes,
            CASE WHEN EXISTS (SELECT 1 FROM deliveries d WHERE d.node_id = p.node_id
                AND d.state NOT IN ('delivering', 'delivered', 'dead') AND d.state = 'queued' AND d.next_at <= $1)
            THEN 1 ELSE 0 END AS is_new,
            CASE WHEN EXISTS (SELECT 1 FROM deliveries d WHERE d.node_id = p.node_id
                AND d.state NOT IN ('delivering', 'delivered', 'dead') AND d.state = 'retrying' AND d.next_at <= $1)
            THEN 1 ELSE 0 END AS is_again
        FROM waiting p JOIN webhooks w ON w.node_id = p.node_id JOIN nodes n ON n.node_id = p.node_id
        WHERE w.disabled_at IS NULL AND COALESCE(w.probe_at, 0) <= $1 AND n.webhook_url IS NOT NULL) x
    WHERE is_new = 1 OR is_again = 1 ORDER BY node_id";

fn waiting(tx: &mut dyn Tx, now: Time) -> Result<Vec<WaitingNode>> {
    let under_way: HashMap<String, i64> = tx
        .query_all::<(String, i64)>(
            "SELECT node_id, COUNT(*) FROM deliveries WHERE state = 'delivering' GROUP BY node_id",
            params![],
        )?
        .into_iter()
        .collect();
    let waiting = tx.query_all::<(String, String, bool, bool)>(WAITING, params![now])?;
    let waiting = waiting.into_iter().map(|(node_id, url, probes, is_new)| {
        let most = if probes { 1 } else { MAX_OF_NODE };
        let busy = under_way.get(&node_id).copied().unwrap_or_default();
        WaitingNode {
            host: host(&url),
            probes,
            is_new,
            room: most.saturating_sub(usize::try_from(busy).unwrap_or(most)),
            node_id,
        }
    });
    Ok(waiting.collect())
}

/// What is due of a node, as much as there is room for: what was never tried, then what is tried again, each in the order
/// of its time. Tells of each whether it is tried again.
fn next_of_node(tx: &mut dyn Tx, node: &WaitingNode, now: Time) -> Result<Vec<(bool, i64)>> {
    let mut selected = Vec::new();
    for (again, state) in [(false, "queued"), (true, "retrying")] {
        let left = node.room.saturating_sub(selected.len());
        let due = tx.query_all::<i64>(
            "SELECT seq FROM deliveries WHERE node_id = $1 AND state NOT IN ('delivering', 'delivered', 'dead') AND state = $2
                AND next_at <= $3 ORDER BY next_at, seq LIMIT $4",
            params![&node.node_id, state, now, left as i64],
        )?;
        selected.extend(due.into_iter().map(|seq| (again, seq)));
    }
    Ok(selected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Store, StoreOptions};

    #[test]
    fn a_host_is_known_however_it_is_written() {
        for (url, expected) in [
            ("https://Agent.example.com/hook", "agent.example.com"),
            ("https://agent.example.com:443?x=1", "agent.example.com"),
            ("https://agent.example.com.:443", "agent.example.com"),
            ("https://agent.example.com:8443/", "agent.example.com:8443"),
            ("http://[::1]:80/", "[::1]:80"),
        ] {
            assert_eq!(host(url), expected, "{url}");
        }
    }

    #[test]
    fn waiting_nodes_are_found_without_looking_at_all_that_waits() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreOptions::new(folder.path(), None), Time(0)).unwrap();
        let sql: &'static str = format!("EXPLAIN QUERY PLAN {WAITING}").leak();
        let plan =
            store.read_now(move |tx| tx.query_all::<(i64, i64, i64, String)>(sql, params![1])).unwrap();
        let plan: Vec<String> = plan.into_iter().map(|(.., line)| line).collect();
        let text = plan.join("\n");
        println!("{text}");
        assert!(text.contains("deliveries_waiting (node_id>?)"), "{text}");
        assert!(text.contains("deliveries_waiting (node_id=? AND state=? AND next_at<?)"), "{text}");
        assert!(!plan.iter().any(|step| step.starts_with("SCAN d")), "{text}");
    }
}
