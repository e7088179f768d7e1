//! The link between a loop and its hub: separate threads for the network, and a state that the loop shares with them.
//!
//! The loop never waits for the network. It takes a task from the state, stores the result there, and continues.

use super::event_thread::listen;
use super::heartbeat::{HeartbeatPace, HeartbeatSender};
use super::heartbeat_thread::run_heartbeats;
use super::hub_worker::HubWorker;
use super::loop_state::{LoopMessage, LoopState, OpenWorkspaceFn};
use super::tasks::HubTask;
use crate::workspace::Workspace;
use capsid_client::NodeClient;
use capsid_model::Result;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a loop that ends by itself waits for what is still owed to the hub.
const LAST_WORDS: Duration = Duration::from_secs(15);
/// How long one that was stopped waits.
const STOPPED: Duration = Duration::from_secs(2);

/// The line between a loop and its hub.
#[derive(Clone)]
pub struct HubLink {
    state: Arc<LoopState>,
    /// The sender and client, until the threads start.
    waiting: Arc<Mutex<Option<(HeartbeatSender, NodeClient)>>>,
    threads: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl std::fmt::Debug for HubLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}

impl HubLink {
    /// Prepares the line; nothing is sent yet.
    pub fn new(node: NodeClient, open: OpenWorkspaceFn, stop: Arc<AtomicBool>) -> Result<Self> {
        let sender = HeartbeatSender::new(&node)?;
        let waiting = Arc::new(Mutex::new(Some((sender, node))));
        Ok(Self { state: Arc::new(LoopState::new(open, stop)), waiting, threads: Arc::default() })
    }

    /// Starts the threads, once. Tasks are taken only if `takes_tasks` is set.
    pub fn begin(&self, workspace: &Workspace, takes_tasks: bool) {
        self.state.takes_tasks.store(takes_tasks, Ordering::Relaxed);
        let Some((sender, node)) = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        let (first, second) = (Arc::clone(&self.state), Arc::clone(&self.state));
        let pace = HeartbeatPace::new(&*workspace.env);
        if takes_tasks && workspace.config.hub.tasks {
            let (state, node) = (Arc::clone(&self.state), node.clone());
            // It holds nothing that could be lost, and the hub holds its requests for long, so nobody waits for it.
            std::thread::spawn(move || listen(&state, &node));
        }
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.push(std::thread::spawn(move || run_heartbeats(&first, &sender, pace)));
        threads.push(std::thread::spawn(move || HubWorker::new(second, node).run()));
    }

    /// The messages to show, oldest first.
    pub fn notes(&self) -> Vec<LoopMessage> {
        self.state.inner().notes.drain(..).collect()
    }

    /// Whether a task waits to be worked on.
    pub fn has_task(&self) -> bool {
        self.state.inner().task.is_some()
    }

    /// Takes the task that waits.
    pub fn pop_task(&self) -> Option<HubTask> {
        let mut inner = self.state.inner();
        let task = inner.task.take();
        inner.working = task.is_some();
        task
    }

    /// The loop is done with its task, whatever became of it.
    pub fn task_done(&self) {
        self.state.inner().working = false;
        self.state.owed.store(true, Ordering::Relaxed);
        self.state.tasks_wanted.store(true, Ordering::Relaxed);
    }

    /// A cycle was settled: something may have become eligible, and there is time for a task.
    pub fn finish_task(&self) {
        self.state.tasks_wanted.store(true, Ordering::Relaxed);
        self.state.settled.store(true, Ordering::Relaxed);
    }

    /// Stops the threads; what is owed to the hub is delivered first, if that does not take long.
    pub fn finish(&self) {
        self.state.closing.store(true, Ordering::Relaxed);
        let start = Instant::now();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let patience = if self.state.is_stopped() { STOPPED } else { LAST_WORDS };
            // A thread that waits for a hub is left behind: everything it writes is written atomically.
            if threads.iter().all(JoinHandle::is_finished) || start.elapsed() >= patience {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        threads.clear();
    }
}
