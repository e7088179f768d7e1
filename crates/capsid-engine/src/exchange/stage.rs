//! Foreign assets on their way in: checked, their confidence lowered, staged, never selected and never run.

use crate::workspace::Workspace;
use capsid_model::{Code, Object, Problem, Result};

/// What became of foreign assets.
#[derive(Debug, Clone, Default)]
pub struct Staged {
    /// Those that were staged, as they are kept.
    pub accepted: Vec<Object>,
    /// Those that were staged before.
    pub known: usize,
    /// Those that were refused, and why.
    pub refused: Vec<Problem>,
}

/// Stages assets from a text: one asset, a list, JSON lines, or messages that hold assets or bundles.
pub fn stage(_workspace: &Workspace, _text: &str, _source: Option<&str>) -> Result<Staged> {
    Err(Problem::new(Code::Internal, "to come"))
}

/// Everything staged, newest first.
pub fn staged(_workspace: &Workspace) -> Result<Vec<Object>> {
    Err(Problem::new(Code::Internal, "to come"))
}
