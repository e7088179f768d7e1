//! One blocking call that a client waits for: it can be cancelled, and reports its progress.

use capsid_model::{Code, Problem, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc::UnboundedSender;

/// What a tool holds while it works.
#[derive(Debug, Clone, Default)]
pub struct ToolContext {
    stop: Arc<AtomicBool>,
    steps: Option<UnboundedSender<&'static str>>,
}

impl ToolContext {
    /// A call that reports its steps, if there is a receiver.
    pub fn new(steps: Option<UnboundedSender<&'static str>>) -> Self {
        Self { stop: Arc::default(), steps }
    }

    /// Cancels the call.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Begins a step, unless nobody waits any more. What is not begun is not written and not sent.
    pub fn step(&self, what: &'static str) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Problem::new(
                Code::Interrupted,
                format!("It was cancelled before this step: {what}."),
            ));
        }
        if let Some(steps) = &self.steps {
            // The listener may have gone; the work goes on all the same.
            let _ = steps.send(what);
        }
        Ok(())
    }
}
