//! What happened to a node and what it did to others, for the node, its owner and admins.

use super::view::find_node;
use crate::auth::credentials::Credentials;
use crate::auth::sender::{Sender, access_denied};
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::check_node_id;
use crate::http::{query, traced_id, validate};
use crate::ops::audit::AuditEntryView;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::identity::access::AccessDenial;
use capsid_rules::identity::actor::Actor;
use capsid_store::audit::{self, NodeAuditFilter};
use capsid_store::db::tx::Tx;
use capsid_store::nodes;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The furthest that one can go back.
const MAX_OFFSET: i64 = 100_000;

/// Which entries.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct NodeAuditParams {
    /// The node that asks: this one, or another one of the same owner. This one by default.
    sender_id: Option<String>,
    /// How many: 1 to 100, usually 50.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// How many of the newest to leave out.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 100_000)]
    offset: Option<String>,
    /// Only this kind of change, such as `claim` or `reset_secret`.
    action: Option<String>,
    /// Only changes from this time on.
    since: Option<String>,
    /// Only changes before this time.
    until: Option<String>,
}

/// What happened to a node and what it did, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NodeAudit)]
pub struct NodeAuditResponse {
    logs: Vec<AuditEntryView>,
    /// How many there are that fit.
    total: i64,
    limit: i64,
    offset: i64,
}

impl NodeAuditParams {
    fn filter(&self, node_id: &str) -> ApiResult<NodeAuditFilter> {
        let action = self.action.as_deref().map(str::trim).filter(|action| !action.is_empty());
        validate::text_or(action, "action", 200)?;
        let time = |value: &Option<String>, path: &str| match value.as_deref() {
            None | Some("") => Ok(None),
            Some(text) => Time::parse(text)
                .map(|time| Some(time.0))
                .ok_or_else(|| ApiError::field(path, "a time such as 2026-01-15T08:30:00Z", text)),
        };
        Ok(NodeAuditFilter {
            node_id: node_id.to_owned(),
            action: action.map(str::to_owned),
            since: time(&self.since, "since")?.unwrap_or(i64::MIN),
            until: time(&self.until, "until")?.unwrap_or(i64::MAX),
        })
    }

    fn offset(&self) -> ApiResult<i64> {
        let Some(text) = self.offset.as_deref().filter(|text| !text.is_empty()) else { return Ok(0) };
        let offset = text.parse().ok().filter(|offset| (0..=MAX_OFFSET).contains(offset));
        offset.ok_or_else(|| ApiError::field("offset", "a whole number from 0 to 100000", text))
    }
}

/// Lists what happened to a node and what it did, newest first.
#[tracing::instrument(skip_all, fields(node.id = traced_id(&id)))]
pub async fn node_audit(
    hub: &SharedHub,
    credentials: Credentials,
    id: String,
    params: NodeAuditParams,
) -> ApiResult<NodeAuditResponse> {
    hub.limit_reads(&credentials).await?;
    let (filter, limit) = (params.filter(&id)?, query::limit(params.limit.as_deref(), 50, 100));
    let (offset, context) = (params.offset()?, hub.context());
    let sender_id = params.sender_id.filter(|sender| !sender.is_empty()).unwrap_or_else(|| id.clone());
    check_node_id(&sender_id, "sender_id")?;
    let sender = Sender::new(sender_id, credentials);
    let (rows, total) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            find_node(tx, &id)?;
            check_reader(tx, &context, &sender, &id)?;
            Ok((audit::list_for_node(tx, &filter, limit, offset)?, audit::count_for_node(tx, &filter)?))
        })
        .await?;
    Ok(NodeAuditResponse { logs: rows.into_iter().map(AuditEntryView::from).collect(), total, limit, offset })
}

fn check_reader(tx: &mut dyn Tx, context: &OperationContext, sender: &Sender, id: &str) -> ApiResult<()> {
    let asking = nodes::get(tx, sender.id())?.ok_or_else(|| sender.unknown())?;
    // A wrong secret is refused as such.
    sender.find(tx, context)?;
    let actor = sender.actor(tx, context, &asking)?;
    let is_own = sender.id() == id;
    let mut is_sibling = || -> ApiResult<bool> {
        let owner = nodes::get(tx, id)?.and_then(|node| node.owner);
        Ok(owner.is_some() && owner == asking.owner)
    };
    let may = actor.can_see_secrets() && (is_own || actor == Actor::Admin || is_sibling()?);
    if may { Ok(()) } else { Err(access_denied(AccessDenial::SecretRequired, id)) }
}
