//! A node refuses the account that claimed it.

use crate::auth::credentials::Credentials;
use crate::auth::sender::access_denied;
use crate::auth::sender_fields::sender_fields;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::state::SharedHub;
use capsid_rules::identity::access::AccessDenial;
use capsid_rules::identity::claims::is_in_grace;
use capsid_store::accounts::claim_codes;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The node that refuses.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ClaimRefusal)]
pub struct RefuseClaimRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
}

sender_fields!(RefuseClaimRequest);

/// A node that nobody owns any more.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ClaimRefused)]
pub struct RefuseClaimResponse {
    /// refused.
    status: &'static str,
    node_id: String,
    claimed: bool,
}

/// Takes the node from the account that claimed it. It needs the node's secret, and works until the time to refuse ends.
#[tracing::instrument(skip_all, fields(node.id = request.sender().traced()))]
pub async fn refuse_claim(
    hub: &SharedHub,
    credentials: Credentials,
    request: &RefuseClaimRequest,
) -> ApiResult<RefuseClaimResponse> {
    let sender = request.sender().to_sender(credentials)?;
    hub.limit_calls(&sender).await?;
    let context = hub.context();
    hub.store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            let node = sender.lock(tx, &context)?;
            if !sender.actor(tx, &context, &node)?.can_refuse_claim() {
                return Err(access_denied(AccessDenial::SecretRequired, &node.node_id));
            }
            let grace_ms = context.config.identity.claim_grace_ms;
            match &node.owner {
                Some(owner) if is_in_grace(node.claimed_at, grace_ms, context.now.0) => {
                    claim_codes::refuse(tx, &node.node_id, owner, context.now)?;
                }
                Some(_) => return Err(not_refusable("The time to refuse the claim of this node is over.")),
                None => return Err(not_refusable("Nobody has claimed this node.")),
            }
            Ok(RefuseClaimResponse { status: "refused", node_id: node.node_id, claimed: false })
        })
        .await
}

fn not_refusable(problem: &str) -> ApiError {
    ApiError::new(
        HubCode::ClaimNotRefusable,
        problem,
        "Ask the operator of this hub if the node belongs to the wrong account.",
    )
}
