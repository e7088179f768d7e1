//! A node that talks to one hub: messages in their envelope, plain REST calls, and what to do when the hub asks for a secret.

use crate::envelope;
use crate::http::{Answer, Call, Http};
use crate::identity::{Identity, KnownHub};
use crate::settings::Settings;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Clock, Code, Object, Problem, Result, Value, json};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::sync::Arc;
use std::time::Duration;

/// The longest that is waited for a hub that is busy.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// A node and its hub.
#[derive(Clone)]
pub struct Node {
    http: Http,
    identity: Identity,
    clock: Arc<dyn Clock>,
}

/// What a hub answered to hello.
#[derive(Debug, Clone, Default)]
pub struct Greeting {
    /// Everything it said but the secret.
    pub payload: Object,
    /// Where a person claims the node.
    pub claim_url: Option<String>,
    /// The code in it.
    pub claim_code: Option<String>,
}

impl Node {
    /// Prepares to talk; nothing is sent yet.
    pub fn new(settings: &Settings, identity: Identity, clock: Arc<dyn Clock>) -> Result<Self> {
        Ok(Self { http: Http::new(settings)?, identity, clock })
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

    /// Says hello and keeps the secret that the hub gives.
    pub fn hello(&self, mut payload: Object) -> Result<Greeting> {
        payload.entry("capabilities").or_insert_with(|| json!({}));
        let mut known = self.known()?;
        let mut said = self.send("hello", payload.into(), &known)?;
        if said.get("status").and_then(Value::as_str) == Some("rejected") {
            let reason = said.get("reason").and_then(Value::as_str).unwrap_or("no reason given");
            return Err(refused(200, reason, "The hub does not take this node.", None));
        }
        let text = |said: &Object, name: &str| said.get(name).and_then(Value::as_str).map(str::to_owned);
        if let Some(secret) =
            said.shift_remove("node_secret").and_then(|secret| secret.as_str().map(str::to_owned))
        {
            known.secret = Some(secret);
        }
        known.secret_version =
            said.get("node_secret_version").and_then(Value::as_u64).or(known.secret_version);
        known.hub_node_id = text(&said, "hub_node_id").or(known.hub_node_id);
        self.identity.remember(self.hub_url(), &known)?;
        Ok(Greeting {
            claim_url: text(&said, "claim_url"),
            claim_code: text(&said, "claim_code"),
            payload: said,
        })
    }

    /// Sends a message of the protocol and gives the payload of the answer.
    pub fn message(&self, kind: &str, payload: Value) -> Result<Object> {
        let known = self.known()?;
        match self.send(kind, payload.clone(), &known) {
            Err(problem) if wants_hello(&problem) => {
                self.hello(Object::new())?;
                self.send(kind, payload, &self.known()?)
            }
            result => result,
        }
    }

    /// The proof that this node made a bundle: with its secret, over the ids of gene and capsule.
    pub(crate) fn bundle_signature(&self, assets: &[Object]) -> Result<Option<String>> {
        let Some(secret) = self.known()?.secret else { return Ok(None) };
        let id = |kind: &str| {
            let of_kind = |asset: &&Object| asset.get("type").and_then(Value::as_str) == Some(kind);
            assets.iter().find(of_kind)?.get("asset_id")?.as_str().map(str::to_owned)
        };
        let mut ids: Vec<String> = ["Gene", "Capsule"].iter().filter_map(|kind| id(kind)).collect();
        ids.sort();
        Ok(hmac_hex(&secret, &ids.join("|")))
    }

    /// A GET; `query` is encoded.
    pub fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value> {
        self.get_as(path, query, None)
    }

    /// The same by a person: with a session token or an API key instead of the node's secret.
    pub fn get_as(&self, path: &str, query: &[(&str, &str)], token: Option<&str>) -> Result<Value> {
        let known = self.known()?;
        let path = with_query(path, query);
        let answer = self.call(Call {
            method: "GET",
            path: &path,
            body: None,
            bearer: token.or(known.secret.as_deref()),
            secret_version: known.secret_version.filter(|_| token.is_none()),
        })?;
        Ok(answer.body)
    }

    /// A POST of plain JSON.
    pub fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.post_as(path, body, None)
    }

    /// The same by a person: with a session token or an API key instead of the node's secret.
    pub fn post_as(&self, path: &str, body: &Value, token: Option<&str>) -> Result<Value> {
        let known = self.known()?;
        let bearer = token.or(known.secret.as_deref());
        let version = known.secret_version.filter(|_| token.is_none());
        let call = Call { method: "POST", path, body: Some(body), bearer, secret_version: version };
        match self.call(call) {
            Err(problem) if token.is_none() && wants_hello(&problem) => {
                self.hello(Object::new())?;
                let known = self.known()?;
                Ok(self
                    .call(Call {
                        bearer: known.secret.as_deref(),
                        secret_version: known.secret_version,
                        ..call
                    })?
                    .body)
            }
            result => Ok(result?.body),
        }
    }

    fn send(&self, kind: &str, payload: Value, known: &KnownHub) -> Result<Object> {
        let now = self.clock.now();
        // One id for all tries of one message: the hub does what it asks for once.
        let id = envelope::message_id(now, fastrand::u32(..));
        let body = envelope::message(kind, &id, self.id(), now, payload);
        let path = format!("/a2a/{kind}");
        let answer = self.call(Call {
            method: "POST",
            path: &path,
            body: Some(&body),
            bearer: known.secret.as_deref(),
            secret_version: known.secret_version,
        })?;
        if let (Some(sender), Some(expected)) = (envelope::sender(&answer.body), &known.hub_node_id)
            && sender != expected
        {
            let sender = inert_line(cut(sender, 80));
            return Err(self.http.odd(&format!("it calls itself `{sender}`, and was `{expected}` before")));
        }
        envelope::payload(&answer.body).ok_or_else(|| self.http.odd("its answer is no object"))
    }

    /// Makes a call, again where the hub asks to wait or cannot be reached, and turns a refusal into a problem.
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        let mut tries = 0;
        loop {
            let result = self.http.call(call);
            let wait = match &result {
                Ok(answer) if matches!(answer.status, 429 | 502 | 503 | 504) => {
                    answer.retry_after.or(Some(backoff(tries)))
                }
                Err(problem) if problem.code == Code::HubUnreachable => Some(backoff(tries)),
                _ => None,
            };
            match wait.filter(|wait| tries < self.http.settings().retries && *wait <= LONGEST_WAIT) {
                Some(wait) => std::thread::sleep(wait),
                None => {
                    return result
                        .and_then(|answer| if answer.ok() { Ok(answer) } else { Err(refusal(&answer)) });
                }
            }
            tries += 1;
        }
    }
}

fn hmac_hex(key: &str, text: &str) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).ok()?;
    mac.update(text.as_bytes());
    Some(mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn backoff(tries: u32) -> Duration {
    Duration::from_millis(300 * 3_u64.saturating_pow(tries))
}

fn wants_hello(problem: &Problem) -> bool {
    matches!(
        problem.hub_code.as_deref(),
        Some("node_secret_required" | "node_secret_not_set" | "unknown_node" | "node_not_found")
    )
}

/// What a hub that refuses says, in its own words as far as they can be trusted to be words.
fn refusal(answer: &Answer) -> Problem {
    let body = &answer.body;
    let text = |value: Option<&Value>| {
        value.and_then(Value::as_str).map(|text| inert_line(cut(text, 400)).to_owned())
    };
    let codes = [
        body.get("error"),
        body.get("reason"),
        body.pointer("/payload/error"),
        body.pointer("/payload/reason"),
    ];
    let code = codes.into_iter().find_map(text).unwrap_or_else(|| format!("http_{}", answer.status));
    let problem = text(body.pointer("/correction/problem")).or_else(|| text(body.get("message")));
    let fix = text(body.pointer("/correction/fix"));
    if answer.status == 429 {
        let wait = answer
            .retry_after
            .map_or_else(String::new, |wait| format!(" It asks to wait {} s.", wait.as_secs()));
        return Problem::new(Code::HubBusy, format!("The hub takes no more for now (`{code}`).{wait}"))
            .fix("Try again later.")
            .hub_code(code);
    }
    let message = problem.unwrap_or_else(|| "It gave no reason.".to_owned());
    refused(answer.status, &code, &message, fix)
}

fn refused(status: u16, code: &str, message: &str, fix: Option<String>) -> Problem {
    let secret = matches!(code, "node_secret_invalid") || code.contains("rotation_requires_current_secret");
    let kind = if secret { Code::NodeSecretRefused } else { Code::HubRefused };
    let problem =
        Problem::new(kind, format!("The hub refused ({status} `{code}`): {message}")).hub_code(code);
    match fix {
        Some(fix) => problem.fix(fix),
        None => problem,
    }
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
