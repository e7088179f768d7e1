//! The starter pack as a part of the hub: its entries, how far a loading is, and what runs its commands.

pub mod pack;
pub mod view;

use capsid_model::time::Time;
use capsid_model::{Object, Result};
use pack::StarterEntry;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use view::{StarterPackView, StarterState};

/// What the runs of an entry showed.
#[derive(Debug)]
pub struct StarterRun {
    /// A report, without what names the asset.
    pub report: Object,
    /// Why it was not reproduced; empty where it was.
    pub why_not: String,
}

/// Runs the commands of the pack in a sandbox. The hub itself starts no program.
pub trait StarterRunner: Send + Sync {
    /// The version of a program in the sandbox, or why it does not run there.
    fn probe(&self, program: &str) -> Result<String>;

    /// Runs an entry without its change and with it. `programs` are those of the pack, `runtime` is what runs it.
    fn run(&self, entry: &StarterEntry, programs: &[String], runtime: &str, now: Time) -> Result<StarterRun>;
}

/// The loading of the pack that a running hub does in the background, one at a time.
#[derive(Default)]
pub struct StarterLoading {
    runner: OnceLock<Arc<dyn StarterRunner>>,
    view: Mutex<Option<StarterPackView>>,
}

impl StarterLoading {
    /// What runs the commands. The first one stays.
    pub fn set_runner(&self, runner: Arc<dyn StarterRunner>) {
        let _is_first = self.runner.set(runner);
    }

    pub fn runner(&self) -> Option<Arc<dyn StarterRunner>> {
        self.runner.get().map(Arc::clone)
    }

    /// How far the last loading is; nothing where there was none since the hub started.
    pub fn view(&self) -> Option<StarterPackView> {
        self.lock().clone()
    }

    /// Notes that a loading begins, unless one is going on. Whether it may begin.
    pub fn begin(&self, view: StarterPackView) -> bool {
        let mut current = self.lock();
        if current.as_ref().is_some_and(|view| view.state == StarterState::Running) {
            return false;
        }
        *current = Some(view);
        true
    }

    /// Notes how far it is.
    pub fn set(&self, view: StarterPackView) {
        *self.lock() = Some(view);
    }

    /// Notes that it ended early.
    pub fn fail(&self, reason: String) {
        if let Some(view) = self.lock().as_mut() {
            view.state = StarterState::Failed;
            view.error = Some(reason);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<StarterPackView>> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
