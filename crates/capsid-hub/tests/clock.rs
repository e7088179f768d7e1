//! Clocks that are wrong: set back, set forward, or different on two hubs. Nobody is refused for it, and what follows has no
//! earlier time than what it follows.

use crate::common::running::Running;
use crate::common::{Bundle, On, START, TestClock, TestHub, both, on_sqlite, request, send};
use capsid_hub::config::{HubConfig, RateLimitsConfig};
use capsid_hub::random::{Random, SeededRandom};
use capsid_hub::router::router;
use capsid_hub::run::follow_database_clock;
use capsid_hub::state::{Hub, SharedHub};
use capsid_model::time::{Clock, SystemClock, Time};
use capsid_rules::lifecycle::AssetEvent;
use capsid_rules::rate_limit::RateLimit;
use capsid_store::assets::id::AssetId;
use capsid_store::evaluation::lifecycle;
use capsid_store::fsck;
use capsid_store::system::rate_limits;
use capsid_store::{Store, StoreOptions, params};
use capsid_testkit::postgres::TestPostgres;
use capsid_testkit::rounds::{rounds, seeded_rng};
use capsid_testkit::wait;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

#[test]
fn a_clock_set_back_answers_429_to_nobody() {
    both(|hub| {
        let say_hello = |n: usize| hub.message(&format!("node_{n}"), "hello", json!({}));
        for n in 0..3 {
            say_hello(n).expect(200);
        }
        let before = hub.hub.now();
        hub.clock.advance(-HOUR);
        assert!(hub.hub.now() >= before, "the hub's time goes back");
        for n in 0..20 {
            say_hello(n).expect(200);
        }
        let health = hub.get("/health").expect(200);
        if hub.on == On::Sqlite {
            assert_eq!((&health["status"], &health["checks"]["clock"]), (&json!("ok"), &json!("degraded")));
        }
    });
}

/// What another hub stored from beyond the window is discarded.
#[test]
fn a_stored_time_beyond_the_window_is_discarded() {
    both(|hub| {
        let limit = RateLimit { count: 600, window_ms: 60_000 };
        let check = move |at: Time| {
            let taken =
                hub.hub.store.write_now(move |tx| rate_limits::check(tx, "publish:node_a", limit, at));
            taken.unwrap()
        };
        assert_eq!(check(Time(START.0 + 90_000)), Ok(()));
        assert_eq!(check(START), Ok(()));
        assert_eq!(check(Time(START.0 - DAY)), Ok(()));
    });
}

fn second_hub(hub: &TestHub, skew_ms: i64) -> SharedHub {
    let config = HubConfig::clone(&hub.hub.config);
    let options =
        StoreOptions { readers: 1, writers: 2, ..StoreOptions::new(&config.data, config.database.clone()) };
    let store = Store::open(&options, START).unwrap();
    let clock = Arc::new(TestClock::at(Time(START.0 + skew_ms)));
    Hub::new(store, config, clock, Arc::new(SeededRandom::new(99))).unwrap()
}

#[test]
fn two_hubs_ninety_seconds_apart_answer_429_to_nobody() {
    let hub = TestHub::postgres();
    let other = second_hub(&hub, 90_000);
    let (away, _) = router(&other);
    for n in 0..10 {
        for router in [away.clone(), hub.router()] {
            let message = hub.envelope("node_a", "publish", Bundle::new(n).payload()).to_string();
            let request = request("POST", "/a2a/publish", None, Some(message.into_bytes()));
            hub.runtime.block_on(send(router, request)).expect(200);
        }
    }
    // Once both go by the database's clock they agree.
    hub.runtime.block_on(async {
        follow_database_clock(&hub.hub).await;
        follow_database_clock(&other).await;
    });
    let apart = hub.hub.now().0 - other.now().0;
    assert!(apart.abs() < 5_000, "{apart} ms apart");
    let health = hub.get("/health").expect(200);
    assert_eq!(health["checks"]["clock"], "degraded", "the clock of the test stands still: {health}");
}

#[test]
fn what_one_hub_began_and_another_one_ninety_seconds_behind_ends_has_times_that_follow_each_other() {
    let hub = TestHub::postgres();
    let ahead = second_hub(&hub, 90_000);
    let (away, _) = router(&ahead);
    let send_to = |router: &axum::Router, path: &str, secret: Option<&str>, body: serde_json::Value| {
        let request = request("POST", path, secret, Some(body.to_string().into_bytes()));
        hub.runtime.block_on(send(router.clone(), request)).expect(200)
    };
    let bundle = Bundle::new(1);
    let met = send_to(&away, "/a2a/hello", None, hub.envelope("node_asker", "hello", json!({})));
    let asked = json!({"sender_id": "node_asker", "question": "Mend the parser", "signals": ["parse_error"], "amount": 50});
    let task_id = send_to(&away, "/a2a/ask", met["node_secret"].as_str(), asked)["task_id"]
        .as_str()
        .unwrap()
        .to_owned();
    send_to(&hub.router(), "/a2a/publish", None, hub.envelope("node_b", "publish", bundle.payload()));
    send_to(&hub.router(), "/task/claim", None, json!({"task_id": task_id, "node_id": "node_b"}));
    let done = json!({"task_id": task_id, "node_id": "node_b", "asset_id": bundle.capsule_id()});
    send_to(&hub.router(), "/task/complete", None, done);
    let times = hub.hub.store.read_now(|tx| {
        tx.query_one::<(i64, i64, i64)>("SELECT created_at, claimed_at, completed_at FROM tasks", params![])
    });
    let (created, claimed, completed) = times.unwrap();
    assert_eq!(created, START.0 + 90_000, "the task was asked for by the hub that is ahead");
    assert!(created <= claimed && claimed <= completed, "{created} {claimed} {completed}");
    assert_eq!(reversed_rows(&hub.hub), 0);
}

/// Chance that counts how often it was used, so that a test sees that a request is under way.
struct CountedRandom(SeededRandom, AtomicUsize);

impl Random for CountedRandom {
    fn fill(&self, bytes: &mut [u8]) {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.fill(bytes);
    }
}

/// A publish waits while others write. Its rows have the time at which its transaction begins, for what was written
/// meanwhile came before it.
#[test]
fn the_time_of_an_operation_is_that_of_its_transaction() {
    on_sqlite(|hub| {
        let config = HubConfig::clone(&hub.hub.config);
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions {
            readers: 1,
            writers: 1,
            ..StoreOptions::new(folder.path(), config.database.clone())
        };
        let clock = Arc::new(TestClock::at(START));
        let chance = Arc::new(CountedRandom(SeededRandom::new(7), AtomicUsize::new(0)));
        let store = Store::open(&options, START).unwrap();
        let busy = Hub::new(
            store,
            config,
            Arc::clone(&clock) as Arc<dyn Clock>,
            Arc::clone(&chance) as Arc<dyn Random>,
        )
        .unwrap();
        let (router, _) = router(&busy);
        let (began, has_begun) = sync_channel(1);
        let (end, ends) = sync_channel::<()>(1);
        let store = Arc::clone(&busy.store);
        let other = std::thread::spawn(move || {
            store.write_now(move |_| {
                began.send(()).unwrap();
                ends.recv().unwrap();
                Ok(())
            })
        });
        has_begun.recv().unwrap();
        let used = chance.1.load(Ordering::SeqCst);
        let message = hub.envelope("node_a", "publish", Bundle::new(1).payload()).to_string();
        let publish = request("POST", "/a2a/publish", None, Some(message.into_bytes()));
        let publish = hub.runtime.spawn(send(router, publish));
        wait::until("the publish is under way", Duration::from_secs(30), || {
            chance.1.load(Ordering::SeqCst) > used
        });
        clock.advance(10_000);
        end.send(()).unwrap();
        other.join().unwrap().unwrap();
        hub.runtime.block_on(publish).unwrap().expect(200);
        let made = busy.store.read_now(|tx| tx.query_all::<i64>("SELECT created_at FROM assets", params![]));
        let made = made.unwrap();
        assert!(!made.is_empty() && made.iter().all(|at| *at == START.0 + 10_000), "{made:?}");
    });
}

/// Rows whose later state has an earlier time.
fn reversed_rows(hub: &SharedHub) -> i64 {
    hub.store
        .read_now(|tx| {
            tx.count(
                "SELECT (SELECT COUNT(*) FROM assets WHERE promoted_at < created_at)
                    + (SELECT COUNT(*) FROM tasks WHERE claimed_at < created_at OR completed_at < claimed_at)
                    + (SELECT COUNT(*) FROM bounties WHERE settled_at < created_at)",
                params![],
            )
        })
        .unwrap()
}

#[test]
fn no_asset_is_promoted_before_it_was_published() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.clock.advance(10_000);
        hub.publish("node_a", &bundle).expect(200);
        // A job that began before the publish, and came to this asset after it.
        let id = AssetId::parse(bundle.capsule_id()).unwrap();
        let promote = move |tx: &mut dyn capsid_store::db::tx::Tx| {
            lifecycle::change(tx, &id, AssetEvent::Promote, "hub", None, START)
        };
        hub.hub.store.write_now(promote).unwrap();
        let promoted = hub.hub.store.read_now(|tx| {
            tx.count("SELECT COUNT(*) FROM assets WHERE promoted_at >= created_at", params![])
        });
        assert!(promoted.unwrap() >= 2);
        assert_eq!(reversed_rows(&hub.hub), 0);
    });
}

/// A machine whose clock somebody sets, while its time goes on.
#[derive(Default)]
struct SetClock(AtomicI64);

impl Clock for SetClock {
    fn now(&self) -> Time {
        Time(SystemClock.now().0 + self.0.load(Ordering::SeqCst))
    }
    fn ticks(&self) -> i64 {
        SystemClock.ticks()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_publishers_and_the_jobs_go_on_while_the_clock_jumps_by_a_day() {
    jump_by_days(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_publishers_and_the_jobs_go_on_on_postgresql_while_the_clock_jumps_by_a_day() {
    let database = tokio::task::spawn_blocking(TestPostgres::database).await.unwrap();
    jump_by_days(Some(database.url.clone())).await;
    tokio::task::spawn_blocking(move || drop(database)).await.unwrap();
}

async fn jump_by_days(database: Option<String>) {
    let (rounds, mut rng) = (rounds(6, 120), seeded_rng());
    let clock = Arc::new(SetClock::default());
    let endless = RateLimit { count: 1_000_000, window_ms: 60_000 };
    let mut config = HubConfig {
        limits: RateLimitsConfig { publish: endless, messages: endless, ..RateLimitsConfig::default() },
        database,
        ..HubConfig::default()
    };
    config.promotion.interval_ms = 1_000;
    let hub = Running::start_by(Arc::clone(&clock) as Arc<dyn Clock>, config, None).await;
    let mut published = Vec::new();
    for round in 0..rounds {
        let jump = DAY * rng.i64(-1..=1) + rng.i64(-5_000..5_000);
        clock.0.fetch_add(jump, Ordering::SeqCst);
        let mut calls = Vec::new();
        for publisher in 0..4 {
            let bundle = Bundle::new((round * 4 + publisher) as u64);
            let message = json!({
                "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "publish",
                "message_id": format!("msg_{round}"), "sender_id": format!("node_{publisher}"),
                "timestamp": "2026-01-01T00:00:00Z", "payload": bundle.payload(),
            });
            let report = json!({
                "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "report",
                "message_id": format!("report_{round}_{publisher}"), "sender_id": format!("node_{}", (publisher + 1) % 4),
                "timestamp": "2026-01-01T00:00:00Z", "payload": {"target_asset_id": bundle.capsule_id(),
                    "validation_report": {"report_id": format!("r_{round}_{publisher}"), "overall_ok": true,
                        "commands": [{"command": "node test.js", "ok": true, "exit_code": 0}]}},
            });
            let (client, urls) = (hub.client.clone(), [hub.url("/a2a/publish"), hub.url("/a2a/report")]);
            published.push(bundle.capsule_id().to_owned());
            calls.push(tokio::spawn(async move {
                for (url, body) in urls.into_iter().zip([message, report]) {
                    let answer = client.post(url).body(body.to_string()).send().await.unwrap();
                    assert_eq!(answer.status().as_u16(), 200, "{}", answer.text().await.unwrap());
                }
            }));
        }
        for call in calls {
            call.await.unwrap();
        }
        capsid_hub::jobs::run_now(&hub.hub).await.unwrap();
        assert_eq!(hub.get("/health").await.0, 200);
    }
    for id in &published {
        assert_eq!(hub.get(&format!("/a2a/assets/{id}")).await.0, 200, "{id} is gone");
    }
    let shared = Arc::clone(&hub.hub);
    hub.stop().await;
    tokio::task::spawn_blocking(move || {
        assert_eq!(reversed_rows(&shared), 0);
        let report = shared.store.read_now(|tx| fsck::check(tx, &mut |_, _, _| {})).unwrap();
        assert!(report.is_clean(), "{:#?}", report.findings);
    })
    .await
    .unwrap();
}
