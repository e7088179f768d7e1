//! What others say of assets: votes, reviews and reports; and the stakes of validators.

use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::json::JsonBody;
use crate::http::query::{PathId, QueryParams};
use crate::ops::evaluation::list_reports::{self, ListReportsParams, ReportPageResponse};
use crate::ops::evaluation::reviews::{
    self, DeleteReviewParams, DeleteReviewResponse, ListReviewsParams, ReviewId, ReviewPageResponse,
    ReviewRequest, ReviewView,
};
use crate::ops::evaluation::stake::{self, StakeRequest, StakeResponse, StakeStatusParams};
use crate::ops::evaluation::vote::{self, VoteRequest, VoteResponse};
use crate::state::SharedHub;
use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;

/// Votes for or against an asset, or takes the vote back.
#[utoipa::path(post, path = "/a2a/assets/{asset_id}/vote", tag = "assets", request_body = VoteRequest,
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits")),
    responses((status = 200, body = VoteResponse)))]
pub async fn vote(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
    JsonBody(request): JsonBody<VoteRequest>,
) -> ApiResult<Json<VoteResponse>> {
    Ok(Json(vote::vote(&hub, credentials, &id, &request).await?))
}

/// Lists the reviews of an asset.
#[utoipa::path(get, path = "/a2a/assets/{asset_id}/reviews", tag = "assets",
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits"), ListReviewsParams),
    responses((status = 200, body = ReviewPageResponse)))]
pub async fn list_reviews(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
    QueryParams(params): QueryParams<ListReviewsParams>,
) -> ApiResult<Json<ReviewPageResponse>> {
    Ok(Json(reviews::list_reviews(&hub, &credentials, &id, &params).await?))
}

/// Reviews an asset that the node has fetched.
#[utoipa::path(post, path = "/a2a/assets/{asset_id}/reviews", tag = "assets", request_body = ReviewRequest,
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits")),
    responses((status = 200, body = ReviewView)))]
pub async fn add_review(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
    JsonBody(request): JsonBody<ReviewRequest>,
) -> ApiResult<Json<ReviewView>> {
    Ok(Json(reviews::add_review(&hub, credentials, &id, &request).await?))
}

impl<S: Send + Sync> FromRequestParts<S> for ReviewId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        match Path::<(String, String)>::from_request_parts(parts, state).await {
            Ok(Path((asset, review))) => Self::parse(&asset, review),
            Err(_) => Err(reviews::no_review()),
        }
    }
}

/// Changes a review.
#[utoipa::path(put, path = "/a2a/assets/{asset_id}/reviews/{review_id}", tag = "assets",
    request_body = ReviewRequest,
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits"),
        ("review_id" = String, Path, description = "The review's id")),
    responses((status = 200, body = ReviewView)))]
pub async fn change_review(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    which: ReviewId,
    JsonBody(request): JsonBody<ReviewRequest>,
) -> ApiResult<Json<ReviewView>> {
    Ok(Json(reviews::change_review(&hub, credentials, which, &request).await?))
}

/// Takes a review back.
#[utoipa::path(delete, path = "/a2a/assets/{asset_id}/reviews/{review_id}", tag = "assets",
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits"),
        ("review_id" = String, Path, description = "The review's id"), DeleteReviewParams),
    responses((status = 200, body = DeleteReviewResponse)))]
pub async fn delete_review(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    which: ReviewId,
    QueryParams(params): QueryParams<DeleteReviewParams>,
) -> ApiResult<Json<DeleteReviewResponse>> {
    Ok(Json(reviews::delete_review(&hub, credentials, which, &params).await?))
}

/// Lists validation reports, newest first.
#[utoipa::path(get, path = "/a2a/validation-reports", tag = "assets", params(ListReportsParams),
    responses((status = 200, body = ReportPageResponse)))]
pub async fn list_reports(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ListReportsParams>,
) -> ApiResult<Json<ReportPageResponse>> {
    Ok(Json(list_reports::list_reports(&hub, &credentials, &params).await?))
}

/// Puts credits aside, the least amount of this hub where none is given; usually 100.
///
/// Asking again for what is put aside already changes nothing; asking for more adds the difference.
#[utoipa::path(post, path = "/a2a/validator/stake", tag = "nodes", request_body = StakeRequest,
    responses((status = 200, body = StakeResponse)))]
pub async fn stake(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<StakeRequest>,
) -> ApiResult<Json<StakeResponse>> {
    Ok(Json(stake::stake(&hub, credentials, &request).await?))
}

/// Takes back what was put aside.
#[utoipa::path(post, path = "/a2a/validator/unstake", tag = "nodes", request_body = StakeRequest,
    responses((status = 200, body = StakeResponse)))]
pub async fn unstake(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<StakeRequest>,
) -> ApiResult<Json<StakeResponse>> {
    Ok(Json(stake::unstake(&hub, credentials, &request).await?))
}

/// Shows what a node has put aside.
#[utoipa::path(get, path = "/a2a/validator/status", tag = "nodes", params(StakeStatusParams),
    responses((status = 200, body = StakeResponse)))]
pub async fn stake_status(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<StakeStatusParams>,
) -> ApiResult<Json<StakeResponse>> {
    Ok(Json(stake::stake_status(&hub, &credentials, &params).await?))
}
