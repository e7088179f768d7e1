//! A staged asset becomes one of ours: after somebody vouched for it, or after our own sandbox validated it.

use crate::workspace::Workspace;
use capsid_model::{Code, Object, Problem, Result};

/// What is to be taken in.
#[derive(Debug, Clone, Default)]
pub struct PromoteRequest {
    /// The local id or the asset id.
    pub id: String,
    /// Somebody vouches that it was validated.
    pub validated: bool,
}

/// What was taken in.
#[derive(Debug, Clone)]
pub struct Promoted {
    /// The asset as it is stored now.
    pub asset: Object,
    /// The validation that was run, if one was.
    pub report: Option<Object>,
}

/// Takes a staged asset in.
pub fn promote(_workspace: &Workspace, _request: &PromoteRequest) -> Result<Promoted> {
    Err(Problem::new(Code::Internal, "to come"))
}
