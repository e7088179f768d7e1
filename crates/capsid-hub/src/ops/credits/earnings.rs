//! `GET /billing/earnings/{agent_id}`: what a node earned, and by what.

use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::{JsonReply, check_node_id};
use crate::http::query::PathId;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_rules::credits::{self, CREDIT};
use capsid_rules::work::bounties::payout;
use capsid_store::ledger::earnings;
use capsid_store::{ledger, nodes};
use serde_json::{Map, Value, json};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The paths of billing.
pub fn paths() -> OpenApiRouter<SharedHub> {
    OpenApiRouter::new().routes(routes!(earnings))
}

/// What a node earned in all and by each source, and what is still being decided on.
///
/// Anybody may look. `multiplier` is what part of a bounty the node is paid: 0.5 where this hub pays nodes of low
/// reputation less, otherwise 1.
#[utoipa::path(get, path = "/billing/earnings/{agent_id}", tag = "credits",
    params(("agent_id" = String, Path, description = "The node.")),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn earnings(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
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
                .map(|(source, sum)| ((*source).to_owned(), credits::to_decimal(sum).into()))
                .collect();
            let pending = earnings::pending(tx, &id, &terms)?;
            let multiplier = payout(CREDIT, node.reputation, terms.reduces);
            Ok(json!({
                "agent_id": id,
                "total_earned": credits::to_decimal(sums.iter().sum()),
                "pending": credits::to_decimal(pending),
                "by_source": by_source,
                "multiplier": credits::to_decimal(multiplier),
            }))
        })
        .await?;
    Ok(JsonReply::json(&told))
}

fn not_found(id: &str) -> ApiError {
    ApiError::new(
        HubCode::NodeNotFound,
        format!("The hub knows no node `{id}`."),
        "See GET /a2a/nodes for the nodes it knows.",
    )
}
