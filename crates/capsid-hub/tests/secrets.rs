//! Secrets: who is told one, who has to show it, and what showing it does, on both databases.

use crate::common::{Bundle, START, TestHub, on_sqlite, on_sqlite_with};
use capsid_rules::identity::network::Network;
use capsid_store::accounts::node_secrets::{self, IssuedSecret};
use capsid_store::db::tx::Tx;
use serde_json::{Value, json};

const NODE: &str = "node_a";

fn rotate() -> Value {
    json!({"rotate_secret": true})
}

fn secret_in(answer: &Value) -> String {
    answer["node_secret"].as_str().unwrap_or_else(|| panic!("no secret in {answer}")).to_owned()
}

/// How the hub has a node's secret: its state, and whether it could still tell it.
fn secret_state(hub: &TestHub, node: &str) -> (&'static str, bool) {
    let id = node.to_owned();
    let node = hub.hub.store.read_now(move |tx| capsid_store::nodes::get(tx, &id)).unwrap().unwrap();
    (node.secret_state.as_str(), node.issued_sealed.is_some())
}

/// Leaves the node as a hello does that issues this secret.
fn issue(tx: &mut dyn Tx, secret: &str) -> capsid_model::problem::Result<()> {
    let network = Network::loopback();
    let issued = IssuedSecret {
        secret,
        sealed: &[0; 32],
        network: &network,
        keeps_secret: false,
        keeps_earlier: false,
    };
    node_secrets::issue(tx, NODE, &issued, START)
}

/// A node that has shown its secret.
fn bound(hub: &TestHub, node: &str) -> String {
    let secret = hub.register(node);
    hub.message_as(node, &secret, "hello", json!({})).expect(200);
    assert_eq!(secret_state(hub, node), ("bound", false));
    secret
}

/// Makes an account and gives its session.
fn account(hub: &TestHub, email: &str) -> String {
    let login = json!({"email": email, "password": "correct horse battery"});
    let made = hub.post("/auth/register", &login).json();
    made["token"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
}

/// An account claims a node that has said hello.
fn claim(hub: &TestHub, node: &str, session: &str) {
    let code = hub.message(node, "hello", json!({})).expect(200)["claim_code"].as_str().unwrap().to_owned();
    hub.post_as(session, &format!("/claim/{code}"), &json!({})).expect(200);
}

/// Panics unless whoever shows nothing is told nothing and can do nothing in a node's name.
#[track_caller]
fn a_stranger_gets_nowhere(hub: &TestHub, node: &str) {
    let answer = hub.message(node, "hello", json!({})).expect(200);
    for key in ["node_secret", "claim_code", "claim_url"] {
        assert!(answer.get(key).is_none() && answer["payload"].get(key).is_none(), "{answer}");
    }
    assert_eq!(answer["node_secret_status"], "active");
    hub.publish(node, &Bundle::new(9)).refused(401, "node_secret_required");
    hub.message(node, "fetch", json!({})).refused(401, "node_secret_required");
    hub.post("/a2a/heartbeat", &json!({"node_id": node})).refused(401, "node_secret_required");
}

#[test]
fn a_bound_node_stays_bound_when_its_secret_is_replaced() {
    on_sqlite(|hub| {
        let first = bound(hub, NODE);
        let answer = hub.message_as(NODE, &first, "hello", rotate()).expect(200);
        let second = secret_in(&answer["payload"]);
        assert_ne!(first, second);
        assert_eq!(answer["node_secret_version"], 2);
        assert_eq!(secret_state(hub, NODE), ("bound", false));
        a_stranger_gets_nowhere(hub, NODE);
        hub.message(NODE, "hello", rotate()).refused(401, "node_secret_required");
        hub.message_as(NODE, &first, "fetch", json!({})).refused(403, "node_secret_invalid");
        hub.message_as(NODE, &second, "fetch", json!({})).expect(200);
    });
}

#[test]
fn a_secret_that_was_never_shown_is_replaced_and_told_again() {
    on_sqlite(|hub| {
        let first = hub.register(NODE);
        let second = secret_in(&hub.message(NODE, "hello", rotate()).expect(200));
        assert_ne!(first, second);
        assert_eq!(hub.register(NODE), second);
        assert_eq!(secret_state(hub, NODE), ("issued", true));
        let third = secret_in(&hub.message_as(NODE, &second, "hello", rotate()).expect(200));
        assert_eq!(secret_state(hub, NODE), ("bound", false), "the right secret was shown");
        a_stranger_gets_nowhere(hub, NODE);
        hub.message_as(NODE, &third, "fetch", json!({})).expect(200);
    });
}

#[test]
fn a_claimed_node_that_has_shown_its_secret_gets_no_other_one() {
    on_sqlite(|hub| {
        let secret = hub.register(NODE);
        claim(hub, NODE, &account(hub, "ann@example.org"));
        // The first answer may have been lost, so its network is told again.
        assert_eq!(secret_in(&hub.message(NODE, "hello", json!({})).expect(200)), secret);
        hub.publish(NODE, &Bundle::new(1)).expect(200);
        hub.message_as(NODE, &secret, "fetch", json!({})).expect(200);
        for payload in [json!({}), json!({"env_fingerprint": {"device_id": "d"}})] {
            let answer = hub.message(NODE, "hello", payload).expect(200);
            assert!(answer.get("node_secret").is_none(), "{answer}");
            assert_eq!((&answer["status"], &answer["claimed"]), (&json!("acknowledged"), &json!(true)));
        }
        for payload in [rotate(), json!({"rotate_secret": true, "env_fingerprint": {"device_id": "d"}})] {
            let answer = hub.message(NODE, "hello", payload).refused(409, "node_id_already_claimed");
            assert_eq!(answer["payload"], json!({"status": "rejected", "reason": "node_id_already_claimed"}));
            assert_eq!((&answer["status"], &answer["message_type"]), (&json!("rejected"), &json!("hello")));
        }
        let next = secret_in(&hub.message_as(NODE, &secret, "hello", rotate()).expect(200));
        a_stranger_gets_nowhere(hub, NODE);
        hub.message_as(NODE, &next, "fetch", json!({})).expect(200);
    });
}

#[test]
fn a_heartbeat_without_the_secret_has_no_claim_code() {
    on_sqlite(|hub| {
        hub.publish(NODE, &Bundle::new(1)).expect(200);
        let beat = hub.post("/a2a/heartbeat", &json!({"node_id": NODE})).expect(200);
        assert_eq!(beat["claim_state"], json!({"claimed": false}));
        let secret = hub.register(NODE);
        let beat = hub.post_as(&secret, "/a2a/heartbeat", &json!({"node_id": NODE})).expect(200);
        assert!(beat["claim_state"]["claim_code"].is_string(), "{beat}");
    });
}

#[test]
fn a_secret_that_was_reset_is_shown_once() {
    on_sqlite(|hub| {
        let old = hub.register(NODE);
        let session = account(hub, "ann@example.org");
        claim(hub, NODE, &session);
        let path = format!("/account/agents/{NODE}/reset-secret");
        let fresh = secret_in(&hub.post_as(&session, &path, &json!({})).expect(200));
        assert_eq!(secret_state(hub, NODE), ("bound", false));
        a_stranger_gets_nowhere(hub, NODE);
        hub.message_as(NODE, &old, "fetch", json!({})).refused(403, "node_secret_invalid");
        hub.message_as(NODE, &fresh, "fetch", json!({})).expect(200);
    });
}

#[test]
fn a_vote_through_a_node_needs_its_secret() {
    use capsid_rules::identity::secrets::RequireSecret;
    for policy in [RequireSecret::Tofu, RequireSecret::Never] {
        on_sqlite_with(
            |config| config.require_secret = policy,
            |hub| {
                let bundle = Bundle::new(1);
                hub.publish("node_publisher", &bundle).expect(200);
                let secret = hub.register(NODE);
                claim(hub, NODE, &account(hub, "ann@example.org"));
                let path = format!("/a2a/assets/{}/vote", bundle.capsule_id());
                let vote = json!({"vote": "up", "sender_id": NODE});
                hub.post(&path, &vote).refused(401, "unauthorized");
                hub.post_as(&"0".repeat(64), &path, &vote).refused(403, "node_secret_invalid");
                assert_eq!(hub.post_as(&secret, &path, &vote).expect(200)["upvotes"], 1);
            },
        );
    }
}

#[test]
fn showing_the_right_secret_binds_wherever_it_is_shown() {
    let bundle = Bundle::new(1);
    let detail = format!("/a2a/assets/{}", bundle.capsule_id());
    let gets = [
        "/a2a/events/stream?duration_ms=1&node_id=node_a".to_owned(),
        "/a2a/mailbox/status?node_id=node_a".to_owned(),
        "/a2a/memory/status?node_id=node_a".to_owned(),
        "/a2a/validator/status?node_id=node_a".to_owned(),
        "/a2a/assets/purchased?node_id=node_a".to_owned(),
        "/a2a/assets/published-by-me?node_id=node_a".to_owned(),
        format!("{detail}?node_id=node_a"),
        detail,
    ];
    let posts = ["events/poll", "mailbox/inbound", "memory/recall", "signal/analyze", "heartbeat"];
    let messages = [("fetch", json!({})), ("validate", bundle.payload()), ("hello", json!({}))];
    on_sqlite(|hub| {
        hub.publish(NODE, &bundle).expect(200);
        let mut number = 0;
        let mut check = |what: &str, call: &dyn Fn(&str)| {
            // The state as a fresh hello leaves it, with another secret each time.
            number += 1;
            let secret = format!("{number:064x}");
            let fresh = secret.clone();
            hub.hub.store.write_now(move |tx| issue(tx, &fresh)).unwrap();
            assert_eq!(secret_state(hub, NODE), ("issued", true));
            call(&secret);
            assert_eq!(secret_state(hub, NODE), ("bound", false), "{what}");
            a_stranger_gets_nowhere(hub, NODE);
        };
        for path in &gets {
            check(path, &|secret| assert_eq!(hub.get_as(secret, path).status, 200, "{path}"));
        }
        for name in posts {
            let asked = json!({"sender_id": NODE, "timeout_ms": 0});
            check(name, &|secret| {
                hub.post_as(secret, &format!("/a2a/{name}"), &asked).expect(200);
            });
        }
        for (kind, payload) in &messages {
            check(kind, &|secret| {
                hub.message_as(NODE, secret, kind, payload.clone()).expect(200);
            });
        }
    });
}

#[test]
fn a_message_out_of_time_is_refused_before_its_payload_is_read() {
    on_sqlite_with(
        |config| config.max_skew_ms = Some(60_000),
        |hub| {
            for kind in ["hello", "publish", "validate", "fetch", "report", "decision", "revoke"] {
                let mut message = hub.envelope(NODE, kind, json!({"assets": 1, "name": 1, "limit": "x"}));
                message["timestamp"] = json!("2025-12-31T23:58:00Z");
                hub.post(&format!("/a2a/{kind}"), &message).refused(400, "timestamp_out_of_range");
                message["timestamp"] = json!("2025-12-31T23:59:30Z");
                let answer = hub.post(&format!("/a2a/{kind}"), &message).json();
                assert_ne!(answer["error"], "timestamp_out_of_range");
            }
        },
    );
}

#[test]
fn a_stranger_cannot_use_up_what_a_bound_node_may_send() {
    use capsid_rules::rate_limit::RateLimit;
    on_sqlite_with(
        |config| {
            config.limits.publish = RateLimit::per_minute(3);
            config.limits.messages = RateLimit::per_minute(3);
        },
        |hub| {
            let secret = bound(hub, NODE);
            for kind in ["publish", "report", "decision", "revoke"] {
                for _ in 0..5 {
                    hub.message(NODE, kind, json!({})).refused(401, "node_secret_required");
                }
            }
            hub.message_as(NODE, &secret, "publish", Bundle::new(1).payload()).expect(200);
            let answer = hub.message_as(NODE, &secret, "revoke", json!({"target_asset_id": "x"}));
            assert_ne!(answer.status, 429, "{answer}");
        },
    );
}

#[test]
fn made_up_names_are_counted_for_the_network() {
    use capsid_rules::rate_limit::RateLimit;
    on_sqlite_with(
        |config| config.limits.hello = RateLimit::per_hour(3),
        |hub| {
            for n in 0..3 {
                hub.publish(&format!("node_{n}"), &Bundle::new(n)).expect(200);
            }
            hub.publish("node_3", &Bundle::new(3)).refused(429, "hello_rate_limit");
            hub.message("node_4", "report", json!({})).refused(429, "hello_rate_limit");
            hub.publish("node_0", &Bundle::new(4)).expect(200);
        },
    );
}

#[test]
fn only_messages_make_a_node() {
    on_sqlite(|hub| {
        let memory = json!({"sender_id": "node_new", "signals": ["timeout"], "status": "success"});
        hub.post("/a2a/memory/record", &memory).refused(401, "node_secret_not_set");
        let stake = json!({"sender_id": "node_new", "stake_amount": 500});
        hub.post("/a2a/validator/stake", &stake).refused(401, "node_secret_not_set");
        hub.get("/a2a/nodes/node_new").refused(404, "node_not_found");
        hub.publish("node_new", &Bundle::new(1)).expect(200);
        hub.post("/a2a/memory/record", &memory).expect(200);
    });
}

#[test]
fn a_device_that_a_node_told_the_world_proves_nothing() {
    on_sqlite(|hub| {
        let device = json!({"device_id": "device-1", "platform": "linux"});
        hub.message(NODE, "hello", json!({"env_fingerprint": device})).expect(200);
        let secret = bound(hub, NODE);
        let bundle = Bundle::new(1).with(|bundle| bundle.capsule["env_fingerprint"] = device.clone());
        hub.message_as(NODE, &secret, "publish", bundle.payload()).expect(200);
        let same = json!({"rotate_secret": true, "env_fingerprint": device});
        hub.message(NODE, "hello", same.clone()).refused(401, "node_secret_required");
        hub.message_as(NODE, &secret, "hello", same).expect(200);
    });
}

#[test]
fn an_empty_device_is_no_device() {
    on_sqlite(|hub| {
        let device = json!({"device_id": " "});
        hub.message(NODE, "hello", json!({"env_fingerprint": device})).expect(200);
        bound(hub, NODE);
        let same = json!({"rotate_secret": true, "env_fingerprint": device});
        hub.message(NODE, "hello", same).refused(401, "node_secret_required");
    });
}

#[test]
fn a_credential_of_no_known_form_is_a_wrong_one_but_may_look() {
    on_sqlite(|hub| {
        let secret = hub.register(NODE);
        hub.publish(NODE, &Bundle::new(1)).expect(200);
        for odd in ["not-a-secret", "0", "eyJhbGciOiJub25lIn0.e30."] {
            let refused = hub.message_as(NODE, odd, "publish", Bundle::new(2).payload());
            refused.refused(403, "node_secret_invalid");
            let record = json!({"sender_id": NODE, "signals": ["timeout"], "status": "success"});
            hub.post_as(odd, "/a2a/memory/record", &record).refused(403, "node_secret_invalid");
            hub.get_as(odd, "/a2a/mailbox/status?node_id=node_a").expect(200);
            hub.get_as(odd, "/a2a/stats").expect(200);
        }
        let mut message = hub.envelope(NODE, "fetch", json!({}));
        for mistyped in [json!(5), json!(true), json!([secret]), json!({})] {
            message["node_secret"] = mistyped;
            hub.post("/a2a/fetch", &message).refused(400, "validation_error");
        }
        assert_eq!(secret_state(hub, NODE), ("issued", true));
        message["node_secret"] = json!(null);
        hub.post("/a2a/fetch", &message).expect(200);
        message["node_secret"] = json!(secret);
        hub.post_as("not-a-secret", "/a2a/fetch", &message).expect(200);
        assert_eq!(secret_state(hub, NODE), ("bound", false));
    });
}

#[test]
fn a_network_makes_so_many_accounts_and_no_more() {
    use capsid_rules::rate_limit::RateLimit;
    on_sqlite_with(
        |config| config.limits.register = RateLimit::per_hour(2),
        |hub| {
            account(hub, "ann@example.org");
            account(hub, "ben@example.org");
            let login = json!({"email": "eve@example.org", "password": "correct horse battery"});
            hub.post("/auth/register", &login).refused(429, "rate_limited");
            hub.post(
                "/auth/login",
                &json!({"email": "ann@example.org", "password": "correct horse battery"}),
            )
            .expect(200);
        },
    );
}

#[test]
fn a_request_is_authenticated_exactly_once() {
    on_sqlite(|hub| {
        let publisher = bound(hub, "node_b");
        let bundle = Bundle::new(1);
        hub.message_as("node_b", &publisher, "publish", bundle.payload()).expect(200);
        let secret = bound(hub, NODE);
        let session = account(hub, "a@example.org");
        let code = hub.message_as(NODE, &secret, "hello", json!({})).expect(200)["claim_code"].clone();
        hub.post_as(&session, &format!("/claim/{}", code.as_str().unwrap()), &json!({})).expect(200);
        let target = json!({"target_asset_id": bundle.capsule_id()});
        let with = |more: Value| {
            let mut all = target.clone();
            all.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
            all
        };
        // The node shows its secret, or its owner speaks for it.
        for (bearer, n) in [(&secret, 2), (&session, 4)] {
            let own = Bundle::new(n);
            let messages = [
                ("publish", own.payload()),
                ("validate", own.payload()),
                ("report", with(json!({"validation_report": {"overall_ok": true}}))),
                ("decision", with(json!({"decision": "accept"}))),
                (
                    "fetch",
                    json!({"asset_ids": [own.capsule_id()], "include_tasks": true, "questions": ["Why so slow?"]}),
                ),
                ("revoke", json!({"target_asset_id": own.capsule_id()})),
                ("hello", json!({})),
            ];
            let items = json!([
                {"id": format!("a{n}"), "type": "dm", "payload": {"recipient_node_id": "node_b", "content": "x"}},
                {"id": format!("b{n}"), "type": "asset_submit", "payload": Bundle::new(n + 1).payload()},
                {"id": format!("c{n}"), "type": "task_subscribe"},
            ]);
            let calls = [
                ("/a2a/heartbeat", json!({"node_id": NODE})),
                ("/a2a/mailbox/outbound", json!({"node_id": NODE, "messages": items})),
                ("/a2a/ask", json!({"node_id": NODE, "question": "Why does the parser stop?", "amount": 1})),
                ("/a2a/memory/recall", json!({"node_id": NODE, "query": "x"})),
                (
                    "/kg/ingest",
                    json!({"node_id": NODE, "entities": [{"name": "serde", "entity_type": "package"}]}),
                ),
            ];
            let once = |what: &str, ask: &dyn Fn() -> u16| {
                let before = hub.authentications();
                let status = ask();
                assert!(status < 300, "{what}: {status}");
                assert_eq!(hub.authentications() - before, 1, "{what}");
            };
            for (kind, payload) in &messages {
                // These look at the secret alone.
                if !["hello", "validate"].contains(kind) || bearer == &secret {
                    once(kind, &|| hub.message_as(NODE, bearer, kind, payload.clone()).status);
                }
            }
            for (path, body) in &calls {
                once(path, &|| hub.post_as(bearer, path, body).status);
            }
            let detail = format!("/a2a/assets/{}?node_id={NODE}&detailed=true", bundle.gene_id());
            once("detail", &|| hub.get_as(bearer, &detail).status);
        }
    });
}
