//! One call. The hub connects by itself, to an address that it has just checked: nothing between here and the socket
//! looks the name up again, follows a redirect or asks for a proxy.

use super::resolve::{Place, Resolve};
use super::sign;
use crate::webhook_url::{self, Target};
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use capsid_model::time::Time;
use capsid_store::deliveries::calls::{Call, Outcome};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Map, Value};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// How much of an answer is read before it is thrown away.
const MOST_READ: usize = 64 * 1024;
/// How much memory the head of an answer may take.
const MOST_HEAD: usize = 16 * 1024;
const AGENT: &str = concat!("capsid-hub/", env!("CARGO_PKG_VERSION"));

/// Makes calls.
pub struct Caller {
    /// Finds addresses.
    pub resolver: Arc<dyn Resolve>,
    /// Whether this machine may be called.
    pub allow_local: bool,
    /// How long a call may take as a whole.
    pub patience: Duration,
    tls: OnceLock<Option<TlsConnector>>,
}

impl Caller {
    /// Makes calls as the settings say, and trusts the certificates that this machine trusts.
    pub fn new(resolver: Arc<dyn Resolve>, allow_local: bool, patience: Duration) -> Self {
        Self { resolver, allow_local, patience, tls: OnceLock::new() }
    }

    /// Trusts these certificates instead.
    #[must_use]
    pub fn trusting(self, roots: RootCertStore) -> Self {
        Self { tls: OnceLock::from(connector(roots)), ..self }
    }

    /// Makes a call and tells what came of it. Nothing of the answer but its status is kept.
    pub async fn make(&self, call: &Call, now: Time) -> Outcome {
        match timeout(self.patience, self.ask(call, now)).await {
            Ok(Ok(status)) => Outcome { status: Some(status.as_u16()), error: fault(status) },
            Ok(Err(error)) => Outcome { status: None, error: Some(error.to_owned()) },
            Err(_) => Outcome { status: None, error: Some("timeout".to_owned()) },
        }
    }

    async fn ask(&self, call: &Call, now: Time) -> Result<StatusCode, &'static str> {
        let target = webhook_url::check(&call.url, self.allow_local)?;
        let request = request(&target, call, now).ok_or("unusable_request")?;
        let stream = self.connect(&target.place).await?;
        if !target.https {
            return exchange(stream, request).await;
        }
        let name = ServerName::try_from(target.place.host.clone()).map_err(|_| "invalid_host")?;
        let tls = self.tls.get_or_init(|| connector(system_roots()));
        let tls = tls.as_ref().ok_or("tls_failed")?;
        let stream = tls.connect(name, stream).await.map_err(|_| "tls_failed")?;
        exchange(stream, request).await
    }

    /// Connects to an address of a place, if all of its addresses may be called.
    pub async fn connect(&self, place: &Place) -> Result<TcpStream, &'static str> {
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

fn connector(roots: RootCertStore) -> Option<TlsConnector> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Some(TlsConnector::from(Arc::new(config)))
}

fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (added, _unusable) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        tracing::warn!("this machine trusts no certificate, so no webhook can be called over TLS");
    }
    roots
}

/// The body: what the event says, and which event, when and to whom.
fn body(call: &Call, now: Time) -> String {
    let said: Map<String, Value> = serde_json::from_str(&call.payload).unwrap_or_default();
    let mut body = Map::new();
    body.insert("type".to_owned(), call.kind.clone().into());
    body.insert("event_id".to_owned(), call.delivery_id.clone().into());
    body.insert("delivered_at".to_owned(), now.iso().into());
    body.insert("node_id".to_owned(), call.node_id.clone().into());
    for (key, value) in said {
        body.entry(key).or_insert(value);
    }
    Value::Object(body).to_string()
}

fn request(target: &Target, call: &Call, now: Time) -> Option<Request<Full<Bytes>>> {
    let body = body(call, now);
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

fn sign_into(headers: &mut HeaderMap, call: &Call, body: &str, timestamp: i64) -> Option<()> {
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

async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> Result<StatusCode, &'static str>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(MOST_HEAD)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| "connection_failed")?;
    let answered = async {
        let answer = sender.send_request(request).await.map_err(|_| "no_answer")?;
        let status = answer.status();
        drain(answer.into_body()).await;
        Ok(status)
    };
    // Neither outlives this call: when it takes too long, both are dropped and the connection is closed.
    let mut answered = std::pin::pin!(answered);
    tokio::select! {
        biased;
        status = &mut answered => status,
        _ended = connection => answered.await,
    }
}

/// Reads the body of an answer, so that a well-meaning receiver is not cut off. What comes of that does not matter.
async fn drain(mut body: Incoming) {
    let mut read = 0;
    while let Some(Ok(frame)) = body.frame().await {
        read += frame.data_ref().map_or(0, Bytes::len);
        if read > MOST_READ {
            return;
        }
    }
}
