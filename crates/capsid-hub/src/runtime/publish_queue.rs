//! Publishes that wait are stored together: one commit, and few statements, for many of them.

use super::hub_clock::HubClock;
use crate::error::{ApiError, ApiResult};
use capsid_store::Store;
use capsid_store::db::tx::{Dialect, Tx};
use capsid_store::registry::batch::{BatchItem, PublishBatch};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, oneshot};

/// The most publishes of one batch.
const LARGEST_BATCH: usize = 64;
/// How many batches are under way at once on PostgreSQL, so that one is prepared while another is committed.
const POSTGRES_LANES: usize = 2;
/// The longest that a batch waits for more publishes.
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// A publish that can be stored together with others.
pub trait QueuedPublish: Send + Sync + 'static {
    /// What is to be stored.
    fn item(&self) -> BatchItem<'_>;
    /// Decides on it within the transaction of its batch, where it has this place.
    fn plan(&self, tx: &mut dyn Tx, batch: &mut PublishBatch<'_>, at: usize) -> ApiResult<QueuedPlan>;
}

/// What becomes of a publish in its batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueuedPlan {
    /// It is stored with the batch, and this is kept as its response.
    Kept(Vec<u8>),
    /// It can be part of the next batch.
    Later,
    /// It has to be carried out by itself.
    Alone,
}

/// The queue of a hub.
#[derive(Clone)]
pub struct PublishQueue {
    store: Arc<Store>,
    clock: Arc<HubClock>,
    lanes: usize,
    state: Arc<Mutex<QueueState>>,
    arrived: Arc<Notify>,
}

#[derive(Default)]
struct QueueState {
    waiting: VecDeque<WaitingPublish>,
    /// How many lanes are at work.
    running: usize,
}

struct WaitingPublish {
    publish: Arc<dyn QueuedPublish>,
    stored: oneshot::Sender<Option<Vec<u8>>>,
}

impl PublishQueue {
    pub fn new(store: Arc<Store>, clock: Arc<HubClock>) -> Self {
        let lanes = match store.dialect() {
            Dialect::Sqlite => 1,
            Dialect::Postgres => POSTGRES_LANES,
        };
        Self { store, clock, lanes, state: Arc::default(), arrived: Arc::default() }
    }

    /// Stores a publish together with others, and gives what is kept as its response once it is durable; nothing where it
    /// has to be carried out by itself.
    pub async fn store(&self, publish: Arc<dyn QueuedPublish>) -> Option<Vec<u8>> {
        let (stored, is_stored) = oneshot::channel();
        let starts = {
            let mut state = self.state();
            state.waiting.push_back(WaitingPublish { publish, stored });
            let starts = state.running < self.lanes;
            state.running += usize::from(starts);
            starts
        };
        self.arrived.notify_one();
        if starts {
            tokio::spawn(self.clone().run_lane());
        }
        is_stored.await.unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores batches until nothing waits.
    async fn run_lane(self) {
        while let Some(batch) = self.take_batch() {
            let (began, size) = (Instant::now(), batch.len());
            self.store_batch(batch).await;
            if size > 1 {
                // Whoever was answered is about to publish again.
                self.wait_for(size, began.elapsed().min(LONGEST_PAUSE)).await;
            }
        }
    }

    /// The publishes that wait; without any, the lane ends.
    fn take_batch(&self) -> Option<Vec<WaitingPublish>> {
        let mut state = self.state();
        let size = state.waiting.len().min(LARGEST_BATCH);
        if size == 0 {
            state.running -= 1;
            return None;
        }
        Some(state.waiting.drain(..size).collect())
    }

    /// Waits until so many publishes wait, but not for long.
    async fn wait_for(&self, size: usize, pause: Duration) {
        let enough = async {
            while self.state().waiting.len() < size {
                self.arrived.notified().await;
            }
        };
        let _in_time = tokio::time::timeout(pause, enough).await;
    }

    async fn store_batch(&self, batch: Vec<WaitingPublish>) {
        let publishes: Vec<_> = batch.iter().map(|waiting| Arc::clone(&waiting.publish)).collect();
        let plans = match self.write(publishes).await {
            Ok(plans) => plans,
            // Each finds out by itself what is wrong.
            Err(error) => {
                tracing::debug!(code = error.code.as_str(), "a batch was not stored: {}", error.problem);
                vec![QueuedPlan::Alone; batch.len()]
            }
        };
        let mut later = Vec::new();
        for (waiting, plan) in batch.into_iter().zip(plans) {
            let response = match plan {
                QueuedPlan::Kept(response) => Some(response),
                QueuedPlan::Alone => None,
                QueuedPlan::Later => {
                    later.push(waiting);
                    continue;
                }
            };
            // Nobody waits any more when the client went away; what was stored stays.
            let _gone = waiting.stored.send(response);
        }
        let mut state = self.state();
        later.into_iter().rev().for_each(|waiting| state.waiting.push_front(waiting));
    }

    async fn write(&self, publishes: Vec<Arc<dyn QueuedPublish>>) -> ApiResult<Vec<QueuedPlan>> {
        let clock = Arc::clone(&self.clock);
        self.store
            .write::<_, ApiError, _>(move |tx| {
                let items = publishes.iter().map(|publish| publish.item()).collect();
                let mut batch = PublishBatch::load(tx, items, clock.now())?;
                let mut plans = Vec::with_capacity(publishes.len());
                for (at, publish) in publishes.iter().enumerate() {
                    plans.push(publish.plan(tx, &mut batch, at)?);
                }
                batch.write(tx)?;
                Ok(plans)
            })
            .await
    }
}
