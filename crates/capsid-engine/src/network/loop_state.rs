//! The state that the loop shares with the threads that talk to a hub.

use super::tasks::HubTask;
use crate::workspace::Workspace;
use capsid_model::{Code, Problem, Result};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often the threads look whether there is something to do.
pub(super) const TICK: Duration = Duration::from_millis(100);
/// The most messages that wait to be shown.
const MAX_NOTES: usize = 200;

/// Opens the repository again.
pub type OpenWorkspaceFn = Arc<dyn Fn() -> Result<Workspace> + Send + Sync>;

/// Something worth a line.
#[derive(Debug, Clone)]
pub struct LoopMessage {
    pub text: String,
    /// The code of the problem that it reports, if any.
    pub code: Option<Code>,
}

/// What the threads and the loop share.
pub(super) struct LoopState {
    pub(super) open: OpenWorkspaceFn,
    stop: Arc<AtomicBool>,
    /// The loop has ended: what is owed is still delivered, and nothing new is begun.
    pub(super) closing: AtomicBool,
    /// Somebody can work on tasks.
    pub(super) takes_tasks: AtomicBool,
    /// The hub reported tasks.
    pub(super) tasks_wanted: AtomicBool,
    pub(super) settled: AtomicBool,
    /// There is something to report to the hub about a task.
    pub(super) owed: AtomicBool,
    inner: Mutex<LoopStateInner>,
}

#[derive(Default)]
pub(super) struct LoopStateInner {
    pub(super) notes: VecDeque<LoopMessage>,
    /// A task that is to be worked on.
    pub(super) task: Option<HubTask>,
    /// The task that the loop works on.
    pub(super) working: bool,
}

impl LoopState {
    /// An empty one. What an earlier start left owed is looked for at once, and so are tasks.
    pub(super) fn new(open: OpenWorkspaceFn, stop: Arc<AtomicBool>) -> Self {
        Self {
            open,
            stop,
            closing: AtomicBool::new(false),
            takes_tasks: AtomicBool::new(false),
            tasks_wanted: AtomicBool::new(true),
            settled: AtomicBool::new(false),
            owed: AtomicBool::new(true),
            inner: Mutex::default(),
        }
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, LoopStateInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push_message(&self, text: impl Into<String>) {
        self.insert(LoopMessage { text: text.into(), code: None });
    }

    pub(super) fn complain(&self, what: &str, problem: &Problem) {
        self.insert(LoopMessage { text: format!("{what}: {}", problem.message), code: Some(problem.code) });
    }

    fn insert(&self, note: LoopMessage) {
        let mut inner = self.inner();
        if inner.notes.len() < MAX_NOTES {
            inner.notes.push_back(note);
        }
    }

    /// Whether the loop could work on another task.
    pub(super) fn is_waiting_for_task(&self) -> bool {
        let inner = self.inner();
        self.takes_tasks.load(Ordering::Relaxed) && inner.task.is_none() && !inner.working
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Waits, in steps so small that a signal is answered at once.
    pub(super) fn wait(&self, wait: Duration) {
        let start = Instant::now();
        while start.elapsed() < wait && !self.is_stopped() && !self.is_closing() {
            std::thread::sleep(TICK.min(wait));
        }
    }
}
