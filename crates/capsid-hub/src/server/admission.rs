//! Keeps out requests that a web page made a browser send, before anything looks at them.

use crate::error::{ApiError, HubCode};
use crate::state::SharedHub;
use axum::body::HttpBody;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use capsid_rules::identity::addresses::client_address;
use capsid_rules::identity::request_guard::{Admission, GuardPolicy, GuardRefusal, RequestHead, admit};
use std::net::SocketAddr;
use std::sync::Arc;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The one path that answers to everybody: monitors call it by whatever name they have.
const HEALTH: &str = "/health";

/// The hub, and which requests it lets in.
#[derive(Clone)]
pub struct RequestGuard {
    hub: SharedHub,
    policy: Arc<GuardPolicy>,
}

impl RequestGuard {
    /// The guard of a hub.
    pub fn new(hub: &SharedHub) -> Self {
        Self { hub: Arc::clone(hub), policy: Arc::new(hub.config.guard_policy()) }
    }
}

/// Finds out whom a request comes from, and refuses it where a web page of another site may have caused it.
pub async fn guard_request(State(guard): State<RequestGuard>, mut request: Request, next: Next) -> Response {
    resolve_address(&guard, &mut request);
    if request.uri().path() == HEALTH {
        return next.run(request).await;
    }
    let origin = request.headers().get(header::ORIGIN).cloned();
    match admit(&read_head(&request), &guard.policy) {
        Err(refusal) => {
            guard.hub.telemetry.refused_by(refusal.as_str());
            refuse(refusal, &request).into_response()
        }
        Ok(Admission::Plain) => next.run(request).await,
        Ok(Admission::WebPage) if is_preflight(&request) => with_cors(answer_preflight(), origin),
        Ok(Admission::WebPage) => with_cors(next.run(request).await, origin),
    }
}

/// Behind a proxy that the operator named, the caller's address is the one that the proxy saw.
fn resolve_address(guard: &RequestGuard, request: &mut Request) {
    let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>().copied() else {
        return;
    };
    let entries = request.headers().get_all(FORWARDED_FOR).iter().map(|value| value.to_str().unwrap_or("?"));
    let forwarded = entries.collect::<Vec<_>>().join(",");
    let proxies = &guard.hub.config.admission.trusted_proxies;
    let address = client_address(peer.ip(), Some(&forwarded), proxies);
    request.extensions_mut().insert(ConnectInfo(SocketAddr::new(address, peer.port())));
}

fn read_head(request: &Request) -> RequestHead<'_> {
    let headers = request.headers();
    let asked = request.uri().authority().map(axum::http::uri::Authority::as_str);
    RequestHead {
        is_write: !request.method().is_safe(),
        host: asked.or_else(|| only_value(headers, &header::HOST)),
        origin: only_value(headers, &header::ORIGIN),
        fetch_site: only_value(headers, &FETCH_SITE),
        content_type: only_value(headers, &header::CONTENT_TYPE),
        has_body: !request.body().is_end_stream(),
        is_from_browser: headers.contains_key(header::REFERER) || headers.contains_key(header::COOKIE),
    }
}

/// The value of a header. One that is there twice, or is no text, matches nothing.
fn only_value<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    Some(if values.next().is_some() { "" } else { first.to_str().unwrap_or("") })
}

fn refuse(refusal: GuardRefusal, request: &Request) -> ApiError {
    match refusal {
        GuardRefusal::Host => {
            let host = read_head(request).host.unwrap_or_default();
            ApiError::new(
                HubCode::HostNotAllowed,
                format!("The hub does not answer to the name `{}`.", crate::error::truncate_for_client(host)),
                "Use the hub's address, or let the operator add the name to server.allowed_hosts or server.public_url.",
            )
        }
        GuardRefusal::Origin | GuardRefusal::FetchSite => ApiError::new(
            HubCode::OriginNotAllowed,
            "The request comes from a web page of another site.",
            "Call the hub from a program, or let the operator add the page's site to server.allowed_origins.",
        ),
        GuardRefusal::ContentType => ApiError::new(
            HubCode::UnsupportedMediaType,
            "The body is not sent as JSON.",
            "Send `Content-Type: application/json`.",
        ),
    }
}

fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

fn answer_preflight() -> Response {
    let allowed = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST, PUT, PATCH, DELETE"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "authorization, content-type, x-request-id, x-correlation-id"),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, allowed).into_response()
}

/// Lets the web page read the response. Cookies and the like are never sent along.
fn with_cors(mut response: Response, origin: Option<HeaderValue>) -> Response {
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        let exposed = HeaderValue::from_static("retry-after, x-request-id");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
    response
}
