//! Who speaks: credentials of a request, and whether they may act for a node.

use crate::error::{ApiError, HubCode, Result};
use crate::state::Hub;
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::header;
use axum::http::request::Parts;
use capsid_model::time::Time;
use capsid_rules::access::{Binding, Denial, RequireSecret, may_act};
use capsid_store::nodes::{self, Node};
use capsid_store::tx::Tx;
use std::convert::Infallible;
use std::net::SocketAddr;

/// What a request shows of itself.
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    /// A node's secret: 64 hexadecimal digits.
    pub secret: Option<String>,
    /// A session token, `sess_…`.
    pub session: Option<String>,
    /// An API key, `ek_…`.
    pub api_key: Option<String>,
    /// The address it comes from.
    pub address: String,
}

impl Credentials {
    /// Tells tokens apart by their form. A bearer of no known form is taken as no credential at all.
    fn of_bearer(token: &str, address: String) -> Self {
        let mut credentials = Self { address, ..Self::default() };
        let token = token.trim().to_owned();
        if is_secret(&token) {
            credentials.secret = Some(token);
        } else if token.starts_with("sess_") {
            credentials.session = Some(token);
        } else if token.starts_with("ek_") {
            credentials.api_key = Some(token);
        }
        credentials
    }

    /// Takes a secret from the body where the header has none.
    #[must_use]
    pub fn or_secret(mut self, secret: Option<&str>) -> Self {
        if self.secret.is_none() {
            self.secret = secret.map(str::to_owned);
        }
        self
    }
}

fn is_secret(token: &str) -> bool {
    token.len() == 64 && token.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl<S: Send + Sync> FromRequestParts<S> for Credentials {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let address = parts
            .extensions
            .get::<ConnectInfo<SocketAddr>>()
            .map_or_else(|| "local".to_owned(), |ConnectInfo(address)| address.ip().to_string());
        let bearer = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = bearer
            .and_then(|value| value.split_once(' '))
            .filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer"));
        Ok(match token {
            Some((_, token)) => Self::of_bearer(token, address),
            None => Self { address, ..Self::default() },
        })
    }
}

/// What an operation inside a transaction needs to know of the hub.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Whether secrets have to be shown.
    pub require_secret: RequireSecret,
    /// What a new node gets.
    pub node_grant: i64,
    /// The present moment.
    pub now: Time,
}

impl Hub {
    /// What an operation inside a transaction needs to know.
    pub fn rules(&self) -> Rules {
        Rules {
            require_secret: self.config.require_secret,
            node_grant: self.config.node_grant,
            now: self.now(),
        }
    }
}

/// Lets a request act for a node: makes the node where it is new, checks the secret, binds it on first use, and
/// notes that the node was heard of. A banned node may not act.
pub fn act_as(tx: &mut dyn Tx, rules: &Rules, node_id: &str, credentials: &Credentials) -> Result<Node> {
    let node = nodes::lock_or_register(tx, node_id, rules.node_grant, rules.now)?;
    check(tx, rules, &node, credentials)?;
    if node.status == "banned" {
        return Err(ApiError::new(
            HubCode::NodeBanned,
            format!("The node {node_id} is banned from this hub."),
            "Ask the operator of this hub.",
        ));
    }
    nodes::seen(tx, node_id, rules.now)?;
    Ok(node)
}

/// The same for a read: an unknown node may read, and is not made.
pub fn read_as(
    tx: &mut dyn Tx,
    rules: &Rules,
    node_id: &str,
    credentials: &Credentials,
) -> Result<Option<Node>> {
    let Some(node) = nodes::get(tx, node_id)? else { return Ok(None) };
    may_act(node.secret_state, rules.require_secret, node.presented(credentials.secret.as_deref()))
        .map_err(|denial| denied(denial, node_id))?;
    Ok(Some(node))
}

fn check(tx: &mut dyn Tx, rules: &Rules, node: &Node, credentials: &Credentials) -> Result<()> {
    let presented = node.presented(credentials.secret.as_deref());
    match may_act(node.secret_state, rules.require_secret, presented) {
        Ok(Binding::Binds) => Ok(nodes::bind_secret(tx, &node.node_id)?),
        Ok(Binding::Unchanged) => Ok(()),
        Err(denial) => Err(denied(denial, &node.node_id)),
    }
}

/// The refusal of a request that may not act for a node.
pub fn denied(denial: Denial, node_id: &str) -> ApiError {
    match denial {
        Denial::SecretRequired => ApiError::new(
            HubCode::NodeSecretRequired,
            format!("The node {node_id} has a secret and this request does not show it."),
            "Send `Authorization: Bearer <node_secret>` with the secret that hello returned.",
        ),
        Denial::SecretInvalid => ApiError::new(
            HubCode::NodeSecretInvalid,
            format!("The secret is not the one of {node_id}."),
            "Use the secret that hello returned last, or say hello with `rotate_secret: true` and the present secret.",
        ),
        Denial::SecretNotSet => ApiError::new(
            HubCode::NodeSecretNotSet,
            format!("The node {node_id} has no secret yet."),
            "Say hello first: POST /a2a/hello.",
        ),
    }
}
