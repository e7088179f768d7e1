//! Making the calls: whoever makes one holds it until a certain moment. If it is not settled by then its maker is taken
//! for gone and somebody else makes it, so a call may be made twice but is never forgotten.

use crate::params;
use crate::tx::{Row, Tx};
use crate::webhooks;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::retries::{Next, Rule};
use std::collections::HashMap;

/// How many calls to one node may be under way, so that a slow one does not hold up others.
pub const MOST_OF_NODE: i64 = 4;
/// How many rows that are due are looked at in one go.
const LOOKED_AT: i64 = 1000;

/// A call to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its id, the same over all tries.
    pub delivery_id: String,
    /// Who is called.
    pub node_id: String,
    /// What it tells.
    pub kind: String,
    /// What it says, as JSON text of an object.
    pub payload: String,
    /// Which try this is, from 1.
    pub attempt: i64,
    /// Where the node is called.
    pub url: String,
    /// What the call is signed with: the present secret, then the one before where that still holds.
    pub secrets: Vec<String>,
}

/// A row that is due.
struct Due {
    seq: i64,
    node_id: String,
}

/// Whether something is to be done. Only reads.
pub fn is_waiting(tx: &mut dyn Tx, now: Time) -> Result<bool> {
    tx.exists(
        "SELECT 1 FROM deliveries d
            JOIN webhooks w ON w.node_id = d.node_id AND w.disabled_at IS NULL
         WHERE d.state IN ('queued', 'retrying', 'delivering') AND d.next_at <= $1 LIMIT 1",
        params![now],
    )
}

/// Takes up to `most` calls that are due, for `holder`, who has until `until` to settle them: those of each node in the
/// order of their events, and no more of one node than may be under way at a time.
pub fn take(tx: &mut dyn Tx, holder: &str, most: usize, until: Time, now: Time) -> Result<Vec<Call>> {
    tx.run(
        "UPDATE deliveries SET state = 'retrying', holder = NULL WHERE state = 'delivering' AND next_at <= $1",
        params![now],
    )?;
    let mut under_way: HashMap<String, i64> = tx
        .all(
            "SELECT node_id, COUNT(*) FROM deliveries WHERE state = 'delivering' GROUP BY node_id",
            params![],
            |row| Ok((row.string(0)?, row.int(1)?)),
        )?
        .into_iter()
        .collect();
    let mut calls = Vec::new();
    for due in due(tx, now)? {
        let of_node = under_way.entry(due.node_id).or_default();
        if calls.len() < most && *of_node < MOST_OF_NODE {
            *of_node += 1;
            calls.extend(begin(tx, due.seq, holder, until, now)?);
        }
    }
    Ok(calls)
}

/// What is due of nodes that have room, oldest event first. A node that has none is left out here, or its rows would
/// hide those of others.
fn due(tx: &mut dyn Tx, now: Time) -> Result<Vec<Due>> {
    let mut found = Vec::new();
    for state in ["queued", "retrying"] {
        found.extend(tx.all(
            "SELECT d.seq, d.node_id FROM deliveries d
                JOIN webhooks w ON w.node_id = d.node_id AND w.disabled_at IS NULL
             WHERE d.state = $1 AND d.next_at <= $2 AND d.node_id NOT IN
                (SELECT b.node_id FROM deliveries b WHERE b.state = 'delivering' GROUP BY b.node_id
                 HAVING COUNT(*) >= $3)
             ORDER BY d.next_at, d.seq LIMIT $4",
            params![state, now, MOST_OF_NODE, LOOKED_AT],
            |row| Ok(Due { seq: row.int(0)?, node_id: row.string(1)? }),
        )?);
    }
    found.sort_by_key(|due| due.seq);
    Ok(found)
}

/// Takes one call, unless another hub was faster.
fn begin(tx: &mut dyn Tx, seq: i64, holder: &str, until: Time, now: Time) -> Result<Option<Call>> {
    let taken = tx.run(
        "UPDATE deliveries SET state = 'delivering', holder = $2, next_at = $3, attempts = attempts + 1, updated_at = $4
         WHERE seq IN (SELECT seq FROM deliveries WHERE seq = $1 AND state IN ('queued', 'retrying')
            FOR UPDATE SKIP LOCKED)",
        params![seq, holder, until, now],
    )?;
    if taken == 0 {
        return Ok(None);
    }
    tx.first(
        "SELECT d.delivery_id, d.node_id, d.kind, d.payload, d.attempts, n.webhook_url, w.secret, w.old_secret,
            w.old_until
         FROM deliveries d JOIN nodes n ON n.node_id = d.node_id JOIN webhooks w ON w.node_id = d.node_id
         WHERE d.seq = $1",
        params![seq],
        |row| read(row, now),
    )
}

fn read(row: &dyn Row, now: Time) -> Result<Call> {
    let old_holds = row.int_or(8)?.is_some_and(|until| now.0 < until);
    let old = row.string_or(7)?.filter(|_| old_holds);
    Ok(Call {
        delivery_id: row.string(0)?,
        node_id: row.string(1)?,
        kind: row.string(2)?,
        payload: row.string(3)?,
        attempt: row.int(4)?,
        url: row.string(5)?,
        secrets: [Some(row.string(6)?), old].into_iter().flatten().collect(),
    })
}

/// What came of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// What went wrong, in a word or two.
    pub error: Option<String>,
}

impl Outcome {
    fn arrived(&self) -> bool {
        self.error.is_none() && self.status.is_some_and(|status| (200..300).contains(&status))
    }
}

/// How a delivery stands after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// It arrived.
    Delivered,
    /// It is tried again.
    Retrying,
    /// It was given up.
    Dead,
    /// Somebody else has it by now.
    Lost,
}

impl Settled {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Retrying => "retrying",
            Self::Dead => "dead",
            Self::Lost => "lost",
        }
    }
}

/// Settles a call that `holder` made. `chance` spreads the next tries.
pub fn settle(
    tx: &mut dyn Tx,
    call: &Call,
    holder: &str,
    outcome: &Outcome,
    (rule, chance): (&Rule, u64),
    now: Time,
) -> Result<Settled> {
    webhooks::lock(tx, &call.node_id)?;
    let since = tx.first(
        "SELECT queued_at FROM deliveries WHERE delivery_id = $1 AND state = 'delivering' AND holder = $2 FOR UPDATE",
        params![&call.delivery_id, holder],
        |row| row.int(0),
    )?;
    let Some(since) = since else { return Ok(Settled::Lost) };
    let gone = outcome.status == Some(410);
    let next = rule.next(since, call.attempt, chance, now.0);
    let (settled, next_at) = match next {
        _ if outcome.arrived() => (Settled::Delivered, now.0),
        _ if gone => (Settled::Dead, now.0),
        Next::Again(at) => (Settled::Retrying, at),
        Next::GiveUp => (Settled::Dead, now.0),
    };
    let delivered_at = (settled == Settled::Delivered).then_some(now);
    tx.run(
        "UPDATE deliveries SET state = $2, holder = NULL, next_at = $3, last_status = $4, last_error = $5,
            updated_at = $6, delivered_at = $7 WHERE delivery_id = $1",
        params![
            &call.delivery_id,
            settled.as_str(),
            next_at,
            outcome.status.map(i64::from),
            &outcome.error,
            now,
            delivered_at
        ],
    )?;
    match settled {
        Settled::Delivered => webhooks::alive(tx, &call.node_id)?,
        Settled::Dead if gone => drop(webhooks::disable(tx, &call.node_id, webhooks::GONE, now)?),
        Settled::Dead => webhooks::died(tx, &call.node_id, now)?,
        Settled::Retrying | Settled::Lost => {}
    }
    Ok(settled)
}

/// Frees what `holder` holds, or what anybody does when it is not named: they are due at once. For a hub that stops,
/// and for one that starts where no other can be running.
pub fn free(tx: &mut dyn Tx, holder: Option<&str>, now: Time) -> Result<u64> {
    tx.run(
        "UPDATE deliveries SET state = 'retrying', holder = NULL, next_at = $2
         WHERE state = 'delivering' AND ($1 IS NULL OR holder = $1)",
        params![holder, now],
    )
}

/// Gives up what waits for a webhook that is switched off, once its time is over.
pub fn bury(tx: &mut dyn Tx, give_up_ms: i64, now: Time) -> Result<u64> {
    tx.run(
        "UPDATE deliveries SET state = 'dead', last_error = 'webhook_disabled', updated_at = $2 WHERE seq IN
            (SELECT d.seq FROM deliveries d
                JOIN webhooks w ON w.node_id = d.node_id AND w.disabled_at IS NOT NULL
             WHERE d.state IN ('queued', 'retrying') AND d.queued_at <= $1 LIMIT 1000)",
        params![now.0 - give_up_ms, now],
    )
}
