//! What several answers about accounts share.

use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::identity::secrets::SecretState;
use capsid_store::accounts::AccountRole;
use capsid_store::accounts::UserRow;
use capsid_store::accounts::admin::{AdminNodeRow, NodeStatus};
use serde::Serialize;
use serde_json::Number;
use utoipa::ToSchema;

/// An account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Account)]
pub struct AccountView {
    user_id: String,
    email: String,
    role: AccountRole,
    created_at: String,
    #[schema(required)]
    banned_at: Option<String>,
}

impl From<&UserRow> for AccountView {
    fn from(user: &UserRow) -> Self {
        Self {
            user_id: user.user_id.clone(),
            email: user.email.clone(),
            role: user.role,
            created_at: Time(user.created_at).iso(),
            banned_at: user.banned_at.map(|at| Time(at).iso()),
        }
    }
}

/// A node of an account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Agent)]
pub struct AgentView {
    node_id: String,
    #[schema(required)]
    name: Option<String>,
    #[schema(value_type = NodeStatus)]
    status: String,
    #[schema(value_type = SecretState)]
    secret_state: String,
    reputation: f64,
    total_published: i64,
    #[schema(value_type = f64)]
    credit_balance: Number,
    #[schema(value_type = f64)]
    granted_balance: Number,
    #[schema(value_type = f64)]
    earned_balance: Number,
    created_at: String,
    last_seen_at: String,
    #[schema(required)]
    claimed_at: Option<String>,
}

impl From<AdminNodeRow> for AgentView {
    fn from(node: AdminNodeRow) -> Self {
        Self {
            node_id: node.node_id,
            name: node.name,
            status: node.status,
            secret_state: node.secret_state,
            reputation: node.reputation,
            total_published: node.total_published,
            credit_balance: credits::to_decimal(node.balance),
            granted_balance: credits::to_decimal(node.granted),
            earned_balance: credits::to_decimal(node.balance - node.granted),
            created_at: Time(node.created_at).iso(),
            last_seen_at: Time(node.last_seen_at).iso(),
            claimed_at: node.claimed_at.map(|at| Time(at).iso()),
        }
    }
}

/// That something was done.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Done)]
pub struct DoneResponse {
    pub(super) status: &'static str,
}
