//! Creating a bounty: an account holds credits in escrow for whoever solves a task.

use super::not_found;
use super::offer;
use super::offer::{OfferReference, OfferRequest, Placed, PlacedBounty, SignalsInput, TimeInput};
use super::view::BountyView;
use crate::auth::account::require_user;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::validate;
use crate::state::SharedHub;
use capsid_rules::credits;
use capsid_store::work::tasks;
use capsid_store::{accounts, ledger};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use std::sync::Arc;
use utoipa::ToSchema;

/// What is asked, and what is put aside for it.
#[derive(Debug, Deserialize, ToSchema)]
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
    fn check(&self) -> ApiResult<(OfferRequest, Option<OfferReference>)> {
        validate::text_or(self.body.as_deref(), "body", offer::BODY_MOST)?;
        self.min_reputation.map_or(Ok(()), |asked| validate::number(asked, "min_reputation", 0.0, 100.0))?;
        if let Some(tier) = self.min_model_tier.filter(|tier| !(0..=5).contains(tier)) {
            return Err(ApiError::field("min_model_tier", "a whole number from 0 to 5", tier.to_string()));
        }
        let offer = OfferRequest {
            title: offer::title(self.title.as_deref())?,
            body: self.body.clone().unwrap_or_default(),
            signals: offer::signals(self.signals.as_ref(), "signals")?,
            amount: offer::amount(self.amount, "amount")?,
            min_reputation: self.min_reputation.unwrap_or_default(),
            min_model_tier: self.min_model_tier,
            allowed_models: offer::models(self.allowed_models.as_deref())?,
            expires_at: offer::moment(self.expires_at.as_ref(), "expires_at")?,
        };
        Ok((offer, offer::reference(self.reference.as_deref())?))
    }
}

/// A bounty that was offered.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BountyOffered)]
pub struct CreateBountyResponse {
    #[serde(flatten)]
    bounty: BountyView,
    #[schema(value_type = f64)]
    remaining_balance: Number,
}

/// Offers a bounty: holds the credits in escrow and makes the task.
#[tracing::instrument(skip_all)]
pub async fn create_bounty(
    hub: &SharedHub,
    credentials: Credentials,
    request: &CreateBountyRequest,
) -> ApiResult<Placed<CreateBountyResponse>> {
    hub.limit_calls_of(&credentials, "bounties").await?;
    // Whoever has no account is refused before anything else is checked.
    let (now, by) = (hub.now(), credentials.clone());
    let clock = Arc::clone(&hub.clock);
    hub.store.read::<_, ApiError, _>(move |tx| require_user(tx, &by, now)).await?;
    let (offer, name) = request.check()?;
    let draft = hub.draft(offer, "bounty", name);
    let placed = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let now = clock.now();
            let user = require_user(tx, &credentials, now)?;
            accounts::lock(tx, &user.user_id)?;
            let account = ledger::user_account(&user.user_id);
            let PlacedBounty { bounty, is_new } = draft.place(tx, &account, now)?;
            let task = tasks::get(tx, &bounty.task_id)?.ok_or_else(|| not_found(&bounty.bounty_id))?;
            let bounty = BountyView::from_rows(&bounty, &task, now);
            let remaining_balance = credits::to_decimal(ledger::balance(tx, &account)?);
            Ok(Placed { is_new, response: CreateBountyResponse { bounty, remaining_balance } })
        })
        .await?;
    hub.events.notify();
    Ok(placed)
}
