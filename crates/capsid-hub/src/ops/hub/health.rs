//! `GET /health` and `GET /metrics`: whether the hub works, and what it counts.

use crate::error::ApiError;
use crate::state::{Hub, SharedHub};
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use capsid_store::db::tx::Dialect;
use capsid_store::system::meta;
use serde_json::json;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// A database that does not answer within this is taken for one that does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long it is believed that the database can or cannot be written.
const BELIEVED: Duration = Duration::from_secs(5);

/// Whether the database could be written, and when that was tried.
#[derive(Debug, Default)]
pub struct HealthCache(Mutex<Option<(Instant, bool)>>);

impl HealthCache {
    /// Writes something, unless that was tried a moment ago. A full disk takes no write, though it lets one begin.
    async fn can_write(&self, hub: &Hub) -> bool {
        let mut last = self.0.lock().await;
        if let Some((_, could)) = last.filter(|(at, _)| at.elapsed() < BELIEVED) {
            return could;
        }
        let now = hub.now();
        let written = hub.store.write::<_, ApiError, _>(move |tx| Ok(meta::touch(tx, now)?));
        let could = matches!(timeout(PATIENCE, written).await, Ok(Ok(())));
        *last = Some((Instant::now(), could));
        could
    }
}

/// Tells whether the hub and its database work.
///
/// 200 when the database can be read and written and has the schema of this program, else 503. `checks` tells each.
#[utoipa::path(get, path = "/health", tag = "hub",
    responses((status = 200, body = crate::http::openapi::hub::HubHealth), (status = 503, body = crate::http::openapi::hub::HubHealth)))]
pub async fn health(State(hub): State<SharedHub>) -> Response {
    let reads = hub.store.read::<_, ApiError, _>(|tx| Ok(meta::has_current_schema(tx)?));
    let (reads, writable) = tokio::join!(timeout(PATIENCE, reads), hub.health.can_write(&hub));
    let readable = matches!(reads, Ok(Ok(_)));
    let current = matches!(reads, Ok(Ok(true)));
    let well = readable && writable && current;
    let word = |fine: bool| if fine { "ok" } else { "failing" };
    let database = match hub.store.dialect() {
        Dialect::Sqlite => "sqlite",
        Dialect::Postgres => "postgresql",
    };
    let body = json!({
        "status": word(well),
        "version": env!("CARGO_PKG_VERSION"),
        "hub_node_id": hub.hub_id,
        "uptime_s": (hub.now().0 - hub.started.0).max(0) / 1000,
        "checks": {
            "database": { "kind": database, "read": word(readable), "write": word(writable) },
            "schema": word(current),
        },
    });
    (if well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, Json(body)).into_response()
}

/// What the hub counts of itself, for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "hub",
    responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn metrics(State(hub): State<SharedHub>) -> Response {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], hub.telemetry.text()).into_response()
}
