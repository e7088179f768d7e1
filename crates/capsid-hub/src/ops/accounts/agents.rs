//! The nodes of an account.

use super::view::AgentView;
use crate::auth::account::{actor_for, in_grace, require_session, require_user};
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::traced_id;
use crate::state::Hub;
use capsid_store::accounts::admin;
use capsid_store::accounts::admin::AdminAction;
use capsid_store::nodes;
use serde::Serialize;
use utoipa::ToSchema;

/// The most nodes that are listed.
pub(super) const MAX_AGENTS: i64 = 1000;

/// The nodes of an account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Agents)]
pub struct ListAgentsResponse {
    agents: Vec<AgentView>,
    #[schema(value_type = i64)]
    count: usize,
}

/// Lists the nodes of an account.
#[tracing::instrument(skip_all)]
pub async fn list_agents(hub: &Hub, credentials: Credentials) -> ApiResult<ListAgentsResponse> {
    let now = hub.now();
    let owned = hub
        .store
        .read(move |tx| {
            let user = require_user(tx, &credentials, now)?;
            Ok::<_, ApiError>(admin::nodes_of(tx, &user.user_id, MAX_AGENTS)?)
        })
        .await?;
    let agents: Vec<AgentView> = owned.into_iter().map(AgentView::from).collect();
    Ok(ListAgentsResponse { count: agents.len(), agents })
}

/// A node's new secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SecretReset)]
pub struct ResetSecretResponse {
    status: &'static str,
    node_id: String,
    /// The only place where it is shown.
    node_secret: String,
    node_secret_version: i64,
}

/// Gives a node of the account another secret.
#[tracing::instrument(skip_all, fields(node.id = traced_id(&node_id)))]
pub async fn reset_secret(
    hub: &Hub,
    credentials: Credentials,
    node_id: String,
) -> ApiResult<ResetSecretResponse> {
    let (context, secret) = (hub.context(), hub.random.hex(32));
    let (id, fresh) = (node_id.clone(), secret.clone());
    let version = hub
        .store
        .write(move |tx| {
            let context = context.begin();
            let user = require_session(tx, &credentials, context.now)?;
            // Whose node it is, is nobody else's business.
            let node = nodes::get(tx, &id)?.ok_or_else(|| not_yours(&id))?;
            match actor_for(&user, &node, &context) {
                None => return Err(not_yours(&id)),
                Some(actor) if actor.can_reset_secret() => {}
                Some(_) => return Err(in_grace(&context, &node)),
            }
            let by = AdminAction { actor: &user.actor(), reason: None, now: context.now };
            admin::reset_secret(tx, &id, &fresh, by)?.ok_or_else(|| not_yours(&id))
        })
        .await?;
    Ok(ResetSecretResponse { status: "reset", node_id, node_secret: secret, node_secret_version: version })
}

/// The refusal of a node that the account does not own.
pub fn not_yours(node_id: &str) -> ApiError {
    ApiError::new(
        HubCode::NodeNotFound,
        format!("The account has no node `{}`.", capsid_model::text::cut(node_id, 128)),
        "See GET /account/agents for the nodes of the account, and claim others with their claim code.",
    )
}
