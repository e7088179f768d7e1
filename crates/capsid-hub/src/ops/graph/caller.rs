//! Who asks the graph, and whether they may.

use crate::auth::account;
use crate::auth::account::unauthorized;
use crate::auth::credentials::Credentials;
use crate::auth::sender::{Sender, refuse_banned};
use crate::config::GraphAccess;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::validate;
use capsid_store::db::tx::Tx;
use capsid_store::ledger::{node_account, user_account};
use capsid_store::nodes::NodeRow;

/// What a request says of who sends it.
#[derive(Debug, Clone)]
pub struct GraphSender {
    /// The node that it speaks for; nothing where an account speaks for itself.
    pub node_id: Option<String>,
    pub credentials: Credentials,
}

impl GraphSender {
    /// Reads who sends a request: `sender_id` or `node_id`, and a secret that may stand in the body.
    pub fn from_request(
        credentials: Credentials,
        sender_id: Option<&str>,
        node_id: Option<&str>,
        secret: Option<&str>,
    ) -> ApiResult<Self> {
        let is_named = sender_id.is_some() || node_id.is_some();
        let node_id = is_named.then(|| validate::node(sender_id, node_id)).transpose()?;
        Ok(Self { node_id, credentials: credentials.or_secret(secret) })
    }
}

/// An account or a node that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphCaller {
    /// `user:…` or `node:…`. So its account in the ledger is called, and so it is named as who said something.
    pub name: String,
    /// Whether it is an admin, or an admin's node.
    pub is_admin: bool,
    /// Whether it shows its secret, and the hub has to note that.
    pub is_noted: bool,
}

impl GraphCaller {
    /// The asker of a node that may act.
    pub fn node(tx: &mut dyn Tx, node: &NodeRow) -> ApiResult<Self> {
        let owner = match &node.owner {
            Some(owner) => capsid_store::accounts::get(tx, owner)?,
            None => None,
        };
        let is_admin = owner.is_some_and(|owner| owner.is_admin());
        Ok(Self { name: node_account(&node.node_id), is_admin, is_noted: false })
    }

    /// The asker of an account.
    pub fn user(user: &capsid_store::accounts::UserRow) -> Self {
        Self { name: user_account(&user.user_id), is_admin: user.is_admin(), is_noted: false }
    }
}

/// Who sends a request; nothing where it shows nothing. `pays` where credits are to be spent. Only reads.
pub fn authenticate_caller(
    tx: &mut dyn Tx,
    context: &OperationContext,
    sender: &GraphSender,
    pays: bool,
) -> ApiResult<Option<GraphCaller>> {
    let credentials = &sender.credentials;
    let Some(id) = &sender.node_id else {
        return Ok(account::caller(tx, credentials, context.now)?.as_ref().map(GraphCaller::user));
    };
    let sender = Sender::new(id, credentials.clone());
    let node = sender.find(tx, context)?.ok_or_else(|| sender.unknown())?;
    refuse_banned(tx, &node)?;
    if pays {
        sender.check_spender(tx, context, &node)?;
    }
    let is_noted = sender.credentials().is_use_to_note(&node, context.now);
    Ok(Some(GraphCaller { is_noted, ..GraphCaller::node(tx, &node)? }))
}

/// The refusal of a request that shows nobody.
pub fn nobody(sender: &GraphSender) -> ApiError {
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
pub fn check_entitled(access: GraphAccess, is_admin: bool) -> ApiResult<()> {
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
