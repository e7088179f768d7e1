//! `/a2a/validator/*`: a node puts credits aside to be asked for its judgement, and takes them back.

use crate::auth::access::{Credentials, act_as};
use crate::error::{ApiError, HubCode, Result};
use crate::http::checks;
use crate::http::envelope::Reply;
use crate::http::json::JsonBody;
use crate::http::query::Params;
use crate::state::Shared;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::stakes;
use capsid_store::evaluation::stakes::{Stake, Staked};
use capsid_store::ledger;
use serde::Deserialize;
use serde_json::{Value, json};

/// What is asked; the amount stands in the payload or beside it.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = StakeRequest)]
pub struct Request {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    stake_amount: Option<f64>,
    payload: Option<Inner>,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = StakePayload)]
struct Inner {
    node_id: Option<String>,
    stake_amount: Option<f64>,
}

impl Request {
    fn node(&self) -> Result<String> {
        let node_id = checks::node(self.sender_id.as_deref(), self.node_id.as_deref())?;
        match self.payload.as_ref().and_then(|payload| payload.node_id.as_deref()) {
            Some(inner) => checks::node(Some(&node_id), Some(inner)),
            None => Ok(node_id),
        }
    }

    fn amount(&self, least: i64) -> Result<i64> {
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
#[utoipa::path(post, path = "/a2a/validator/stake", tag = "nodes", request_body = Request,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn stake(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonBody(asked): JsonBody<Request>,
) -> Result<Reply> {
    let least = hub.config.credits.validator_stake;
    let (node_id, amount) = (asked.node()?, asked.amount(least)?);
    let credentials = credentials.or_secret(asked.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, reference) = (hub.rules(), hub.new_id("stake"));
    let answer = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            act_as(tx, &rules, &node_id, &credentials)?;
            match stakes::stake(tx, &node_id, amount, &reference, rules.now)? {
                Staked::Active(_) => standing(tx, &node_id, least),
                Staked::Insufficient { need, have } => Err(insufficient(need, have)),
            }
        })
        .await?;
    Ok(Reply::json(&answer))
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
    .with("required", credits::shown(need))
    .with("available", credits::shown(have))
}

/// Takes back what was put aside.
#[utoipa::path(post, path = "/a2a/validator/unstake", tag = "nodes", request_body = Request,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn unstake(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonBody(asked): JsonBody<Request>,
) -> Result<Reply> {
    let node_id = asked.node()?;
    let credentials = credentials.or_secret(asked.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, reference, least) = (hub.rules(), hub.new_id("unstake"), hub.config.credits.validator_stake);
    let answer = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            act_as(tx, &rules, &node_id, &credentials)?;
            if stakes::is_needed(tx, &node_id, rules.now)? {
                return Err(ApiError::new(
                    HubCode::StateConflict,
                    "The node still has an open validation assignment, which its stake stands for.",
                    "Report on it, or wait until it expires.",
                ));
            }
            stakes::release(tx, &node_id, &reference, rules.now)?;
            standing(tx, &node_id, least)
        })
        .await?;
    Ok(Reply::json(&answer))
}

/// Whose stake is asked for.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StatusQuery {
    /// The node.
    node_id: Option<String>,
}

/// Shows what a node has put aside.
#[utoipa::path(get, path = "/a2a/validator/status", tag = "nodes", params(StatusQuery),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn status(
    State(hub): State<Shared>,
    credentials: Credentials,
    Params(query): Params<StatusQuery>,
) -> Result<Reply> {
    let node_id = checks::node(None, query.node_id.as_deref())?;
    let (who, least) = (node_id.clone(), hub.config.credits.validator_stake);
    let answer = hub.read_as(&node_id, &credentials, move |tx, _| standing(tx, &who, least)).await?;
    Ok(Reply::json(&answer))
}

fn standing(tx: &mut dyn Tx, node_id: &str, least: i64) -> Result<Value> {
    let none = Stake { amount: 0, status: "none".to_owned(), staked_at: 0 };
    let stake = stakes::get(tx, node_id)?.unwrap_or(none);
    let since = stake.is_active().then(|| Time(stake.staked_at).iso());
    Ok(json!({
        "stake": { "node_id": node_id, "amount": credits::shown(stake.amount), "status": stake.status, "staked_at": since },
        "is_validator": stake.is_active(),
        "min_stake": credits::shown(least),
        "credit_balance": credits::shown(ledger::balance(tx, &ledger::node_account(node_id))?),
    }))
}
