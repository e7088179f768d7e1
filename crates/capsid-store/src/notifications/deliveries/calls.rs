//! Making the calls: whoever makes one holds it until a certain moment. If it is not settled by then its maker is taken
//! for gone and somebody else makes it, so a call may be made twice but is never forgotten.

use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::notifications::webhooks;
use crate::params;
use capsid_model::backoff::{BackoffPolicy, RetryDecision};
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// The longest time after a failed call until another one tries whether the node can be called again.
const PROBE_MS: i64 = 60_000;

/// A call to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryCall {
    /// Its id, the same over all tries.
    pub delivery_id: String,
    pub node_id: String,
    pub kind: String,
    /// What it says, as JSON text of an object.
    pub payload: String,
    /// Which try this is, from 1.
    pub attempt: i64,
    /// Where the node is called.
    pub url: String,
    /// What the call is signed with: the present secret, then the one before where that still holds.
    pub secrets: Vec<String>,
    /// Whether it is not known that calls to this node arrive.
    pub probes: bool,
}

/// Whether there are calls whose makers are gone. Only reads.
pub fn any_lost(tx: &mut dyn Tx, now: Time) -> Result<bool> {
    tx.exists("SELECT 1 FROM deliveries WHERE state = 'delivering' AND next_at <= $1 LIMIT 1", params![now])
}

/// Frees calls whose makers are gone, to be made by others.
pub fn free_lost(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    tx.run(
        "UPDATE deliveries SET state = 'retrying', holder = NULL WHERE state = 'delivering' AND next_at <= $1",
        params![now],
    )
}

/// Takes the calls that were chosen, for `holder`, who has until `until` to settle them.
pub fn lease_calls(
    tx: &mut dyn Tx,
    chosen: &[i64],
    holder: &str,
    until: Time,
    now: Time,
) -> Result<Vec<DeliveryCall>> {
    let mut calls = Vec::new();
    for seq in chosen {
        calls.extend(begin(tx, *seq, holder, until, now)?);
    }
    Ok(calls)
}

/// Takes one call, unless another hub was faster.
fn begin(tx: &mut dyn Tx, seq: i64, holder: &str, until: Time, now: Time) -> Result<Option<DeliveryCall>> {
    let leased = tx.run(
        "UPDATE deliveries SET state = 'delivering', holder = $2, next_at = $3, attempts = attempts + 1, updated_at = $4
         WHERE seq IN (SELECT seq FROM deliveries WHERE seq = $1 AND state IN ('queued', 'retrying')
            FOR UPDATE SKIP LOCKED)",
        params![seq, holder, until, now],
    )?;
    if leased == 0 {
        return Ok(None);
    }
    let call = tx.query_first::<DeliveryCallRow>(
        select!(
            DeliveryCallRow,
            "FROM deliveries d JOIN nodes n ON n.node_id = d.node_id JOIN webhooks w ON w.node_id = d.node_id
         WHERE d.seq = $1"
        ),
        params![seq],
    )?;
    Ok(call.map(|row| row.into_call(now)))
}

row! {
    struct DeliveryCallRow {
        delivery_id: String = "d.delivery_id",
        node_id: String = "d.node_id",
        kind: String = "d.kind",
        payload: String = "d.payload",
        attempt: i64 = "d.attempts",
        url: String = "n.webhook_url",
        secret: String = "w.secret",
        old_secret: Option<String> = "w.old_secret",
        old_until: Option<i64> = "w.old_until",
        probe_at: Option<i64> = "w.probe_at",
    }
}

impl DeliveryCallRow {
    fn into_call(self, now: Time) -> DeliveryCall {
        let old = self.old_secret.filter(|_| self.old_until.is_some_and(|until| now.0 < until));
        DeliveryCall {
            delivery_id: self.delivery_id,
            node_id: self.node_id,
            kind: self.kind,
            payload: self.payload,
            attempt: self.attempt,
            url: self.url,
            secrets: [Some(self.secret), old].into_iter().flatten().collect(),
            probes: self.probe_at.is_some(),
        }
    }
}

/// What came of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallOutcome {
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// What went wrong, in a word or two.
    pub error: Option<String>,
}

impl CallOutcome {
    fn arrived(&self) -> bool {
        self.error.is_none() && self.status.is_some_and(|status| (200..300).contains(&status))
    }
}

/// How a delivery stands after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliverySettlement {
    Delivered,
    Retrying,
    Dead,
    /// Somebody else has it by now.
    Lost,
}

impl DeliverySettlement {
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
pub fn finish_call(
    tx: &mut dyn Tx,
    call: &DeliveryCall,
    holder: &str,
    outcome: &CallOutcome,
    (rule, chance): (&BackoffPolicy, u64),
    now: Time,
) -> Result<DeliverySettlement> {
    webhooks::lock(tx, &call.node_id)?;
    let since = tx.query_first::<i64>("SELECT queued_at FROM deliveries WHERE delivery_id = $1 AND state = 'delivering' AND holder = $2 FOR UPDATE", params![&call.delivery_id, holder])?;
    let Some(since) = since else { return Ok(DeliverySettlement::Lost) };
    let gone = outcome.status == Some(410);
    let next = rule.next(since, call.attempt, chance, now.0);
    let (settled, next_at) = match next {
        _ if outcome.arrived() => (DeliverySettlement::Delivered, now.0),
        _ if gone => (DeliverySettlement::Dead, now.0),
        RetryDecision::Again(at) => (DeliverySettlement::Retrying, at),
        RetryDecision::GiveUp => (DeliverySettlement::Dead, now.0),
    };
    let delivered_at = (settled == DeliverySettlement::Delivered).then_some(now);
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
    if matches!(settled, DeliverySettlement::Retrying | DeliverySettlement::Dead) {
        webhooks::failed(tx, &call.node_id, Time(next_at.min(now.0 + PROBE_MS)))?;
    }
    match settled {
        DeliverySettlement::Delivered => webhooks::alive(tx, &call.node_id)?,
        DeliverySettlement::Dead if gone => drop(webhooks::disable(tx, &call.node_id, webhooks::GONE, now)?),
        DeliverySettlement::Dead => webhooks::died(tx, &call.node_id, now)?,
        DeliverySettlement::Retrying | DeliverySettlement::Lost => {}
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
