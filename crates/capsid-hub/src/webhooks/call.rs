//! One call. The hub connects by itself, to an address that it has just checked: nothing between here and the socket
//! looks the name up again, follows a redirect or asks for a proxy.

use super::sign;
use crate::outbound::resolve::{CallAddress, Resolver};
use crate::outbound::url;
use crate::outbound::url::WebhookUrl;
use crate::outbound::{AGENT, TrustRoots};
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use capsid_model::time::Time;
use capsid_store::notifications::deliveries::calls::{CallOutcome, DeliveryCall};
use http_body_util::Full;
use rustls::RootCertStore;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How much of an answer is read before it is thrown away, so that a well-meaning receiver is not cut off.
const MAX_READ: usize = 64 * 1024;

/// Makes calls.
pub struct WebhookCaller {
    pub resolver: Arc<dyn Resolver>,
    /// Whether this machine may be called.
    pub allow_local: bool,
    /// How long a call may take as a whole.
    pub patience: Duration,
    trust: TrustRoots,
}

impl WebhookCaller {
    /// Makes calls as the settings say, and trusts the certificates that this machine trusts.
    pub fn new(resolver: Arc<dyn Resolver>, allow_local: bool, patience: Duration) -> Self {
        Self { resolver, allow_local, patience, trust: TrustRoots::default() }
    }

    /// Trusts these certificates instead.
    #[must_use]
    pub fn trusting(self, roots: RootCertStore) -> Self {
        Self { trust: TrustRoots::new(roots), ..self }
    }

    /// Makes a call and tells what came of it. Nothing of the answer but its status is kept.
    pub async fn call(&self, call: &DeliveryCall, now: Time) -> CallOutcome {
        match timeout(self.patience, self.send_request(call, now)).await {
            Ok(Ok(status)) => CallOutcome { status: Some(status.as_u16()), error: fault(status) },
            Ok(Err(error)) => CallOutcome { status: None, error: Some(error.to_owned()) },
            Err(_) => CallOutcome { status: None, error: Some("timeout".to_owned()) },
        }
    }

    async fn send_request(&self, call: &DeliveryCall, now: Time) -> Result<StatusCode, &'static str> {
        let target = url::check(&call.url, self.allow_local)?;
        let body = body(call, now).map_err(|error| {
            tracing::error!(%error, delivery = call.delivery_id, "the stored payload of a webhook call cannot be read");
            "store_damaged"
        })?;
        let request = request(&target, call, body, now).ok_or("unusable_request")?;
        let stream = self.connect(&target.place).await?;
        let tls_name = target.https.then_some(target.place.host.as_str());
        let answer = self.trust.exchange(stream, tls_name, request, MAX_READ).await?;
        Ok(answer.status)
    }

    /// Connects to an address of a place, if all of its addresses may be called.
    pub async fn connect(&self, place: &CallAddress) -> Result<TcpStream, &'static str> {
        let addresses = place.addresses(&*self.resolver).await.map_err(|refusal| refusal.as_str())?;
        for address in addresses {
            let Ok(stream) = TcpStream::connect(address).await else { continue };
            // The address is the one that was checked; this holds even if something redirects connections.
            return match stream.peer_addr() {
                Ok(peer) if place.allows(peer.ip()) => Ok(stream),
                _ => Err("private_address"),
            };
        }
        Err("connection_failed")
    }
}

/// What is wrong with a status, if anything is.
fn fault(status: StatusCode) -> Option<String> {
    match status {
        _ if status.is_success() => None,
        _ if status.is_redirection() => Some("redirect_not_followed".to_owned()),
        _ => Some("http_status".to_owned()),
    }
}

/// The body: what the event says, and which event, when and to whom.
fn body(call: &DeliveryCall, now: Time) -> serde_json::Result<String> {
    let said: Map<String, Value> = serde_json::from_str(&call.payload)?;
    let mut body = Map::new();
    body.insert("type".to_owned(), call.kind.clone().into());
    body.insert("event_id".to_owned(), call.delivery_id.clone().into());
    body.insert("delivered_at".to_owned(), now.iso().into());
    body.insert("node_id".to_owned(), call.node_id.clone().into());
    for (key, value) in said {
        body.entry(key).or_insert(value);
    }
    Ok(Value::Object(body).to_string())
}

fn request(
    target: &WebhookUrl,
    call: &DeliveryCall,
    body: String,
    now: Time,
) -> Option<Request<Full<Bytes>>> {
    let mut request = Request::new(Full::default());
    *request.method_mut() = Method::POST;
    *request.uri_mut() = target.path.parse().ok()?;
    let headers = request.headers_mut();
    headers.insert(header::HOST, target.authority.parse().ok()?);
    headers.insert(header::USER_AGENT, HeaderValue::from_static(AGENT));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    sign_into(headers, call, &body, now.0.div_euclid(1000))?;
    *request.body_mut() = Full::new(Bytes::from(body));
    Some(request)
}

fn sign_into(headers: &mut HeaderMap, call: &DeliveryCall, body: &str, timestamp: i64) -> Option<()> {
    let mut put = |name: &'static str, value: &str| {
        headers.insert(HeaderName::from_static(name), value.parse().ok()?);
        Some(())
    };
    let id = &call.delivery_id;
    let signatures: Vec<_> =
        call.secrets.iter().map(|secret| sign::standard(secret, id, timestamp, body)).collect();
    put("webhook-id", id)?;
    put("webhook-timestamp", &timestamp.to_string())?;
    put("webhook-signature", &signatures.join(" "))?;
    put("x-evomap-event", &call.kind)?;
    put("x-evomap-delivery", id)?;
    put("x-evomap-timestamp", &timestamp.to_string())?;
    // This form has room for one signature, so the one with the old secret has a header of its own.
    let names = ["x-evomap-signature", "x-evomap-signature-previous"];
    for (name, secret) in names.into_iter().zip(&call.secrets) {
        put(name, &sign::plain(secret, timestamp, body))?;
    }
    Some(())
}
