//! What a request shows of who sends it.

use crate::error::{ApiResult, HubCode};
use crate::state::SharedHub;
use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::header;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use capsid_model::time::Time;
use capsid_rules::identity::network::Network;
use capsid_rules::identity::secrets::PresentedSecret;
use capsid_store::accounts::UserRow;
use capsid_store::nodes::NodeRow;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Where a request comes from that came through no socket.
const LOCAL: &str = "local";
/// How exactly the hub knows when it last heard of a node, and when its secret was last shown.
pub(super) const SEEN_EVERY_MS: i64 = 30_000;

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
    /// The network it comes from.
    pub network: Network,
    /// What they were found to be. All copies share it, so that a request is authenticated once.
    pub compared: Arc<ComparedCredentials>,
}

/// What credentials were found to be when they were compared with what is stored.
#[derive(Debug, Default)]
pub struct ComparedCredentials {
    /// The node whose secret was compared, the version of that secret, and the result.
    secret: Mutex<Option<(String, i64, PresentedSecret)>>,
    /// The account of the session token or API key, if there is one.
    user: Mutex<Option<Option<UserRow>>>,
    /// Counts comparisons, for tests.
    counter: Arc<AtomicU64>,
}

impl ComparedCredentials {
    fn new(counter: Arc<AtomicU64>) -> Arc<Self> {
        Arc::new(Self { counter, ..Self::default() })
    }
}

impl Credentials {
    /// Tells tokens apart by their form. A bearer of no known form is a wrong secret where something may be changed, and
    /// none at all where things are only looked at.
    fn with_bearer(mut self, token: &str, only_looks: bool) -> Self {
        let token = token.trim().to_owned();
        if is_secret(&token) {
            self.secret = Some(token);
        } else if token.starts_with("sess_") {
            self.session = Some(token);
        } else if token.starts_with("ek_") {
            self.api_key = Some(token);
        } else if !only_looks {
            self.secret = Some(token);
        }
        self
    }

    /// Takes a secret from the body where the header has none, or something else.
    #[must_use]
    pub fn or_secret(mut self, secret: Option<&str>) -> Self {
        if !self.secret.as_deref().is_some_and(is_secret) {
            self.secret = secret.map(str::to_owned).or(self.secret);
            self.compared = ComparedCredentials::new(Arc::clone(&self.compared.counter));
        }
        self
    }

    /// Whether the request comes from the machine that the hub runs on.
    pub fn is_from_loopback(&self) -> bool {
        let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)].map(rate_limit_key);
        // A request that came through no socket comes from this process.
        self.address == LOCAL || loopback.contains(&self.address)
    }

    /// What they show of a node's secret. It is compared once; after that only the version of the secret is.
    pub fn presented_to(&self, node: &NodeRow) -> PresentedSecret {
        let Some(secret) = self.secret.as_deref() else { return PresentedSecret::Nothing };
        let mut known = self.compared.secret.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((node_id, version, presented))
                if *node_id == node.node_id && *version == node.secret_version =>
            {
                *presented
            }
            _ => {
                self.compared.counter.fetch_add(1, Ordering::Relaxed);
                let presented = node.presented(Some(secret));
                *known = Some((node.node_id.clone(), node.secret_version, presented));
                presented
            }
        }
    }

    /// Whether they show a secret that nobody has shown before.
    pub fn is_first_use(&self, node: &NodeRow) -> bool {
        node.presented_at.is_none() && self.presented_to(node) == PresentedSecret::Right
    }

    /// Whether they show the secret and the hub has to note that: for the first time, for the first time in a while, or
    /// while somebody says that it is lost.
    pub fn is_use_to_note(&self, node: &NodeRow, now: Time) -> bool {
        let noted = node.last_secret_at.filter(|_| node.recovery_at.is_none());
        noted.is_none_or(|at| now.0 - at >= SEEN_EVERY_MS)
            && self.presented_to(node) == PresentedSecret::Right
    }

    /// The account of the session token or API key: as it was found before, or as `find` finds it.
    pub(super) fn user_or_find(
        &self,
        find: impl FnOnce() -> ApiResult<Option<UserRow>>,
    ) -> ApiResult<Option<UserRow>> {
        if self.session.is_none() && self.api_key.is_none() {
            return Ok(None);
        }
        let mut known = self.compared.user.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(user) = &*known {
            return Ok(user.clone());
        }
        self.compared.counter.fetch_add(1, Ordering::Relaxed);
        let user = find()?;
        *known = Some(user.clone());
        Ok(user)
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

impl FromRequestParts<SharedHub> for Credentials {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, hub: &SharedHub) -> ApiResult<Self, Infallible> {
        let caller = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
        let address = caller.map_or_else(|| LOCAL.to_owned(), rate_limit_key);
        let network = caller.map_or_else(Network::loopback, Network::of_address);
        let bearer = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = bearer
            .and_then(|value| value.split_once(' '))
            .filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer"));
        let compared = ComparedCredentials::new(Arc::clone(&hub.authentications));
        let credentials = Self { address, network, compared, ..Self::default() };
        Ok(match token {
            Some((_, token)) => credentials.with_bearer(token, parts.method.is_safe()),
            None => credentials,
        })
    }
}
