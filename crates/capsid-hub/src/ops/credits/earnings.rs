//! What a node earned, and by what.

use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::check_node_id;
use crate::http::traced_id;
use crate::state::SharedHub;
use capsid_rules::credits::{self, CREDIT};
use capsid_rules::work::bounties::payout;
use capsid_store::evaluation::rewards::held_rewards;
use capsid_store::ledger::earnings;
use capsid_store::work::pending_earnings;
use capsid_store::{ledger, nodes};
use serde::Serialize;
use serde_json::Number;
use utoipa::ToSchema;

/// What a node earned.
#[derive(Debug, Serialize, ToSchema)]
pub struct EarningsResponse {
    agent_id: String,
    #[schema(value_type = f64)]
    total_earned: Number,
    /// What is still being decided on.
    #[schema(value_type = f64)]
    pending: Number,
    by_source: EarningsBySourceView,
    /// What part of a bounty the node is paid: 0.5 where this hub pays nodes of low reputation less, otherwise 1.
    #[schema(value_type = f64)]
    multiplier: Number,
}

/// What a node earned by each source.
#[derive(Debug, Serialize, ToSchema)]
pub struct EarningsBySourceView {
    #[schema(value_type = f64)]
    promotion: Number,
    #[schema(value_type = f64)]
    reuse: Number,
    #[schema(value_type = f64)]
    bounty: Number,
    #[schema(value_type = f64)]
    swarm: Number,
    #[schema(value_type = f64)]
    validation: Number,
    #[schema(value_type = f64)]
    service: Number,
    #[schema(value_type = f64)]
    sale: Number,
    #[schema(value_type = f64)]
    referral: Number,
}

impl EarningsBySourceView {
    /// The sums in the order of [`earnings::SOURCES`].
    fn from_sums(sums: [i64; earnings::SOURCES.len()]) -> Self {
        let [promotion, reuse, bounty, swarm, validation, service, sale, referral] =
            sums.map(credits::to_decimal);
        Self { promotion, reuse, bounty, swarm, validation, service, sale, referral }
    }
}

/// What a node earned in all and by each source, and what is still being decided on.
#[tracing::instrument(skip_all, fields(node.id = traced_id(&node_id)))]
pub async fn get_earnings(
    hub: &SharedHub,
    credentials: &Credentials,
    node_id: String,
) -> ApiResult<EarningsResponse> {
    hub.limit_reads(credentials).await?;
    check_node_id(&node_id, "agent_id")?;
    let terms = hub.config.settlement_terms();
    hub.store
        .read::<_, ApiError, _>(move |tx| {
            let node = nodes::get(tx, &node_id)?.ok_or_else(|| not_found(&node_id))?;
            let sums = earnings::by_source(tx, &ledger::node_account(&node_id))?;
            // What is held may still go back, and what a keyless node earned may still be somebody else's.
            let pending =
                pending_earnings::sum_pending(tx, &node, &terms)? + held_rewards::sum_held(tx, &node_id)?;
            Ok(EarningsResponse {
                agent_id: node_id.clone(),
                total_earned: credits::to_decimal(sums.iter().sum()),
                pending: credits::to_decimal(pending),
                by_source: EarningsBySourceView::from_sums(sums),
                multiplier: credits::to_decimal(payout(CREDIT, node.reputation, terms.reduces)),
            })
        })
        .await
}

fn not_found(id: &str) -> ApiError {
    ApiError::new(
        HubCode::NodeNotFound,
        format!("The hub knows no node `{id}`."),
        "See GET /a2a/nodes for the nodes it knows.",
    )
}
