//! Streamable HTTP: stateless, so that there is no session that could be left behind.

use crate::server::McpServer;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use capsid_model::{Code, Problem, Result, hash, json};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

/// Where it is served.
pub const PATH: &str = "/mcp";
/// The largest message.
const MAX_BODY: usize = 1024 * 1024;

/// Who may come in.
#[derive(Clone)]
pub struct HttpGuard {
    /// The hash of the token that has to be shown; none where everybody on this machine may come in.
    token: Option<String>,
}

impl HttpGuard {
    /// A door with a token, or one that only this machine can reach.
    pub fn new(address: SocketAddr, token: Option<&str>) -> Result<Self> {
        match token {
            None if !address.ip().is_loopback() => Err(Problem::new(
                Code::UsageError,
                format!("Other machines could reach `{address}`, and nothing would keep them out."),
            )
            .fix("Listen on 127.0.0.1, or set a token with --token or CAPSID_MCP_TOKEN.")),
            Some(token) if token.trim().len() < 16 => {
                Err(Problem::new(Code::UsageError, "The token is shorter than 16 characters.")
                    .fix("Make one, for example with `openssl rand -hex 32`."))
            }
            token => Ok(Self { token: token.map(|token| hash::sha256_hex(token.trim().as_bytes())) }),
        }
    }

    /// Hashes are compared, so the time that it takes reveals nothing about the token.
    fn is_allowed(&self, request: &Request) -> bool {
        let Some(expected) = &self.token else { return true };
        let authorization =
            request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = authorization.and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        token.is_some_and(|token| hash::sha256_hex(token.as_bytes()) == *expected)
    }
}

/// Serves on a listener until `stop` resolves. Running calls then have a moment to end.
pub async fn serve(
    server: McpServer,
    listener: TcpListener,
    http_guard: HttpGuard,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<()> {
    let failed =
        |error: std::io::Error| Problem::new(Code::IoError, format!("The server cannot go on: {error}."));
    let address = listener.local_addr().map_err(failed)?;
    let config = config(address, http_guard.token.is_some());
    let cancel = config.cancellation_token.clone();
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    let router = Router::new()
        .route_service(PATH, service)
        .fallback(elsewhere)
        .layer(middleware::from_fn_with_state(http_guard, guard));
    let stopped = async move {
        stop.await;
        cancel.cancel();
    };
    axum::serve(listener, router).with_graceful_shutdown(stopped).await.map_err(failed)
}

fn config(address: SocketAddr, has_token: bool) -> StreamableHttpServerConfig {
    let port = address.port();
    let origins = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}"));
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY)
        .with_allowed_origins(origins);
    // A web page that got its name to point here has no token; without one the name must be this machine's.
    if has_token { config.disable_allowed_hosts() } else { config }
}

async fn guard(State(http_guard): State<HttpGuard>, request: Request, next: Next) -> Response {
    if http_guard.is_allowed(&request) {
        return next.run(request).await;
    }
    let body = json!({"code": "permission_denied", "message": "This server asks for a token.", "fix": "Send `Authorization: Bearer TOKEN`."});
    let mut response = (StatusCode::UNAUTHORIZED, Json(json!({"error": body}))).into_response();
    response.headers_mut().insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
    response
}

async fn elsewhere() -> Response {
    let body = json!({"code": "not_found", "message": "There is nothing here.", "fix": format!("The server is at {PATH}.")});
    (StatusCode::NOT_FOUND, Json(json!({"error": body}))).into_response()
}
