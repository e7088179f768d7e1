//! What the hub does from time to time, without being asked. Each job walks in small steps: it reads what there is to
//! do, then does a little in each transaction, so that no request waits long for it. Of several hubs on one database
//! one does a job, once.

use crate::state::{Hub, SharedHub};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::accounts::claim_codes;
use capsid_store::accounts::{login_attempts, sessions};
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::assignments;
use capsid_store::evaluation::assignments::AssignmentTerms;
use capsid_store::evaluation::promotion;
use capsid_store::evaluation::promotion::AssetWalkStep;
use capsid_store::evaluation::rewards;
use capsid_store::evaluation::{penalties, scoring};
use capsid_store::notifications::{deliveries, events, mailbox};
use capsid_store::system::{jobs, rate_limits, responses};
use capsid_store::work::announcements;
use capsid_store::work::bounties::settle;
use capsid_store::work::tasks::{cleanup, expire};
use serde_json::{Map, Value};
use std::time::Duration;

/// How often the hub looks whether something is due.
const TICK: Duration = Duration::from_secs(1);
const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// How many rows a step looks at.
const STEP: i64 = 200;
/// How many assets are changed in one transaction.
const TOGETHER: usize = 20;
/// How many steps of telling a run takes: other jobs wait meanwhile.
const ANNOUNCED_STEPS: usize = 20;
/// How many nodes are told something in one transaction.
const TOLD_TOGETHER: i64 = 100;
/// How many steps a run takes at most; the next one goes on from there.
const MAX_STEPS: usize = 250;

/// The jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// Closes assignments that nobody reported on, and makes new ones.
    Assignments,
    Promotion,
    /// Penalises reports that go against the outcome.
    Outliers,
    /// Rewards reports that agree with it.
    Rewards,
    /// Lets what nobody uses grow old.
    Ageing,
    /// Scores anew what was not scored for a day.
    Rescoring,
    /// Works out anew how nodes stand; penalties fade.
    Reputation,
    /// Ends tasks and bounties whose time is over.
    Deadlines,
    /// Tells nodes of new tasks.
    Announcements,
    /// Forgets what is no longer needed.
    Tidying,
    /// Has embeddings made of assets that lack one. It waits for somebody else, so it comes last.
    Embedding,
}

impl Job {
    /// Every job, in the order in which they are done.
    pub const ALL: [Self; 11] = [
        Self::Assignments,
        Self::Promotion,
        Self::Outliers,
        Self::Rewards,
        Self::Ageing,
        Self::Rescoring,
        Self::Reputation,
        Self::Deadlines,
        Self::Announcements,
        Self::Tidying,
        Self::Embedding,
    ];

    /// Its name in the database and in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Assignments => "assignments",
            Self::Promotion => "promotion",
            Self::Outliers => "outliers",
            Self::Rewards => "rewards",
            Self::Ageing => "ageing",
            Self::Rescoring => "rescoring",
            Self::Reputation => "reputation",
            Self::Deadlines => "deadlines",
            Self::Announcements => "announcements",
            Self::Tidying => "tidying",
            Self::Embedding => "embedding",
        }
    }

    /// How often it is done; 0 means never.
    pub fn interval_ms(self, hub: &Hub) -> i64 {
        match self {
            Self::Assignments | Self::Promotion => hub.config.promotion.interval_ms,
            Self::Outliers | Self::Rewards | Self::Rescoring | Self::Tidying => MINUTE_MS,
            Self::Ageing => 6 * HOUR_MS,
            Self::Reputation => 10 * MINUTE_MS,
            Self::Deadlines | Self::Announcements => SECOND_MS,
            Self::Embedding => hub.embedder.interval_ms(),
        }
    }
}

/// Does what is due, until the hub closes. Embeddings are made beside everything else, for that takes as long as the
/// endpoint takes; a hub that closes does not wait for it.
pub async fn run(hub: SharedHub) {
    let (embedding, others): (Vec<Job>, Vec<Job>) =
        Job::ALL.into_iter().partition(|job| *job == Job::Embedding);
    let mut closing = hub.closing.clone();
    let embedding = async {
        tokio::select! {
            () = run_of(&hub, &embedding) => {}
            _ = closing.wait_for(|closing| *closing) => {}
        }
    };
    tokio::join!(run_of(&hub, &others), embedding);
}

async fn run_of(hub: &SharedHub, jobs: &[Job]) {
    let mut closing = hub.closing.clone();
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            _ = closing.wait_for(|closing| *closing) => return,
        }
        // Without its file nothing can be done that stays; the store has said so in the log.
        if hub.store.check_database_file() {
            run_due_of(hub, jobs).await;
        }
        if jobs.contains(&Job::Embedding) {
            hub.embedder.catch_up(hub).await;
        }
    }
}

/// Does what is due. What fails is logged, and tried again when it is due again.
pub async fn run_due(hub: &SharedHub) -> Vec<Job> {
    run_due_of(hub, &Job::ALL).await
}

async fn run_due_of(hub: &SharedHub, jobs: &[Job]) -> Vec<Job> {
    let mut ran = Vec::new();
    for job in jobs.iter().copied() {
        if hub.is_closing() {
            break;
        }
        match claim(hub, job).await {
            Ok(false) => continue,
            Ok(true) => ran.push(job),
            Err(problem) => {
                tracing::warn!(%problem, job = job.name(), "a job could not be begun");
                continue;
            }
        }
        match perform(hub, job).await {
            Ok(0) => {}
            Ok(done) => tracing::info!(job = job.name(), done, "a job was done"),
            Err(problem) => tracing::warn!(%problem, job = job.name(), "a job failed"),
        }
    }
    ran
}

/// Does everything at once, due or not; tells how much was done by each job.
pub async fn run_now(hub: &SharedHub) -> Result<Map<String, Value>> {
    let mut done = Map::new();
    for job in Job::ALL {
        done.insert(job.name().to_owned(), perform(hub, job).await?.into());
    }
    Ok(done)
}

async fn claim(hub: &SharedHub, job: Job) -> Result<bool> {
    let (name, interval, now) = (job.name(), job.interval_ms(hub), hub.now());
    // Most of the time nothing is due, and looking costs less than writing.
    if !hub.store.read(move |tx| jobs::is_due(tx, name, now, interval)).await? || !is_needed(hub, job).await?
    {
        return Ok(false);
    }
    hub.store.write(move |tx| jobs::claim(tx, name, now, interval)).await
}

/// Whether a job that is looked at every second has anything to do, so that a hub at rest writes nothing.
async fn is_needed(hub: &SharedHub, job: Job) -> Result<bool> {
    match job {
        Job::Deadlines => {
            let (now, claim_ms) = (hub.now(), hub.config.work.claim_ms);
            hub.store
                .read(move |tx| {
                    Ok(!expire::find_expired(tx, 1, now)?.is_empty()
                        || !expire::find_overdue(tx, claim_ms, 1, now)?.is_empty()
                        || !expire::find_approaching(tx, 1, now)?.is_empty()
                        || !settle::find_undecided(tx, 1, now)?.is_empty())
                })
                .await
        }
        Job::Announcements => hub.store.read(announcements::is_waiting).await,
        Job::Embedding => hub.embedder.is_needed(hub).await,
        _ => Ok(true),
    }
}

#[tracing::instrument(skip_all, fields(job.name = job.name()))]
async fn perform(hub: &SharedHub, job: Job) -> Result<u64> {
    let now = hub.now();
    match job {
        Job::Assignments => assign(hub, now).await,
        Job::Promotion => {
            let (find, act, rewards) =
                (hub.config.promotion.rule, hub.config.promotion.rule, hub.config.rewards());
            walk(
                hub,
                job.name(),
                move |tx, after| promotion::find_promotable(tx, after, STEP, &find, now),
                move |tx, id| Ok(u64::from(promotion::promote(tx, id, &act, &rewards, now)?)),
            )
            .await
        }
        Job::Outliers => {
            walk(
                hub,
                job.name(),
                |tx, after| promotion::find_disputed(tx, after, STEP),
                move |tx, id| promotion::close_outliers(tx, id, now),
            )
            .await
        }
        Job::Rewards => {
            let rewards = hub.config.rewards();
            walk(
                hub,
                job.name(),
                |tx, after| promotion::find_unrewarded(tx, after, STEP),
                move |tx, id| promotion::reward_reports(tx, id, &rewards, now),
            )
            .await
        }
        Job::Ageing => {
            // What is archived was stale before this run, so that nothing ages two steps at once.
            let mut done = 0;
            for (name, status) in
                [("ageing.stale", AssetStatus::Stale), ("ageing.promoted", AssetStatus::Promoted)]
            {
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
        Job::Rescoring => {
            walk(
                hub,
                job.name(),
                move |tx, after| promotion::find_unscored(tx, after, STEP, now),
                move |tx, id| Ok(u64::from(scoring::rescore(tx, id, now)?.is_some())),
            )
            .await
        }
        Job::Reputation => reassess(hub, now).await,
        Job::Deadlines => run_deadlines(hub, now).await,
        Job::Announcements => announce(hub, now).await,
        Job::Tidying => run_cleanup(hub, now).await,
        Job::Embedding => hub.embedder.run(hub).await,
    }
}

/// Walks through a table from where the last run stopped: finds what there is to do, and does it a few at a time.
async fn walk<F, A>(hub: &SharedHub, name: &'static str, find: F, act: A) -> Result<u64>
where
    F: Fn(&mut dyn Tx, i64) -> Result<AssetWalkStep> + Clone + Send + 'static,
    A: Fn(&mut dyn Tx, &AssetId) -> Result<u64> + Clone + Send + 'static,
{
    let place = hub.store.read(move |tx| jobs::place(tx, name)).await?;
    let mut place: Option<i64> = Some(place.parse().unwrap_or_default());
    let mut done = 0;
    for _ in 0..MAX_STEPS {
        let (Some(after), find, false) = (place, find.clone(), hub.is_closing()) else { break };
        let step = hub.store.read(move |tx| find(tx, after)).await?;
        for few in step.found.chunks(TOGETHER) {
            let (few, act) = (few.to_vec(), act.clone());
            done += hub.store.write(move |tx| all(tx, &few, &act)).await?;
        }
        place = step.next;
    }
    finish(hub, name, place.map(|place| place.to_string()), done).await
}

fn all(tx: &mut dyn Tx, ids: &[AssetId], act: &impl Fn(&mut dyn Tx, &AssetId) -> Result<u64>) -> Result<u64> {
    let mut done = 0;
    for id in ids {
        done += act(tx, id)?;
    }
    Ok(done)
}

async fn finish(hub: &SharedHub, name: &'static str, place: Option<String>, done: u64) -> Result<u64> {
    let (place, now) = (place.unwrap_or_default(), hub.now());
    hub.store.write(move |tx| jobs::finish(tx, name, &place, done, now)).await?;
    Ok(done)
}

impl Hub {
    /// Whether the hub is about to stop.
    pub fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// How assignments are made by this hub, with fresh chance.
    pub fn assignment_terms(&self) -> AssignmentTerms {
        let mut chance = [0; 32];
        self.random.fill(&mut chance);
        let promotion = &self.config.promotion;
        AssignmentTerms { validators: promotion.validators, valid_ms: promotion.assignment_ms, chance }
    }
}

async fn assign(hub: &SharedHub, now: Time) -> Result<u64> {
    const NAME: &str = "assignments";
    let mut done = hub.store.write(move |tx| assignments::expire(tx, now)).await?;
    let place = hub.store.read(|tx| jobs::place(tx, NAME)).await?;
    let mut place: Option<i64> = Some(place.parse().unwrap_or_default());
    for _ in 0..MAX_STEPS {
        let (Some(after), terms, false) = (place, hub.assignment_terms(), hub.is_closing()) else { break };
        let assigned = hub.store.write(move |tx| assignments::assign_next(tx, after, &terms, now)).await?;
        done += assigned.made;
        place = assigned.next;
    }
    finish(hub, NAME, place.map(|place| place.to_string()), done).await
}

async fn reassess(hub: &SharedHub, now: Time) -> Result<u64> {
    const NAME: &str = "reputation";
    let mut place = Some(hub.store.read(|tx| jobs::place(tx, NAME)).await?);
    for _ in 0..MAX_STEPS {
        let Some(after) = place else { break };
        place = hub.store.write(move |tx| penalties::reassess_next(tx, &after, TOGETHER as i64, now)).await?;
    }
    finish(hub, NAME, place, 0).await
}

/// Ends tasks and bounties whose time is over, each in a transaction of its own.
async fn run_deadlines(hub: &SharedHub, now: Time) -> Result<u64> {
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

async fn announce(hub: &SharedHub, now: Time) -> Result<u64> {
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

/// Forgets some of what is no longer needed, and tells how much.
type CleanupFn = fn(&mut dyn Tx, Time) -> Result<u64>;

async fn run_cleanup(hub: &SharedHub, now: Time) -> Result<u64> {
    let give_up_ms = hub.config.webhooks.give_up_ms;
    let mut done = hub.store.write(move |tx| deliveries::calls::bury(tx, give_up_ms, now)).await?;
    let all: [CleanupFn; 12] = [
        rewards::forget_old,
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
