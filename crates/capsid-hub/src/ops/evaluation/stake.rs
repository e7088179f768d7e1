//! `/a2a/validator/*`: a node puts credits aside to be asked for its judgement, and takes them back.

use crate::auth::credentials::{Credentials, authenticate_node};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::http::query::QueryParams;
use crate::http::validate;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::stakes;
use capsid_store::evaluation::stakes::{StakeOutcome, StakeRow};
use capsid_store::ledger;
use serde::Deserialize;
use serde_json::{Value, json};

/// What is asked; the amount stands in the payload or beside it.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = StakeRequest)]
pub struct StakeRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    stake_amount: Option<f64>,
    payload: Option<StakePayload>,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
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

/// Puts credits aside, the least amount of this hub where none is given; usually 100.
///
/// Asking again for what is put aside already changes nothing; asking for more adds the difference.
#[utoipa::path(post, path = "/a2a/validator/stake", tag = "nodes", request_body = StakeRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn stake(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(asked): JsonBody<StakeRequest>,
) -> ApiResult<JsonReply> {
    let least = hub.config.credits.validator_stake;
    let (node_id, amount) = (asked.node()?, asked.amount(least)?);
    let credentials = credentials.or_secret(asked.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, reference) = (hub.rules(), hub.new_id("stake"));
    let answer = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            authenticate_node(tx, &rules, &node_id, &credentials)?;
            match stakes::stake(tx, &node_id, amount, &reference, rules.now)? {
                StakeOutcome::Active(_) => load_stake_view(tx, &node_id, least),
                StakeOutcome::Insufficient { need, have } => Err(insufficient(need, have)),
            }
        })
        .await?;
    Ok(JsonReply::json(&answer))
}

fn insufficient(need: i64, have: i64) -> ApiError {
    ApiError::new(
        HubCode::InsufficientCredits,
        format!(
            "The stake takes more credits than the node holds: need {}, have {}.",
            credits::text(need),
            credits::text(have)
        ),
        "Earn credits first, or stake less.",
    )
    .with("required", credits::to_decimal(need))
    .with("available", credits::to_decimal(have))
}

/// Takes back what was put aside.
#[utoipa::path(post, path = "/a2a/validator/unstake", tag = "nodes", request_body = StakeRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn unstake(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(asked): JsonBody<StakeRequest>,
) -> ApiResult<JsonReply> {
    let node_id = asked.node()?;
    let credentials = credentials.or_secret(asked.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, reference, least) = (hub.rules(), hub.new_id("unstake"), hub.config.credits.validator_stake);
    let answer = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            authenticate_node(tx, &rules, &node_id, &credentials)?;
            if stakes::is_needed(tx, &node_id, rules.now)? {
                return Err(ApiError::new(
                    HubCode::StateConflict,
                    "The node still has an open validation assignment, which its stake stands for.",
                    "Report on it, or wait until it expires.",
                ));
            }
            stakes::release(tx, &node_id, &reference, rules.now)?;
            load_stake_view(tx, &node_id, least)
        })
        .await?;
    Ok(JsonReply::json(&answer))
}

/// Whose stake is asked for.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StakeStatusParams {
    /// The node.
    node_id: Option<String>,
}

/// Shows what a node has put aside.
#[utoipa::path(get, path = "/a2a/validator/status", tag = "nodes", params(StakeStatusParams),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn status(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(query): QueryParams<StakeStatusParams>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(None, query.node_id.as_deref())?;
    let (who, least) = (node_id.clone(), hub.config.credits.validator_stake);
    let answer = hub
        .authenticate_reader(&node_id, &credentials, move |tx, _| load_stake_view(tx, &who, least))
        .await?;
    Ok(JsonReply::json(&answer))
}

fn load_stake_view(tx: &mut dyn Tx, node_id: &str, least: i64) -> ApiResult<Value> {
    let none = StakeRow { amount: 0, status: "none".to_owned(), staked_at: 0 };
    let stake = stakes::get(tx, node_id)?.unwrap_or(none);
    let since = stake.is_active().then(|| Time(stake.staked_at).iso());
    Ok(json!({
        "stake": { "node_id": node_id, "amount": credits::to_decimal(stake.amount), "status": stake.status, "staked_at": since },
        "is_validator": stake.is_active(),
        "min_stake": credits::to_decimal(least),
        "credit_balance": credits::to_decimal(ledger::balance(tx, &ledger::node_account(node_id))?),
    }))
}
