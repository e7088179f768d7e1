//! What nodes that used an asset say of it.

use crate::auth::account;
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::query;
use crate::http::traced_id;
use crate::http::validate;
use crate::ops::assets::id_in_path;
use crate::ops::assets::revoke::not_found;
use crate::ops::assets::visibility::owns;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::evaluation::evidence_grade::EvidenceGrade;
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::reviews;
use capsid_store::evaluation::reviews::{ReviewRow, ReviewSort};
use capsid_store::evaluation::{demotion, evidence, scoring};
use capsid_store::nodes::NodeRow;
use capsid_store::registry::usage;
use capsid_store::{assets, nodes};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

/// The longest review.
const CONTENT_LIMIT: usize = 2000;
const MAX_SKIPPED: i64 = 10_000;

/// An asset and a review of it.
#[derive(Debug, Clone)]
pub struct ReviewId {
    asset_id: AssetId,
    review_id: String,
}

impl ReviewId {
    /// The review that a path names.
    pub fn parse(asset: &str, review: String) -> ApiResult<Self> {
        let asset_id = id_in_path(asset)?;
        if review.contains('\0') || review.len() > 200 {
            return Err(no_review());
        }
        Ok(Self { asset_id, review_id: review })
    }
}

/// There is no such review.
pub fn no_review() -> ApiError {
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

/// What a node that used an asset says of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Review)]
pub struct ReviewView {
    review_id: String,
    #[schema(value_type = String)]
    asset_id: AssetId,
    node_id: String,
    /// 1 to 5.
    rating: i64,
    content: String,
    created_at: String,
    updated_at: String,
}

impl From<ReviewRow> for ReviewView {
    fn from(review: ReviewRow) -> Self {
        Self {
            review_id: review.review_id,
            asset_id: review.asset_id,
            node_id: review.node_id,
            rating: review.rating,
            content: review.content,
            created_at: Time(review.created_at).iso(),
            updated_at: Time(review.updated_at).iso(),
        }
    }
}

/// A page of reviews.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReviewPage)]
pub struct ReviewPageResponse {
    reviews: Vec<ReviewView>,
    count: i64,
    total: i64,
    #[schema(required)]
    average_rating: Option<f64>,
    has_more: bool,
}

/// Lists the reviews of an asset.
#[tracing::instrument(skip_all, fields(asset.id = traced_id(id)))]
pub async fn list_reviews(
    hub: &SharedHub,
    credentials: &Credentials,
    id: &str,
    params: &ListReviewsParams,
) -> ApiResult<ReviewPageResponse> {
    hub.limit_reads(credentials).await?;
    let id = id_in_path(id)?;
    let sort = sort(params.sort.as_deref())?;
    let limit = query::limit(params.limit.as_deref(), 20, 100) as usize;
    let skip = params.offset.as_deref().and_then(|text| text.trim().parse::<i64>().ok()).unwrap_or(0);
    let skip = skip.clamp(0, MAX_SKIPPED);
    let (found, (total, sum)) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            assets::get(tx, &id)?.ok_or_else(not_found)?;
            Ok((reviews::list(tx, &id, sort, skip, limit)?, reviews::totals(tx, &id)?))
        })
        .await?;
    let count = found.len() as i64;
    Ok(ReviewPageResponse {
        reviews: found.into_iter().map(ReviewView::from).collect(),
        count,
        total,
        average_rating: (total > 0).then(|| sum as f64 / total as f64),
        has_more: skip + count < total,
    })
}

/// A review as it is sent.
#[derive(Debug, Clone, Deserialize, ToSchema)]
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
#[tracing::instrument(skip_all, fields(node.id, asset.id = traced_id(id)))]
pub async fn add_review(
    hub: &SharedHub,
    credentials: Credentials,
    id: &str,
    request: &ReviewRequest,
) -> ApiResult<ReviewView> {
    let id = id_in_path(id)?;
    let rating = request
        .rating()?
        .ok_or_else(|| ApiError::field("rating", "a whole number from 1 to 5", "missing"))?;
    let (node_id, context) = (request.node()?, hub.context());
    tracing::Span::current().record("node.id", &node_id);
    let mut review = ReviewRow {
        review_id: hub.new_id("rev"),
        asset_id: id,
        node_id: node_id.clone(),
        rating,
        content: request.content()?.unwrap_or_default().to_owned(),
        weight: 0.0,
        created_at: context.now.0,
        updated_at: context.now.0,
    };
    let sender = Sender::new(&node_id, credentials.or_secret(request.node_secret.as_deref()));
    let limit = hub.config.limits.other;
    // Whoever may not speak for the node cannot use up its reviews either.
    sender.verify(hub).await?;
    hub.limiter.check(&hub.store, HubCode::RateLimited, "review", &node_id, limit, context.now).await?;
    // A fetch of a moment ago counts.
    hub.usage.flush().await?;
    hub.store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            let node = sender.lock(tx, &context)?;
            let asset = assets::lock(tx, &id)?.ok_or_else(not_found)?;
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
            review.weight = review_weight(tx, &context, &node)?;
            match reviews::add(tx, &review)? {
                true => {
                    judge_again(tx, &context, &id)?;
                    Ok(review.clone().into())
                }
                false => Err(ApiError::new(
                    HubCode::AlreadyReviewed,
                    "This node has reviewed the asset before.",
                    "Change the review with PUT …/reviews/{review_id}.",
                )),
            }
        })
        .await
}

/// Scores a reviewed asset anew, and does what follows from failures: a review is a report of use.
fn judge_again(tx: &mut dyn Tx, context: &OperationContext, id: &AssetId) -> ApiResult<()> {
    if assets::lock(tx, id)?.is_some() {
        scoring::rescore(tx, id, context.now)?;
        demotion::reconsider(tx, id, &context.config.promotion.rule, context.now)?;
    }
    Ok(())
}

/// A review of a node that fetched the asset weighs half of a report of use.
fn review_weight(tx: &mut dyn Tx, context: &OperationContext, node: &NodeRow) -> ApiResult<f64> {
    let weight = context.config.grade_weights().weigh(EvidenceGrade::Used);
    Ok(weight * evidence::owner_factor(tx, node)? / 2.0)
}

/// The review that a request may change: by the node that wrote it, or by an account that may act for that node.
fn own_review(
    tx: &mut dyn Tx,
    context: &OperationContext,
    credentials: &Credentials,
    node_id: Option<&str>,
    which: &ReviewId,
) -> ApiResult<ReviewRow> {
    let review = reviews::lock(tx, &which.asset_id, &which.review_id)?.ok_or_else(no_review)?;
    if let Some(user) = account::caller(tx, credentials, context.now)? {
        let author = nodes::get(tx, &review.node_id)?;
        if author.is_some_and(|author| account::may_act_for(&user, &author)) {
            return Ok(review);
        }
    } else {
        let node_id = node_id.ok_or_else(|| ApiError::field("sender_id", "a node id", "missing"))?;
        if Sender::new(node_id, credentials.clone()).lock(tx, context)?.node_id == review.node_id {
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
#[tracing::instrument(skip_all, fields(asset.id = %which.asset_id, review.id = traced_id(&which.review_id)))]
pub async fn change_review(
    hub: &SharedHub,
    credentials: Credentials,
    which: ReviewId,
    request: &ReviewRequest,
) -> ApiResult<ReviewView> {
    let (rating, content) = (request.rating()?, request.content()?.map(str::to_owned));
    let is_named = request.sender_id.is_some() || request.node_id.is_some();
    let node_id = is_named.then(|| request.node()).transpose()?;
    let (context, credentials) = (hub.context(), credentials.or_secret(request.node_secret.as_deref()));
    hub.store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            let mut review = own_review(tx, &context, &credentials, node_id.as_deref(), &which)?;
            review.rating = rating.unwrap_or(review.rating);
            review.content = content.clone().unwrap_or(review.content);
            review.updated_at = context.now.0;
            reviews::change(tx, &review.review_id, review.rating, &review.content, context.now)?;
            judge_again(tx, &context, &which.asset_id)?;
            Ok(review.into())
        })
        .await
}

/// Who deletes a review.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeleteReviewParams {
    /// The node that wrote the review.
    node_id: Option<String>,
    /// The same as `node_id`.
    sender_id: Option<String>,
}

/// A review that is gone.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeleteReviewResponse {
    review_id: String,
    status: &'static str,
}

/// Deletes a review.
#[tracing::instrument(skip_all, fields(asset.id = %which.asset_id, review.id = traced_id(&which.review_id)))]
pub async fn delete_review(
    hub: &SharedHub,
    credentials: Credentials,
    which: ReviewId,
    params: &DeleteReviewParams,
) -> ApiResult<DeleteReviewResponse> {
    let is_named = params.sender_id.is_some() || params.node_id.is_some();
    let node = || validate::node(params.sender_id.as_deref(), params.node_id.as_deref());
    let node_id = is_named.then(node).transpose()?;
    let context = hub.context();
    hub.store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            let review = own_review(tx, &context, &credentials, node_id.as_deref(), &which)?;
            reviews::remove(tx, &review.review_id)?;
            judge_again(tx, &context, &which.asset_id)?;
            Ok(DeleteReviewResponse { review_id: review.review_id, status: "deleted" })
        })
        .await
}
