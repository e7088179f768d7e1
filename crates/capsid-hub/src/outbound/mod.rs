//! One request to somebody else, over a connection that the caller made: to an address that it has looked at itself.
//! Nothing here looks a name up, follows a redirect or asks for a proxy.

pub mod endpoint;
pub mod resolve;
pub mod url;

use axum::body::Bytes;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::sync::{Arc, OnceLock};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// How much memory the head of an answer may take.
const MAX_HEAD: usize = 16 * 1024;

/// What the hub calls itself.
pub const AGENT: &str = concat!("capsid-hub/", env!("CARGO_PKG_VERSION"));

/// An answer.
#[derive(Debug)]
pub struct OutboundResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Its body, or a short code for why it was not read to its end.
    pub body: Result<Vec<u8>, &'static str>,
}

/// Whose certificates are trusted.
#[derive(Default)]
pub struct TrustRoots(OnceLock<Option<TlsConnector>>);

impl TrustRoots {
    /// These certificates instead of those that this machine trusts.
    pub fn new(roots: RootCertStore) -> Self {
        Self(OnceLock::from(connector(roots)))
    }

    /// Sends a request, with TLS where a name is given that the certificate has to be for, and reads so much of the
    /// answer's body. Nothing outlives the call: when it is dropped, the connection is closed.
    pub async fn exchange(
        &self,
        stream: TcpStream,
        tls_name: Option<&str>,
        request: Request<Full<Bytes>>,
        most: usize,
    ) -> Result<OutboundResponse, &'static str> {
        let Some(name) = tls_name else { return exchange(stream, request, most).await };
        let name = ServerName::try_from(name.to_owned()).map_err(|_| "invalid_host")?;
        let tls = self.0.get_or_init(|| connector(system_roots()));
        let tls = tls.as_ref().ok_or("tls_failed")?;
        let stream = tls.connect(name, stream).await.map_err(|_| "tls_failed")?;
        exchange(stream, request, most).await
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
        tracing::warn!("this machine trusts no certificate, so nobody can be called over TLS");
    }
    roots
}

async fn exchange<S>(
    stream: S,
    request: Request<Full<Bytes>>,
    most: usize,
) -> Result<OutboundResponse, &'static str>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(MAX_HEAD)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| "connection_failed")?;
    let answered = async {
        let answer = sender.send_request(request).await.map_err(|_| "no_answer")?;
        let (head, body) = answer.into_parts();
        Ok(OutboundResponse { status: head.status, headers: head.headers, body: read(body, most).await })
    };
    // Neither outlives this call: when it takes too long, both are dropped and the connection is closed.
    let mut answered = std::pin::pin!(answered);
    tokio::select! {
        biased;
        answer = &mut answered => answer,
        _ended = connection => answered.await,
    }
}

async fn read(mut body: Incoming, most: usize) -> Result<Vec<u8>, &'static str> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| "answer_cut_short")?;
        let data = frame.data_ref().map_or(&[][..], |data| data);
        if bytes.len() + data.len() > most {
            return Err("answer_too_long");
        }
        bytes.extend_from_slice(data);
    }
    Ok(bytes)
}
