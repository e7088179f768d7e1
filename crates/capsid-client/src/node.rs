//! A client of one hub: messages in their envelope, and plain REST calls with the node's secret.

use crate::config::ClientConfig;
use crate::envelope::{self, ExpectedResponse};
use crate::http::{HttpAnswer, HttpCall, HttpClient};
use crate::identity::{Identity, KnownHub, is_secret};
use crate::refusal;
use crate::retry::BACKOFF;
use capsid_model::{Clock, Code, Object, Problem, Result, Time, Value};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::sync::Arc;
use std::time::Duration;

/// The longest that is waited for a hub that is busy, over all tries of one call.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// What to do about a hub that has another name than before.
pub(crate) const RENAMED: &str = "If the hub was set up anew, `capsid node hello --new-hub` forgets the old one and registers with it; otherwise somebody else answers in its place.";

/// A node and its hub.
#[derive(Clone)]
pub struct NodeClient {
    pub(crate) http: HttpClient,
    pub(crate) identity: Identity,
    pub(crate) clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for NodeClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node").field("id", &self.id()).field("hub", &self.hub_url()).finish_non_exhaustive()
    }
}

/// When a call may be made again that got no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryPolicy {
    /// Doing it twice is doing it once: a GET, a message with its id, or what the hub knows again.
    Harmless,
    /// The hub may have done it, so a retry needs its word that it has not, or that it was never reached.
    Never,
}

impl NodeClient {
    /// Prepares the client; nothing is sent yet.
    pub fn new(settings: &ClientConfig, identity: Identity, clock: Arc<dyn Clock>) -> Result<Self> {
        let identity = if settings.from_repository { identity } else { identity.for_hub(&settings.url) };
        Ok(Self { http: HttpClient::new(settings)?, identity, clock })
    }

    /// The same node with other settings, such as a shorter time-out for a search.
    pub fn with_settings(&self, settings: &ClientConfig) -> Result<Self> {
        Self::new(settings, self.identity.clone(), self.clock.clone())
    }

    /// How the hub is reached.
    pub fn settings(&self) -> &ClientConfig {
        self.http.settings()
    }

    /// This node's name.
    pub fn id(&self) -> &str {
        &self.identity.node_id
    }

    /// The hub's address.
    pub fn hub_url(&self) -> &str {
        &self.http.settings().url
    }

    /// What is known of the hub, its secret for this node included.
    pub fn known(&self) -> Result<KnownHub> {
        self.identity.hub(self.hub_url())
    }

    /// Takes a secret that the node's owner got from the hub.
    pub fn accept_secret(&self, secret: &str) -> Result<()> {
        if !is_secret(secret) {
            return Err(Problem::new(Code::InputInvalid, "This is no secret of a node.")
                .fix("Give the 64 hexadecimal digits that the hub showed when the secret was reset."));
        }
        self.identity.update(self.hub_url(), |known| {
            known.secret = Some(secret.to_owned());
            known.secret_version = None;
            (known.refusals, known.rests_until) = (0, None);
        })
    }

    /// Forgets the hub with its secret: it was set up again, or is not used any more.
    pub fn forget_hub(&self) -> Result<()> {
        self.identity.forget(self.hub_url())
    }

    /// Sends a message of the protocol and gives the payload of the answer.
    pub fn message(&self, kind: &str, payload: Value) -> Result<Object> {
        let (id, now) = self.fresh_id();
        let body = envelope::message(kind, &id, self.id(), now, payload);
        self.with_secret(&|known| self.send(kind, &body, known))
    }

    /// The same, with the answer as it came.
    pub(crate) fn message_with_bytes(&self, kind: &str, payload: Value) -> Result<(Object, Vec<u8>)> {
        let (id, now) = self.fresh_id();
        let body = envelope::message(kind, &id, self.id(), now, payload);
        self.with_secret(&|known| self.send_with_bytes(kind, &body, known))
    }

    /// One id for all tries of one message: the hub does what it asks for once.
    pub(crate) fn fresh_id(&self) -> (String, Time) {
        let now = self.clock.now();
        (envelope::message_id(now, fastrand::u32(..)), now)
    }

    /// The same with a payload that depends on the secret.
    pub(crate) fn message_with(&self, kind: &str, payload: &dyn Fn(&KnownHub) -> Value) -> Result<Object> {
        let (id, now) = self.fresh_id();
        self.with_secret(&|known| {
            let body = envelope::message(kind, &id, self.id(), now, payload(known));
            self.send(kind, &body, known)
        })
    }

    /// A GET; `query` is encoded.
    pub fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value> {
        self.get_as(path, query, None)
    }

    /// The same by a person: with a session token or an API key instead of the node's secret.
    pub fn get_as(&self, path: &str, query: &[(&str, &str)], token: Option<&str>) -> Result<Value> {
        let path = with_query(path, query);
        let call = HttpCall { method: "GET", path: &path, body: None, bearer: token, secret_version: None };
        self.plain(call, RetryPolicy::Harmless)
    }

    /// A POST of plain JSON. It is not repeated where the hub may have done what it asks for.
    pub fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.post_as(path, body, None)
    }

    /// The same by a person: with a session token or an API key instead of the node's secret.
    pub fn post_as(&self, path: &str, body: &Value, token: Option<&str>) -> Result<Value> {
        let call = HttpCall { method: "POST", path, body: Some(body), bearer: token, secret_version: None };
        self.plain(call, RetryPolicy::Never)
    }

    /// A POST that may be repeated: the hub does the same thing once.
    pub fn post_again(&self, path: &str, body: &Value) -> Result<Value> {
        let call = HttpCall { method: "POST", path, body: Some(body), bearer: None, secret_version: None };
        self.plain(call, RetryPolicy::Harmless)
    }

    fn plain(&self, call: HttpCall<'_>, repeat: RetryPolicy) -> Result<Value> {
        // Reading alone does not register a node.
        let only_looks = call.method == "GET" && self.known()?.secret.is_none();
        if call.bearer.is_some() || only_looks {
            return self.whole(self.call(call, repeat)?.body);
        }
        self.with_secret(&|known| {
            let (bearer, secret_version) = (known.secret.as_deref(), known.secret_version);
            self.whole(self.call(HttpCall { bearer, secret_version, ..call }, repeat)?.body)
        })
    }

    /// Hubs answer with objects; anything else has no members to read.
    fn whole(&self, answer: Value) -> Result<Value> {
        if answer.is_object() { Ok(answer) } else { Err(self.http.odd("its answer is no object")) }
    }

    /// Does something with the secret that is known, and once more with a new one where the hub asks for that.
    pub(crate) fn with_secret<T>(&self, act: &dyn Fn(&KnownHub) -> Result<T>) -> Result<T> {
        let known = self.known()?;
        match act(&known) {
            Err(problem) if should_hello(&problem) => act(&self.renew(&known, problem)?),
            result => result,
        }
    }

    pub(crate) fn send(&self, kind: &str, body: &Value, known: &KnownHub) -> Result<Object> {
        self.send_with_bytes(kind, body, known).map(|(payload, _)| payload)
    }

    fn send_with_bytes(&self, kind: &str, body: &Value, known: &KnownHub) -> Result<(Object, Vec<u8>)> {
        let path = format!("/a2a/{kind}");
        let (bearer, secret_version) = (known.secret.as_deref(), known.secret_version);
        let call = HttpCall { method: "POST", path: &path, body: Some(body), bearer, secret_version };
        let answer = self.call(call, RetryPolicy::Harmless)?;
        let expected =
            ExpectedResponse { kind, node_id: self.id(), hub_node_id: known.hub_node_id.as_deref() };
        let payload = envelope::answered(&answer.body, expected).map_err(|what| {
            let (named, pinned) = (envelope::sender(&answer.body), expected.hub_node_id);
            match pinned.is_some() && named.is_some() && named != pinned {
                true => self.http.odd(&what).fix(RENAMED),
                false => self.http.odd(&what),
            }
        })?;
        Ok((payload, answer.bytes))
    }

    /// Makes a call, again where the hub asks to wait or cannot be reached, and turns a refusal into a problem.
    pub(crate) fn call(&self, call: HttpCall<'_>, repeat: RetryPolicy) -> Result<HttpAnswer> {
        let (mut tries, mut waited) = (0, Duration::ZERO);
        loop {
            let (problem, next) = match self.http.attempt(call) {
                Ok(answer) if answer.ok() || refusal::is_decision(&answer) => return Ok(answer),
                Ok(answer) => (refusal::from_answer(&answer), wait_for(&answer, repeat, tries)),
                Err(failure) => {
                    let may = failure.again && (!failure.sent || repeat == RetryPolicy::Harmless);
                    (failure.problem, may.then(|| BACKOFF.pause(u64::from(tries) + 1)))
                }
            };
            match next.filter(|next| tries < self.settings().retries && waited + *next <= MAX_WAIT) {
                Some(next) => {
                    std::thread::sleep(next);
                    waited += next;
                }
                None => return Err(problem),
            }
            tries += 1;
        }
    }
}

/// How long to wait before a call that was answered so is made again; none where that would not help.
fn wait_for(answer: &HttpAnswer, repeat: RetryPolicy, tries: u32) -> Option<Duration> {
    let usual = BACKOFF.pause(u64::from(tries) + 1);
    match answer.status {
        // The hub itself reports that it did nothing. Its requested delay is the minimum.
        429 | 503 => Some(answer.retry_after.unwrap_or(usual)),
        // Somebody in front of it does not know.
        502 | 504 if repeat == RetryPolicy::Harmless => Some(answer.retry_after.unwrap_or(usual)),
        _ => None,
    }
}

/// Whether the hub wants another secret than the one that was shown, or one at all.
fn should_hello(problem: &Problem) -> bool {
    let codes = [
        "node_secret_required",
        "node_secret_not_set",
        "node_secret_invalid",
        "unknown_node",
        "node_not_found",
    ];
    problem.hub_code.as_deref().is_some_and(|code| codes.contains(&code))
}

/// The proof that a node made a bundle: with its secret, over the ids of gene and capsule.
pub(crate) fn bundle_signature(secret: Option<&str>, assets: &[Object]) -> Option<String> {
    let id = |kind: &str| {
        let of_kind = |asset: &&Object| asset.get("type").and_then(Value::as_str) == Some(kind);
        assets.iter().find(of_kind)?.get("asset_id")?.as_str().map(str::to_owned)
    };
    let mut ids: Vec<String> = ["Gene", "Capsule"].iter().filter_map(|kind| id(kind)).collect();
    ids.sort();
    hmac_hex(secret?, &ids.join("|"))
}

fn hmac_hex(secret: &str, text: &str) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(text.as_bytes());
    Some(capsid_model::hash::hex(&mac.finalize().into_bytes()))
}

/// A path with its query, encoded.
pub fn with_query(path: &str, query: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = query.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

/// A text as a part of a path or a query.
pub fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;

    #[test]
    fn a_bundle_is_signed_over_its_two_ids_in_order() {
        let asset = |kind: &str, id: &str| json!({"type": kind, "asset_id": id}).as_object().unwrap().clone();
        let (gene, capsule) = (asset("Gene", "sha256:b"), asset("Capsule", "sha256:a"));
        let event = asset("EvolutionEvent", "sha256:0");
        let signed = bundle_signature(Some("key"), &[gene.clone(), capsule.clone(), event]).unwrap();
        assert_eq!(signed, bundle_signature(Some("key"), &[capsule, gene]).unwrap());
        assert_eq!(Some(signed), hmac_hex("key", "sha256:a|sha256:b"));
        // The example that everybody's HMAC-SHA256 is checked with.
        let fox = hmac_hex("key", "The quick brown fox jumps over the lazy dog").unwrap();
        assert_eq!(fox, "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8");
        assert_eq!(bundle_signature(None, &[]), None);
    }

    #[test]
    fn paths_and_queries_are_encoded() {
        assert_eq!(with_query("/x", &[]), "/x");
        assert_eq!(with_query("/x", &[("a", "b c&d"), ("e", "ü/")]), "/x?a=b%20c%26d&e=%C3%BC%2F");
        assert_eq!(encoded("sha256:a/../b"), "sha256%3Aa%2F..%2Fb");
    }
}
