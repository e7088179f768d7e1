//! Who speaks: credentials of a request, and whether they may act for a node.

use crate::auth::account;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::state::{Hub, SharedHub};
use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::header;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use capsid_model::time::Time;
use capsid_rules::identity::secrets::{
    AccessDenial, PresentedSecret, RequireSecret, SecretBinding, SecretState, may_act,
};
use capsid_store::accounts::api_keys;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::{self, NodeRow};
use std::convert::Infallible;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// How exactly the hub knows when it last heard of a node.
const SEEN_EVERY_MS: i64 = 30_000;

/// What a request shows of itself.
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    /// A node's secret: 64 hexadecimal digits. What has another form is the secret of no node.
    pub secret: Option<String>,
    /// A session token, `sess_…`.
    pub session: Option<String>,
    /// An API key, `ek_…`.
    pub api_key: Option<String>,
    /// The address it comes from.
    pub address: String,
}

impl Credentials {
    /// Tells tokens apart by their form. A bearer of no known form is a wrong secret where something may be changed, and
    /// none at all where things are only looked at.
    fn from_bearer(token: &str, address: String, only_looks: bool) -> Self {
        let mut credentials = Self { address, ..Self::default() };
        let token = token.trim().to_owned();
        if is_secret(&token) {
            credentials.secret = Some(token);
        } else if token.starts_with("sess_") {
            credentials.session = Some(token);
        } else if token.starts_with("ek_") {
            credentials.api_key = Some(token);
        } else if !only_looks {
            credentials.secret = Some(token);
        }
        credentials
    }

    /// Takes a secret from the body where the header has none, or something else.
    #[must_use]
    pub fn or_secret(mut self, secret: Option<&str>) -> Self {
        if !self.secret.as_deref().is_some_and(is_secret) {
            self.secret = secret.map(str::to_owned).or(self.secret);
        }
        self
    }
}

/// The name under which an address is counted. Whoever has one IPv6 address has all of its network of 64 bits.
pub(crate) fn rate_limit_key(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let network = u128::from(address) & (u128::MAX << 64);
            format!("{}/64", Ipv6Addr::from(network))
        }
    }
}

/// Counts wrong secrets, tokens and keys against the address they come from, and once they are too many says so
/// instead. What is right always passes: these are too long to be guessed, so nobody has to be kept from trying.
pub async fn count_wrong_credentials(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    request: Request,
    next: Next,
) -> Response {
    let response = next.run(request).await;
    let wrong = match response.extensions().get() {
        Some(HubCode::NodeSecretInvalid) => true,
        Some(HubCode::Unauthorized) => credentials.session.is_some() || credentials.api_key.is_some(),
        _ => false,
    };
    if !wrong {
        return response;
    }
    hub.telemetry.wrong_credentials();
    let (limit, address) = (hub.config.limits.wrong_credentials, &credentials.address);
    let taken = hub.limiter.check(
        &hub.store,
        HubCode::TooManyAttempts,
        "wrong_credentials",
        address,
        limit,
        hub.now(),
    );
    match taken.await {
        Ok(()) => response,
        Err(too_many) => too_many.into_response(),
    }
}

fn is_secret(token: &str) -> bool {
    token.len() == 64 && token.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl<S: Send + Sync> FromRequestParts<S> for Credentials {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> ApiResult<Self, Infallible> {
        let address = parts
            .extensions
            .get::<ConnectInfo<SocketAddr>>()
            .map_or_else(|| "local".to_owned(), |ConnectInfo(address)| rate_limit_key(address.ip()));
        let bearer = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = bearer
            .and_then(|value| value.split_once(' '))
            .filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer"));
        Ok(match token {
            Some((_, token)) => Self::from_bearer(token, address, parts.method.is_safe()),
            None => Self { address, ..Self::default() },
        })
    }
}

/// What an operation inside a transaction needs to know of the hub.
#[derive(Debug, Clone)]
pub struct OperationContext {
    /// Whether secrets have to be shown.
    pub require_secret: RequireSecret,
    /// What a new node gets.
    pub node_grant: i64,
    /// What a node pays for an asset of another owner.
    pub fetch_price: i64,
    pub now: Time,
}

impl Hub {
    /// What an operation inside a transaction needs to know.
    pub fn rules(&self) -> OperationContext {
        OperationContext {
            require_secret: self.config.require_secret,
            node_grant: self.config.node_grant,
            fetch_price: self.config.credits.fetch_price,
            now: self.now(),
        }
    }
}

impl Hub {
    /// Runs a read in the name of a node. An unknown node may read, and is not made. Showing the right secret binds the
    /// node here as it does everywhere.
    pub async fn authenticate_reader<T, F>(
        &self,
        node_id: &str,
        credentials: &Credentials,
        mut op: F,
    ) -> ApiResult<T>
    where
        F: FnMut(&mut dyn Tx, Option<&NodeRow>) -> ApiResult<T> + Send + 'static,
        T: Send + 'static,
    {
        let (rules, id, by) = (self.rules(), node_id.to_owned(), credentials.clone());
        let (told, binds) = self
            .store
            .read::<_, ApiError, _>(move |tx| {
                let node = authenticate_reader(tx, &rules, &id, &by)?;
                let binds = node.as_ref().is_some_and(|node| is_first_use(node, &by));
                Ok((op(tx, node.as_ref())?, binds))
            })
            .await?;
        if binds {
            self.bind_if_shown(node_id, credentials).await?;
        }
        Ok(told)
    }

    /// Binds a node whose secret a request shows for the first time.
    pub async fn bind_if_shown(&self, node_id: &str, credentials: &Credentials) -> ApiResult<()> {
        let (id, by) = (node_id.to_owned(), credentials.clone());
        self.store
            .write(move |tx| match nodes::lock(tx, &id)? {
                // It may have been replaced since it was looked at.
                Some(node) if is_first_use(&node, &by) => Ok(nodes::bind_secret(tx, &id)?),
                _ => Ok(()),
            })
            .await
    }
}

/// Whether a request shows a secret that nobody has shown before.
pub fn is_first_use(node: &NodeRow, credentials: &Credentials) -> bool {
    node.secret_state == SecretState::Issued
        && node.presented(credentials.secret.as_deref()) == PresentedSecret::Right
}

/// Lets a request act for a node that the hub has heard of: checks the secret, binds it on first use, and notes that
/// the node was heard of again. A banned node may not act.
pub fn authenticate_node(
    tx: &mut dyn Tx,
    rules: &OperationContext,
    node_id: &str,
    credentials: &Credentials,
) -> ApiResult<NodeRow> {
    let node = nodes::lock(tx, node_id)?.ok_or_else(|| access_denied(AccessDenial::SecretNotSet, node_id))?;
    check_and_touch(tx, rules, node, credentials)
}

/// Lets a request spend a node's credits. While nobody has shown its secret anybody may speak for a node, but not spend
/// what it holds: that takes the secret, or its owner.
pub fn authenticate_spender(
    tx: &mut dyn Tx,
    rules: &OperationContext,
    node_id: &str,
    credentials: &Credentials,
) -> ApiResult<NodeRow> {
    let node = authenticate_node(tx, rules, node_id, credentials)?;
    may_spend(tx, rules, &node, credentials)?;
    Ok(node)
}

/// Refuses a request that may not spend a node's credits. Only reads.
pub fn may_spend(
    tx: &mut dyn Tx,
    rules: &OperationContext,
    node: &NodeRow,
    credentials: &Credentials,
) -> ApiResult<()> {
    let presented = node.presented(credentials.secret.as_deref());
    let may = rules.require_secret == RequireSecret::Never
        || presented == PresentedSecret::Right
        || is_owner_request(tx, rules, node, credentials, presented)?;
    if may { Ok(()) } else { Err(access_denied(AccessDenial::SecretRequired, &node.node_id)) }
}

/// The same for a message, which may be the first that the hub hears of a node: the node is made then.
pub fn authenticate_or_register(
    tx: &mut dyn Tx,
    rules: &OperationContext,
    node_id: &str,
    credentials: &Credentials,
) -> ApiResult<NodeRow> {
    let node = nodes::lock_or_register(tx, node_id, rules.node_grant, rules.now)?;
    check_and_touch(tx, rules, node, credentials)
}

fn check_and_touch(
    tx: &mut dyn Tx,
    rules: &OperationContext,
    node: NodeRow,
    credentials: &Credentials,
) -> ApiResult<NodeRow> {
    check(tx, rules, &node, credentials)?;
    refuse_banned(tx, &node)?;
    // To the half minute is exact enough, and spares most requests a write.
    if rules.now.0 - node.last_seen_at >= SEEN_EVERY_MS {
        nodes::touch(tx, &node.node_id, rules.now)?;
    }
    Ok(node)
}

/// A banned node may not act, nor may any node of a banned account.
pub fn refuse_banned(tx: &mut dyn Tx, node: &NodeRow) -> ApiResult<()> {
    if node.status == "banned" {
        return Err(ApiError::new(
            HubCode::NodeBanned,
            format!("The node {} is banned from this hub.", node.node_id),
            "Ask the operator of this hub.",
        ));
    }
    let Some(owner) = &node.owner else { return Ok(()) };
    match capsid_store::accounts::get(tx, owner)? {
        Some(owner) if owner.banned_at.is_some() => Err(account::banned(&owner)),
        _ => Ok(()),
    }
}

/// The same for a read: an unknown node may read, and is not made.
pub fn authenticate_reader(
    tx: &mut dyn Tx,
    rules: &OperationContext,
    node_id: &str,
    credentials: &Credentials,
) -> ApiResult<Option<NodeRow>> {
    let Some(node) = nodes::get(tx, node_id)? else { return Ok(None) };
    let presented = node.presented(credentials.secret.as_deref());
    match may_act(node.secret_state, rules.require_secret, presented) {
        Ok(_) => Ok(Some(node)),
        Err(_) if is_owner_request(tx, rules, &node, credentials, presented)? => Ok(Some(node)),
        Err(denial) => Err(access_denied(denial, node_id)),
    }
}

fn check(
    tx: &mut dyn Tx,
    rules: &OperationContext,
    node: &NodeRow,
    credentials: &Credentials,
) -> ApiResult<()> {
    let presented = node.presented(credentials.secret.as_deref());
    match may_act(node.secret_state, rules.require_secret, presented) {
        Ok(SecretBinding::Binds) => Ok(nodes::bind_secret(tx, &node.node_id)?),
        Ok(SecretBinding::Unchanged) => Ok(()),
        Err(_) if is_owner_request(tx, rules, node, credentials, presented)? => {
            credentials.api_key.as_ref().map_or(Ok(()), |key| Ok(api_keys::used(tx, key, rules.now)?))
        }
        Err(denial) => Err(access_denied(denial, &node.node_id)),
    }
}

/// Whether a request that shows no secret comes from the account that owns the node, or from an admin.
fn is_owner_request(
    tx: &mut dyn Tx,
    rules: &OperationContext,
    node: &NodeRow,
    credentials: &Credentials,
    presented: PresentedSecret,
) -> ApiResult<bool> {
    if presented != PresentedSecret::Nothing {
        return Ok(false);
    }
    let user = account::caller(tx, credentials, rules.now)?;
    Ok(user.is_some_and(|user| account::may_act_for(&user, node)))
}

/// The refusal of a request that may not act for a node.
pub fn access_denied(denial: AccessDenial, node_id: &str) -> ApiError {
    match denial {
        AccessDenial::SecretRequired => ApiError::new(
            HubCode::NodeSecretRequired,
            format!("The node {node_id} has a secret and this request does not show it."),
            "Send `Authorization: Bearer <node_secret>` with the secret that hello returned.",
        ),
        AccessDenial::SecretInvalid => ApiError::new(
            HubCode::NodeSecretInvalid,
            format!("The secret is not the one of {node_id}."),
            "Use the secret that hello returned last, or say hello with `rotate_secret: true` and the present secret.",
        ),
        AccessDenial::SecretNotSet => ApiError::new(
            HubCode::NodeSecretNotSet,
            format!("The node {node_id} has no secret yet."),
            "Say hello first: POST /a2a/hello.",
        ),
    }
}
