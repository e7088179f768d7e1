//! Tasks and bounties: their deadlines, and telling nodes of new ones.

use super::walk::finish;
use crate::state::SharedHub;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::work::announcements;
use capsid_store::work::bounties::{disputes, settle};
use capsid_store::work::tasks::expire;

/// How many deadlines of a kind a run meets.
const STEP: i64 = 200;
/// How many steps of telling a run takes: other jobs wait meanwhile.
const ANNOUNCED_STEPS: usize = 20;
/// How many nodes are told something in one transaction.
const TOLD_TOGETHER: i64 = 100;

/// Whether a deadline is over. Only reads.
pub async fn has_deadlines(hub: &SharedHub) -> Result<bool> {
    let (now, claim_ms) = (hub.now(), hub.config.work.claim_ms);
    hub.store
        .read(move |tx| {
            Ok(!expire::find_expired(tx, 1, now)?.is_empty()
                || !expire::find_overdue(tx, claim_ms, 1, now)?.is_empty()
                || !expire::find_approaching(tx, 1, now)?.is_empty()
                || !settle::find_undecided(tx, 1, now)?.is_empty()
                || !disputes::find_due(tx, 1, now)?.is_empty())
        })
        .await
}

/// Whether nodes wait to be told of tasks. Only reads.
pub async fn has_announcements(hub: &SharedHub) -> Result<bool> {
    hub.store.read(announcements::is_waiting).await
}

/// Ends tasks and bounties whose time is over, each in a transaction of its own.
pub async fn run_deadlines(hub: &SharedHub, now: Time) -> Result<u64> {
    let (claim_ms, terms) = (hub.config.work.claim_ms, hub.config.settlement_terms());
    let mut done = 0;
    for id in hub.store.read(move |tx| expire::find_expired(tx, STEP, now)).await? {
        done += run_deadline(hub, id, move |tx, id| expire::expire(tx, id, now)).await;
    }
    for id in hub.store.read(move |tx| expire::find_overdue(tx, claim_ms, STEP, now)).await? {
        done += run_deadline(hub, id, move |tx, id| expire::reopen_overdue(tx, id, claim_ms, now)).await;
    }
    for id in hub.store.read(move |tx| expire::find_approaching(tx, STEP, now)).await? {
        done += run_deadline(hub, id, move |tx, id| expire::send_reminders(tx, id, now)).await;
    }
    for id in hub.store.read(move |tx| settle::find_undecided(tx, STEP, now)).await? {
        done += run_deadline(hub, id, move |tx, id| settle::decide(tx, id, &terms, now)).await;
    }
    for id in hub.store.read(move |tx| disputes::find_due(tx, STEP, now)).await? {
        done += run_deadline(hub, id, move |tx, id| disputes::settle_due(tx, id, &terms, now)).await;
    }
    hub.events.notify();
    finish(hub, "deadlines", None, done).await
}

/// Meets one deadline. One that fails keeps no other one waiting.
async fn run_deadline<A>(hub: &SharedHub, id: String, act: A) -> u64
where
    A: Fn(&mut dyn Tx, &str) -> Result<bool> + Send + 'static,
{
    let about = id.clone();
    match hub.store.write(move |tx| act(tx, &id)).await {
        Ok(done) => u64::from(done),
        Err(problem) => {
            tracing::warn!(%problem, id = about, "a deadline could not be met; it is tried again");
            0
        }
    }
}

pub async fn announce(hub: &SharedHub, now: Time) -> Result<u64> {
    let mut done = 0;
    for _ in 0..ANNOUNCED_STEPS {
        let tiers = hub.config.work.model_tiers.clone();
        match hub
            .store
            .write(move |tx| announcements::deliver_announcement(tx, &tiers, TOLD_TOGETHER, now))
            .await?
        {
            Some(told) => done += told,
            None => break,
        }
    }
    hub.events.notify();
    finish(hub, "announcements", None, done).await
}
