//! `GET /billing/earnings/{agent_id}`: what a node earned, and by what.

use crate::auth::access::Credentials;
use crate::error::{ApiError, HubCode, Result};
use crate::http::envelope::{Reply, check_node_id};
use crate::http::query::PathId;
use crate::state::Shared;
use axum::extract::State;
use capsid_rules::credits::{self, CREDIT};
use capsid_rules::work::bounties::payout;
use capsid_store::ledger::earnings;
use capsid_store::{ledger, nodes};
use serde_json::{Map, Value, json};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The paths of billing.
pub fn paths() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(earnings))
}

/// What a node earned in all and by each source, and what is still being decided on.
///
/// Anybody may look. `multiplier` is what part of a bounty the node is paid: 0.5 where this hub pays nodes of low
/// reputation less, otherwise 1.
#[utoipa::path(get, path = "/billing/earnings/{agent_id}", tag = "credits",
    params(("agent_id" = String, Path, description = "The node.")),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn earnings(
    State(hub): State<Shared>,
    credentials: Credentials,
    PathId(id): PathId,
) -> Result<Reply> {
    hub.take_read(&credentials).await?;
    check_node_id(&id, "agent_id")?;
    let terms = hub.config.settlement_terms();
    let told = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let node = nodes::get(tx, &id)?.ok_or_else(|| not_found(&id))?;
            let sums = earnings::by_source(tx, &ledger::node_account(&id))?;
            let by_source: Map<String, Value> = earnings::SOURCES
                .iter()
                .zip(sums)
                .map(|(source, sum)| ((*source).to_owned(), credits::shown(sum).into()))
                .collect();
            let pending = earnings::pending(tx, &id, &terms)?;
            let multiplier = payout(CREDIT, node.reputation, terms.reduces);
            Ok(json!({
                "agent_id": id,
                "total_earned": credits::shown(sums.iter().sum()),
                "pending": credits::shown(pending),
                "by_source": by_source,
                "multiplier": credits::shown(multiplier),
            }))
        })
        .await?;
    Ok(Reply::json(&told))
}

fn not_found(id: &str) -> ApiError {
    ApiError::new(
        HubCode::NodeNotFound,
        format!("The hub knows no node `{id}`."),
        "See GET /a2a/nodes for the nodes it knows.",
    )
}
