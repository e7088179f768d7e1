//! One bundle that is sent to the hub.

use crate::exchange::export::filter_kind;
use crate::exchange::outgoing;
use crate::exchange::publish::publish;
use crate::workspace::Workspace;
use capsid_client::NodeClient;
pub use capsid_client::refusal::may_pass;
use capsid_model::{Code, Problem, Result, Value};

/// A bundle that the hub took.
#[derive(Debug, Clone)]
pub struct SentBundle {
    pub capsule_id: String,
    /// The id of the capsule that was sent, which is that of its redacted form.
    pub asset_id: String,
}

/// Publishes the bundle of a capsule; with `anyway` also if it is not eligible, for requested work.
pub fn send(workspace: &Workspace, node: &NodeClient, capsule_id: &str, anyway: bool) -> Result<SentBundle> {
    let bundle = outgoing::outgoing(workspace, capsule_id, anyway)?;
    let capsule = filter_kind(&bundle, "Capsule");
    let asset_id = capsule.and_then(|capsule| capsule.get("asset_id")).and_then(Value::as_str);
    let asset_id = asset_id.map(str::to_owned).ok_or_else(|| {
        Problem::new(Code::Internal, format!("The bundle of `{capsule_id}` holds no capsule with an id."))
    })?;
    match publish(workspace, node, &bundle)?.unnoted {
        Some(problem) => Err(problem),
        None => Ok(SentBundle { capsule_id: capsule_id.to_owned(), asset_id }),
    }
}
