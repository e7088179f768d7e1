//! What every request goes through, whatever its path: a number, a line in the log, a deadline, and headers that keep
//! browsers from making more of an answer than it is.

use crate::auth::credentials::count_wrong_credentials;
use crate::error::{ApiError, HubCode};
use crate::server::admission::{RequestGuard, guard_request};
use crate::state::SharedHub;
use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;
use tower_http::catch_panic::CatchPanicLayer;
use tracing::Instrument;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const CORRELATION_ID: HeaderName = HeaderName::from_static("x-correlation-id");

/// Calls that wait for something to happen.
const PATIENT: [&str; 3] = ["/a2a/events/stream", "/a2a/events/poll", "/a2a/live"];

/// Puts everything around a router.
pub fn apply_middleware(router: Router, hub: &SharedHub) -> Router {
    let telemetry = Arc::clone(&hub.telemetry);
    let caught = move |panic: Box<dyn Any + Send + 'static>| {
        telemetry.panicked();
        bug(panic.as_ref())
    };
    router
        .layer(from_fn_with_state(Arc::clone(hub), count_wrong_credentials))
        .layer(from_fn(detach_from_client))
        .layer(from_fn(without_nul))
        .layer(from_fn(limit_head_size))
        .layer(from_fn_with_state(Arc::clone(hub), in_time))
        .layer(CatchPanicLayer::custom(caught))
        .layer(from_fn(as_json))
        .layer(from_fn_with_state(RequestGuard::new(hub), guard_request))
        .layer(from_fn(with_headers))
        .layer(from_fn_with_state(Arc::clone(hub), access_log))
}

/// The longest address of a request.
const URI_LIMIT: usize = 16 * 1024;
/// The largest headers, all together.
const HEADERS_LIMIT: usize = 64 * 1024;

/// Refuses heads that are larger than any honest one.
async fn limit_head_size(request: Request, next: Next) -> Response {
    let uri = request.uri();
    if uri.path().len() + uri.query().map_or(0, str::len) > URI_LIMIT {
        return uri_too_long().into_response();
    }
    let size: usize = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if size > HEADERS_LIMIT {
        return headers_too_large().into_response();
    }
    next.run(request).await
}

fn uri_too_long() -> ApiError {
    ApiError::new(
        HubCode::UriTooLong,
        format!("The address of the request is longer than {URI_LIMIT} bytes."),
        "Ask for less at a time, or send it as the body of a POST.",
    )
}

fn headers_too_large() -> ApiError {
    ApiError::new(
        HubCode::HeadersTooLarge,
        format!("The headers of the request are more than 100, or larger than {HEADERS_LIMIT} bytes."),
        "Send fewer and shorter headers.",
    )
}

/// What is told where the head of a request could not even be read.
pub fn unreadable_head(status: u16) -> ApiError {
    match status {
        414 => uri_too_long(),
        431 => headers_too_large(),
        _ => ApiError::new(
            HubCode::InvalidProtocolMessage,
            "The request is not HTTP/1.1 as the hub reads it.",
            "Check the request line, the headers and the lengths that they name.",
        ),
    }
}

/// No id, name or word has U+0000 in it, and PostgreSQL cannot be asked for such a text.
async fn without_nul(request: Request, next: Next) -> Response {
    let holds_nul = |text: &str| text.contains("%00");
    if holds_nul(request.uri().path()) || request.uri().query().is_some_and(holds_nul) {
        return ApiError::field("the address", "a path and a query without %00", "one with it")
            .into_response();
    }
    next.run(request).await
}

/// Gives the request a number, counts it, and writes a line about it.
async fn access_log(State(hub): State<SharedHub>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let _open = hub.telemetry.request();
    let id = named(request.headers(), &REQUEST_ID).unwrap_or_else(|| format!("req_{}", hub.random.hex(8)));
    let correlation = named(request.headers(), &CORRELATION_ID);
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("none", |route| route.as_str());
    let method = matched_route(request.method());
    let span = tracing::info_span!("request", id = %id);
    let mut response = next.run(request).instrument(span).await;
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    let (status, took) = (response.status().as_u16(), began.elapsed());
    let code = response.extensions().get::<HubCode>().copied();
    hub.telemetry.record_response(route, method, status, took);
    if let Some(code) = code {
        hub.telemetry.refused(code);
    }
    let (ms, code) = (took.as_micros() as f64 / 1000.0, code.map(HubCode::as_str));
    if status >= 500 {
        tracing::warn!(method, route, status, ms, code, id = %id, correlation, "answered");
    } else {
        tracing::info!(method, route, status, ms, code, id = %id, correlation, "answered");
    }
    response
}

/// A number that a client gave, if it is one that can be logged.
fn named(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let id = headers.get(name)?.to_str().ok()?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    ((1..=128).contains(&id.len()) && id.bytes().all(plain)).then(|| id.to_owned())
}

/// The usual methods by name; a client could make up any number of others.
fn matched_route(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "OTHER",
    }
}

/// Browsers take an answer for what it says it is, keep no copy, and run nothing in it.
async fn with_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// The framework refuses some requests itself, in plain words. Clients expect JSON.
async fn as_json(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let status = response.status();
    let refused = status.is_client_error() || status.is_server_error();
    let kind = response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let plain =
        kind.map_or(response.body().size_hint().exact() == Some(0), |kind| kind.starts_with(b"text/plain"));
    if !refused || !plain {
        return response;
    }
    let why = axum::body::to_bytes(response.into_body(), 1000).await.unwrap_or_default();
    let why = capsid_model::text::inert(String::from_utf8_lossy(&why).trim());
    worded(status, &why).into_response()
}

fn worded(status: StatusCode, why: &str) -> ApiError {
    let (code, problem, fix) = match status.as_u16() {
        404 | 405 => {
            (HubCode::RouteNotFound, "The hub has no such path.", "See /openapi.json for every path.")
        }
        408 => (HubCode::RequestTimeout, "The request took too long.", "Try again."),
        413 => (HubCode::PayloadTooLarge, "The body is too large.", "Send less at a time."),
        500.. => (HubCode::InternalError, "The hub failed to answer.", "Tell the operator of this hub."),
        _ => (HubCode::ValidationError, why, "Correct the path or the query."),
    };
    let problem = if problem.is_empty() { "The request cannot be read." } else { problem };
    ApiError::new(code, problem, fix)
}

/// What was begun is carried out, also when the client hangs up. Some publish and hand in at the same time as they send
/// something else, and leave with the first answer.
async fn detach_from_client(request: Request, next: Next) -> Response {
    let only_reads = request.method().is_safe() || PATIENT.contains(&request.uri().path());
    if only_reads {
        return next.run(request).await;
    }
    match tokio::spawn(next.run(request).in_current_span()).await {
        Ok(response) => response,
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => ApiError::new(
                HubCode::ServerBusy,
                "The hub is stopping. Whether this was done is not known.",
                "Try again with the same message id.",
            )
            .retry_after(5000)
            .into_response(),
        },
    }
}

/// No answer takes longer than the hub is willing to work on it.
async fn in_time(State(hub): State<SharedHub>, request: Request, next: Next) -> Response {
    if PATIENT.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    match tokio::time::timeout(hub.config.timeouts.request, next.run(request)).await {
        Ok(response) => response,
        Err(_) => ApiError::new(
            HubCode::ServerBusy,
            "The hub did not get this done in time. Whether it was done is not known.",
            "Try again with the same message id.",
        )
        .retry_after(5000)
        .into_response(),
    }
}

/// A bug is told as one. What it says stays in the log.
fn bug(panic: &(dyn Any + Send)) -> Response<Body> {
    let said =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = said.unwrap_or("something without words"), "a handler panicked");
    ApiError::new(
        HubCode::InternalError,
        "The hub failed to answer.",
        "Tell the operator of this hub; its log says more.",
    )
    .into_response()
}
