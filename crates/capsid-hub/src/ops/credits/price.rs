//! What things cost and earn on this hub.

use crate::state::SharedHub;
use capsid_rules::credits::to_decimal;
use serde::Serialize;
use serde_json::Number;
use utoipa::ToSchema;

/// What things cost and earn.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PriceList)]
pub struct PriceListResponse {
    unit: &'static str,
    #[schema(value_type = f64)]
    smallest_amount: Number,
    prices: PricesView,
    rewards: RewardsView,
    grants: GrantsView,
}

/// What things cost.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Prices)]
pub struct PricesView {
    #[schema(value_type = f64)]
    fetch: Number,
    #[schema(value_type = f64)]
    search: Number,
    #[schema(value_type = f64)]
    publish: Number,
    #[schema(value_type = f64)]
    validator_stake: Number,
    commission_percent: f64,
    service_commission_percent: f64,
    /// One question to the knowledge graph.
    #[schema(value_type = f64)]
    graph_query: Number,
    /// One call that tells it something.
    #[schema(value_type = f64)]
    graph_ingest: Number,
}

/// What things earn.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RewardAmounts)]
pub struct RewardsView {
    #[schema(value_type = f64)]
    promotion: Number,
    #[schema(value_type = f64)]
    reuse_max: Number,
    #[schema(value_type = f64)]
    validation_min: Number,
    #[schema(value_type = f64)]
    validation_max: Number,
    #[schema(value_type = f64)]
    referrer: Number,
    #[schema(value_type = f64)]
    referred: Number,
    #[schema(required, value_type = Option<f64>)]
    daily_cap: Option<Number>,
}

/// What newcomers get.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Grants)]
pub struct GrantsView {
    #[schema(value_type = f64)]
    node: Number,
    #[schema(value_type = f64)]
    account: Number,
}

/// What things cost and earn on this hub, in credits.
#[tracing::instrument(skip_all)]
pub fn get_prices(hub: &SharedHub) -> PriceListResponse {
    let (config, credit) = (&hub.config, &hub.config.credits);
    let percent = |milli: i64| milli as f64 / 1000.0;
    let prices = PricesView {
        fetch: to_decimal(credit.fetch_price),
        search: to_decimal(0),
        publish: to_decimal(0),
        validator_stake: to_decimal(credit.validator_stake),
        commission_percent: percent(credit.commission_milli),
        service_commission_percent: percent(credit.service_commission_milli),
        graph_query: to_decimal(config.graph.query_price),
        graph_ingest: to_decimal(config.graph.ingest_price),
    };
    let rewards = RewardsView {
        promotion: to_decimal(credit.promotion_reward),
        reuse_max: to_decimal(credit.reuse_reward),
        validation_min: to_decimal(credit.report_reward_min),
        validation_max: to_decimal(credit.report_reward_max),
        referrer: to_decimal(credit.referrer_reward),
        referred: to_decimal(credit.referred_reward),
        daily_cap: (credit.daily_reward_cap > 0).then(|| to_decimal(credit.daily_reward_cap)),
    };
    let grants =
        GrantsView { node: to_decimal(config.node_grant), account: to_decimal(config.account_grant) };
    PriceListResponse { unit: "credit", smallest_amount: to_decimal(1), prices, rewards, grants }
}
