//! Hello: a node introduces itself, is given its secret, and gets a new one where the old one is lost.

use crate::device;
use crate::envelope;
use crate::identity::{KnownHub, is_name, is_secret};
use crate::node::{NodeClient, RENAMED};
use crate::refusal::{self, OWNER_CAN_RESET};
use capsid_model::backoff::BackoffPolicy;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result, Time, Value, env, json};

/// How long a claim code is good for where the hub does not say.
const CLAIM_MS: i64 = 24 * 60 * 60 * 1000;
/// How long hello is left alone that a hub has had too much of, where it does not say.
const HELLO_REST_MS: i64 = 60 * 60 * 1000;
/// How long a node rests after a hub has refused it a new secret. Asking again at once would only count against it.
const REFUSED: BackoffPolicy = BackoffPolicy::doubling(2 * 60_000, 4 * 3_600_000);

/// What a hub answered to hello.
#[derive(Clone, Default)]
pub struct HelloResult {
    /// The complete answer without the secret.
    pub payload: Object,
    /// Where a person claims the node.
    pub claim_url: Option<String>,
    /// The code in it.
    pub claim_code: Option<String>,
    /// Until when.
    pub claim_expires_at: Option<Time>,
}

impl std::fmt::Debug for HelloResult {
    /// The payload may hold values that are sent only once, such as the key of a webhook.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Greeting").field("claim_url", &self.claim_url).finish_non_exhaustive()
    }
}

impl NodeClient {
    /// Says hello and keeps the secret that the hub gives. The payload may have `gene_count`, `capsule_count`, `name`,
    /// `model` and more; what the hub has to know of this machine is added.
    ///
    /// A node that the hub knows by a secret that is not here asks for a new one. Whether it gets one is up to the hub;
    /// where it refuses, it is not asked again for a while.
    pub fn hello(&self, payload: Object) -> Result<HelloResult> {
        self.identity.check(self.hub_url())?;
        if self.identity.has_given_secret() && payload.get("rotate_secret") == Some(&Value::Bool(true)) {
            return Err(Problem::new(
                Code::IdentityInvalid,
                "The node's secret comes from A2A_NODE_SECRET, where a new one could not be kept.",
            )
            .fix("Unset A2A_NODE_SECRET and store the secret in `~/.evomap` first."));
        }
        let payload = self.introduction(payload)?;
        let known = self.known()?;
        match self.greet(&payload, &known, false) {
            Err(problem) if is_invalid_secret(&problem) => self.rotate(&payload, &known, problem),
            Err(problem) => Err(problem),
            Ok(greeting) if known.secret.is_none() => self.save_hello_result(greeting, &payload),
            Ok(greeting) => Ok(greeting),
        }
    }

    /// Sends hello to a hub that was set up again at the same address: its previous name and secret are forgotten.
    pub fn hello_anew(&self, payload: Object) -> Result<HelloResult> {
        self.or_as_before(|| {
            self.forget_hub()?;
            self.hello(payload)
        })
    }

    /// Sends hello with a secret that the node's owner got by a reset from the hub, and stores it if the hub accepts it.
    pub fn hello_with(&self, secret: &str, payload: Object) -> Result<HelloResult> {
        self.or_as_before(|| {
            self.accept_secret(secret)?;
            self.hello(payload)
        })
    }

    /// Does something with what is known of the hub; where it fails, what was known is known again.
    fn or_as_before<T>(&self, act: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.identity.has_given_secret() {
            return Err(Problem::new(
                Code::IdentityInvalid,
                "The node's secret comes from A2A_NODE_SECRET, which goes before what is kept.",
            )
            .fix("Unset A2A_NODE_SECRET first, or put the new secret there."));
        }
        let before = self.known()?;
        act().inspect_err(|_| {
            // The first problem is the one to report.
            let _ = self.identity.update(self.hub_url(), |known| *known = before);
        })
    }

    /// After a hello that showed no secret: shows the one that came, so that the hub sends it to no stranger any more; or asks
    /// for a new one where the hub says that there is one already.
    fn save_hello_result(&self, greeting: HelloResult, payload: &Object) -> Result<HelloResult> {
        let known = self.known()?;
        if known.secret.is_some() {
            // Whatever comes of it, the node has its secret and will show it with the next call. It says no more than
            // that: what the first answer held (the key of a webhook) may be sent once only.
            let _ = self.greet(&self.introduction(Object::new())?, &known, false);
            return Ok(greeting);
        }
        let status = greeting.payload.get("node_secret_status").and_then(Value::as_str);
        if status != Some("active") {
            return Ok(greeting);
        }
        let lost = Problem::new(
            Code::NodeSecretRefused,
            format!("The hub knows `{}` by a secret that is not on this machine.", self.id()),
        )
        .fix(OWNER_CAN_RESET);
        self.rotate(payload, &known, lost)
    }

    /// Another secret than the one that was used, which the hub refused; `refused` is its answer.
    pub(crate) fn renew(&self, used: &KnownHub, refused: Problem) -> Result<KnownHub> {
        // Two processes that both lost the secret would otherwise take it from each other.
        let _one_at_a_time = self.identity.renewing()?;
        let known = self.known()?;
        if known.secret.is_some() && known.secret != used.secret {
            return Ok(known);
        }
        if !is_invalid_secret(&refused) {
            self.is_backing_off(&known)?;
            self.hello(Object::new())?;
            return self.known();
        }
        if let Some(secret) = self.identity.foreign_secret(self.hub_url())?
            && used.secret.as_ref() != Some(&secret)
        {
            self.accept_secret(&secret)?;
            return self.known();
        }
        self.rotate(&self.introduction(Object::new())?, &known, refused)?;
        self.known()
    }

    /// Asks for a new secret, showing the present one if there is one.
    fn rotate(&self, payload: &Object, known: &KnownHub, refused: Problem) -> Result<HelloResult> {
        if self.identity.has_given_secret() {
            return Err(Problem { fix: None, ..refused }.fix(
                "A2A_NODE_SECRET does not hold this node's secret for this hub; correct it, or unset it to let the node get one.",
            ));
        }
        self.is_backing_off(known)?;
        let now = self.clock.now();
        let result = self.greet(payload, known, true);
        let denied = match &result {
            Ok(_) if self.known()?.secret == known.secret => Some(refused),
            Err(problem) if matches!(problem.code, Code::NodeSecretRefused | Code::HubRefused) => {
                Some(problem.clone())
            }
            _ => None,
        };
        let Some(denied) = denied else { return result };
        let mut until = now;
        self.identity.update(self.hub_url(), |known| {
            known.refusals = known.refusals.saturating_add(1);
            until = Time(now.0.saturating_add(REFUSED.pause_ms(i64::from(known.refusals))));
            known.rests_until = Some(until);
        })?;
        Err(Problem {
            code: Code::NodeSecretRefused,
            message: format!("{} No new secret is asked for before {until}.", denied.message),
            fix: Some(OWNER_CAN_RESET.to_owned()),
            ..denied
        })
    }

    /// Whether the hub may be asked for a secret now.
    fn is_backing_off(&self, known: &KnownHub) -> Result<()> {
        match known.rests_until {
            Some(until) if self.clock.now() < until => {
                let wait = u64::try_from(until.0 - self.clock.now().0).unwrap_or_default();
                Err(Problem::new(
                    Code::NodeSecretRefused,
                    format!(
                        "`{}` has no secret that the hub takes, and asks for no new one before {until}.",
                        self.id()
                    ),
                )
                .fix(OWNER_CAN_RESET)
                .retry_after(Some(std::time::Duration::from_millis(wait))))
            }
            _ => Ok(()),
        }
    }

    /// One hello, checked and remembered.
    fn greet(&self, payload: &Object, known: &KnownHub, rotate: bool) -> Result<HelloResult> {
        let mut payload = payload.clone();
        if rotate {
            payload.insert("rotate_secret".to_owned(), true.into());
        }
        let (id, now) = self.fresh_id();
        let body = envelope::message("hello", &id, self.id(), now, payload.into());
        let mut response = match self.send("hello", &body, known) {
            Err(problem) if problem.code == Code::HubBusy => {
                self.hello_backoff(&problem, now)?;
                return Err(problem);
            }
            result => result?,
        };
        if response.get("status").and_then(Value::as_str) == Some("rejected") {
            return Err(refusal::from_rejection(&response));
        }
        let secret = response.shift_remove("node_secret").filter(|secret| !secret.is_null());
        let fields = self.checked(&response, secret.as_ref(), known)?;
        let claim = claim(&response, known, now);
        let url = self.hub_url();
        self.identity.update(url, |stored| {
            // Another process may have got a newer one while we waited for this.
            let is_older = fields.version.zip(stored.secret_version).is_some_and(|(new, old)| new < old);
            if !is_older || stored.secret == known.secret {
                stored.secret = fields.secret.or(stored.secret.take());
                stored.secret_version = fields.version.or(stored.secret_version);
            }
            stored.hub_node_id = fields.hub.or(stored.hub_node_id.take());
            stored.claim.clone_from(&claim);
            if stored.secret.is_some() {
                (stored.refusals, stored.rests_until) = (0, None);
            }
        })?;
        Ok(HelloResult {
            claim_url: claim.as_ref().and_then(|_| claim_url(&response)),
            claim_expires_at: claim.as_ref().map(|(_, until)| *until),
            claim_code: claim.map(|(code, _)| code),
            payload: response,
        })
    }

    /// The node's description, with the members that the hub requires.
    fn introduction(&self, mut payload: Object) -> Result<Object> {
        payload.entry("capabilities").or_insert_with(|| json!({}));
        let print = payload.entry("env_fingerprint").or_insert_with(|| json!({}));
        if let Value::Object(print) = print {
            let mut put = |name: &str, value: &str| {
                print.entry(name).or_insert_with(|| value.into());
            };
            put("platform", env::platform());
            put("arch", env::arch());
            put("client", "capsid");
            put("client_version", env!("CARGO_PKG_VERSION"));
            put("device_id", &device::towards(&self.identity.device_id()?, self.hub_url()));
        }
        Ok(payload)
    }

    /// What a hub may say of itself and of us, and nothing else.
    fn checked(&self, response: &Object, secret: Option<&Value>, known: &KnownHub) -> Result<HelloFields> {
        let text = |name: &str| response.get(name).and_then(Value::as_str);
        let secret = match secret.map(Value::as_str) {
            None => None,
            Some(Some(secret)) if is_secret(secret) => Some(secret.to_owned()),
            Some(_) => return Err(self.http.odd("the secret it gives has not the form of one")),
        };
        if let Some(named) = text("your_node_id")
            && named != self.id()
        {
            let named = inert_line(cut(named, 80));
            return Err(self.http.odd(&format!("it greets `{named}`, and this node is `{}`", self.id())));
        }
        let hub = text("hub_node_id").map(str::to_owned);
        if let Some(hub) = &hub {
            let is_known = known.hub_node_id.as_ref().is_none_or(|known| known == hub);
            if !is_name(hub) || !is_known || hub == self.id() {
                let odd =
                    self.http.odd("it does not keep the name that it had, or has none that a hub can have");
                return Err(if is_known { odd } else { odd.fix(RENAMED) });
            }
        }
        let version = response.get("node_secret_version").and_then(Value::as_u64);
        Ok(HelloFields { secret, version, hub })
    }

    /// A hub that limits hellos is left alone for as long as it requests.
    fn hello_backoff(&self, problem: &Problem, now: Time) -> Result<()> {
        if problem.hub_code.as_deref() != Some("hello_rate_limit") {
            return Ok(());
        }
        let wait =
            problem.retry_after.map_or(HELLO_REST_MS, |wait| i64::try_from(wait.as_millis()).unwrap_or(0));
        self.identity.update(self.hub_url(), |known| {
            known.rests_until = known.rests_until.max(Some(Time(now.0.saturating_add(wait))));
        })
    }
}

/// The fields of a hello answer that are stored.
struct HelloFields {
    secret: Option<String>,
    version: Option<u64>,
    hub: Option<String>,
}

fn is_invalid_secret(problem: &Problem) -> bool {
    problem.hub_code.as_deref() == Some("node_secret_invalid")
}

/// The claim code and when it expires. Receiving the same code again does not extend it.
fn claim(response: &Object, known: &KnownHub, now: Time) -> Option<(String, Time)> {
    let code = response.get("claim_code").and_then(Value::as_str)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if code.is_empty() || code.len() > 64 || !code.chars().all(plain) {
        return None;
    }
    let expires_at = ["claim_expires_at", "claim_code_expires_at"]
        .iter()
        .find_map(|name| Time::parse(response.get(*name)?.as_str()?));
    let before = known.claim.as_ref().filter(|(before, until)| before == code && *until > now);
    let until =
        expires_at.or(before.map(|(_, until)| *until)).unwrap_or(Time(now.0.saturating_add(CLAIM_MS)));
    Some((code.to_owned(), until))
}

/// The address where a person claims the node: one that a browser can be sent to, or none.
fn claim_url(response: &Object) -> Option<String> {
    let url = response.get("claim_url").and_then(Value::as_str)?;
    let web = url.starts_with("https://") || url.starts_with("http://");
    (web && url.len() <= 500 && url.bytes().all(|byte| byte.is_ascii_graphic())).then(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: &Value) -> Object {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_claim_code_expires_a_day_after_it_was_told_first() {
        let now = Time(1_000_000);
        let fresh = claim(&object(&json!({"claim_code": "REEF-4X7K"})), &KnownHub::default(), now);
        assert_eq!(fresh, Some(("REEF-4X7K".to_owned(), Time(now.0 + CLAIM_MS))));
        let known = KnownHub { claim: fresh.clone(), ..KnownHub::default() };
        let later = Time(now.0 + 3_600_000);
        assert_eq!(claim(&object(&json!({"claim_code": "REEF-4X7K"})), &known, later), fresh);
        let other = claim(&object(&json!({"claim_code": "LUTF-6NSW"})), &known, later).unwrap();
        assert_eq!(other.1, Time(later.0 + CLAIM_MS));
        let response = json!({"claim_code": "REEF-4X7K", "claim_expires_at": "1970-01-01T00:30:00Z"});
        assert_eq!(claim(&object(&response), &known, later).unwrap().1, Time(1_800_000));
        assert_eq!(claim(&object(&json!({"claim_code": "\u{1b}[2J"})), &known, later), None);
        assert_eq!(claim(&object(&json!({"claim_code": 7})), &known, later), None);
    }

    #[test]
    fn only_an_address_of_the_web_is_shown() {
        assert!(claim_url(&object(&json!({"claim_url": "https://hub.example/claim/REEF-4X7K"}))).is_some());
        for bad in ["javascript:alert(1)", "https://x/\u{1b}[2J", "https://x/ y", "file:///etc/passwd"] {
            assert_eq!(claim_url(&object(&json!({"claim_url": bad}))), None, "{bad}");
        }
    }
}
