//! Accounts and what belongs to them.

use super::describe::{told, words};
use crate::ops::nodes::view::NodeStatusView;

words! {
    /// What an account may do.
    AccountRole { User = "user", Admin = "admin" }

    /// How it stands with a node's secret: it has none, has it, or must show it.
    SecretState { None = "none", Issued = "issued", Bound = "bound" }

    /// Whether a claim code was used.
    ClaimStatus { Pending = "pending", Claimed = "claimed" }
}

told! {
    /// An account.
    Account {
        user_id: String,
        email: String,
        role: AccountRole,
        created_at: String,
        banned_at: Option<String>,
    }

    /// A session that was begun.
    Session {
        user_id: String,
        /// The only place where it is shown.
        token: String,
        expires_at: String,
        user: Account,
    }

    /// That something was done.
    Done {
        status: String,
    }

    /// The node of a claim code.
    ClaimCode {
        claim_code: String,
        node_id: String,
        expires_at: String,
        status: ClaimStatus,
    }

    /// A node that belongs to the account from now on.
    NodeClaimed {
        status: String,
        node_id: String,
        user_id: String,
    }

    /// The account of whoever asks.
    AccountOverview {
        user: Account,
        user_id: String,
        email: String,
        role: AccountRole,
        credit_balance: f64,
        nodes: Vec<Agent>,
    }

    /// The nodes of an account.
    Agents {
        agents: Vec<Agent>,
        count: i64,
    }

    /// A node of an account.
    Agent {
        node_id: String,
        name: Option<String>,
        status: NodeStatusView,
        secret_state: SecretState,
        reputation: f64,
        total_published: i64,
        credit_balance: f64,
        created_at: String,
        last_seen_at: String,
        claimed_at: Option<String>,
    }

    /// A node's new secret.
    SecretReset {
        status: String,
        node_id: String,
        /// The only place where it is shown.
        node_secret: String,
        node_secret_version: i64,
    }

    /// An API key without the key itself.
    ApiKey {
        key_id: String,
        name: String,
        hint: String,
        created_at: String,
        last_used_at: Option<String>,
    }

    /// An API key that was made.
    ApiKeyMade: ApiKey {
        /// The only place where it is shown.
        api_key: String,
    }

    /// The API keys of an account.
    ApiKeys {
        api_keys: Vec<ApiKey>,
        /// How many it may have.
        limit: i64,
    }

    /// An API key that works no more.
    ApiKeyRevoked {
        status: String,
        key_id: String,
    }

    /// A page of accounts.
    AccountPage {
        users: Vec<Account>,
        next_cursor: Option<String>,
    }
}
