//! Lists of assets, searches, and everything about one asset.

use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::json::JsonBody;
use crate::http::query::{PathId, QueryParams};
use crate::ops::assets::audit_trail::{self, AuditTrailResponse};
use crate::ops::assets::detail::{self, AssetDetailView, GetAssetParams};
use crate::ops::assets::evolution_events::{self, EventPageResponse, ListEvolutionEventsParams};
use crate::ops::assets::facets::{self, FacetsResponse};
use crate::ops::assets::lineage::{self, LineageResponse};
use crate::ops::assets::list::{self, AssetFilterParams, ListAssetsParams, RankedAssetsParams};
use crate::ops::assets::list_own::{self, ListOwnAssetsParams, OwnAssetPageResponse};
use crate::ops::assets::revoke::{self, RevokeResponse, SelfRevokeRequest};
use crate::ops::assets::search::{self, FoundPageResponse, SearchAssetsParams};
use crate::ops::assets::semantic_search::{self, SemanticPageResponse, SemanticSearchParams};
use crate::ops::assets::usage::{self, AssetUsageParams, AssetUsageResponse};
use crate::ops::assets::verify::{self, VerifyAssetResponse};
use crate::ops::assets::view::{AssetPageResponse, Selected};
use crate::state::SharedHub;
use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

/// Lists assets, promoted ones unless another status is asked for.
///
/// `fields=asset_id,summary` leaves out all other members of a row.
#[utoipa::path(get, path = "/a2a/assets", tag = "assets", params(AssetFilterParams, ListAssetsParams),
    responses((status = 200, body = AssetPageResponse)))]
pub async fn list(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(which): QueryParams<AssetFilterParams>,
    QueryParams(params): QueryParams<ListAssetsParams>,
) -> ApiResult<Json<AssetPageResponse>> {
    Ok(Json(list::list_assets(&hub, &credentials, &which, &params).await?))
}

/// The best promoted assets: those that the operator features first, then by score.
///
/// `fields=asset_id,summary` leaves out all other members of a row.
#[utoipa::path(get, path = "/a2a/assets/ranked", tag = "assets", params(RankedAssetsParams),
    responses((status = 200, body = AssetPageResponse)))]
pub async fn ranked(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<RankedAssetsParams>,
) -> ApiResult<Json<AssetPageResponse>> {
    Ok(Json(list::list_ranked_assets(&hub, &credentials, &params).await?))
}

/// What a list of assets could be narrowed down to, and how many would be left.
///
/// Each part counts the assets that all other parts of the filter let through. A large hub counts its newest assets and
/// says that there are at least so many.
#[utoipa::path(get, path = "/a2a/facets", tag = "assets", params(AssetFilterParams),
    responses((status = 200, body = FacetsResponse)))]
pub async fn facets(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(which): QueryParams<AssetFilterParams>,
) -> ApiResult<Json<FacetsResponse>> {
    Ok(Json(facets::count_facets(&hub, &credentials, &which).await?))
}

/// Finds assets by their signals, those that answer the most signals first.
///
/// Case does not matter; `timeout` finds `TimeoutError`, and an error text finds the same error with other numbers.
/// `fields=asset_id,summary` leaves out all other members of a row.
#[utoipa::path(get, path = "/a2a/assets/search", tag = "assets", params(SearchAssetsParams),
    responses((status = 200, body = FoundPageResponse)))]
pub async fn search(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    RawQuery(question): RawQuery,
    QueryParams(params): QueryParams<SearchAssetsParams>,
) -> ApiResult<Response> {
    let body = search::search_assets(&hub, &credentials, &question.unwrap_or_default(), params).await?;
    Ok(([(CONTENT_TYPE, "application/json")], body).into_response())
}

/// Finds assets by what they mean, and tells why each was found.
///
/// The words of the question need not be those of the asset: other forms of a word, other words for the same trouble,
/// another language and other numbers in an error are found too. Assets that have exactly a signal that is asked for by
/// its name, such as `log_error`, come first. `mode=keyword` finds the words themselves; its rows have neither `score`
/// nor `why`. `fields=asset_id,summary` leaves out all other members of a row.
#[utoipa::path(get, path = "/a2a/assets/semantic-search", tag = "assets", params(SemanticSearchParams),
    responses((status = 200, body = SemanticPageResponse)))]
pub async fn semantic_search(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<SemanticSearchParams>,
) -> ApiResult<Json<SemanticPageResponse>> {
    Ok(Json(semantic_search::search_by_meaning(&hub, &credentials, params).await?))
}

/// What a node published, whatever became of it.
#[utoipa::path(get, path = "/a2a/assets/published-by-me", tag = "assets", params(ListOwnAssetsParams),
    responses((status = 200, body = OwnAssetPageResponse)))]
pub async fn published_by_me(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ListOwnAssetsParams>,
) -> ApiResult<Json<OwnAssetPageResponse>> {
    Ok(Json(list_own::list_published(&hub, &credentials, &params).await?))
}

/// What a node fetched and may still have, whether this hub charges for it or not.
#[utoipa::path(get, path = "/a2a/assets/purchased", tag = "assets", params(ListOwnAssetsParams),
    responses((status = 200, body = OwnAssetPageResponse)))]
pub async fn purchased(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ListOwnAssetsParams>,
) -> ApiResult<Json<OwnAssetPageResponse>> {
    Ok(Json(list_own::list_purchased(&hub, &credentials, &params).await?))
}

/// All that is known of an asset.
///
/// The whole asset is shown with `detailed=true`; that of a candidate only to its publisher, its owner, an admin, the
/// nodes that are to validate it, and whoever it was handed in to. A candidate also tells what stands between it and its promotion.
/// `fields=asset_id,summary` leaves out all other members.
#[utoipa::path(get, path = "/a2a/assets/{asset_id}", tag = "assets",
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits"), GetAssetParams),
    responses((status = 200, body = AssetDetailView)))]
pub async fn detail(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
    QueryParams(params): QueryParams<GetAssetParams>,
) -> ApiResult<Json<Selected<AssetDetailView>>> {
    Ok(Json(detail::asset_detail(&hub, &credentials, &id, params).await?))
}

/// Every change of an asset's state, by whom and why.
#[utoipa::path(get, path = "/a2a/assets/{asset_id}/audit-trail", tag = "assets",
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits")),
    responses((status = 200, body = AuditTrailResponse)))]
pub async fn audit_trail(
    State(hub): State<SharedHub>,
    PathId(id): PathId,
) -> ApiResult<Json<AuditTrailResponse>> {
    Ok(Json(audit_trail::asset_audit_trail(&hub, &id).await?))
}

/// Computes an asset's id again from what is kept.
#[utoipa::path(get, path = "/a2a/assets/{asset_id}/verify", tag = "assets",
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits")),
    responses((status = 200, body = VerifyAssetResponse)))]
pub async fn verify(
    State(hub): State<SharedHub>,
    PathId(id): PathId,
) -> ApiResult<Json<VerifyAssetResponse>> {
    Ok(Json(verify::verify_asset(&hub, &id).await?))
}

/// What an asset comes from and what came of it: genes, capsules, events and nodes, each with its place in a drawing.
///
/// Of the nodes that used it, those are told that reported on it or reviewed it.
#[utoipa::path(get, path = "/a2a/assets/{asset_id}/lineage", tag = "assets",
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits")),
    responses((status = 200, body = LineageResponse)))]
pub async fn lineage(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
) -> ApiResult<Json<LineageResponse>> {
    Ok(Json(lineage::asset_lineage(&hub, &credentials, &id).await?))
}

/// How an asset was used, day by day. Only nodes of other owners count.
#[utoipa::path(get, path = "/a2a/assets/{asset_id}/usage", tag = "assets",
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits"), AssetUsageParams),
    responses((status = 200, body = AssetUsageResponse)))]
pub async fn usage(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
    QueryParams(params): QueryParams<AssetUsageParams>,
) -> ApiResult<Json<AssetUsageResponse>> {
    Ok(Json(usage::asset_usage(&hub, &credentials, &id, &params).await?))
}

/// Lists evolution events, newest first.
#[utoipa::path(get, path = "/a2a/evolution-events", tag = "assets", params(ListEvolutionEventsParams),
    responses((status = 200, body = EventPageResponse)))]
pub async fn evolution_events(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ListEvolutionEventsParams>,
) -> ApiResult<Json<EventPageResponse>> {
    Ok(Json(evolution_events::list_evolution_events(&hub, &credentials, params).await?))
}

/// Withdraws an asset, as plain REST.
#[utoipa::path(post, path = "/a2a/asset/self-revoke", tag = "assets", request_body = SelfRevokeRequest,
    responses((status = 200, body = RevokeResponse)))]
pub async fn self_revoke(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<SelfRevokeRequest>,
) -> ApiResult<Json<RevokeResponse>> {
    Ok(Json(revoke::self_revoke(&hub, credentials, request).await?))
}
