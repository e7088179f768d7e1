//! What a list of assets could be narrowed down to.

use super::list::AssetFilterParams;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::state::SharedHub;
use capsid_store::search::facets;
use capsid_store::search::facets::FacetCounts;
use serde::Serialize;
use utoipa::ToSchema;

/// What a list could be narrowed down to, the most frequent first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Facets)]
pub struct FacetsResponse {
    types: Vec<FacetCountView>,
    statuses: Vec<FacetCountView>,
    categories: Vec<FacetCountView>,
    labels: Vec<FacetCountView>,
    /// The 50 most frequent.
    signals: Vec<FacetCountView>,
    /// There are more assets than were looked at: each count is at least so many.
    is_lower_bound: bool,
}

/// A value and how many assets have it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FacetCount)]
pub struct FacetCountView {
    value: String,
    count: i64,
}

/// What a list of assets could be narrowed down to, and how many would be left.
#[tracing::instrument(skip_all)]
pub async fn count_facets(
    hub: &SharedHub,
    credentials: &Credentials,
    which: &AssetFilterParams,
) -> ApiResult<FacetsResponse> {
    hub.limit_reads(credentials).await?;
    let (filter, signal) = which.filter()?;
    if signal.is_some() {
        hub.index.wait_for_search().await?;
    }
    let found = hub
        .store
        .read::<_, ApiError, _>(move |tx| Ok(facets::facets(tx, &filter, signal.as_deref())?))
        .await?;
    Ok(FacetsResponse {
        types: facet_views(found.types),
        statuses: facet_views(found.statuses),
        categories: facet_views(found.categories),
        labels: facet_views(found.labels),
        signals: facet_views(found.signals),
        is_lower_bound: found.is_lower_bound,
    })
}

fn facet_views(counts: FacetCounts) -> Vec<FacetCountView> {
    counts.into_iter().map(|(value, count)| FacetCountView { value, count }).collect()
}
