//! `/a2a/assets/{asset_id}/reviews`: what nodes that used an asset say of it.

use crate::auth::account;
use crate::auth::credentials::{Credentials, OperationContext, authenticate_node};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::http::query;
use crate::http::query::{PathId, QueryParams};
use crate::http::validate;
use crate::ops::assets::fetch::owns;
use crate::ops::assets::revoke::not_found;
use crate::state::SharedHub;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use capsid_model::time::Time;
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::reviews;
use capsid_store::evaluation::reviews::{ReviewRow, ReviewSort};
use capsid_store::registry::usage;
use capsid_store::{assets, nodes};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

/// The longest review.
const CONTENT_LIMIT: usize = 2000;
const MAX_SKIPPED: i64 = 10_000;

/// An asset and a review in a path.
#[derive(Debug, Clone)]
pub struct ReviewPath(AssetId, String);

impl<S: Send + Sync> FromRequestParts<S> for ReviewPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let Ok(Path((asset, review))) = Path::<(String, String)>::from_request_parts(parts, state).await
        else {
            return Err(no_review());
        };
        let id = AssetId::parse(&asset).ok_or_else(not_found)?;
        if review.contains('\0') || review.len() > 200 {
            return Err(no_review());
        }
        Ok(Self(id, review))
    }
}

fn no_review() -> ApiError {
    ApiError::new(HubCode::NotFound, "The asset has no review with this id.", "GET …/reviews lists them.")
}

/// Which order, and how many.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListReviewsParams {
    /// newest (the default), oldest, rating_high or rating_low.
    sort: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// How many to skip.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 10000)]
    offset: Option<String>,
}

fn sort(text: Option<&str>) -> ApiResult<ReviewSort> {
    match text.map(str::trim).unwrap_or_default() {
        "" | "newest" => Ok(ReviewSort::Newest),
        "oldest" => Ok(ReviewSort::Oldest),
        "rating_high" => Ok(ReviewSort::RatingHigh),
        "rating_low" => Ok(ReviewSort::RatingLow),
        _ => Err(ApiError::field("sort", "newest, oldest, rating_high or rating_low", "another word")),
    }
}

fn review_view(review: &ReviewRow) -> Value {
    json!({
        "review_id": review.review_id, "asset_id": review.asset_id, "node_id": review.node_id,
        "rating": review.rating, "content": review.content,
        "created_at": Time(review.created_at).iso(), "updated_at": Time(review.updated_at).iso(),
    })
}

/// Lists the reviews of an asset.
#[utoipa::path(get, path = "/a2a/assets/{asset_id}/reviews", tag = "assets",
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits"), ListReviewsParams),
    responses((status = 200, body = crate::http::openapi::assets::ReviewPage), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn list(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
    QueryParams(asked): QueryParams<ListReviewsParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let id = AssetId::parse(&id).ok_or_else(not_found)?;
    let sort = sort(asked.sort.as_deref())?;
    let limit = query::limit(asked.limit.as_deref(), 20, 100) as usize;
    let skip = asked.offset.as_deref().and_then(|text| text.trim().parse::<i64>().ok()).unwrap_or(0);
    let skip = skip.clamp(0, MAX_SKIPPED);
    let (found, (total, sum)) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            assets::get(tx, &id)?.ok_or_else(not_found)?;
            Ok((reviews::list(tx, &id, sort, skip, limit)?, reviews::totals(tx, &id)?))
        })
        .await?;
    let average = (total > 0).then(|| sum as f64 / total as f64);
    let rows: Vec<Value> = found.iter().map(review_view).collect();
    let more = skip + (rows.len() as i64) < total;
    Ok(JsonReply::json(
        &json!({ "reviews": rows, "count": rows.len(), "total": total, "average_rating": average,
        "has_more": more }),
    ))
}

/// A review as it is sent.
#[derive(Debug, Clone, Deserialize, utoipa::ToSchema)]
#[schema(as = SentReview)]
pub struct ReviewRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    #[schema(value_type = Option<i64>)]
    rating: Option<Value>,
    content: Option<String>,
}

impl ReviewRequest {
    fn rating(&self) -> ApiResult<Option<i64>> {
        let Some(rating) = &self.rating else { return Ok(None) };
        let whole =
            rating.as_i64().or_else(|| rating.as_f64().filter(|r| r.fract() == 0.0).map(|r| r as i64));
        match whole {
            Some(rating @ 1..=5) => Ok(Some(rating)),
            _ => Err(ApiError::field("rating", "a whole number from 1 to 5", rating.to_string())),
        }
    }

    fn content(&self) -> ApiResult<Option<&str>> {
        validate::text_or(self.content.as_deref(), "content", CONTENT_LIMIT)?;
        Ok(self.content.as_deref())
    }

    fn node(&self) -> ApiResult<String> {
        validate::node(self.sender_id.as_deref(), self.node_id.as_deref())
    }
}

/// Reviews an asset that the node has fetched.
#[utoipa::path(post, path = "/a2a/assets/{asset_id}/reviews", tag = "assets", request_body = ReviewRequest,
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits")),
    responses((status = 200, body = crate::http::openapi::assets::Review), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn add(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
    JsonBody(sent): JsonBody<ReviewRequest>,
) -> ApiResult<JsonReply> {
    let id = AssetId::parse(&id).ok_or_else(not_found)?;
    let rating =
        sent.rating()?.ok_or_else(|| ApiError::field("rating", "a whole number from 1 to 5", "missing"))?;
    let (node_id, rules) = (sent.node()?, hub.rules());
    let review = ReviewRow {
        review_id: hub.new_id("rev"),
        asset_id: id,
        node_id: node_id.clone(),
        rating,
        content: sent.content()?.unwrap_or_default().to_owned(),
        created_at: rules.now.0,
        updated_at: rules.now.0,
    };
    let credentials = credentials.or_secret(sent.node_secret.as_deref());
    let limit = hub.config.limits.other;
    // Whoever may not speak for the node cannot use up its reviews either.
    hub.authenticate_reader(&node_id, &credentials, |_, _| Ok(())).await?;
    hub.limiter.check(&hub.store, HubCode::RateLimited, "review", &node_id, limit, rules.now).await?;
    // A fetch of a moment ago counts.
    hub.usage.flush(&hub).await?;
    let told = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let node = authenticate_node(tx, &rules, &node_id, &credentials)?;
            let asset = assets::get(tx, &id)?.ok_or_else(not_found)?;
            if owns(tx, &node, &asset.node_id)? {
                return Err(ApiError::new(
                    HubCode::SelfVoteForbidden,
                    "The asset was published by this node or another one of its owner.",
                    "Let others review it.",
                ));
            }
            if !usage::has_fetched(tx, &node_id, &id)? {
                return Err(ApiError::new(
                    HubCode::UsageRequired,
                    "This node has not fetched the asset.",
                    "Fetch it with POST /a2a/fetch and `payload.asset_ids`, then review it.",
                ));
            }
            match reviews::add(tx, &review)? {
                true => Ok(review_view(&review)),
                false => Err(ApiError::new(
                    HubCode::AlreadyReviewed,
                    "This node has reviewed the asset before.",
                    "Change the review with PUT …/reviews/{review_id}.",
                )),
            }
        })
        .await?;
    Ok(JsonReply::json(&told))
}

/// The review that a request may change: by the node that wrote it, or by an account that may act for that node.
fn own_review(
    tx: &mut dyn Tx,
    rules: &OperationContext,
    credentials: &Credentials,
    node_id: Option<&str>,
    which: &ReviewPath,
) -> ApiResult<ReviewRow> {
    let ReviewPath(id, review_id) = which;
    let review = reviews::lock(tx, id, review_id)?.ok_or_else(no_review)?;
    if let Some(user) = account::caller(tx, credentials, rules.now)? {
        let author = nodes::get(tx, &review.node_id)?;
        if author.is_some_and(|author| account::may_act_for(&user, &author)) {
            return Ok(review);
        }
    } else {
        let node_id = node_id.ok_or_else(|| ApiError::field("sender_id", "a node id", "missing"))?;
        if authenticate_node(tx, rules, node_id, credentials)?.node_id == review.node_id {
            return Ok(review);
        }
    }
    Err(ApiError::new(
        HubCode::NotAssetOwner,
        "Only the node that wrote the review, its owner or an admin may change it.",
        "Send the request from the node that wrote it.",
    ))
}

/// Changes a review.
#[utoipa::path(put, path = "/a2a/assets/{asset_id}/reviews/{review_id}", tag = "assets",
    request_body = ReviewRequest,
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits"),
        ("review_id" = String, Path, description = "The review's id")),
    responses((status = 200, body = crate::http::openapi::assets::Review), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn change(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    which: ReviewPath,
    JsonBody(sent): JsonBody<ReviewRequest>,
) -> ApiResult<JsonReply> {
    let (rating, content) = (sent.rating()?, sent.content()?.map(str::to_owned));
    let node_id = (sent.sender_id.is_some() || sent.node_id.is_some()).then(|| sent.node()).transpose()?;
    let (rules, credentials) = (hub.rules(), credentials.or_secret(sent.node_secret.as_deref()));
    let told = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let mut review = own_review(tx, &rules, &credentials, node_id.as_deref(), &which)?;
            review.rating = rating.unwrap_or(review.rating);
            review.content = content.clone().unwrap_or(review.content);
            review.updated_at = rules.now.0;
            reviews::change(tx, &review.review_id, review.rating, &review.content, rules.now)?;
            Ok(review_view(&review))
        })
        .await?;
    Ok(JsonReply::json(&told))
}

/// Who takes a review back.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeleteReviewRequest {
    /// The node that wrote the review.
    node_id: Option<String>,
    /// The same as `node_id`.
    sender_id: Option<String>,
}

/// Takes a review back.
#[utoipa::path(delete, path = "/a2a/assets/{asset_id}/reviews/{review_id}", tag = "assets",
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits"),
        ("review_id" = String, Path, description = "The review's id"), DeleteReviewRequest),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn remove(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    which: ReviewPath,
    QueryParams(by): QueryParams<DeleteReviewRequest>,
) -> ApiResult<JsonReply> {
    let named = by.sender_id.is_some() || by.node_id.is_some();
    let node_id =
        named.then(|| validate::node(by.sender_id.as_deref(), by.node_id.as_deref())).transpose()?;
    let rules = hub.rules();
    let review_id = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let review = own_review(tx, &rules, &credentials, node_id.as_deref(), &which)?;
            reviews::remove(tx, &review.review_id)?;
            Ok(review.review_id)
        })
        .await?;
    Ok(JsonReply::json(&json!({ "review_id": review_id, "status": "deleted" })))
}
