//! Which hub a command talks to, and as which node.

use crate::commands::{home_folder, variable};
use capsid_client::{Identity, Node, Settings};
use capsid_engine::workspace::Workspace;
use capsid_model::{Result, SystemClock};
use clap::Args;
use std::path::Path;
use std::sync::Arc;

/// Which hub a command talks to.
#[derive(Debug, Args)]
pub(crate) struct HubArguments {
    /// The hub's address (default: `url` under `[hub]` in capsid.toml, or $A2A_HUB_URL).
    #[arg(long, value_name = "URL")]
    pub(crate) hub: Option<String>,
}

impl HubArguments {
    /// How the hub is reached, or what to do where none is named.
    pub(crate) fn settings(&self, folder: &Path) -> Result<Settings> {
        let config =
            Workspace::open(folder, Arc::new(SystemClock), Arc::new(variable)).map(|open| open.config.hub);
        let mut config = config.unwrap_or_default();
        if self.hub.is_some() {
            config.url.clone_from(&self.hub);
        }
        match config.settings(&variable)? {
            Some(settings) => Ok(settings),
            None => Settings::resolve(None, &variable),
        }
    }

    /// This node, ready to talk.
    pub(crate) fn node(&self, folder: &Path) -> Result<Node> {
        let identity = Identity::open(&home_folder()?, &variable)?;
        Node::new(&self.settings(folder)?, identity, Arc::new(SystemClock))
    }
}
