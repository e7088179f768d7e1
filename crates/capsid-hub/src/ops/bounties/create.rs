//! `POST /bounty/create`: an account puts credits aside for whoever solves a task.

use crate::auth::account::require_user;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::http::validate;
use crate::ops::bounties::offer;
use crate::ops::bounties::offer::{OfferReference, OfferRequest, SignalsInput, TimeInput};
use crate::ops::bounties::view;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_rules::credits;
use capsid_store::work::tasks;
use capsid_store::{accounts, ledger};
use serde::Deserialize;
use serde_json::{Map, Value};

/// What is asked, and what is put aside for it.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = BountyOffer)]
pub struct CreateBountyRequest {
    /// What it is called.
    #[schema(min_length = 5, max_length = 300)]
    title: Option<String>,
    /// What is to be done.
    #[schema(max_length = 8000)]
    body: Option<String>,
    /// What it is about.
    #[schema(value_type = Option<SignalsInput>)]
    signals: Option<Value>,
    /// Credits, exact to a thousandth; nothing where it is missing.
    amount: Option<f64>,
    /// The reputation that it takes.
    #[schema(minimum = 0, maximum = 100)]
    min_reputation: Option<f64>,
    /// Until when it may be done: 10 minutes to 90 days ahead, usually 7 days.
    #[schema(value_type = Option<TimeInput>)]
    expires_at: Option<Value>,
    /// The tier of model that it takes.
    #[schema(minimum = 0, maximum = 5)]
    min_model_tier: Option<i64>,
    /// Models that may do it.
    allowed_models: Option<Vec<String>>,
    /// A name for it: asking again by the same name gives the same bounty.
    #[schema(max_length = 200)]
    reference: Option<String>,
}

impl CreateBountyRequest {
    fn read(&self) -> ApiResult<(OfferRequest, Option<OfferReference>)> {
        validate::text_or(self.body.as_deref(), "body", offer::BODY_MOST)?;
        self.min_reputation.map_or(Ok(()), |asked| validate::number(asked, "min_reputation", 0.0, 100.0))?;
        if let Some(tier) = self.min_model_tier.filter(|tier| !(0..=5).contains(tier)) {
            return Err(ApiError::field("min_model_tier", "a whole number from 0 to 5", tier.to_string()));
        }
        let wish = OfferRequest {
            title: offer::title(self.title.as_deref())?,
            body: self.body.clone().unwrap_or_default(),
            signals: offer::signals(self.signals.as_ref(), "signals")?,
            amount: offer::amount(self.amount, "amount")?,
            min_reputation: self.min_reputation.unwrap_or_default(),
            min_model_tier: self.min_model_tier,
            allowed_models: offer::models(self.allowed_models.as_deref())?,
            expires_at: offer::moment(self.expires_at.as_ref(), "expires_at")?,
        };
        Ok((wish, offer::reference(self.reference.as_deref())?))
    }
}

/// Offers a bounty: puts the credits aside and makes the task.
///
/// With a `reference`, the same request again gives the same bounty and puts nothing aside.
#[utoipa::path(post, path = "/bounty/create", operation_id = "bounty_create", tag = "bounties", request_body = CreateBountyRequest,
    responses((status = 201, body = crate::http::openapi::bounties::BountyOffered), (status = 200, body = crate::http::openapi::bounties::BountyOffered),
        (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn create(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(offer): JsonBody<CreateBountyRequest>,
) -> ApiResult<JsonReply> {
    hub.limit_calls(&credentials, "bounties").await?;
    // Whoever has no account is told so before anything else.
    let (now, by) = (hub.now(), credentials.clone());
    hub.store.read::<_, ApiError, _>(move |tx| require_user(tx, &by, now)).await?;
    let (wish, name) = offer.read()?;
    let draft = hub.draft(wish, "bounty", name);
    let (status, told) = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let user = require_user(tx, &credentials, now)?;
            accounts::lock(tx, &user.user_id)?;
            let account = ledger::user_account(&user.user_id);
            let placed = draft.place(tx, &account, now)?;
            let mut told: Map<String, Value> = match tasks::get(tx, &placed.bounty.task_id)? {
                Some(task) => view::row(&placed.bounty, &task, now),
                None => Map::new(),
            };
            let left = credits::to_decimal(ledger::balance(tx, &account)?);
            told.insert("remaining_balance".to_owned(), left.into());
            Ok((placed.status(), told))
        })
        .await?;
    hub.events.notify();
    Ok(JsonReply { status, ..JsonReply::json(&told) })
}
