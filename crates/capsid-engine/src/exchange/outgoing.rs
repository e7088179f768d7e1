//! A bundle as it leaves this machine: redacted, stamped over the redacted form, complete.

use super::eligibility::Standing;
use crate::workspace::Workspace;
use capsid_model::{Code, Object, Problem, Result};

/// A capsule that could be offered.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The capsule as stored.
    pub capsule: Object,
    /// How it stands.
    pub standing: Standing,
    /// The id under which this content was published before, if it was.
    pub published_as: Option<String>,
}

/// A bundle that is ready to be sent.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// The local id of the capsule.
    pub capsule_id: String,
    /// Gene, capsule and event, each stamped.
    pub assets: Vec<Object>,
    /// What was taken out or left out, one line each.
    pub notes: Vec<String>,
}

/// Every capsule with its standing, best first.
pub fn offers(_workspace: &Workspace) -> Result<Vec<Offer>> {
    Err(Problem::new(Code::Internal, "to come"))
}

/// The bundle of one capsule; refused where it is not eligible, unless `anyway`.
pub fn outgoing(_workspace: &Workspace, _capsule_id: &str, _anyway: bool) -> Result<Outgoing> {
    Err(Problem::new(Code::Internal, "to come"))
}

/// Notes that a bundle was taken by a hub, so that it is not sent again.
pub fn note_published(_workspace: &Workspace, _sent: &Outgoing, _hub: &str, _answer: &Object) -> Result<()> {
    Err(Problem::new(Code::Internal, "to come"))
}
