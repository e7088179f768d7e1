//! A node stakes credits to be asked for its judgement, and takes them back.

use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::traced_id;
use crate::http::validate;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::credits::{self, StakeSource};
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::stakes;
use capsid_store::evaluation::stakes::{StakeOutcome, StakeRow};
use capsid_store::ledger;
use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;

/// What is asked; the amount stands in the payload or beside it.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = StakeRequest)]
pub struct StakeRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    stake_amount: Option<f64>,
    payload: Option<StakePayload>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = StakePayload)]
struct StakePayload {
    node_id: Option<String>,
    stake_amount: Option<f64>,
}

impl StakeRequest {
    fn node(&self) -> ApiResult<String> {
        let node_id = validate::node(self.sender_id.as_deref(), self.node_id.as_deref())?;
        match self.payload.as_ref().and_then(|payload| payload.node_id.as_deref()) {
            Some(inner) => validate::node(Some(&node_id), Some(inner)),
            None => Ok(node_id),
        }
    }

    fn amount(&self, least: i64) -> ApiResult<i64> {
        let inner = self.payload.as_ref().and_then(|payload| payload.stake_amount);
        let Some(asked) = inner.or(self.stake_amount) else { return Ok(least) };
        let path = if inner.is_some() { "payload.stake_amount" } else { "stake_amount" };
        credits::from_shown(asked).filter(|amount| *amount >= least).ok_or_else(|| {
            ApiError::field(
                path,
                format!("a number of credits from {} up", credits::text(least)),
                asked.to_string(),
            )
        })
    }
}

/// What a node has staked.
#[derive(Debug, Serialize, ToSchema)]
pub struct StakeResponse {
    stake: StakeView,
    is_validator: bool,
    #[schema(value_type = f64)]
    min_stake: Number,
    #[schema(value_type = f64)]
    credit_balance: Number,
    #[schema(value_type = f64)]
    granted_balance: Number,
    #[schema(value_type = f64)]
    earned_balance: Number,
}

/// A stake.
#[derive(Debug, Serialize, ToSchema)]
pub struct StakeView {
    node_id: String,
    #[schema(value_type = f64)]
    amount: Number,
    status: String,
    #[schema(required)]
    staked_at: Option<String>,
}

/// Stakes credits, the least amount of this hub where none is given.
///
/// Asking again for what is staked already changes nothing; asking for more adds the difference.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn stake(
    hub: &SharedHub,
    credentials: Credentials,
    request: &StakeRequest,
) -> ApiResult<StakeResponse> {
    let least = hub.config.credits.validator_stake;
    let (node_id, amount) = (request.node()?, request.amount(least)?);
    tracing::Span::current().record("node.id", &node_id);
    let sender = Sender::new(&node_id, credentials.or_secret(request.node_secret.as_deref()));
    hub.limit_calls(&sender).await?;
    let (context, reference) = (hub.context(), hub.new_id("stake"));
    hub.store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            sender.lock(tx, &context)?;
            let source = context.config.credits.stake_from;
            match stakes::stake(tx, &node_id, amount, source, &reference, context.now)? {
                StakeOutcome::Active(_) => load_stake(tx, &node_id, least),
                StakeOutcome::Insufficient { need, have } => Err(insufficient(need, have, source)),
            }
        })
        .await
}

fn insufficient(need: i64, have: i64, source: StakeSource) -> ApiError {
    let (need_text, have_text) = (credits::text(need), credits::text(have));
    ApiError::new(
        HubCode::InsufficientCredits,
        match source {
            StakeSource::Any => {
                format!("The stake takes more credits than the node holds: need {need_text}, have {have_text}.")
            }
            StakeSource::Earned => format!(
                "The stake takes earned credits, and the node has earned fewer: need {need_text}, have {have_text}."
            ),
        },
        "Earn credits first, or stake less.",
    )
    .with("required", credits::to_decimal(need))
    .with("available", credits::to_decimal(have))
}

/// Releases what was staked.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn unstake(
    hub: &SharedHub,
    credentials: Credentials,
    request: &StakeRequest,
) -> ApiResult<StakeResponse> {
    let node_id = request.node()?;
    tracing::Span::current().record("node.id", &node_id);
    let sender = Sender::new(&node_id, credentials.or_secret(request.node_secret.as_deref()));
    hub.limit_calls(&sender).await?;
    let least = hub.config.credits.validator_stake;
    let (context, reference) = (hub.context(), hub.new_id("unstake"));
    hub.store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            sender.lock(tx, &context)?;
            if stakes::is_needed(tx, &node_id, context.now)? {
                return Err(ApiError::new(
                    HubCode::StateConflict,
                    "The node still has an open validation assignment, which its stake stands for.",
                    "Report on it, or wait until it expires.",
                ));
            }
            stakes::release(tx, &node_id, &reference, context.now)?;
            load_stake(tx, &node_id, least)
        })
        .await
}

/// Whose stake is asked for.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StakeStatusParams {
    /// The node.
    node_id: Option<String>,
}

/// Shows what a node has staked.
#[tracing::instrument(skip_all, fields(node.id = params.node_id.as_deref().map(traced_id)))]
pub async fn stake_status(
    hub: &SharedHub,
    credentials: &Credentials,
    params: &StakeStatusParams,
) -> ApiResult<StakeResponse> {
    let node_id = validate::node(None, params.node_id.as_deref())?;
    let (who, least) = (node_id.clone(), hub.config.credits.validator_stake);
    Sender::new(&node_id, credentials.clone()).read(hub, move |tx, _| load_stake(tx, &who, least)).await
}

fn load_stake(tx: &mut dyn Tx, node_id: &str, least: i64) -> ApiResult<StakeResponse> {
    let none = StakeRow { amount: 0, status: "none".to_owned(), staked_at: 0 };
    let stake = stakes::get(tx, node_id)?.unwrap_or(none);
    let (is_active, is_validator) = (stake.is_active(), stake.is_enough(least));
    let held = ledger::balances(tx, &ledger::node_account(node_id))?;
    Ok(StakeResponse {
        stake: StakeView {
            node_id: node_id.to_owned(),
            amount: credits::to_decimal(stake.amount),
            staked_at: is_active.then(|| Time(stake.staked_at).iso()),
            status: stake.status,
        },
        is_validator,
        min_stake: credits::to_decimal(least),
        credit_balance: credits::to_decimal(held.total),
        granted_balance: credits::to_decimal(held.granted),
        earned_balance: credits::to_decimal(held.earned()),
    })
}
