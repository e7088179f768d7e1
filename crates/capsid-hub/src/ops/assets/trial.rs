//! Trials: a node takes a candidate to try it before anybody else has. Somebody has to be the first.

use super::view::FoundAssetView;
use super::visibility::{AssetReader, may_have, owns};
use crate::auth::sender::Sender;
use crate::config::TrialAccess;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::evaluation::owners::OwnerLevel;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list::ListedAsset;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::owners::owner_level;
use capsid_store::evaluation::trials;
use capsid_store::evaluation::trials::TrialTicket;
use capsid_store::nodes::{self, NodeRow};
use capsid_store::search::{self, SignalSearch};
use serde::Serialize;
use utoipa::ToSchema;

/// The most candidates that a search offers.
const MAX_OFFERED: usize = 20;

/// What comes with an asset on trial.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Trial)]
pub struct TrialView {
    #[schema(value_type = String)]
    asset_id: AssetId,
    /// The key of `read_proof`: HMAC-SHA256 over the bytes of the asset as they are in this response, in hexadecimal digits.
    nonce: String,
    /// Until when a report can use the nonce.
    expires_at: String,
}

impl From<TrialTicket> for TrialView {
    fn from(ticket: TrialTicket) -> Self {
        Self { asset_id: ticket.asset_id, nonce: ticket.nonce, expires_at: Time(ticket.expires_at).iso() }
    }
}

/// A candidate that matches a search and can be taken on trial.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = OfferedCandidate)]
pub struct OfferedCandidateView {
    #[serde(flatten)]
    row: FoundAssetView,
    /// Always `trial`: `fetch` it with `asset_ids` and `trial: true`.
    offer: &'static str,
}

/// Whether a node may take candidates on trial, or why not.
pub fn require_trial_access(
    tx: &mut dyn Tx,
    context: &OperationContext,
    node: Option<&NodeRow>,
) -> ApiResult<()> {
    let refusal = |message: &str, fix: &str| Err(ApiError::new(HubCode::TrialNotAllowed, message, fix));
    match node {
        None => refusal(
            "Only a node that the hub knows may take assets on trial.",
            "Say hello with POST /a2a/hello, then fetch again.",
        ),
        Some(node) if node.status != "active" => {
            refusal("The node is held back by the operator of this hub.", "Ask the operator of the hub.")
        }
        Some(node) if context.config.promotion.trial == TrialAccess::Level1 && !has_level1(tx, node)? => {
            refusal(
                "On this hub only owners of level 1 may take assets on trial.",
                "Claim the node with an account; a level comes with time.",
            )
        }
        Some(_) => Ok(()),
    }
}

/// Whether a node's owner has level 1.
fn has_level1(tx: &mut dyn Tx, node: &NodeRow) -> ApiResult<bool> {
    Ok(owner_level::for_node(tx, node)? >= OwnerLevel::Known)
}

/// Leaves out what may neither be had nor be taken on trial.
pub fn retain_triable(
    tx: &mut dyn Tx,
    context: &OperationContext,
    asking: AssetReader<'_>,
    assets: &mut Vec<ListedAsset>,
) -> ApiResult<()> {
    let mut kept = Vec::with_capacity(assets.len());
    for listed in assets.drain(..) {
        if may_have(tx, context, asking, &listed)? || is_triable(tx, &listed)? {
            kept.push(listed);
        }
    }
    *assets = kept;
    Ok(())
}

/// Whether anybody may try an asset: a candidate that was scanned and that nothing holds back.
fn is_triable(tx: &mut dyn Tx, listed: &ListedAsset) -> ApiResult<bool> {
    let asset = &listed.asset;
    if asset.status != AssetStatus::Candidate || asset.trust_tier == "delisted" || !asset.is_scanned() {
        return Ok(false);
    }
    Ok(nodes::get(tx, &asset.node_id)?.is_some_and(|publisher| publisher.status == "active"))
}

/// Gives a node a ticket for each asset that it takes on trial.
pub async fn open_trials(hub: &SharedHub, sender: &Sender, ids: Vec<AssetId>) -> ApiResult<Vec<TrialView>> {
    let (context, chance, sender) = (hub.context(), hub.random_bytes(), sender.clone());
    let open = move |tx: &mut dyn Tx| -> ApiResult<Vec<TrialTicket>> {
        let context = context.begin();
        let node = sender.find(tx, &context)?;
        require_trial_access(tx, &context, node.as_ref())?;
        let Some(node) = node else { return Ok(Vec::new()) };
        let open = ids.iter().map(|id| trials::open(tx, &node.node_id, id, &chance, context.now));
        Ok(open.collect::<Result<_, _>>()?)
    };
    let tickets = hub.store.write::<_, ApiError, _>(open).await?;
    Ok(tickets.into_iter().map(TrialView::from).collect())
}

/// The capsules among the candidates of others that answer signals, best first.
pub fn offer_candidates(
    tx: &mut dyn Tx,
    context: &OperationContext,
    node: &NodeRow,
    signals: &[String],
    limit: usize,
) -> ApiResult<Vec<OfferedCandidateView>> {
    let query = SignalSearch {
        asset_type: Some(AssetType::Capsule),
        status: AssetStatus::Candidate,
        ..SignalSearch::signals(signals.to_vec(), limit.min(MAX_OFFERED))
    };
    let mut offered = Vec::new();
    for hit in search::find(tx, &query)? {
        let asset = &hit.listed.asset;
        if owns(tx, node, &asset.node_id)? || asset.traits.anti_pattern || !is_triable(tx, &hit.listed)? {
            continue;
        }
        offered.push(OfferedCandidateView {
            row: FoundAssetView::new(&hit, signals.len(), &context.config),
            offer: "trial",
        });
    }
    Ok(offered)
}
