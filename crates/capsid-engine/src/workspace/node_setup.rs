//! Builds this node's identity and client in one place.

use capsid_client::{ClientConfig, Identity, NodeClient};
use capsid_model::{Clock, Code, Problem, Result};
use std::path::PathBuf;
use std::sync::Arc;

/// The identity of this user's node.
pub fn identity(env: &dyn Fn(&str) -> Option<String>) -> Result<Identity> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = set("HOME").or_else(|| set("USERPROFILE")).ok_or_else(|| {
        Problem::new(Code::ConfigInvalid, "This user has no home folder, so the node has no identity.")
            .fix("Set HOME.")
    })?;
    Identity::open(&home, env)
}

/// This node's client for some settings.
pub fn node(
    settings: &ClientConfig,
    env: &dyn Fn(&str) -> Option<String>,
    clock: Arc<dyn Clock>,
) -> Result<NodeClient> {
    NodeClient::new(settings, identity(env)?, clock)
}
