//! What the hub does from time to time, without being asked. Each job walks in small steps: it reads what there is to
//! do, then does a little in each transaction, so that no request waits long for it. Of several hubs on one database
//! one does a job, once.

mod assets;
mod cleanup;
mod held_credits;
mod scanning;
mod walk;
mod work;

use crate::auth::account::require_admin;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::state::{Hub, SharedHub};
use capsid_model::problem::Result;
use capsid_store::system::jobs;
use serde::Serialize;
use serde_json::{Map, Value};
use std::time::Duration;
use utoipa::ToSchema;

/// How often the hub looks whether something is due.
const TICK: Duration = Duration::from_secs(1);
const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const HOUR_MS: i64 = 60 * MINUTE_MS;

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
    /// Works out how far owners are trusted.
    Owners,
    /// Evaluates assets again that are from before reports were graded.
    Reevaluation,
    /// Ends tasks and bounties whose time is over.
    Deadlines,
    /// Tells nodes of new tasks.
    Announcements,
    /// Erases issued secrets whose window has ended.
    IssuedSecrets,
    /// Pays rewards that were held, and grants owners that have become known.
    HeldCredits,
    /// Scans assets again by newer rules, promoted ones first.
    Scanning,
    /// Forgets what is no longer needed.
    Tidying,
    /// Has embeddings made of assets that lack one. It waits for somebody else, so it comes last.
    Embedding,
}

impl Job {
    /// Every job, in the order in which they are done.
    pub const ALL: [Self; 16] = [
        Self::Assignments,
        Self::Promotion,
        Self::Outliers,
        Self::Rewards,
        Self::Ageing,
        Self::Rescoring,
        Self::Reputation,
        Self::Owners,
        Self::Reevaluation,
        Self::Deadlines,
        Self::Announcements,
        Self::IssuedSecrets,
        Self::HeldCredits,
        Self::Scanning,
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
            Self::Owners => "owners",
            Self::Reevaluation => "reevaluation",
            Self::Deadlines => "deadlines",
            Self::Announcements => "announcements",
            Self::IssuedSecrets => "issued_secrets",
            Self::HeldCredits => "held_credits",
            Self::Scanning => "scanning",
            Self::Tidying => "tidying",
            Self::Embedding => "embedding",
        }
    }

    /// How often it is done; 0 means never.
    pub fn interval_ms(self, hub: &Hub) -> i64 {
        match self {
            Self::Assignments | Self::Promotion => hub.config.promotion.interval_ms,
            Self::Outliers | Self::Rewards | Self::Rescoring | Self::HeldCredits | Self::Tidying => MINUTE_MS,
            Self::Scanning => SECOND_MS,
            Self::Ageing => 6 * HOUR_MS,
            Self::Reputation => 10 * MINUTE_MS,
            Self::Owners => HOUR_MS,
            Self::Reevaluation => MINUTE_MS,
            Self::Deadlines | Self::Announcements | Self::IssuedSecrets => SECOND_MS,
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
            hub.embedder.catch_up().await;
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

/// What the jobs did.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobsDone)]
pub struct RunJobsResponse {
    status: &'static str,
    /// How much each did.
    #[schema(value_type = BTreeMap<String, i64>)]
    done: Map<String, Value>,
}

/// Does at once what the hub otherwise does from time to time: promotions above all.
#[tracing::instrument(skip_all)]
pub async fn run_jobs_now(hub: &SharedHub, credentials: Credentials) -> ApiResult<RunJobsResponse> {
    let now = hub.now();
    hub.store.read::<_, ApiError, _>(move |tx| require_admin(tx, &credentials, now)).await?;
    Ok(RunJobsResponse { status: "done", done: run_now(hub).await? })
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
        Job::Deadlines => work::has_deadlines(hub).await,
        Job::Announcements => work::has_announcements(hub).await,
        Job::IssuedSecrets => cleanup::has_issued_secrets(hub, hub.now()).await,
        Job::Reevaluation => assets::has_unproven(hub).await,
        Job::Embedding => hub.embedder.is_needed().await,
        Job::HeldCredits => held_credits::has_due(hub).await,
        Job::Scanning => scanning::has_outdated(hub).await,
        _ => Ok(true),
    }
}

#[tracing::instrument(skip_all, fields(job.name = job.name()))]
async fn perform(hub: &SharedHub, job: Job) -> Result<u64> {
    let now = hub.now();
    match job {
        Job::Assignments => assets::assign(hub, now).await,
        Job::Promotion => Ok(assets::demote(hub, now).await? + assets::promote(hub, now).await?),
        Job::Outliers => assets::close_outliers(hub, now).await,
        Job::Rewards => assets::reward_reports(hub, now).await,
        Job::Ageing => Ok(assets::age(hub, now).await? + assets::withdraw_events(hub, now).await?),
        Job::Rescoring => assets::rescore(hub, now).await,
        Job::Reputation => assets::reassess_nodes(hub, now).await,
        Job::Owners => assets::assess_owners(hub, now).await,
        Job::Reevaluation => assets::reevaluate(hub, now).await,
        Job::Deadlines => work::run_deadlines(hub, now).await,
        Job::Announcements => work::announce(hub, now).await,
        Job::IssuedSecrets => cleanup::erase_issued_secrets(hub, now).await,
        Job::HeldCredits => held_credits::settle_due(hub, now).await,
        Job::Scanning => scanning::rescan(hub, now).await,
        Job::Tidying => cleanup::run_cleanup(hub, now).await,
        Job::Embedding => hub.embedder.run().await,
    }
}
