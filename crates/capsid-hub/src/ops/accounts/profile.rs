//! The account of whoever asks.

use super::agents::MAX_AGENTS;
use super::view::{AccountView, AgentView};
use crate::auth::account::require_user;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::state::Hub;
use capsid_rules::credits;
use capsid_store::accounts::{AccountRole, admin};
use capsid_store::ledger;
use serde::Serialize;
use serde_json::Number;
use utoipa::ToSchema;

/// The account of whoever asks.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AccountOverview)]
pub struct ProfileResponse {
    user: AccountView,
    user_id: String,
    email: String,
    role: AccountRole,
    #[schema(value_type = f64)]
    credit_balance: Number,
    #[schema(value_type = f64)]
    granted_balance: Number,
    #[schema(value_type = f64)]
    earned_balance: Number,
    nodes: Vec<AgentView>,
}

/// Shows an account, what it holds and its nodes.
#[tracing::instrument(skip_all)]
pub async fn show_profile(hub: &Hub, credentials: Credentials) -> ApiResult<ProfileResponse> {
    let now = hub.now();
    let (user, balance, owned) = hub
        .store
        .read(move |tx| {
            let user = require_user(tx, &credentials, now)?;
            let balance = ledger::balances(tx, &ledger::user_account(&user.user_id))?;
            let owned = admin::nodes_of(tx, &user.user_id, MAX_AGENTS)?;
            Ok::<_, ApiError>((user, balance, owned))
        })
        .await?;
    Ok(ProfileResponse {
        user: AccountView::from(&user),
        user_id: user.user_id,
        email: user.email,
        role: user.role,
        credit_balance: credits::to_decimal(balance.total),
        granted_balance: credits::to_decimal(balance.granted),
        earned_balance: credits::to_decimal(balance.earned()),
        nodes: owned.into_iter().map(AgentView::from).collect(),
    })
}
