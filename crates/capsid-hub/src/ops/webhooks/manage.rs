//! Looking at a node's webhook, another secret for it, and switching it on again: for the owner of the node, and for
//! the node itself.

use super::view::{WebhookView, load_webhook_view};
use crate::auth::account::{may_act_for, require_session, require_user};
use crate::auth::credentials::Credentials;
use crate::auth::sender::{Sender, access_denied};
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::traced_id;
use crate::http::validate;
use crate::ops::accounts::agents::not_yours;
use crate::state::Hub;
use crate::webhooks::sign;
use capsid_model::time::Time;
use capsid_rules::identity::access::AccessDenial;
use capsid_store::accounts::UserRow;
use capsid_store::audit::{self, AuditChange};
use capsid_store::db::tx::Tx;
use capsid_store::nodes::{self, NodeRow};
use capsid_store::notifications::webhooks;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Which node.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ShowWebhookParams {
    /// The node.
    node_id: Option<String>,
}

/// Shows the webhook of a node to its owner.
#[tracing::instrument(skip_all, fields(node.id = traced_id(&node_id)))]
pub async fn show_webhook(hub: &Hub, credentials: Credentials, node_id: String) -> ApiResult<WebhookView> {
    let now = hub.now();
    hub.store
        .read(move |tx| {
            let user = require_user(tx, &credentials, now)?;
            check_owner(tx, &user, &node_id)?;
            load_webhook_view(tx, &node_id, now)
        })
        .await
}

/// Shows a node its webhook.
#[tracing::instrument(skip_all, fields(node.id = params.node_id.as_deref().map(traced_id)))]
pub async fn show_node_webhook(
    hub: &Hub,
    credentials: Credentials,
    params: ShowWebhookParams,
) -> ApiResult<WebhookView> {
    let node_id = validate::node(None, params.node_id.as_deref())?;
    let (sender, context) = (Sender::new(node_id, credentials), hub.context());
    let by = sender.clone();
    let read = move |tx: &mut dyn Tx, node: Option<&NodeRow>| {
        let node = check_secret_or_owner(tx, node, &by, &context)?;
        load_webhook_view(tx, &node.node_id, context.now)
    };
    sender.read(hub, read).await
}

/// A webhook's new secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookRotated)]
pub struct RotateWebhookSecretResponse {
    status: &'static str,
    node_id: String,
    /// The only place where it is shown.
    webhook_secret: String,
    old_secret_valid_until: String,
}

/// Gives the webhook of a node another secret.
#[tracing::instrument(skip_all, fields(node.id = traced_id(&node_id)))]
pub async fn rotate_webhook_secret(
    hub: &Hub,
    credentials: Credentials,
    node_id: String,
) -> ApiResult<RotateWebhookSecretResponse> {
    let (clock, secret) = (Arc::clone(&hub.clock), sign::new_secret(&*hub.random));
    let (id, fresh) = (node_id.clone(), secret.clone());
    let until = hub
        .store
        .write(move |tx| {
            let now = clock.now();
            let user = require_session(tx, &credentials, now)?;
            check_owner(tx, &user, &id)?;
            let until = webhooks::rotate(tx, &id, &fresh, now)?.ok_or_else(no_webhook)?;
            audit_change(tx, &user, &id, "rotate_webhook_secret", now)?;
            Ok::<_, ApiError>(until)
        })
        .await?;
    Ok(RotateWebhookSecretResponse {
        status: "rotated",
        node_id,
        webhook_secret: secret,
        old_secret_valid_until: until.iso(),
    })
}

/// Switches the webhook of a node on again that was switched off because its calls failed.
#[tracing::instrument(skip_all, fields(node.id = traced_id(&node_id)))]
pub async fn enable_webhook(hub: &Hub, credentials: Credentials, node_id: String) -> ApiResult<WebhookView> {
    let clock = Arc::clone(&hub.clock);
    let webhook = hub
        .store
        .write(move |tx| {
            let now = clock.now();
            let user = require_user(tx, &credentials, now)?;
            check_owner(tx, &user, &node_id)?;
            if !webhooks::enable(tx, &node_id, now)? {
                return Err(no_webhook());
            }
            audit_change(tx, &user, &node_id, "enable_webhook", now)?;
            load_webhook_view(tx, &node_id, now)
        })
        .await?;
    hub.events.notify();
    Ok(webhook)
}

/// A node of an account. Whose node another one is, is nobody else's business.
pub(super) fn check_owner(tx: &mut dyn Tx, user: &UserRow, node_id: &str) -> ApiResult<()> {
    match nodes::get(tx, node_id)? {
        Some(node) if may_act_for(user, &node) => Ok(()),
        _ => Err(not_yours(node_id)),
    }
}

/// A node in whose name somebody asks who shows its secret, or who owns it. Where the node is called may be a secret
/// itself, so nobody else is told.
pub(super) fn check_secret_or_owner<'n>(
    tx: &mut dyn Tx,
    node: Option<&'n NodeRow>,
    sender: &Sender,
    context: &OperationContext,
) -> ApiResult<&'n NodeRow> {
    let Some(node) = node else {
        return Err(ApiError::new(
            HubCode::NodeNotFound,
            "The hub knows no node with this id.",
            "Say hello first: POST /a2a/hello.",
        ));
    };
    if sender.actor(tx, context, node)?.can_see_secrets() {
        return Ok(node);
    }
    Err(access_denied(AccessDenial::SecretRequired, &node.node_id))
}

/// Lets somebody act for a node who shows its secret or owns it.
pub(super) fn authenticate(tx: &mut dyn Tx, context: &OperationContext, sender: &Sender) -> ApiResult<()> {
    let node = sender.lock(tx, context)?;
    check_secret_or_owner(tx, Some(&node), sender, context).map(drop)
}

fn audit_change(tx: &mut dyn Tx, user: &UserRow, node_id: &str, action: &str, now: Time) -> ApiResult<()> {
    let change =
        AuditChange { kind: "node", subject: node_id, action, before: None, after: None, reason: None };
    Ok(audit::add(tx, &user.actor(), change, now)?)
}

pub(super) fn no_webhook() -> ApiError {
    ApiError::new(
        HubCode::NotFound,
        "The node has no webhook.",
        "Say hello with a `webhook_url` to register one: POST /a2a/hello.",
    )
}
