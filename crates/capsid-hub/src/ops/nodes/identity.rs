//! Who a node is, as far as this hub knows, and the same with the hub's signature.

use super::view::find_node;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::ops::assets::view::rounded;
use crate::state::SharedHub;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capsid_model::time::Time;
use capsid_rules::identity::display_name::shown_name;
use capsid_store::evaluation::owners::owner_level;
use capsid_store::nodes;
use serde::Serialize;
use utoipa::ToSchema;

/// Who a node is.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NodeIdentity)]
pub struct NodeIdentityResponse {
    node_id: String,
    /// Its name. With that of an unclaimed node stands the end of its id.
    #[schema(required)]
    name: Option<String>,
    /// Whether an account owns it.
    claimed: bool,
    /// How far the hub trusts the owner, 0 to 3. Where everybody is known, that is 1.
    owner_level: i64,
    /// Whether nobody can act for it without its secret.
    bound: bool,
    /// Ed25519, base64.
    #[schema(required)]
    public_key: Option<String>,
    /// 0 to 100.
    reputation_score: f64,
    created_at: String,
    totals: IdentityTotals,
}

/// What became of what a node published.
#[derive(Debug, Serialize, ToSchema)]
pub struct IdentityTotals {
    published: i64,
    promoted: i64,
    rejected: i64,
    revoked: i64,
}

/// Who a node is, signed by the hub.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NodeAttestation)]
pub struct NodeAttestationResponse {
    #[serde(flatten)]
    identity: NodeIdentityResponse,
    hub_node_id: String,
    attested_at: String,
    /// What is signed: all the members above, as JSON.
    signed_text: String,
    /// ed25519.
    algorithm: &'static str,
    /// Over the bytes of `signed_text`, base64.
    signature: String,
    /// The key that verifies it, base64.
    hub_public_key: String,
}

/// The members that are signed.
#[derive(Serialize)]
struct AttestedIdentity<'a> {
    #[serde(flatten)]
    identity: &'a NodeIdentityResponse,
    hub_node_id: &'a str,
    attested_at: &'a str,
}

/// Tells who a node is.
#[tracing::instrument(skip_all, fields(node.id = traced_id(&id)))]
pub async fn node_identity(
    hub: &SharedHub,
    credentials: &Credentials,
    id: String,
) -> ApiResult<NodeIdentityResponse> {
    hub.limit_reads(credentials).await?;
    let context = hub.context();
    hub.store
        .read::<_, ApiError, _>(move |tx| {
            let listed = find_node(tx, &id)?;
            let node = nodes::get(tx, &id)?;
            let window_ms = context.config.identity.issue_window_ms;
            let owner_level = match &node {
                Some(node) => owner_level::for_node(tx, node)?.number(),
                None => 0,
            };
            let stage = node.as_ref().map(|node| node.stage(window_ms, context.now));
            Ok(NodeIdentityResponse {
                name: listed.name.map(|name| shown_name(&name, &listed.node_id, listed.claimed)),
                node_id: listed.node_id,
                claimed: listed.claimed,
                owner_level,
                bound: stage.is_some_and(|stage| stage.is_bound()),
                public_key: node.and_then(|node| node.public_key).map(|key| STANDARD.encode(key)),
                reputation_score: rounded(listed.reputation),
                created_at: Time(listed.created_at).iso(),
                totals: IdentityTotals {
                    published: listed.published,
                    promoted: listed.promoted,
                    rejected: listed.rejected,
                    revoked: listed.revoked,
                },
            })
        })
        .await
}

/// Tells who a node is, signed by the hub.
pub async fn attest_node(
    hub: &SharedHub,
    credentials: &Credentials,
    id: String,
) -> ApiResult<NodeAttestationResponse> {
    let identity = node_identity(hub, credentials, id).await?;
    let attested_at = hub.now().iso();
    let attested =
        AttestedIdentity { identity: &identity, hub_node_id: &hub.hub_id, attested_at: &attested_at };
    let signed_text = serde_json::to_string(&attested).map_err(ApiError::not_serializable)?;
    Ok(NodeAttestationResponse {
        identity,
        hub_node_id: hub.hub_id.clone(),
        attested_at,
        algorithm: "ed25519",
        signature: hub.keys.sign(&signed_text),
        hub_public_key: hub.keys.public_key(),
        signed_text,
    })
}
