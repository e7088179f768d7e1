//! Assets, reports and reputation: assignments, promotion, rewards, ageing and scores.

use super::walk::{MAX_STEPS, TOGETHER, finish, walk};
use crate::state::SharedHub;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::evaluation::owners::audits;
use capsid_store::evaluation::{assignments, demotion, owners, penalties, promotion, reevaluation, scoring};
use capsid_store::system::jobs;

/// How many rows a step looks at.
const STEP: i64 = 200;

pub async fn promote(hub: &SharedHub, now: Time) -> Result<u64> {
    let (find, act, rewards) = (hub.config.promotion.rule, hub.config.promotion.rule, hub.config.rewards());
    walk(
        hub,
        "promotion",
        move |tx, after| promotion::find_promotable(tx, after, STEP, &find, now),
        move |tx, id| Ok(u64::from(promotion::promote(tx, id, &act, &rewards, now)?)),
    )
    .await
}

/// Demotes what failed for others, and rejects candidates that nobody passed.
pub async fn demote(hub: &SharedHub, now: Time) -> Result<u64> {
    let rule = hub.config.promotion.rule;
    walk(
        hub,
        "demotion",
        |tx, after| demotion::find_failing(tx, after, STEP),
        move |tx, id| Ok(u64::from(demotion::reconsider(tx, id, &rule, now)?.is_some())),
    )
    .await
}

/// Withdraws events whose capsule was withdrawn.
pub async fn withdraw_events(hub: &SharedHub, now: Time) -> Result<u64> {
    walk(
        hub,
        "orphaned_events",
        |tx, after| demotion::find_orphaned_events(tx, after, STEP),
        move |tx, id| Ok(u64::from(demotion::withdraw_event(tx, id, now)?)),
    )
    .await
}

pub async fn close_outliers(hub: &SharedHub, now: Time) -> Result<u64> {
    walk(
        hub,
        "outliers",
        |tx, after| promotion::find_disputed(tx, after, STEP),
        move |tx, id| promotion::close_outliers(tx, id, now),
    )
    .await
}

pub async fn reward_reports(hub: &SharedHub, now: Time) -> Result<u64> {
    let rewards = hub.config.rewards();
    walk(
        hub,
        "rewards",
        |tx, after| promotion::find_unrewarded(tx, after, STEP),
        move |tx, id| promotion::reward_reports(tx, id, &rewards, now),
    )
    .await
}

pub async fn age(hub: &SharedHub, now: Time) -> Result<u64> {
    // What is archived was stale before this run, so that nothing ages two steps at once.
    let mut done = 0;
    for (name, status) in [("ageing.stale", AssetStatus::Stale), ("ageing.promoted", AssetStatus::Promoted)] {
        done += walk(
            hub,
            name,
            move |tx, after| promotion::find_old(tx, status, after, STEP, now),
            move |tx, id| Ok(u64::from(promotion::age(tx, id, now)?)),
        )
        .await?;
    }
    Ok(done)
}

pub async fn rescore(hub: &SharedHub, now: Time) -> Result<u64> {
    walk(
        hub,
        "rescoring",
        move |tx, after| promotion::find_unscored(tx, after, STEP, now),
        move |tx, id| Ok(u64::from(scoring::rescore(tx, id, now)?.is_some())),
    )
    .await
}

pub async fn assign(hub: &SharedHub, now: Time) -> Result<u64> {
    const NAME: &str = "assignments";
    let mut done = hub.store.write(move |tx| assignments::expire(tx, now)).await?;
    let place = hub.store.read(|tx| jobs::place(tx, NAME)).await?;
    let mut place: Option<i64> = Some(place.parse().unwrap_or_default());
    let rewards = hub.config.rewards();
    done += hub.store.write(move |tx| audits::settle_next(tx, &rewards, now)).await?;
    for _ in 0..MAX_STEPS {
        let (Some(after), terms, false) = (place, hub.assignment_terms(), hub.is_closing()) else { break };
        let assigned = hub.store.write(move |tx| assignments::assign_next(tx, after, &terms, now)).await?;
        done += assigned.made;
        place = assigned.next;
    }
    finish(hub, NAME, place.map(|place| place.to_string()), done).await
}

pub async fn reassess_nodes(hub: &SharedHub, now: Time) -> Result<u64> {
    const NAME: &str = "reputation";
    let mut place = Some(hub.store.read(|tx| jobs::place(tx, NAME)).await?);
    for _ in 0..MAX_STEPS {
        let Some(after) = place else { break };
        place = hub.store.write(move |tx| penalties::reassess_next(tx, &after, TOGETHER as i64, now)).await?;
    }
    finish(hub, NAME, place, 0).await
}

/// Works out how far accounts are trusted, each once a day.
pub async fn assess_owners(hub: &SharedHub, now: Time) -> Result<u64> {
    const NAME: &str = "owners";
    let mut place = Some(hub.store.read(|tx| jobs::place(tx, NAME)).await?);
    let mut changed = 0;
    for _ in 0..MAX_STEPS {
        let Some(after) = place else { break };
        let step = hub.store.write(move |tx| owners::assess_next(tx, &after, TOGETHER as i64, now)).await?;
        changed += step.0;
        place = step.1;
    }
    finish(hub, NAME, place, changed).await
}

/// Whether assets wait for their evaluation.
pub async fn has_unproven(hub: &SharedHub) -> Result<bool> {
    hub.store.read(reevaluation::has_unproven).await
}

/// Evaluates assets again that are from before reports were graded, as many as are due.
pub async fn reevaluate(hub: &SharedHub, now: Time) -> Result<u64> {
    let mut done = 0;
    for _ in 0..MAX_STEPS {
        let some = hub.store.write(move |tx| reevaluation::reevaluate_due(tx, TOGETHER as i64, now)).await?;
        done += some;
        if some < TOGETHER as u64 {
            break;
        }
    }
    Ok(done)
}
