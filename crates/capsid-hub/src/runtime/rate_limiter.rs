//! How many requests of each caller are let in. A lone hub keeps count in memory, by ticks that setting the clock does not change; hubs that
//! share a PostgreSQL keep it there, by its time, and take parts of it in advance.

use crate::error::{ApiError, ApiResult, HubCode};
use crate::runtime::hub_clock::HubClock;
use crate::runtime::rate_leases::RateLeases;
use crate::runtime::telemetry::Telemetry;
use capsid_model::time::{Clock, Time};
use capsid_rules::rate_limit::{RateLimit, check, refund};
use capsid_store::Store;
use capsid_store::db::tx::Dialect;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Entries are swept once there are this many.
const SWEEP_AT: usize = 100_000;

/// Counts requests.
pub struct RateLimiter {
    /// Arrival times by key; nothing when the database keeps them.
    memory: Option<Mutex<HashMap<String, i64>>>,
    leases: RateLeases,
    clock: Arc<HubClock>,
    telemetry: Arc<Telemetry>,
}

impl RateLimiter {
    /// Keeps count where a hub on this kind of database does.
    pub fn new(dialect: Dialect, clock: &Arc<HubClock>, telemetry: &Arc<Telemetry>) -> Self {
        let memory = (dialect == Dialect::Sqlite).then(Mutex::default);
        Self {
            memory,
            leases: RateLeases::default(),
            clock: Arc::clone(clock),
            telemetry: Arc::clone(telemetry),
        }
    }

    /// Keeps count in memory, whatever the database: for reads, which are many and must not become writes.
    pub fn local(clock: &Arc<HubClock>, telemetry: &Arc<Telemetry>) -> Self {
        Self::new(Dialect::Sqlite, clock, telemetry)
    }

    /// Takes one request of `who`, or refuses it with `code` and tells when to come again. `now` is for counts in the
    /// database.
    pub async fn check(
        &self,
        store: &Store,
        code: HubCode,
        what: &str,
        who: &str,
        limit: RateLimit,
        now: Time,
    ) -> ApiResult<()> {
        let key = format!("{what}:{who}");
        let taken = match &self.memory {
            Some(memory) => check_in_memory(memory, key, limit, self.clock.ticks()),
            None => self.leases.admit(store, key, limit, self.clock.ticks(), now).await?,
        };
        taken.map_err(|retry_after_ms| {
            self.telemetry.refused_by(&format!("limits.{what}"));
            too_many(code, what, limit, retry_after_ms)
        })
    }

    /// Takes a request back that turned out not to count, such as a login that was right.
    pub async fn refund(&self, store: &Store, what: &str, who: &str, limit: RateLimit) -> ApiResult<()> {
        let key = format!("{what}:{who}");
        match &self.memory {
            Some(memory) => {
                let mut arrivals = memory.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if let Some(arrival) = arrivals.get_mut(&key) {
                    *arrival = refund(*arrival, limit);
                }
                Ok(())
            }
            None => {
                if self.leases.give_back(&key, self.clock.ticks()).await {
                    return Ok(());
                }
                store
                    .write::<_, ApiError, _>(move |tx| {
                        Ok(capsid_store::system::rate_limits::refund(tx, &key, limit)?)
                    })
                    .await
            }
        }
    }
}

fn check_in_memory(
    memory: &Mutex<HashMap<String, i64>>,
    key: String,
    limit: RateLimit,
    ticks: i64,
) -> ApiResult<(), i64> {
    let mut arrivals = memory.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if arrivals.len() >= SWEEP_AT {
        // What lies in the past no longer delays anybody.
        arrivals.retain(|_, arrival| *arrival > ticks.saturating_mul(1000));
    }
    let arrival = check(arrivals.get(&key).copied(), ticks, limit)?;
    arrivals.insert(key, arrival);
    Ok(())
}

fn too_many(code: HubCode, what: &str, limit: RateLimit, retry_after_ms: i64) -> ApiError {
    ApiError::new(
        code,
        format!(
            "More than {} calls of the kind `{what}` in {} seconds.",
            limit.count,
            limit.window_ms / 1000
        ),
        format!("Wait {} seconds and try again.", (retry_after_ms as u64).div_ceil(1000)),
    )
    .retry_after(retry_after_ms)
    .with("policy", serde_json::json!({ "limit": limit.count, "window_ms": limit.window_ms }))
}
