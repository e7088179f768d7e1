//! `GET /a2a/facets`: what a list of assets could be narrowed down to.

use super::list::Which;
use crate::auth::access::Credentials;
use crate::error::{ApiError, Result};
use crate::http::envelope::Reply;
use crate::http::query::Params;
use crate::state::Shared;
use axum::extract::State;
use capsid_store::search::facets;
use capsid_store::search::facets::Counts;
use serde_json::{Value, json};

/// What a list of assets could be narrowed down to, and how many would be left.
///
/// Each part counts the assets that all other parts of the filter let through. A large hub counts its newest assets and
/// says that there are at least so many.
#[utoipa::path(get, path = "/a2a/facets", tag = "assets", params(Which),
    responses((status = 200, body = crate::http::openapi::facets::Facets),
        (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn facets(
    State(hub): State<Shared>,
    credentials: Credentials,
    Params(which): Params<Which>,
) -> Result<Reply> {
    hub.take_read(&credentials).await?;
    let filter = which.filter()?;
    let found = hub.store.read::<_, ApiError, _>(move |tx| Ok(facets::facets(tx, &filter)?)).await?;
    Ok(Reply::json(&json!({
        "types": told(&found.types), "statuses": told(&found.statuses), "categories": told(&found.categories),
        "labels": told(&found.labels), "signals": told(&found.signals), "is_lower_bound": found.is_lower_bound,
    })))
}

fn told(counts: &Counts) -> Vec<Value> {
    counts.iter().map(|(value, count)| json!({ "value": value, "count": count })).collect()
}
