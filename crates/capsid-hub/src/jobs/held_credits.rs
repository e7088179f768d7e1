//! Credits that wait: rewards until their asset has proven itself, grants until their owner is known.

use super::walk::finish;
use crate::state::SharedHub;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::identity::owner_level::LevelPolicy;
use capsid_store::accounts::grants;
use capsid_store::evaluation::rewards::held_rewards;

/// How many rewards or grants a run settles.
const STEP: i64 = 200;

/// Whether something may be due. Only reads.
pub async fn has_due(hub: &SharedHub) -> Result<bool> {
    let (now, policy) = (hub.now(), hub.config.grants());
    hub.store
        .read(move |tx| {
            let waits = policy.levels == LevelPolicy::Earned
                && policy.account > 0
                && !grants::find_ungranted(tx, "", 1)?.is_empty();
            Ok(waits || !held_rewards::find_due(tx, 1, now)?.is_empty())
        })
        .await
}

/// Settles what is due, each in a transaction of its own.
pub async fn settle_due(hub: &SharedHub, now: Time) -> Result<u64> {
    let (mut done, pay) = (0, hub.config.identity.keyless_pay());
    for reference in hub.store.read(move |tx| held_rewards::find_due(tx, STEP, now)).await? {
        let settled = hub.store.write(move |tx| held_rewards::settle_due(tx, &reference, pay, now)).await?;
        done += u64::from(settled);
    }
    finish(hub, "held_credits", None, done + grant_known(hub, now).await?).await
}

async fn grant_known(hub: &SharedHub, now: Time) -> Result<u64> {
    let policy = hub.config.grants();
    if policy.levels == LevelPolicy::Trusted {
        return Ok(0);
    }
    let (mut done, mut after) = (0, String::new());
    loop {
        let from = after.clone();
        let waiting = hub.store.read(move |tx| grants::find_ungranted(tx, &from, STEP)).await?;
        let Some(last) = waiting.last() else { return Ok(done) };
        after.clone_from(last);
        for user_id in waiting {
            let granted = hub.store.write(move |tx| grants::grant_known(tx, &policy, &user_id, now)).await?;
            done += u64::from(granted);
        }
    }
}
