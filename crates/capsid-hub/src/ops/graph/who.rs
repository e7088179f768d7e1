//! Who asks the graph, and whether they may.

use crate::auth::access::{Credentials, Rules, binds, denied, may_spend, read_as, refuse_banned};
use crate::auth::accounts;
use crate::auth::accounts::unauthorized;
use crate::config::GraphAccess;
use crate::error::{ApiError, HubCode, Result};
use crate::http::checks;
use capsid_rules::identity::access::Denial;
use capsid_store::db::tx::Tx;
use capsid_store::ledger::{node_account, user_account};
use capsid_store::nodes::Node;

/// What a request says of who sends it.
#[derive(Debug, Clone)]
pub struct Sender {
    /// The node that it speaks for; nothing where an account speaks for itself.
    pub node_id: Option<String>,
    /// What it shows.
    pub credentials: Credentials,
}

impl Sender {
    /// Reads who sends a request: `sender_id` or `node_id`, and a secret that may stand in the body.
    pub fn of(
        credentials: Credentials,
        sender_id: Option<&str>,
        node_id: Option<&str>,
        secret: Option<&str>,
    ) -> Result<Self> {
        let is_named = sender_id.is_some() || node_id.is_some();
        let node_id = is_named.then(|| checks::node(sender_id, node_id)).transpose()?;
        Ok(Self { node_id, credentials: credentials.or_secret(secret) })
    }
}

/// An account or a node that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    /// `user:…` or `node:…`. So its account in the ledger is called, and so it is named as who said something.
    pub name: String,
    /// Whether it is an admin, or an admin's node.
    pub is_admin: bool,
    /// Whether it shows its secret for the first time.
    pub binds: bool,
}

impl Asker {
    /// The asker of a node that may act.
    pub fn node(tx: &mut dyn Tx, node: &Node) -> Result<Self> {
        let owner = match &node.owner {
            Some(owner) => capsid_store::accounts::get(tx, owner)?,
            None => None,
        };
        let is_admin = owner.is_some_and(|owner| owner.is_admin());
        Ok(Self { name: node_account(&node.node_id), is_admin, binds: false })
    }

    /// The asker of an account.
    pub fn user(user: &capsid_store::accounts::User) -> Self {
        Self { name: user_account(&user.user_id), is_admin: user.is_admin(), binds: false }
    }
}

/// Who sends a request; nothing where it shows nothing. `pays` where credits are to be spent. Only reads.
pub fn asker(tx: &mut dyn Tx, rules: &Rules, sender: &Sender, pays: bool) -> Result<Option<Asker>> {
    let credentials = &sender.credentials;
    let Some(id) = &sender.node_id else {
        return Ok(accounts::caller(tx, credentials, rules.now)?.as_ref().map(Asker::user));
    };
    let node = read_as(tx, rules, id, credentials)?.ok_or_else(|| denied(Denial::SecretNotSet, id))?;
    refuse_banned(tx, &node)?;
    if pays {
        may_spend(tx, rules, &node, credentials)?;
    }
    Ok(Some(Asker { binds: binds(&node, credentials), ..Asker::node(tx, &node)? }))
}

/// The refusal of a request that shows nobody.
pub fn nobody(sender: &Sender) -> ApiError {
    if sender.credentials.secret.is_some() {
        let mut error = unauthorized("The request shows a node's secret, and does not name the node.");
        error.fix = "Send the node's id as `sender_id`, in a GET as `node_id`.".to_owned();
        return error;
    }
    let mut error =
        unauthorized("The knowledge graph is asked by an account or a node, and the request shows neither.");
    error.fix = "Log in with POST /auth/login and send `Authorization: Bearer <token>`, or name a node in `sender_id` \
                 and send its secret so."
        .to_owned();
    error
}

/// Refuses whoever the operator has not opened the graph to.
pub fn check_entitled(access: GraphAccess, is_admin: bool) -> Result<()> {
    let (problem, fix) = match access {
        GraphAccess::Everyone => return Ok(()),
        GraphAccess::Admins if is_admin => return Ok(()),
        GraphAccess::Admins => (
            "The knowledge graph of this hub is open to admins and their nodes only.",
            "Ask the operator of this hub to make your account an admin's, or to set `graph.access` to everyone.",
        ),
        GraphAccess::Nobody => (
            "The operator of this hub has closed its knowledge graph.",
            "Search assets with GET /a2a/assets/semantic-search instead, or ask the operator to set `graph.access`.",
        ),
    };
    Err(ApiError::new(HubCode::PlanUpgradeRequired, problem, fix).with("access", access.as_str()))
}
