//! Distillation: asking a model for one gene that sums up many successful capsules, and taking its answer with care.
//!
//! The caller holds the store's lock.

mod accept;
mod extract;
mod gene;
mod name;
mod prompt;
mod request;

pub use accept::{DistillAcceptance, accept};
pub use request::{DistillOutcome, DistillRequest, DistillSkip, request};

use std::path::{Path, PathBuf};

/// The folder of the distiller's files.
struct DistillPaths<'a>(&'a Path);

impl DistillPaths<'_> {
    fn request(&self) -> PathBuf {
        self.0.join("distill_request.json")
    }

    fn state(&self) -> PathBuf {
        self.0.join("distiller_state.json")
    }

    fn log(&self) -> PathBuf {
        self.0.join("distiller_log.jsonl")
    }
}
