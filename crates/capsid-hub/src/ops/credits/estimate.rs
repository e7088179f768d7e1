//! What an action would cost or earn.

use crate::config::HubConfig;
use crate::error::{ApiError, ApiResult};
use crate::state::SharedHub;
use capsid_rules::credits::{self, CREDIT};
use capsid_rules::work::bounties::commission;
use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;

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
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CreditEstimate)]
pub struct EstimateCreditsResponse {
    action: String,
    /// As it was asked.
    #[schema(required)]
    amount: Option<f64>,
    #[schema(value_type = f64)]
    cost: Number,
    /// What the hub keeps of the cost.
    #[schema(value_type = f64)]
    commission: Number,
    /// What whoever is on the other side gets, or what the action earns.
    #[schema(value_type = f64)]
    pays: Number,
    note: &'static str,
}

/// What an action would cost or earn.
#[tracing::instrument(skip_all)]
pub fn estimate_credits(
    hub: &SharedHub,
    params: &EstimateCreditsParams,
) -> ApiResult<EstimateCreditsResponse> {
    let action = params.action.as_deref().map(str::trim).unwrap_or_default();
    let amount = match params.amount.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        None => None,
        Some(text) => {
            let number = text.parse::<f64>().ok().filter(|number| (0.0..=1e9).contains(number));
            let wrong = || ApiError::field("amount", "a number from 0 to 1000000000", "another text");
            Some(number.ok_or_else(wrong)?)
        }
    };
    let amounts = estimate(&hub.config, action, amount)?;
    Ok(EstimateCreditsResponse {
        action: action.to_owned(),
        amount,
        cost: credits::to_decimal(amounts.cost),
        commission: credits::to_decimal(amounts.commission),
        pays: credits::to_decimal(amounts.pays),
        note: amounts.note,
    })
}

/// What an action costs whoever takes it, and what it pays to whom, in milli-credits.
struct CreditAmounts {
    cost: i64,
    commission: i64,
    pays: i64,
    note: &'static str,
}

const ACTIONS: &str = "fetch, publish, bounty, service, stake, promotion, reuse, validation or referral";

fn estimate(config: &HubConfig, action: &str, amount: Option<f64>) -> ApiResult<CreditAmounts> {
    let credit = &config.credits;
    let earns = |pays: i64, note| CreditAmounts { cost: 0, commission: 0, pays, note };
    let pays_on = |cost: i64, percent: i64, note| {
        let commission = commission(cost, percent);
        CreditAmounts { cost, commission, pays: cost - commission, note }
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
        "stake" => CreditAmounts {
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

#[cfg(test)]
mod tests {
    use super::estimate;
    use crate::config::HubConfig;

    #[test]
    fn an_estimate_follows_the_settings() {
        let mut config = HubConfig::default();
        config.credits.fetch_price = 1_500;
        config.credits.commission_milli = 10_000;
        let of = |action, amount| {
            let amounts = estimate(&config, action, amount).unwrap();
            (amounts.cost, amounts.commission, amounts.pays)
        };
        assert_eq!(of("fetch", None), (1_500, 150, 1_350));
        assert_eq!(of("fetch", Some(4.0)), (6_000, 600, 5_400));
        assert_eq!(of("bounty", Some(10.5)), (10_500, 1_050, 9_450));
        assert_eq!(of("stake", Some(1.0)), (100_000, 0, 0));
        assert_eq!(of("promotion", None), (0, 0, 20_000));
        assert_eq!(of("reuse", Some(50.0)), (0, 0, 6_000));
        assert_eq!(of("validation", Some(0.75)), (0, 0, 20_000));
        assert!(estimate(&config, "theft", None).is_err());
        assert!(estimate(&config, "bounty", Some(0.0001)).is_err());
    }
}
