//! Limits that several hubs share, spent from memory: a hub takes a part of a key's window from the database at once, and spends
//! it within a second. So several hubs together let through at most one lease each more than the limit at a moment. A hub that is
//! killed does not give back what it took.

use crate::error::{ApiError, ApiResult};
use capsid_model::time::Time;
use capsid_rules::rate_limit::RateLimit;
use capsid_store::Store;
use capsid_store::system::rate_limits;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How long a lease holds.
const LEASE_MS: i64 = 1_000;
/// Entries are swept once there are this many.
const SWEEP_AT: usize = 100_000;

/// What a hub took in advance under one key.
#[derive(Debug, Default)]
struct Lease {
    left: u32,
    /// In the ticks of the hub's clock.
    expires_at: i64,
}

impl Lease {
    fn is_alive(&self, ticks: i64) -> bool {
        ticks < self.expires_at
    }
}

type SharedLease = Arc<tokio::sync::Mutex<Lease>>;

/// The leases of one hub.
#[derive(Debug, Default)]
pub struct RateLeases(Mutex<HashMap<String, SharedLease>>);

impl RateLeases {
    /// Takes one request: from memory, or with a new lease.
    pub async fn admit(
        &self,
        store: &Store,
        key: String,
        limit: RateLimit,
        ticks: i64,
        now: Time,
    ) -> ApiResult<Result<(), i64>> {
        let lease = self.of_key(&key, ticks);
        // Requests of one key take turns, so that they share a lease instead of taking one each.
        let mut lease = lease.lock().await;
        if lease.is_alive(ticks) && lease.left > 0 {
            lease.left -= 1;
            return Ok(Ok(()));
        }
        // Refunded with the next lease, whether that one is granted or not.
        let unspent = std::mem::take(&mut lease.left);
        let taken = store
            .write::<_, ApiError, _>(move |tx| Ok(rate_limits::take_lease(tx, &key, limit, unspent, now)?))
            .await?;
        Ok(taken.map(|count| *lease = Lease { left: count - 1, expires_at: ticks + LEASE_MS }))
    }

    /// Gives one request back. `false` where no lease is alive that it could go to.
    pub async fn give_back(&self, key: &str, ticks: i64) -> bool {
        let lease = self.of_key(key, ticks);
        let mut lease = lease.lock().await;
        if !lease.is_alive(ticks) {
            return false;
        }
        lease.left += 1;
        true
    }

    fn of_key(&self, key: &str, ticks: i64) -> SharedLease {
        let mut leases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if leases.len() >= SWEEP_AT {
            // What ran out is only missed by who comes back, and soon not even by them.
            leases.retain(|_, lease| {
                Arc::strong_count(lease) > 1 || lease.try_lock().is_ok_and(|lease| lease.is_alive(ticks))
            });
        }
        Arc::clone(leases.entry(key.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_store::StoreOptions;
    use capsid_testkit::postgres::{TestDatabase, TestPostgres};
    use capsid_testkit::rounds::{rounds, seeded_rng};

    /// 10 to a lease, one every 375 ms in the long run.
    const LIMIT: RateLimit = RateLimit { count: 160, window_ms: 60_000 };
    const INTERVAL_MS: i64 = 375;
    const START: i64 = 1_800_000_000_000;

    /// Hubs that share a database.
    struct Hubs<const N: usize> {
        runtime: tokio::runtime::Runtime,
        stores: [Store; N],
        leases: [RateLeases; N],
        _folder: tempfile::TempDir,
        _database: TestDatabase,
    }

    impl<const N: usize> Hubs<N> {
        fn new() -> Self {
            let (database, folder) = (TestPostgres::database(), tempfile::tempdir().unwrap());
            let open = |_| {
                let options = StoreOptions::new(folder.path(), Some(database.url.clone()));
                Store::open(&StoreOptions { readers: 1, writers: 1, ..options }, Time(START)).unwrap()
            };
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let stores = std::array::from_fn(open);
            let leases = std::array::from_fn(|_| RateLeases::default());
            Self { runtime, stores, leases, _folder: folder, _database: database }
        }

        fn passes(&self, hub: usize, at: i64) -> bool {
            let taken =
                self.leases[hub].admit(&self.stores[hub], "publish:n".to_owned(), LIMIT, at, Time(at));
            self.runtime.block_on(taken).unwrap().is_ok()
        }
    }

    #[test]
    fn a_lone_hub_lets_exactly_the_limit_through_at_a_moment() {
        let hubs = Hubs::<1>::new();
        let passed = (0..200).filter(|_| hubs.passes(0, START)).count();
        assert_eq!(passed, 160);
        assert!(!hubs.passes(0, START + INTERVAL_MS - 1) && hubs.passes(0, START + INTERVAL_MS));
    }

    #[test]
    fn a_caller_within_the_limit_is_never_refused_however_much_of_its_leases_runs_out() {
        let hubs = Hubs::<1>::new();
        let burst = (0..150).filter(|_| hubs.passes(0, START)).count();
        assert_eq!(burst, 150);
        // Slower than leases live, so each of them runs out unspent.
        for n in 1..100 {
            assert!(hubs.passes(0, START + n * 1_100), "request {n}");
        }
    }

    #[test]
    fn several_hubs_let_through_at_most_one_lease_each_above_the_limit() {
        const HUBS: usize = 3;
        let (hubs, mut rng) = (Hubs::<HUBS>::new(), seeded_rng());
        let (mut now, mut passed) = (START, Vec::new());
        for _ in 0..rounds(300, 900) {
            // Bursts and pauses that are longer than a lease lives.
            now += if rng.u8(0..40) == 0 { rng.i64(0..4_000) } else { rng.i64(0..60) };
            if hubs.passes(rng.usize(0..HUBS), now) {
                passed.push(now);
            }
        }
        let above = HUBS as i64 * i64::from(LIMIT.lease_size());
        let allowed = |span: i64| i64::from(LIMIT.count) + span / INTERVAL_MS + above;
        for (first, start) in passed.iter().enumerate() {
            for (count, end) in (1..).zip(&passed[first..]) {
                assert!(count <= allowed(end - start), "{count} within {} ms", end - start);
            }
        }
        let (last, first) = (passed[passed.len() - 1], passed[0]);
        assert!(
            passed.len() as i64 + above >= i64::from(LIMIT.count) + (last - first) / INTERVAL_MS,
            "too few pass"
        );
    }
}
