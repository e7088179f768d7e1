//! A standby that serves reads which may be a second old, as long as it is that close to the primary.

use super::connection::{connect, runtime};
use super::error::PostgresFailure;
use super::settings::PostgresSettings;
use crate::db::operation::ErasedOperation;
use capsid_model::problem::{Code, Problem, Result};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio_postgres::Client;

/// How old the state of a standby may be.
const MAX_AGE: Duration = Duration::from_secs(1);
/// Between two looks.
const EVERY: Duration = Duration::from_millis(200);
/// A server that does not say in time where it is counts as gone.
const ANSWER_LIMIT: Duration = Duration::from_secs(1);

/// How far the primary has written, and how far the standby has come. A server that is no standby any more says nothing.
const WRITTEN: &str = "SELECT CAST(pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS BIGINT)";
const REPLAYED: &str = "SELECT CASE WHEN pg_is_in_recovery()
    THEN CAST(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') AS BIGINT) END";

/// Of which moment the state of the standby is.
#[derive(Default)]
struct Freshness(Mutex<Option<Instant>>);

impl Freshness {
    fn is_recent(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some_and(|moment| moment.elapsed() <= MAX_AGE)
    }

    fn set(&self, moment: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = moment;
    }
}

/// A standby and who watches it.
pub struct Replica {
    pub reads: SyncSender<Box<dyn ErasedOperation>>,
    freshness: Arc<Freshness>,
    stop: Option<Sender<()>>,
    watcher: Option<JoinHandle<()>>,
}

impl Replica {
    /// Starts to watch a standby whose connections take their operations from `reads`.
    pub fn watch(
        primary: Arc<PostgresSettings>,
        standby: Arc<PostgresSettings>,
        reads: SyncSender<Box<dyn ErasedOperation>>,
    ) -> Result<Self> {
        let freshness = Arc::new(Freshness::default());
        let (stop, stopped) = channel();
        let watcher = ReplicaWatcher {
            runtime: runtime()?,
            primary: Observed { settings: primary, client: None, question: WRITTEN },
            standby: Observed { settings: standby, client: None, question: REPLAYED },
            samples: VecDeque::new(),
            freshness: Arc::clone(&freshness),
        };
        let watcher = std::thread::Builder::new()
            .name("store-replica".to_owned())
            .spawn(move || watcher.run(&stopped))
            .map_err(|error| Problem::new(Code::IoError, format!("Could not start a thread: {error}.")))?;
        Ok(Self { reads, freshness, stop: Some(stop), watcher: Some(watcher) })
    }

    /// Whether the standby has what the primary had a second ago.
    pub fn is_recent(&self) -> bool {
        self.freshness.is_recent()
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(watcher) = self.watcher.take() {
            let _ended = watcher.join();
        }
    }
}

/// Compares where the two servers are. No clock of theirs matters, and a standby that hears nothing more is noticed.
struct ReplicaWatcher {
    runtime: Runtime,
    primary: Observed,
    standby: Observed,
    /// How far the primary had written at which moment, the oldest first.
    samples: VecDeque<(Instant, i64)>,
    freshness: Arc<Freshness>,
}

impl ReplicaWatcher {
    fn run(mut self, stopped: &Receiver<()>) {
        let mut was_recent = None;
        while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
            self.compare_positions();
            let is_recent = self.freshness.is_recent();
            match (was_recent.replace(is_recent), is_recent) {
                (Some(true) | None, false) => {
                    tracing::warn!(
                        "the standby is not within a second of the primary, which serves all reads now"
                    );
                }
                (Some(false), true) => tracing::info!("the standby serves reads again"),
                _ => {}
            }
        }
    }

    fn compare_positions(&mut self) {
        let now = Instant::now();
        if let Some(written) = self.runtime.block_on(self.primary.ask()) {
            self.samples.push_back((now, written));
        }
        let Some(replayed) = self.runtime.block_on(self.standby.ask()) else {
            return self.freshness.set(None);
        };
        let reached = self.samples.iter().rev().find(|(_, written)| *written <= replayed).copied();
        self.samples.retain(|(moment, _)| moment.elapsed() <= MAX_AGE);
        // Nothing that it reached is known any more: it is older than that.
        if let Some((moment, _)) = reached {
            self.freshness.set(Some(moment));
        }
    }
}

/// A server that is asked for its position again and again.
struct Observed {
    settings: Arc<PostgresSettings>,
    client: Option<Client>,
    question: &'static str,
}

impl Observed {
    async fn ask(&mut self) -> Option<i64> {
        let answer = tokio::time::timeout(ANSWER_LIMIT, self.ask_patiently()).await;
        let position = answer.unwrap_or_default();
        if position.is_none() {
            self.client = None;
        }
        position
    }

    async fn ask_patiently(&mut self) -> Option<i64> {
        let client = match self.client.take().filter(|client| !client.is_closed()) {
            Some(client) => client,
            None => match connect(&self.settings).await {
                Ok(client) => client,
                Err(PostgresFailure::Lost(problem) | PostgresFailure::Other(problem)) => {
                    tracing::debug!("the position of a database server is not known: {problem}");
                    return None;
                }
                Err(PostgresFailure::Conflict) => return None,
            },
        };
        let client = self.client.insert(client);
        client.query_one(self.question, &[]).await.ok()?.try_get(0).ok()?
    }
}
