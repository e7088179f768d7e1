//! What there is of this hub's credits.

use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::state::SharedHub;
use capsid_rules::credits;
use capsid_store::ledger::statement;
use serde::Serialize;
use serde_json::Number;
use utoipa::ToSchema;

/// What there is of this hub's credits.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Economics)]
pub struct EconomicsResponse {
    #[schema(value_type = f64)]
    minted: Number,
    #[schema(value_type = f64)]
    escrow: Number,
    #[schema(value_type = f64)]
    staked: Number,
    /// Rewards that are paid later.
    #[schema(value_type = f64)]
    held_rewards: Number,
    /// What was granted of all that was made.
    #[schema(value_type = f64)]
    granted: Number,
    #[schema(value_type = f64)]
    hub: Number,
    #[schema(value_type = f64)]
    circulating: Number,
    /// Always 0.
    #[schema(value_type = f64)]
    sum: Number,
    transfers: i64,
}

/// What there is of this hub's credits. All accounts together are always zero: what is held was once made.
#[tracing::instrument(skip_all)]
pub async fn get_economics(hub: &SharedHub, credentials: &Credentials) -> ApiResult<EconomicsResponse> {
    hub.limit_reads(credentials).await?;
    let supply = hub.store.read::<_, ApiError, _>(|tx| Ok(statement::supply(tx)?)).await?;
    Ok(EconomicsResponse {
        minted: credits::to_decimal(supply.minted),
        escrow: credits::to_decimal(supply.escrow),
        staked: credits::to_decimal(supply.staked),
        held_rewards: credits::to_decimal(supply.held_rewards),
        granted: credits::to_decimal(supply.granted),
        hub: credits::to_decimal(supply.hub),
        circulating: credits::to_decimal(supply.circulating),
        sum: credits::to_decimal(supply.sum),
        transfers: supply.transfers,
    })
}
