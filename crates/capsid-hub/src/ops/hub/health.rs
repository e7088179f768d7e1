//! Whether the hub works, and what it counts.

use crate::error::ApiError;
use crate::runtime::hub_clock::MAX_DIFFERENCE_MS;
use crate::runtime::log_queue;
use crate::state::Hub;
use capsid_model::time::Time;
use capsid_store::db::tx::Dialect;
use capsid_store::system::{backlog, meta};
use serde::Serialize;
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::timeout;
use utoipa::ToSchema;

/// A database that does not answer within this is taken for one that does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long it is believed that the database can or cannot be written.
const BELIEVED: Duration = Duration::from_secs(5);

/// Whether something works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Works)]
pub enum WorkingState {
    Ok,
    /// It needs the operator, and the hub goes on.
    Degraded,
    Failing,
}

impl From<bool> for WorkingState {
    fn from(works: bool) -> Self {
        if works { Self::Ok } else { Self::Failing }
    }
}

impl WorkingState {
    fn degraded_if(is_degraded: bool) -> Self {
        if is_degraded { Self::Degraded } else { Self::Ok }
    }
}

/// Whether the hub and its database work.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HubHealth)]
pub struct HealthResponse {
    status: WorkingState,
    version: &'static str,
    hub_node_id: String,
    uptime_s: i64,
    checks: HealthChecks,
}

impl HealthResponse {
    /// Whether everything works.
    pub fn is_ok(&self) -> bool {
        self.status == WorkingState::Ok
    }
}

/// What was tried.
#[derive(Debug, Serialize, ToSchema)]
struct HealthChecks {
    database: DatabaseHealth,
    schema: WorkingState,
    /// Degraded if this machine's clock and the hub's time differ by five seconds or more.
    clock: WorkingState,
    /// Degraded while lines of the log cannot be written.
    log: WorkingState,
    /// Degraded if the hub is private and the whole internet can reach it.
    profile: WorkingState,
}

/// Whether the database works.
#[derive(Debug, Serialize, ToSchema)]
struct DatabaseHealth {
    /// sqlite or postgresql.
    kind: &'static str,
    read: WorkingState,
    write: WorkingState,
}

/// Finds out whether the hub and its database work.
#[tracing::instrument(skip_all)]
pub async fn check_health(hub: &Hub) -> HealthResponse {
    let reads = hub.store.read::<_, ApiError, _>(|tx| Ok(meta::has_current_schema(tx)?));
    let (reads, writable) = tokio::join!(timeout(PATIENCE, reads), can_write(hub));
    let readable = matches!(reads, Ok(Ok(_)));
    let current = matches!(reads, Ok(Ok(true)));
    HealthResponse {
        status: (readable && writable && current).into(),
        version: env!("CARGO_PKG_VERSION"),
        hub_node_id: hub.hub_id.clone(),
        uptime_s: uptime_s(hub, hub.now()),
        checks: HealthChecks {
            database: DatabaseHealth {
                kind: match hub.store.dialect() {
                    Dialect::Sqlite => "sqlite",
                    Dialect::Postgres => "postgresql",
                },
                read: readable.into(),
                write: writable.into(),
            },
            schema: current.into(),
            clock: WorkingState::degraded_if(hub.clock.difference_ms().abs() >= MAX_DIFFERENCE_MS),
            log: WorkingState::degraded_if(log_queue::is_degraded()),
            profile: WorkingState::degraded_if(hub.is_exposed),
        },
    }
}

/// Writes something, unless that was tried a moment ago. A full disk takes no write, though it lets one begin.
async fn can_write(hub: &Hub) -> bool {
    let attempt = async {
        let now = hub.now();
        let written = hub.store.write::<_, ApiError, _>(move |tx| Ok(meta::touch(tx, now)?));
        let could = matches!(timeout(PATIENCE, written).await, Ok(Ok(())));
        Ok::<_, Infallible>((could, Some(BELIEVED)))
    };
    hub.health.get_or_load(attempt).await.unwrap_or_default()
}

/// How long the hub has run at a moment.
pub(super) fn uptime_s(hub: &Hub, at: Time) -> i64 {
    (at.0 - hub.started.0).max(0) / 1000
}

/// What the hub counts of itself, as text for Prometheus.
#[tracing::instrument(skip_all)]
pub async fn metrics(hub: &Hub) -> String {
    let counted = async {
        let counting = hub.store.read::<_, ApiError, _>(|tx| Ok(backlog::count_backlog(tx)?));
        match timeout(PATIENCE, counting).await {
            Ok(Ok(backlog)) => Ok((backlog, Some(BELIEVED))),
            _ => Err(()),
        }
    };
    // Without the database, the last counts stay.
    if let Ok(backlog) = hub.backlog.get_or_load(counted).await {
        hub.telemetry.record_backlog(&backlog, hub.now());
    }
    if let Ok(Ok((assets, oldest))) = timeout(PATIENCE, hub.index.lag()).await {
        hub.telemetry.record_index_lag(assets, oldest, hub.now());
    }
    hub.telemetry.text()
}
