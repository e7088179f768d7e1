//! The server of the local viewer.

use super::body::streamed;
use super::data::{JsonDocument, LocalData};
use super::guard::{has_key, is_meant_for_us};
use super::range::ByteRange;
use crate::pages::PageHost;
use crate::response::answer;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::Response;
use capsid_model::{Code, Problem, Result, hash, json};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

/// The port of the local viewer, unless it is in use or another one is given.
pub const DEFAULT_PORT: u16 = 4840;

/// A local viewer that listens but does not serve requests yet.
#[derive(Debug)]
pub struct LocalServer {
    listener: TcpListener,
    port: u16,
    key: String,
}

struct LocalServerState {
    data: Arc<dyn LocalData>,
    port: u16,
    key: String,
}

impl LocalServer {
    /// Listens on a port of loopback: the one named, else the usual one, else any that is free.
    pub fn open(port: Option<u16>) -> Result<Self> {
        let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let bound = match port {
            Some(port) => bind(port).map_err(|error| port_in_use(port, &error))?,
            None => bind(DEFAULT_PORT).or_else(|_| bind(0)).map_err(|error| port_in_use(0, &error))?,
        };
        let failed = |error: std::io::Error| port_in_use(port.unwrap_or_default(), &error);
        bound.set_nonblocking(true).map_err(failed)?;
        let port = bound.local_addr().map_err(failed)?.port();
        Ok(Self { listener: bound, port, key: new_key()? })
    }

    /// The address of a page with the key. What follows `#` is sent to no server and appears in no log.
    pub fn address(&self, page: &str) -> String {
        format!("http://127.0.0.1:{}{page}#key={}", self.port, self.key)
    }

    /// Answers until `stop` is over. What is being sent then is cut off: nothing is lost by reading.
    pub async fn run(self, local_data: Arc<dyn LocalData>, stop: impl Future<Output = ()>) -> Result<()> {
        let failed = |error: std::io::Error| {
            Problem::new(Code::IoError, format!("The pages could not be served: {error}."))
        };
        let served = Arc::new(LocalServerState { data: local_data, port: self.port, key: self.key });
        let listener = tokio::net::TcpListener::from_std(self.listener).map_err(failed)?;
        let router = Router::new().fallback(guarded).with_state(served);
        tokio::select! {
            ended = async { axum::serve(listener, router).await } => ended.map_err(failed),
            () = stop => Ok(()),
        }
    }
}

fn new_key() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        Problem::new(Code::IoError, format!("The system gives no random bytes: {error}."))
    })?;
    Ok(hash::hex(&bytes))
}

fn port_in_use(port: u16, error: &std::io::Error) -> Problem {
    let refused = |code, reason: &str| {
        Problem::new(code, format!("The pages cannot be served at 127.0.0.1:{port}: {reason}."))
    };
    match error.kind() {
        ErrorKind::AddrInUse => refused(Code::AddressInUse, "another program already listens there")
            .fix("Name another port with --port, or none to take a free one."),
        ErrorKind::PermissionDenied => refused(Code::PermissionDenied, "the system does not allow it")
            .fix("Name a port above 1023 with --port."),
        _ => refused(Code::IoError, &error.to_string()),
    }
}

async fn guarded(
    State(served): State<Arc<LocalServerState>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let mut response = if !is_meant_for_us(&headers, served.port) {
        refusal(
            StatusCode::FORBIDDEN,
            "wrong_host",
            "The local viewer answers only requests for this machine.",
            "Open the address that the command printed.",
        )
    } else if !matches!(method, Method::GET | Method::HEAD) {
        let mut response = refusal(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            "The local viewer is read-only.",
            "Ask with GET.",
        );
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        response
    } else {
        answered(&served, &uri, &headers).await
    };
    finish(&mut response);
    response
}

async fn answered(served: &Arc<LocalServerState>, uri: &Uri, headers: &HeaderMap) -> Response {
    match uri.path().strip_prefix("/local/") {
        Some(_) if !has_key(headers, &served.key) => refusal(
            StatusCode::UNAUTHORIZED,
            "key_missing",
            "The key of the local viewer is missing or belongs to an earlier start.",
            "Open the whole address that the command printed, with what follows the #.",
        ),
        Some(path) => data(Arc::clone(&served.data), path.to_owned(), ByteRange::requested(headers)).await,
        None if uri.path() == "/" => to_page(served.data.first_page()),
        None => answer(PageHost::Local, uri.path(), headers),
    }
}

/// A browser keeps the part after `#` when it is redirected.
fn to_page(page: &'static str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static(page));
    response
}

async fn data(local_data: Arc<dyn LocalData>, path: String, range: Option<ByteRange>) -> Response {
    let result = tokio::task::spawn_blocking(move || local_data.document(&path)).await;
    let mut response = match result {
        Ok(Ok(Some(document))) => send(document, range),
        Ok(Ok(None)) => {
            return refusal(
                StatusCode::NOT_FOUND,
                "not_found",
                "The local viewer has no such document.",
                "Load the page again.",
            );
        }
        Ok(Err(problem)) => {
            let fix = problem.fix.as_deref().unwrap_or("Run `capsid doctor`.");
            return refusal(StatusCode::INTERNAL_SERVER_ERROR, problem.code.as_str(), &problem.message, fix);
        }
        Err(_) => {
            let reason = "The program failed to read this.";
            return refusal(
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal",
                reason,
                "Report it, with what it was about.",
            );
        }
    };
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A document, or the part of it that was asked for.
fn send(document: JsonDocument, range: Option<ByteRange>) -> Response {
    let length = document.length();
    let total = length.map_or("*".to_owned(), |length| length.to_string());
    let Some(range) = range else { return Response::new(streamed(document, None)) };
    let (status, range, said) = match range.within(length) {
        Some(range) => (
            StatusCode::PARTIAL_CONTENT,
            Some(range),
            format!("bytes {}-{}/{total}", range.first, range.last),
        ),
        None => (StatusCode::RANGE_NOT_SATISFIABLE, None, format!("bytes */{total}")),
    };
    let body = range.map_or_else(Body::empty, |range| streamed(document, Some(range)));
    let mut response = Response::new(body);
    *response.status_mut() = status;
    if let Ok(said) = HeaderValue::from_str(&said) {
        response.headers_mut().insert(header::CONTENT_RANGE, said);
    }
    response
}

/// A problem in the form that the hub uses, so that the pages read both the same way.
fn refusal(status: StatusCode, code: &str, problem: &str, fix: &str) -> Response {
    let body = json!({ "error": code, "correction": { "problem": problem, "fix": fix } });
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// No other origin gets anything, and no copy stays behind.
fn finish(response: &mut Response) {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    );
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}
