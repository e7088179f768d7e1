//! Which hub a command talks to, as which node, and in whose name.

use crate::commands::variable;
use capsid_client::{ClientConfig, Identity, NodeClient};
use capsid_engine::workspace::Workspace;
use capsid_engine::workspace::node_setup;
use capsid_model::{Code, Problem, Result, SystemClock};
use clap::Args;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Which hub a command talks to.
#[derive(Debug, Default, Args)]
pub(crate) struct HubConnectionArgs {
    /// The hub's address (default: $A2A_HUB_URL, or `url` under `[hub]` in capsid.toml).
    #[arg(long, value_name = "URL")]
    pub(crate) hub: Option<String>,
}

impl HubConnectionArgs {
    /// How the hub is reached, or what to do where none is named.
    pub(crate) fn settings(&self, folder: &Path) -> Result<ClientConfig> {
        let opened = Workspace::open(folder, Arc::new(SystemClock), Arc::new(variable));
        let config = match opened {
            Ok(workspace) => workspace.config.hub,
            // A broken capsid.toml may name a hub; to go on without would be to use another one in silence.
            Err(problem) if problem.code == Code::ConfigInvalid => return Err(problem),
            Err(_) => Default::default(),
        };
        match config.settings_for(self.hub.as_deref(), &variable)? {
            Some(settings) => Ok(settings),
            None => ClientConfig::resolve(None, &variable),
        }
    }

    /// The same for a look at the hub that nobody waits long for.
    pub(crate) fn quick_settings(&self, folder: &Path, timeout: Duration) -> Result<ClientConfig> {
        Ok(ClientConfig { timeout, retries: 0, ..self.settings(folder)? })
    }

    /// This node, ready to talk.
    pub(crate) fn node(&self, folder: &Path) -> Result<NodeClient> {
        node(&self.settings(folder)?)
    }
}

/// This node, ready to talk by some settings.
pub(super) fn node(settings: &ClientConfig) -> Result<NodeClient> {
    node_setup::node(settings, &variable, Arc::new(SystemClock))
}

/// Who this node is.
pub(super) fn identity() -> Result<Identity> {
    node_setup::identity(&variable)
}

/// In the name of which account a command acts.
#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// A session token or an API key of an account (better in $CAPSID_TOKEN, which others on this machine do not see).
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
}

impl TokenArgs {
    /// The token for a node's hub, if one was given. What the environment holds is not for a hub that a repository names.
    pub(super) fn get(&self, node: &NodeClient) -> Option<String> {
        let from_env = || variable("CAPSID_TOKEN").filter(|_| !node.settings().from_repository);
        let token = self.token.clone().or_else(from_env)?;
        Some(token.trim().to_owned()).filter(|token| !token.is_empty())
    }

    /// The token, or how to get one.
    pub(super) fn required(&self, node: &NodeClient, what: &str) -> Result<String> {
        self.get(node).ok_or_else(|| {
            Problem::new(Code::UsageError, format!("{what} takes an account, and no token was given."))
                .fix("Put one into CAPSID_TOKEN, or give `--token`; POST /auth/register or /auth/login of the hub returns it.")
        })
    }
}
