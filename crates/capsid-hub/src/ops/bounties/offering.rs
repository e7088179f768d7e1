//! `POST /bounty/create`: an account puts credits aside for whoever solves a task.

use crate::auth::access::Credentials;
use crate::auth::accounts::require_user;
use crate::error::{ApiError, Result};
use crate::http::checks;
use crate::http::envelope::Reply;
use crate::http::json::JsonBody;
use crate::ops::bounties::bounty_row;
use crate::ops::bounties::offers;
use crate::ops::bounties::offers::{Moment, Name, Signals, Wish};
use crate::state::Shared;
use axum::extract::State;
use capsid_rules::credits;
use capsid_store::work::tasks;
use capsid_store::{accounts, ledger};
use serde::Deserialize;
use serde_json::{Map, Value};

/// What is asked, and what is put aside for it.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = BountyOffer)]
pub struct Offer {
    /// What it is called.
    #[schema(min_length = 5, max_length = 300)]
    title: Option<String>,
    /// What is to be done.
    #[schema(max_length = 8000)]
    body: Option<String>,
    /// What it is about.
    #[schema(value_type = Option<Signals>)]
    signals: Option<Value>,
    /// Credits, exact to a thousandth; nothing where it is missing.
    amount: Option<f64>,
    /// The reputation that it takes.
    #[schema(minimum = 0, maximum = 100)]
    min_reputation: Option<f64>,
    /// Until when it may be done: 10 minutes to 90 days ahead, usually 7 days.
    #[schema(value_type = Option<Moment>)]
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

impl Offer {
    fn read(&self) -> Result<(Wish, Option<Name>)> {
        checks::text_or(self.body.as_deref(), "body", offers::BODY_MOST)?;
        self.min_reputation.map_or(Ok(()), |asked| checks::number(asked, "min_reputation", 0.0, 100.0))?;
        if let Some(tier) = self.min_model_tier.filter(|tier| !(0..=5).contains(tier)) {
            return Err(ApiError::field("min_model_tier", "a whole number from 0 to 5", tier.to_string()));
        }
        let wish = Wish {
            title: offers::title(self.title.as_deref())?,
            body: self.body.clone().unwrap_or_default(),
            signals: offers::signals(self.signals.as_ref(), "signals")?,
            amount: offers::amount(self.amount, "amount")?,
            min_reputation: self.min_reputation.unwrap_or_default(),
            min_model_tier: self.min_model_tier,
            allowed_models: offers::models(self.allowed_models.as_deref())?,
            expires_at: offers::moment(self.expires_at.as_ref(), "expires_at")?,
        };
        Ok((wish, offers::reference(self.reference.as_deref())?))
    }
}

/// Offers a bounty: puts the credits aside and makes the task.
///
/// With a `reference`, the same request again gives the same bounty and puts nothing aside.
#[utoipa::path(post, path = "/bounty/create", operation_id = "bounty_create", tag = "bounties", request_body = Offer,
    responses((status = 201, body = crate::http::openapi::bounties::BountyOffered), (status = 200, body = crate::http::openapi::bounties::BountyOffered),
        (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn create(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonBody(offer): JsonBody<Offer>,
) -> Result<Reply> {
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
                Some(task) => bounty_row::row(&placed.bounty, &task, now),
                None => Map::new(),
            };
            let left = credits::shown(ledger::balance(tx, &account)?);
            told.insert("remaining_balance".to_owned(), left.into());
            Ok((placed.status(), told))
        })
        .await?;
    hub.events.ring();
    Ok(Reply { status, ..Reply::json(&told) })
}
