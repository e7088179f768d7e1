//! Forgetting what is no longer needed.

use super::walk::{MAX_STEPS, finish};
use crate::state::SharedHub;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_store::accounts::{claim_codes, login_attempts, node_secrets, sessions};
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::rewards;
use capsid_store::graph::changes;
use capsid_store::notifications::{deliveries, events, mailbox};
use capsid_store::registry::quotas;
use capsid_store::system::{rate_limits, responses};
use capsid_store::work::announcements;
use capsid_store::work::tasks::cleanup;

/// Forgets some of what is no longer needed, and tells how much.
type CleanupFn = fn(&mut dyn Tx, Time) -> Result<u64>;

/// Whether an issued secret is kept whose window has ended.
pub async fn has_issued_secrets(hub: &SharedHub, now: Time) -> Result<bool> {
    let before = now.0 - hub.config.identity.issue_window_ms;
    hub.store.read(move |tx| node_secrets::has_issued_before(tx, before)).await
}

/// Erases issued secrets whose window has ended.
pub async fn erase_issued_secrets(hub: &SharedHub, now: Time) -> Result<u64> {
    let (before, mut done) = (now.0 - hub.config.identity.issue_window_ms, 0);
    for _ in 0..MAX_STEPS {
        let erased = hub.store.write(move |tx| node_secrets::erase_issued_before(tx, before)).await?;
        done += erased;
        if erased < 1000 {
            break;
        }
    }
    finish(hub, "issued_secrets", None, done).await
}

pub async fn run_cleanup(hub: &SharedHub, now: Time) -> Result<u64> {
    let give_up_ms = hub.config.webhooks.give_up_ms;
    let mut done = hub.store.write(move |tx| deliveries::calls::bury(tx, give_up_ms, now)).await?;
    let all: [CleanupFn; 14] = [
        changes::forget_old,
        rewards::forget_old,
        quotas::forget_old,
        announcements::delete_expired,
        deliveries::delete_expired,
        responses::forget_old,
        rate_limits::forget_old,
        events::forget_old,
        mailbox::forget_old,
        sessions::delete_expired,
        login_attempts::delete_expired,
        claim_codes::delete_expired,
        cleanup::delete_released,
        cleanup::delete_unpaid,
    ];
    for forget in all {
        for _ in 0..MAX_STEPS {
            let gone = hub.store.write(move |tx| forget(tx, now)).await?;
            done += gone;
            // Those that go by portions take a thousand at a time; fewer means that nothing is left.
            if gone < 1000 {
                break;
            }
        }
    }
    finish(hub, "tidying", None, done).await
}
