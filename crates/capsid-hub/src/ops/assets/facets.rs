//! `GET /a2a/facets`: what a list of assets could be narrowed down to.

use super::list::AssetFilterParams;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::JsonReply;
use crate::http::query::QueryParams;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_store::search::facets;
use capsid_store::search::facets::FacetCounts;
use serde_json::{Value, json};

/// What a list of assets could be narrowed down to, and how many would be left.
///
/// Each part counts the assets that all other parts of the filter let through. A large hub counts its newest assets and
/// says that there are at least so many.
#[utoipa::path(get, path = "/a2a/facets", tag = "assets", params(AssetFilterParams),
    responses((status = 200, body = crate::http::openapi::facets::Facets),
        (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn facets(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(which): QueryParams<AssetFilterParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let filter = which.filter()?;
    let found = hub.store.read::<_, ApiError, _>(move |tx| Ok(facets::facets(tx, &filter)?)).await?;
    Ok(JsonReply::json(&json!({
        "types": facet_views(&found.types), "statuses": facet_views(&found.statuses), "categories": facet_views(&found.categories),
        "labels": facet_views(&found.labels), "signals": facet_views(&found.signals), "is_lower_bound": found.is_lower_bound,
    })))
}

fn facet_views(counts: &FacetCounts) -> Vec<Value> {
    counts.iter().map(|(value, count)| json!({ "value": value, "count": count })).collect()
}
