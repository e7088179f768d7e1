//! One vote for each account, cast by it or by a node that it owns.

use crate::auth::account;
use crate::auth::credentials::Credentials;
use crate::auth::sender::{Sender, access_denied};
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::check_node_id;
use crate::http::traced_id;
use crate::ops::assets::id_in_path;
use crate::ops::assets::revoke::not_found;
use crate::state::SharedHub;
use capsid_rules::identity::access::AccessDenial;
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::votes;
use capsid_store::{assets, nodes};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What a vote may be.
const WORDS: &str = "`up`, `down` or `none`";

/// A vote.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[schema(as = Vote)]
pub struct VoteRequest {
    vote: Option<String>,
    #[schema(value_type = Option<i64>)]
    value: Option<Value>,
    #[serde(alias = "node_id")]
    sender_id: Option<String>,
    node_secret: Option<String>,
}

impl VoteRequest {
    fn value(&self) -> ApiResult<i64> {
        let word = match self.vote.as_deref() {
            None => None,
            Some("up") => Some(1),
            Some("down") => Some(-1),
            Some("none") => Some(0),
            Some(_) => return Err(ApiError::field("vote", WORDS, "something else")),
        };
        let number = match &self.value {
            None => None,
            Some(value) => match value.as_i64() {
                Some(value @ -1..=1) => Some(value),
                _ => return Err(ApiError::field("value", "1, -1 or 0", "something else")),
            },
        };
        match (word, number) {
            (Some(word), Some(number)) if word != number => {
                Err(ApiError::field("value", "the same as `vote`, or left out", "another vote"))
            }
            _ => word.or(number).ok_or_else(|| ApiError::field("vote", WORDS, "missing")),
        }
    }
}

/// Who votes: an account, perhaps through a node of it.
struct Voter {
    user_id: String,
    node_id: Option<String>,
}

/// How an asset stands after a vote.
#[derive(Debug, Serialize, ToSchema)]
pub struct VoteResponse {
    #[schema(value_type = String)]
    asset_id: AssetId,
    upvotes: i64,
    downvotes: i64,
    /// up, down or none.
    your_vote: &'static str,
    gdi_score: f64,
}

/// Votes for or against an asset, or withdraws the vote.
#[tracing::instrument(skip_all, fields(asset.id = traced_id(id), node.id = request.sender_id.as_deref().map(traced_id)))]
pub async fn vote(
    hub: &SharedHub,
    credentials: Credentials,
    id: &str,
    request: &VoteRequest,
) -> ApiResult<VoteResponse> {
    let id = id_in_path(id)?;
    let value = request.value()?;
    if let Some(node_id) = &request.sender_id {
        check_node_id(node_id, "sender_id")?;
    }
    let context = hub.context();
    let by = context.clone();
    let (limit, now) = (hub.config.limits.vote, context.now);
    let credentials = credentials.or_secret(request.node_secret.as_deref());
    let sender = request.sender_id.clone();
    let voter =
        hub.store.write::<_, ApiError, _>(move |tx| voter(tx, &by, &credentials, sender.as_deref())).await?;
    hub.limiter.check(&hub.store, HubCode::RateLimited, "vote", &voter.user_id, limit, now).await?;
    hub.store.write::<_, ApiError, _>(move |tx| cast(tx, &context.begin(), &id, &voter, value)).await
}

fn voter(
    tx: &mut dyn Tx,
    context: &OperationContext,
    credentials: &Credentials,
    node: Option<&str>,
) -> ApiResult<Voter> {
    if let Some(user) = account::caller(tx, credentials, context.now)? {
        return Ok(Voter { user_id: user.user_id, node_id: None });
    }
    let (Some(node_id), Some(_)) = (node, &credentials.secret) else {
        return Err(ApiError::new(
            HubCode::Unauthorized,
            "A vote needs an account, and the request shows none.",
            "Log in with POST /auth/login and send `Authorization: Bearer <token>`, or send `sender_id` and the secret of \
             a node that your account has claimed.",
        ));
    };
    let sender = Sender::new(node_id, credentials.clone());
    let node = sender.lock(tx, context)?;
    // Where the hub asks for no secrets a node may act without; a vote is its owner's all the same.
    if !sender.actor(tx, context, &node)?.can_vote() {
        return Err(access_denied(AccessDenial::SecretInvalid, node_id));
    }
    match node.owner {
        Some(user_id) => Ok(Voter { user_id, node_id: Some(node.node_id) }),
        None => Err(ApiError::new(
            HubCode::Unauthorized,
            "This node belongs to no account, and only accounts vote.",
            "Claim the node with the code that hello returned.",
        )),
    }
}

fn cast(
    tx: &mut dyn Tx,
    context: &OperationContext,
    id: &AssetId,
    voter: &Voter,
    value: i64,
) -> ApiResult<VoteResponse> {
    let asset = assets::lock(tx, id)?.ok_or_else(not_found)?;
    let publisher = nodes::get(tx, &asset.node_id)?;
    if publisher.is_some_and(|publisher| publisher.owner.as_deref() == Some(voter.user_id.as_str())) {
        return Err(ApiError::new(
            HubCode::SelfVoteForbidden,
            "The asset was published by a node of the same account.",
            "Let others judge it.",
        ));
    }
    if matches!(asset.status, AssetStatus::Rejected | AssetStatus::Revoked) && value != 0 {
        return Err(ApiError::new(
            HubCode::StateConflict,
            format!("The asset is {}, and nobody votes on it any more.", asset.status),
            "Vote on assets that are candidates or promoted.",
        ));
    }
    let asset = votes::cast(tx, id, &voter.user_id, voter.node_id.as_deref(), value, context.now)?
        .ok_or_else(not_found)?;
    let word = match value {
        1 => "up",
        -1 => "down",
        _ => "none",
    };
    Ok(VoteResponse {
        asset_id: *id,
        upvotes: asset.upvotes,
        downvotes: asset.downvotes,
        your_vote: word,
        gdi_score: asset.gdi as f64 / 100.0,
    })
}
