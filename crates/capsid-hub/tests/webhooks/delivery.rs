//! Calls arrive, signed, at least once, however the receiver behaves.

use super::receiver::{Answers, Receiver, hmac};
use super::{Hooked, allow_local, both, on_sqlite, work};
use crate::common::{START, TestHub};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use capsid_hub::webhooks::call::WebhookCaller;
use capsid_hub::webhooks::sign;
use capsid_hub::webhooks::worker::WebhookWorker;
use capsid_model::backoff::BackoffPolicy;
use capsid_model::time::{Clock, Time};
use capsid_store::db::tx::Tx;
use capsid_store::notifications::deliveries::MAX_WAITING;
use capsid_store::notifications::deliveries::calls;
use capsid_store::notifications::deliveries::calls::{DeliveryCall, DeliverySettlement};
use capsid_store::notifications::deliveries::select;
use capsid_store::notifications::deliveries::select::{DeliveryCapacity, MAX_OF_NODE};
use capsid_store::notifications::notices;
use capsid_store::notifications::webhooks::MAX_DEATHS;
use capsid_testkit::wait;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

const HOUR: i64 = 3_600_000;
/// Longer than any machine needs.
const LIMIT: Duration = Duration::from_secs(60);

/// Takes all that is due.
fn claim_due(
    tx: &mut dyn Tx,
    holder: &str,
    until: Time,
    now: Time,
) -> capsid_model::problem::Result<Vec<DeliveryCall>> {
    let room = DeliveryCapacity { calls: 32, probes: 32, of_host: 32, ..DeliveryCapacity::default() };
    let (chosen, _) = select::choose(tx, room, now)?;
    calls::lease_calls(tx, &chosen, holder, until, now)
}

#[test]
fn the_known_vector_of_standard_webhooks() {
    let (secret, id, time) =
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330);
    let body = r#"{"test": 2432232314}"#;
    let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    assert_eq!(sign::standard(secret, id, time, body), expected);
    // The receivers of these tests check by hand; so their hand is checked too.
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    assert_eq!(format!("v1,{}", STANDARD.encode(hmac(&key, &format!("{id}.{time}.{body}")))), expected);
}

#[test]
fn a_call_says_what_happened_and_is_signed() {
    both(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(200)]);
        let node = Hooked::new(hub, "node_a", &receiver.url());
        let id = node.ping(hub);
        assert_eq!(work(hub), [DeliverySettlement::Delivered]);
        let [call] = &receiver.received()[..] else { panic!("one call") };
        assert!(call.is_signed_with(&node.webhook_secret), "{call:?}");
        assert!(!call.is_signed_with("whsec_AAAA"));
        assert_eq!(call.path, "/hook?x=1");
        let seconds = (START.0 / 1000).to_string();
        for (name, value) in [
            ("content-type", "application/json"),
            ("host", &format!("127.0.0.1:{}", receiver.port)),
            ("x-evomap-event", "ping"),
            ("x-evomap-delivery", &id),
            ("x-evomap-timestamp", &seconds),
            ("webhook-id", &id),
            ("webhook-timestamp", &seconds),
        ] {
            assert_eq!(call.header(name), value, "{name}");
        }
        assert!(call.header("user-agent").starts_with("capsid-hub/"));
        assert!(!call.headers.contains_key("x-evomap-signature-previous"));
        let body = call.body();
        assert_eq!((&body["type"], &body["event_id"]), (&json!("ping"), &json!(id)));
        assert_eq!((&body["node_id"], &body["delivered_at"]), (&json!("node_a"), &json!(START.iso())));
        let newest = node.newest(hub);
        assert_eq!((&newest["state"], &newest["last_status"]), (&json!("delivered"), &json!(200)));
        assert_eq!(newest["delivered_at"], START.iso());
        assert!(work(hub).is_empty(), "it is not called again");
        let metrics = hub.hub.telemetry.text();
        assert!(metrics.contains(r#"capsid_hub_webhook_calls_total{outcome="delivered"} 1"#), "{metrics}");
        assert!(metrics.contains("capsid_hub_webhook_calls_in_flight 0"), "{metrics}");
    });
}

#[test]
fn what_fails_is_tried_again_with_the_same_id_and_another_time() {
    let wrong = [
        (Answers::Status(500), Some(500), "http_status"),
        (Answers::Status(404), Some(404), "http_status"),
        (Answers::Redirect(302, "https://agent.example.com/".to_owned()), Some(302), "redirect_not_followed"),
        (Answers::Redirect(308, "/elsewhere".to_owned()), Some(308), "redirect_not_followed"),
        (Answers::Never, None, "timeout"),
        (Answers::Late(200, Duration::from_millis(800)), None, "timeout"),
        (Answers::Reset, None, "no_answer"),
        (Answers::Nonsense, None, "no_answer"),
        (Answers::Flood(503), Some(503), "http_status"),
    ];
    on_sqlite(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(200)]);
        let node = Hooked::new(hub, "node_a", &receiver.url());
        let id = node.ping(hub);
        for (n, (answer, status, error)) in wrong.iter().enumerate() {
            receiver.answers(std::slice::from_ref(answer));
            assert_eq!(work(hub), [DeliverySettlement::Retrying], "{answer:?}");
            let told = node.newest(hub);
            assert_eq!(
                (&told["state"], &told["last_error"]),
                (&json!("retrying"), &json!(error)),
                "{answer:?}"
            );
            assert_eq!((&told["last_status"], &told["attempts"]), (&json!(status), &json!(n + 1)));
            assert!(work(hub).is_empty(), "not before its time");
            hub.clock.advance(6 * HOUR);
        }
        receiver.answers(&[Answers::Flood(201)]);
        assert_eq!(
            work(hub),
            [DeliverySettlement::Delivered],
            "a body that is too long is not read to its end"
        );
        let calls = receiver.received();
        assert_eq!(calls.len(), wrong.len() + 1);
        let times: HashSet<&str> = calls.iter().map(|call| call.header("webhook-timestamp")).collect();
        assert_eq!(times.len(), calls.len());
        for call in &calls {
            assert_eq!(call.header("webhook-id"), id);
            assert!(call.is_signed_with(&node.webhook_secret));
        }
        let told = node.newest(hub);
        assert_eq!((&told["last_error"], &told["last_status"]), (&Value::Null, &json!(201)));
        assert_eq!(node.webhook(hub)["deaths"], 0);
    });
}

#[test]
fn nobody_at_the_address_is_a_failure_like_any_other() {
    on_sqlite(|hub| {
        let closed = Receiver::start(&hub.runtime, &[Answers::Status(200)]).port + 1;
        let node = Hooked::new(hub, "node_a", &format!("http://127.0.0.1:{closed}/"));
        node.ping(hub);
        assert_eq!(work(hub), [DeliverySettlement::Retrying]);
        assert!(node.newest(hub)["last_error"].is_string());
    });
}

#[test]
fn after_three_days_an_event_is_given_up() {
    on_sqlite(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(500)]);
        let node = Hooked::new(hub, "node_a", &receiver.url());
        let id = node.ping(hub);
        let mut pauses = Vec::new();
        while work(hub) == [DeliverySettlement::Retrying] {
            let due = Time::parse(node.newest(hub)["next_attempt_at"].as_str().unwrap()).unwrap();
            let pause = due.0 - hub.clock.now().0;
            pauses.push(pause);
            hub.clock.advance(pause - 1);
            assert!(work(hub).is_empty(), "a millisecond too early");
            hub.clock.advance(1);
        }
        let told = node.newest(hub);
        assert_eq!((&told["state"], &told["delivery_id"]), (&json!("dead"), &json!(id)));
        let took = hub.clock.now().0 - START.0;
        assert!((72 * HOUR..=72 * HOUR + 10_000).contains(&took), "{took}");
        assert!((10_000..=20_000).contains(&pauses[0]), "{pauses:?}");
        assert!(pauses.iter().all(|pause| (10_000..=6 * HOUR).contains(pause)), "{pauses:?}");
        assert_eq!(receiver.received().len(), pauses.len() + 1);
        assert_eq!(node.webhook(hub)["deaths"], 1);
        hub.clock.advance(30 * 24 * HOUR);
        hub.runtime.block_on(capsid_hub::jobs::run_now(&hub.hub)).unwrap();
        assert_eq!(node.newest(hub), Value::Null, "dead letters are forgotten after a month");
    });
}

#[test]
fn delivered_events_are_forgotten_after_a_week() {
    on_sqlite(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(204)]);
        let node = Hooked::new(hub, "node_a", &receiver.url());
        node.ping(hub);
        work(hub);
        for (days, there) in [(6, true), (1, false)] {
            hub.clock.advance(days * 24 * HOUR);
            hub.runtime.block_on(capsid_hub::jobs::run_now(&hub.hub)).unwrap();
            assert_eq!(node.newest(hub).is_object(), there, "{days}");
        }
    });
}

#[test]
fn twenty_dead_events_in_a_row_switch_a_webhook_off() {
    on_sqlite(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(500)]);
        let node = Hooked::new(hub, "node_a", &receiver.url());
        let die = |hub: &TestHub| {
            node.ping(hub);
            assert_eq!(work(hub), [DeliverySettlement::Retrying]);
            hub.clock.advance(73 * HOUR);
            assert_eq!(work(hub), [DeliverySettlement::Dead]);
        };
        (1..MAX_DEATHS).for_each(|_| die(hub));
        assert_eq!(node.webhook(hub)["deaths"], MAX_DEATHS - 1);
        // One that arrives begins the count again.
        receiver.answers(&[Answers::Status(200)]);
        node.ping(hub);
        assert_eq!(work(hub), [DeliverySettlement::Delivered]);
        assert_eq!(node.webhook(hub)["deaths"], 0);
        receiver.answers(&[Answers::Status(500)]);
        (0..MAX_DEATHS).for_each(|_| {
            assert_eq!(node.webhook(hub)["enabled"], true);
            die(hub);
        });
        let told = node.webhook(hub);
        assert_eq!(
            (&told["enabled"], &told["disabled_reason"]),
            (&json!(false), &json!("too_many_failures"))
        );
        let test = json!({"node_id": "node_a"});
        hub.post_as(&node.secret, "/a2a/webhook/test", &test).refused(409, "state_conflict");
        // Another address begins anew.
        let other = Receiver::start(&hub.runtime, &[Answers::Status(200)]);
        let again = Hooked::new(hub, "node_b", &other.url());
        assert_eq!(again.webhook(hub)["enabled"], true);
        let moved = hub.message_as("node_a", &node.secret, "hello", json!({"webhook_url": other.url()}));
        assert!(moved.expect(200)["webhook_secret"].is_string());
        let told = node.webhook(hub);
        assert_eq!((&told["enabled"], &told["deaths"]), (&json!(true), &json!(0)));
    });
}

#[test]
fn a_receiver_that_says_it_is_gone_is_not_called_again() {
    on_sqlite(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(200), Answers::Status(410)]);
        let node = Hooked::new(hub, "node_a", &receiver.url());
        node.ping(hub);
        work(hub);
        node.ping(hub);
        assert_eq!(work(hub), [DeliverySettlement::Dead]);
        let told = node.webhook(hub);
        assert_eq!((&told["enabled"], &told["disabled_reason"]), (&json!(false), &json!("gone")));
        assert_eq!(node.newest(hub)["last_status"], 410);
        hub.clock.advance(100 * HOUR);
        assert!(work(hub).is_empty());
        assert_eq!(receiver.connections(), 2);
    });
}

#[test]
fn what_waits_for_a_webhook_that_is_off_is_given_up_in_the_end() {
    on_sqlite(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(500), Answers::Status(410)]);
        let node = Hooked::new(hub, "node_a", &receiver.url());
        node.ping(hub);
        work(hub);
        node.ping(hub);
        assert!(work(hub).is_empty(), "what failed a moment ago is not called again at once");
        hub.clock.advance(60_000);
        work(hub);
        assert_eq!(node.webhook(hub)["deliveries"]["retrying"], 1);
        hub.clock.advance(72 * HOUR);
        assert!(work(hub).is_empty());
        hub.runtime.block_on(capsid_hub::jobs::run_now(&hub.hub)).unwrap();
        let counts = node.webhook(hub)["deliveries"].clone();
        assert_eq!((&counts["retrying"], &counts["dead"]), (&json!(0), &json!(2)), "{counts}");
    });
}

#[test]
fn a_slow_receiver_does_not_hold_up_others() {
    crate::common::on_sqlite_with(
        |config| {
            allow_local(config);
            config.webhooks.timeout_ms = 120_000;
        },
        |hub| {
            let (slow, fast) = (
                Receiver::start(&hub.runtime, &[Answers::Never]),
                Receiver::start(&hub.runtime, &[Answers::Status(200)]),
            );
            let slow_node = Hooked::new(hub, "node_slow", &slow.url());
            (0..60).for_each(|_| drop(slow_node.ping(hub)));
            let fast_node = Hooked::new(hub, "node_fast", &fast.url());
            let sent: Vec<String> = (0..12).map(|_| fast_node.ping(hub)).collect();
            let worker = WebhookWorker::new(&hub.hub);
            let working = hub.runtime.spawn(async move { worker.run_due().await });
            // The limit is shorter than the time-out of the slow one.
            wait::until("the fast one has its calls", LIMIT, || fast.received().len() >= sent.len());
            assert!(slow.most_open() <= MAX_OF_NODE, "{}", slow.most_open());
            assert!(slow.connections() > 0);
            let got: Vec<String> =
                fast.received().iter().map(|call| call.header("webhook-id").to_owned()).collect();
            assert_eq!(got.iter().collect::<HashSet<_>>().len(), sent.len());
            // As many as are under way at a time may overtake each other.
            for (n, id) in got.iter().enumerate() {
                let meant = sent.iter().position(|sent| sent == id).unwrap();
                assert!(meant.abs_diff(n) < 2 * MAX_OF_NODE, "{got:?}");
            }
            working.abort();
        },
    );
}

#[test]
fn receivers_that_never_answer_keep_no_other_waiting() {
    crate::common::on_sqlite_with(
        |config| {
            allow_local(config);
            config.webhooks.timeout_ms = 120_000;
        },
        |hub| {
            let fast = Receiver::start(&hub.runtime, &[Answers::Status(200)]);
            let good = Hooked::new(hub, "node_z", &fast.url());
            good.ping(hub);
            assert_eq!(work(hub), [DeliverySettlement::Delivered]);
            // Enough hosts and nodes to fill every place that is not kept free.
            let silent: Vec<_> = (0..5).map(|_| Receiver::start(&hub.runtime, &[Answers::Never])).collect();
            let bad: Vec<_> = (0..50)
                .map(|n| Hooked::new(hub, &format!("node_{n:02}"), &silent[n % silent.len()].url()))
                .collect();
            for node in &bad {
                (0..3).for_each(|_| drop(node.ping(hub)));
            }
            let worker = WebhookWorker::new(&hub.hub);
            let working = hub.runtime.spawn(Arc::clone(&worker).run());
            let calls = |all: &[Receiver]| all.iter().map(Receiver::connections).sum::<usize>();
            wait::until("the silent ones hold 24 connections", LIMIT, || calls(&silent) >= 24);
            let sent: Vec<_> = (0..6).map(|_| good.ping(hub)).collect();
            wait::until("the good one has its calls", LIMIT, || fast.received().len() > sent.len());
            assert_eq!(calls(&silent), 24, "some places are kept free");
            assert!(silent.iter().all(|one| one.most_open() <= 8));
            working.abort();
        },
    );
}

#[test]
fn a_node_that_failed_is_tried_with_one_call_and_gets_the_rest_when_that_arrived() {
    on_sqlite(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(500)]);
        let node = Hooked::new(hub, "node_a", &receiver.url());
        (0..5).for_each(|_| drop(node.ping(hub)));
        assert_eq!(work(hub), [DeliverySettlement::Retrying]);
        hub.clock.advance(60_000);
        assert_eq!(work(hub), [DeliverySettlement::Retrying]);
        assert_eq!(node.webhook(hub)["deliveries"]["queued"], 3, "what was never tried comes first");
        receiver.answers(&[Answers::Status(200)]);
        hub.clock.advance(60_000);
        assert_eq!(work(hub), [DeliverySettlement::Delivered; 5]);
    });
}

#[test]
fn only_so_many_deliveries_wait_for_a_node() {
    on_sqlite(|hub| {
        let node = Hooked::new(hub, "node_a", "http://127.0.0.1:9/");
        let now = hub.clock.now();
        let tell = move |tx: &mut dyn Tx| {
            let notice = notices::NodeNotice { kind: "ping", payload: serde_json::Map::new() };
            for _ in 0..MAX_WAITING + 5 {
                notices::notify_node(tx, "node_a", &notice, now)?;
            }
            tx.count("SELECT COUNT(*) FROM events WHERE node_id = 'node_a'", &[])
        };
        let told = hub.hub.store.write_now(tell).unwrap();
        assert!(told >= MAX_WAITING + 5, "{told}");
        assert_eq!(node.webhook(hub)["deliveries"]["queued"], MAX_WAITING);
        let test = json!({"node_id": "node_a"});
        hub.post_as(&node.secret, "/a2a/webhook/test", &test).refused(409, "state_conflict");
    });
}

#[test]
fn a_call_whose_maker_died_is_made_by_another() {
    both(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(200)]);
        let node = Hooked::new(hub, "node_a", &receiver.url());
        let id = node.ping(hub);
        let (now, until) = (hub.clock.now(), Time(hub.clock.now().0 + 5_400));
        let taken = hub.hub.store.write_now(move |tx| claim_due(tx, "dead process", until, now));
        assert_eq!(taken.unwrap().len(), 1);
        assert_eq!(node.newest(hub)["state"], "delivering");
        assert!(work(hub).is_empty(), "somebody has it");
        if hub.on == crate::common::On::Sqlite {
            let worker = WebhookWorker::new(&hub.hub);
            hub.runtime.block_on(worker.recover()).unwrap();
        } else {
            hub.runtime.block_on(WebhookWorker::new(&hub.hub).recover()).unwrap();
            assert!(work(hub).is_empty(), "another hub may have it");
            hub.clock.advance(5_400);
        }
        assert_eq!(work(hub), [DeliverySettlement::Delivered]);
        assert_eq!(receiver.received()[0].header("webhook-id"), id);
    });
}

#[test]
fn the_outcome_of_a_call_that_somebody_else_has_by_now_changes_nothing() {
    both(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(200)]);
        let node = Hooked::new(hub, "node_a", &receiver.url());
        node.ping(hub);
        let now = hub.clock.now();
        let settled = hub.hub.store.write_now(move |tx| {
            let taken = claim_due(tx, "slow", Time(now.0 + 1), now)?;
            calls::free_lost(tx, Time(now.0 + 1))?;
            claim_due(tx, "other", Time(now.0 + 9_000), Time(now.0 + 1))?;
            let rule = BackoffPolicy { give_up_ms: 0, ..BackoffPolicy::doubling(1, 1) };
            calls::finish_call(tx, &taken[0], "slow", &calls::CallOutcome::default(), (&rule, 0), now)
        });
        assert_eq!(settled.unwrap(), DeliverySettlement::Lost);
        assert_eq!(node.newest(hub)["state"], "delivering");
    });
}

#[test]
fn several_workers_make_each_call_once() {
    both(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(200)]);
        let nodes: Vec<_> = (0..5).map(|n| Hooked::new(hub, &format!("node_{n}"), &receiver.url())).collect();
        let mut sent = HashSet::new();
        for node in &nodes {
            (0..8).for_each(|_| assert!(sent.insert(node.ping(hub))));
        }
        hub.runtime.block_on(async {
            let workers: Vec<_> = (0..3)
                .map(|_| {
                    let worker = WebhookWorker::new(&hub.hub);
                    tokio::spawn(async move { worker.run_due().await.unwrap() })
                })
                .collect();
            for worker in workers {
                assert!(
                    worker.await.unwrap().iter().all(|settled| *settled == DeliverySettlement::Delivered)
                );
            }
        });
        // What one worker skipped because another held the node's places is made by whoever comes next.
        work(hub);
        let got: Vec<String> =
            receiver.received().iter().map(|call| call.header("webhook-id").to_owned()).collect();
        assert_eq!(got.len(), sent.len());
        assert_eq!(got.into_iter().collect::<HashSet<_>>(), sent);
    });
}

#[test]
fn a_running_hub_calls_by_itself_and_ends_in_time() {
    on_sqlite(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(200), Answers::Never]);
        let node = Hooked::new(hub, "node_a", &receiver.url());
        let working = hub.runtime.spawn(WebhookWorker::new(&hub.hub).run());
        node.ping(hub);
        wait::until("the ping is delivered", LIMIT, || node.newest(hub)["state"] == "delivered");
        node.ping(hub);
        wait::until("the second ping is under way", LIMIT, || receiver.connections() >= 2);
        hub.hub.close();
        hub.runtime.block_on(working).unwrap();
        assert_eq!(node.newest(hub)["state"], "retrying", "nobody holds it any more");
    });
}

#[test]
fn https_needs_a_certificate_that_is_trusted() {
    let file = |name: &str| format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let tls = capsid_hub::config::TlsConfig {
        certificate: file("localhost.crt").into(),
        key: file("localhost.key").into(),
    };
    on_sqlite(|hub| {
        let receiver = Receiver::start_tls(&hub.runtime, capsid_hub::server::tls::acceptor(&tls).unwrap());
        hub.names.set("localhost", &[&["127.0.0.1"]]);
        let node = Hooked::new(hub, "node_a", &format!("https://localhost:{}/", receiver.port));
        node.ping(hub);
        assert_eq!(work(hub), [DeliverySettlement::Retrying]);
        assert_eq!(node.newest(hub)["last_error"], "tls_failed");
        assert!(receiver.received().is_empty());
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(&tls.certificate).unwrap()).unwrap();
        let names = Arc::clone(&hub.hub.resolver);
        let caller = WebhookCaller::new(names, true, Duration::from_secs(5)).trusting(roots);
        hub.clock.advance(HOUR);
        let worker = WebhookWorker::with(&hub.hub, caller);
        assert_eq!(hub.runtime.block_on(worker.run_due()).unwrap(), [DeliverySettlement::Delivered]);
        assert!(receiver.received()[0].is_signed_with(&node.webhook_secret));
    });
}
