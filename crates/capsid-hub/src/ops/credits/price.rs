//! `GET /a2a/credit/*`: what things cost and earn on this hub, and what there is of its credits.

use crate::auth::credentials::Credentials;
use crate::config::HubConfig;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::JsonReply;
use crate::http::query::QueryParams;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_rules::credits::{self, CREDIT};
use capsid_rules::work::bounties::commission;
use capsid_store::ledger::statement;
use serde::Deserialize;
use serde_json::{Value, json};

/// What things cost and earn on this hub, in credits.
#[utoipa::path(get, path = "/a2a/credit/price", tag = "credits",
    responses((status = 200, body = crate::http::openapi::credits::PriceList), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn price(State(hub): State<SharedHub>) -> ApiResult<JsonReply> {
    let (config, credit) = (&hub.config, &hub.config.credits);
    let shown = |milli: i64| credits::to_decimal(milli);
    let percent = |milli: i64| milli as f64 / 1000.0;
    Ok(JsonReply::json(&json!({
        "unit": "credit",
        "smallest_amount": shown(1),
        "prices": {
            "fetch": shown(credit.fetch_price), "search": 0, "publish": 0, "validator_stake": shown(credit.validator_stake),
            "commission_percent": percent(credit.commission_milli),
            "service_commission_percent": percent(credit.service_commission_milli),
            "graph_query": shown(config.graph.query_price), "graph_ingest": shown(config.graph.ingest_price),
        },
        "rewards": {
            "promotion": shown(credit.promotion_reward), "reuse_max": shown(credit.reuse_reward),
            "validation_min": shown(credit.report_reward_min), "validation_max": shown(credit.report_reward_max),
            "referrer": shown(credit.referrer_reward), "referred": shown(credit.referred_reward),
            "daily_cap": (credit.daily_reward_cap > 0).then(|| shown(credit.daily_reward_cap)),
        },
        "grants": { "node": shown(config.node_grant), "account": shown(config.account_grant) },
    })))
}

/// What is to be estimated.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EstimateCreditsParams {
    /// fetch, publish, bounty, service, stake, promotion, reuse, validation or referral.
    action: Option<String>,
    /// How many assets, how many credits, or for `reuse` the score of the asset.
    #[param(value_type = Option<f64>)]
    amount: Option<String>,
}

/// What an action would cost or earn.
///
/// `amount` is the number of assets for `fetch`, credits for `bounty`, `service` and `stake`, the score from 0 to 100
/// for `reuse`, and the share of validators that agree, from 0 to 1, for `validation`.
#[utoipa::path(get, path = "/a2a/credit/estimate", tag = "credits", params(EstimateCreditsParams),
    responses((status = 200, body = crate::http::openapi::credits::CreditEstimate), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn estimate(
    State(hub): State<SharedHub>,
    QueryParams(planned): QueryParams<EstimateCreditsParams>,
) -> ApiResult<JsonReply> {
    let action = planned.action.as_deref().map(str::trim).unwrap_or_default();
    let amount =
        match planned.amount.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            None => None,
            Some(text) => {
                let number = text.parse::<f64>().ok().filter(|number| (0.0..=1e9).contains(number));
                Some(number.ok_or_else(|| {
                    ApiError::field("amount", "a number from 0 to 1000000000", "another text")
                })?)
            }
        };
    let estimated = work_out(&hub.config, action, amount)?;
    let shown = |milli: i64| credits::to_decimal(milli);
    Ok(JsonReply::json(&json!({
        "action": action, "amount": amount, "cost": shown(estimated.cost), "commission": shown(estimated.commission),
        "pays": shown(estimated.pays), "note": estimated.note,
    })))
}

/// What an action costs whoever takes it, and what it pays to whom.
struct CreditEstimate {
    cost: i64,
    commission: i64,
    pays: i64,
    note: &'static str,
}

const ACTIONS: &str = "fetch, publish, bounty, service, stake, promotion, reuse, validation or referral";

fn work_out(config: &HubConfig, action: &str, amount: Option<f64>) -> ApiResult<CreditEstimate> {
    let credit = &config.credits;
    let earns = |pays: i64, note| CreditEstimate { cost: 0, commission: 0, pays, note };
    let pays_on = |cost: i64, percent: i64, note| {
        let commission = commission(cost, percent);
        CreditEstimate { cost, commission, pays: cost - commission, note }
    };
    let asked = |usual: i64| match amount {
        None => Ok(usual),
        Some(amount) => credits::from_shown(amount)
            .ok_or_else(|| ApiError::field("amount", "credits, to the thousandth", amount.to_string())),
    };
    Ok(match action {
        "fetch" => {
            let assets = asked(CREDIT)? / CREDIT;
            let cost = credit.fetch_price.saturating_mul(assets);
            pays_on(
                cost,
                credit.commission_milli,
                "For assets of other owners that the node has not bought yet.",
            )
        }
        "publish" => earns(0, "Publishing is free; a promotion is rewarded."),
        "bounty" => {
            pays_on(asked(0)?, credit.commission_milli, "Put aside until the bounty is paid or given back.")
        }
        "service" => pays_on(
            asked(0)?,
            credit.service_commission_milli,
            "Put aside until the order is paid or given back.",
        ),
        "stake" => CreditEstimate {
            cost: asked(credit.validator_stake)?.max(credit.validator_stake),
            commission: 0,
            pays: 0,
            note: "It stays the node's own and comes back with POST /a2a/validator/unstake.",
        },
        "promotion" => earns(credit.promotion_reward, "To the publisher of a promoted bundle, once."),
        "reuse" => earns(
            credits::reuse_reward(amount.unwrap_or(100.0), credit.reuse_reward),
            "To the publisher, once for each other owner that fetches the asset.",
        ),
        "validation" => earns(
            credits::report_reward(amount.unwrap_or(1.0), credit.report_reward_min, credit.report_reward_max),
            "To a validator whose report agrees with the outcome.",
        ),
        "referral" => earns(credit.referrer_reward, "To a node that brought in another owner's node."),
        _ => return Err(ApiError::field("action", ACTIONS, "another word")),
    })
}

/// What there is of this hub's credits. All accounts together are always zero: what is held was once made.
#[utoipa::path(get, path = "/a2a/credit/economics", tag = "credits",
    responses((status = 200, body = crate::http::openapi::credits::Economics), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn economics(State(hub): State<SharedHub>, credentials: Credentials) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let supply = hub.store.read::<_, ApiError, _>(|tx| Ok(statement::supply(tx)?)).await?;
    let shown = |milli: i64| Value::from(credits::to_decimal(milli));
    Ok(JsonReply::json(&json!({
        "minted": shown(supply.minted), "escrow": shown(supply.escrow), "staked": shown(supply.staked),
        "hub": shown(supply.hub), "circulating": shown(supply.circulating), "sum": shown(supply.sum),
        "transfers": supply.transfers,
    })))
}

#[cfg(test)]
mod tests {
    use super::work_out;
    use crate::config::HubConfig;

    #[test]
    fn an_estimate_follows_the_settings() {
        let mut config = HubConfig::default();
        config.credits.fetch_price = 1_500;
        config.credits.commission_milli = 10_000;
        let of = |action, amount| {
            let estimate = work_out(&config, action, amount).unwrap();
            (estimate.cost, estimate.commission, estimate.pays)
        };
        assert_eq!(of("fetch", None), (1_500, 150, 1_350));
        assert_eq!(of("fetch", Some(4.0)), (6_000, 600, 5_400));
        assert_eq!(of("bounty", Some(10.5)), (10_500, 1_050, 9_450));
        assert_eq!(of("stake", Some(1.0)), (100_000, 0, 0));
        assert_eq!(of("promotion", None), (0, 0, 20_000));
        assert_eq!(of("reuse", Some(50.0)), (0, 0, 6_000));
        assert_eq!(of("validation", Some(0.75)), (0, 0, 20_000));
        assert!(work_out(&config, "theft", None).is_err());
        assert!(work_out(&config, "bounty", Some(0.0001)).is_err());
    }
}
