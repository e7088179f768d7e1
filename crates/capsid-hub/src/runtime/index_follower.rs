//! Bringing what was written into the index, a moment later and many at once.
//!
//! Whoever asks for something that follows from the database waits until the index holds what the database held when the
//! request came, but not for long. Where assets come faster than they are indexed, publishing slows down.

use super::batcher::{BatchTiming, Batcher};
use super::hub_clock::HubClock;
use crate::error::{ApiError, ApiResult, HubCode};
use capsid_model::problem::{Code, Problem, Result};
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::graph::{IndexLag, MAX_STEP, oldest_waiting};
use capsid_store::search::{self, IndexHeads, SearchHeads};
use capsid_store::{Store, StoreState};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, OwnedMutexGuard, watch};
use tokio::time::timeout;

const TIMING: BatchTiming =
    BatchTiming { delay: Duration::from_millis(50), after_failure: Duration::from_secs(5) };
/// How long a read waits for the index, and how long what looks names up in it.
const READ_WAIT: Duration = Duration::from_millis(250);
const WRITE_WAIT: Duration = Duration::from_secs(2);
/// How many numbers of each log a read follows at once where it waits. Others follow as many as they can.
const READ_STEP: i64 = 500;
/// How often the database is looked at for what nobody announced: jobs and other hubs write as well.
const SWEEP: Duration = Duration::from_secs(1);
/// How many assets of old are filled in together.
const FILLED_TOGETHER: usize = 100;
/// How many segments of the search are joined at most when nothing waits, a few milliseconds each.
const MERGE_STEPS: usize = 32;
/// From how many waiting assets on publishing slows down, by how much, and from how many on it is refused. What was there
/// when the hub started does not count.
const SLOW_FROM: i64 = 50_000;
const SLOW_BY: Duration = Duration::from_millis(20);
const REFUSE_FROM: i64 = 500_000;

/// Follows the database with the index.
#[derive(Clone)]
pub struct IndexFollower {
    store: Arc<Store>,
    clock: Arc<HubClock>,
    batcher: Arc<Batcher>,
    /// One step of the graph at a time, and one of the search.
    stepping: Arc<Mutex<()>>,
    searching: Arc<Mutex<()>>,
    /// The last state in which the search held everything.
    searched: Arc<StdMutex<Option<StoreState>>>,
    /// The newest asset when the hub started, and how many newer ones wait.
    started_at: i64,
    waiting: Arc<AtomicI64>,
}

impl IndexFollower {
    pub fn new(store: Arc<Store>, clock: Arc<HubClock>) -> Result<Self> {
        let started_at = store.read_now(|tx| Ok(IndexHeads::load(tx)?.assets()))?;
        Ok(Self {
            store,
            clock,
            batcher: Arc::default(),
            stepping: Arc::default(),
            searching: Arc::default(),
            searched: Arc::default(),
            started_at,
            waiting: Arc::default(),
        })
    }

    /// Something was written: it will be followed soon.
    pub fn changed(&self) {
        let follower = self.clone();
        self.batcher.schedule(TIMING, "the index is behind", move || {
            let follower = follower.clone();
            async move { Ok(follower.follow_all().await?) }
        });
    }

    /// Follows what nobody announced. Ends when the hub closes.
    pub async fn run_sweeps(&self, mut closing: watch::Receiver<bool>) {
        if let Err(problem) = self.fill_old_traits().await {
            tracing::warn!(code = problem.code.as_str(), "assets of old were not filled in: {problem}");
        }
        loop {
            self.changed();
            tokio::select! {
                () = tokio::time::sleep(SWEEP) => {}
                _ = closing.wait_for(|closed| *closed) => return,
            }
        }
    }

    /// Waits until a read sees what was written before it. Tells how much it may lack after a quarter of a second.
    pub async fn wait_for_read(&self) -> ApiResult<i64> {
        Ok(self.wait(READ_WAIT).await?)
    }

    /// The same for a read that answers that a name is unknown: it waits longer, for that must not be said too early.
    pub async fn wait_for_names(&self) -> ApiResult<i64> {
        Ok(self.wait(WRITE_WAIT).await?)
    }

    /// Waits until a search sees what was written before it. Tells how much it may lack after a quarter of a second; what
    /// was published last is looked at by itself all the same.
    pub async fn wait_for_search(&self) -> ApiResult<i64> {
        let state = self.store.state();
        if state.is_some() && state == *self.last_searched() {
            return Ok(0);
        }
        let began = Instant::now();
        let look = |tx: &mut dyn Tx| {
            let heads = SearchHeads::load(tx)?;
            Ok((heads, heads.lag(tx.index()?)?))
        };
        let (heads, mut lag) = self.store.read::<_, Problem, _>(look).await?;
        if lag.waiting == 0 {
            *self.last_searched() = state;
        }
        loop {
            let left = READ_WAIT.saturating_sub(began.elapsed());
            if lag.waiting == 0 || left.is_zero() {
                return Ok(lag.waiting);
            }
            match timeout(left, self.search_step()).await {
                Ok(Ok(_)) => {}
                // What the index holds is still an answer.
                Ok(Err(problem)) => {
                    tracing::warn!(code = problem.code.as_str(), "the search is behind: {problem}");
                    return Ok(lag.waiting);
                }
                Err(_) => return Ok(lag.waiting),
            }
            lag = self.store.read::<_, Problem, _>(move |tx| heads.lag(tx.index()?)).await?;
        }
    }

    fn last_searched(&self) -> std::sync::MutexGuard<'_, Option<StoreState>> {
        self.searched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works out what assets of old lack.
    async fn fill_old_traits(&self) -> Result<()> {
        loop {
            let now = self.clock.now();
            let fill = move |tx: &mut dyn Tx| search::fill_old_traits(tx, FILLED_TOGETHER, now);
            if self.store.write(fill).await? < FILLED_TOGETHER {
                return Ok(());
            }
        }
    }

    /// Waits until a write can look names up. Names that it could not see yet must not be refused as unknown.
    pub async fn wait_for_write(&self) -> ApiResult<()> {
        match self.wait(WRITE_WAIT).await? {
            0 => Ok(()),
            lag => {
                let message = format!("The knowledge graph is {lag} changes behind just now.");
                Err(ApiError::new(HubCode::ServerBusy, message, "Try again in a few seconds.")
                    .retry_after(5000))
            }
        }
    }

    /// Slows a publish down where the index is far behind.
    pub async fn admit_publish(&self) -> ApiResult<()> {
        match self.waiting.load(Ordering::Relaxed) {
            REFUSE_FROM.. => {
                let message = "The hub has more new assets than it can index just now.";
                Err(ApiError::new(HubCode::ServerBusy, message, "Try again in a minute.").retry_after(60_000))
            }
            SLOW_FROM.. => {
                tokio::time::sleep(SLOW_BY).await;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// How many assets wait to be indexed, and since when the oldest of them does.
    pub async fn lag(&self) -> Result<(i64, Option<Time>)> {
        let lag = |tx: &mut dyn Tx| {
            let assets = IndexHeads::load(tx)?.lag(tx.index()?)?.assets;
            Ok((assets, oldest_waiting(tx)?))
        };
        self.store.read(lag).await
    }

    async fn wait(&self, most: Duration) -> Result<i64> {
        let began = Instant::now();
        let look = |tx: &mut dyn Tx| {
            let heads = IndexHeads::load(tx)?;
            Ok((heads, heads.lag(tx.index()?)?))
        };
        let (heads, mut lag) = self.store.read::<_, Problem, _>(look).await?;
        loop {
            if lag.waiting == 0 || began.elapsed() >= most {
                return Ok(lag.waiting);
            }
            // On a full disk, or beside a row that cannot be read, what the index holds is still an answer.
            if let Err(problem) = self.step(READ_STEP).await {
                tracing::warn!(code = problem.code.as_str(), "the index is behind: {problem}");
                return Ok(lag.waiting);
            }
            lag = self.lag_to(heads).await?;
        }
    }

    async fn lag_to(&self, heads: IndexHeads) -> Result<IndexLag> {
        self.store.read(move |tx| heads.lag(tx.index()?)).await
    }

    async fn follow_all(&self) -> Result<()> {
        while self.step(MAX_STEP).await? {}
        let heads = self.store.read::<_, Problem, _>(IndexHeads::load).await?;
        self.note_waiting(heads).await?;
        for _ in 0..MERGE_STEPS {
            let (guard, store) = (self.search_guard().await, Arc::clone(&self.store));
            if self.batcher.is_due() || !blocking(guard, move || store.merge_search_step()).await? {
                break;
            }
        }
        Ok(())
    }

    /// Notes how many assets wait that came since the hub started.
    async fn note_waiting(&self, heads: IndexHeads) -> Result<()> {
        let lag = self.lag_to(heads).await?;
        let new = heads.assets().saturating_sub(self.started_at);
        self.waiting.store(lag.assets.min(new), Ordering::Relaxed);
        Ok(())
    }

    /// One step of the search, then one of the graph with at most so many numbers of each log.
    async fn step(&self, most: i64) -> Result<bool> {
        let has_more = self.search_step().await?;
        let guard = Arc::clone(&self.stepping).lock_owned().await;
        let (store, now) = (Arc::clone(&self.store), self.clock.now());
        Ok(blocking(guard, move || store.follow_graph_part(most, now)).await? || has_more)
    }

    async fn search_step(&self) -> Result<bool> {
        let guard = self.search_guard().await;
        let (store, now) = (Arc::clone(&self.store), self.clock.now());
        blocking(guard, move || store.follow_search_step(now)).await
    }

    async fn search_guard(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.searching).lock_owned().await
    }
}

/// Does something that blocks. The guard is held until it is done, even when nobody waits for it any more.
async fn blocking(
    guard: OwnedMutexGuard<()>,
    step: impl FnOnce() -> Result<bool> + Send + 'static,
) -> Result<bool> {
    let guarded = move || {
        let outcome = step();
        drop(guard);
        outcome
    };
    tokio::task::spawn_blocking(guarded).await.unwrap_or_else(|error| {
        Err(Problem::new(Code::Internal, format!("A step of the index ended early: {error}.")))
    })
}
