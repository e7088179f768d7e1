//! Advice from what the asker recorded: by nobody else's word, from nobody else's memory, on both databases.

use crate::common::economy::{admin, quiet, user};
use crate::common::{Bundle, TestHub, both, on_sqlite, on_sqlite_with};
use capsid_hub::config::{GraphAccess, HubConfig};
use capsid_rules::rate_limit::RateLimit;
use serde_json::{Value, json};

/// A node whose secret was shown, so that nobody else can speak for it.
fn bound(hub: &TestHub, node: &str) -> String {
    let secret = hub.register(node);
    hub.post_as(&secret, "/a2a/heartbeat", &json!({"node_id": node})).expect(200);
    secret
}

fn outcome(id: &str, gene: &str, status: &str) -> Value {
    json!({
        "type": "MemoryGraphEvent", "kind": "outcome", "id": id, "ts": "2026-01-01T00:00:00.000Z",
        "signal": {"signals": ["log_error", "TimeoutError"]}, "gene": {"id": gene},
        "outcome": {"status": status, "score": 0.5},
    })
}

/// Tells of an outcome; gives whether it was new.
fn ingest_outcome(hub: &TestHub, bearer: &str, node: Option<&str>, event: &Value) -> bool {
    let mut body = json!({"kind": "outcome", "event": event});
    if let Some(node) = node {
        body["sender_id"] = node.into();
    }
    let answer = hub.post_as(bearer, "/kg/ingest", &body).expect(200);
    assert_eq!(answer["recorded"], true);
    answer["duplicate"] == false
}

fn question(genes: &[&str]) -> Value {
    let genes: Vec<Value> =
        genes.iter().map(|id| json!({"id": id, "category": "repair", "type": "Gene"})).collect();
    json!({"signals": ["log_error", "TimeoutError"], "genes": genes, "driftEnabled": false})
}

fn advice(hub: &TestHub, bearer: &str, node: Option<&str>, genes: &[&str]) -> Value {
    let mut body = question(genes);
    if let Some(node) = node {
        body["node_id"] = node.into();
    }
    hub.post_as(bearer, "/kg/advice", &body).expect(200)
}

#[test]
fn what_went_well_is_preferred_and_what_keeps_failing_is_banned() {
    both(|hub| {
        let secret = bound(hub, "node_a");
        let genes = ["gene_bad", "gene_good", "gene_new"];
        let empty = advice(hub, &secret, Some("node_a"), &genes);
        assert_eq!((&empty["preferredGeneId"], &empty["bannedGeneIds"]), (&Value::Null, &json!([])));
        assert_eq!(empty["basis"], json!({"own": 0, "hub": 0}));
        for n in 0..4 {
            ingest_outcome(hub, &secret, Some("node_a"), &outcome(&format!("b{n}"), "gene_bad", "failed"));
            ingest_outcome(hub, &secret, Some("node_a"), &outcome(&format!("g{n}"), "gene_good", "success"));
        }
        let told = advice(hub, &secret, Some("node_a"), &genes);
        assert_eq!(
            (&told["preferredGeneId"], &told["bannedGeneIds"]),
            (&json!("gene_good"), &json!(["gene_bad"]))
        );
        assert_eq!(told["currentSignalKey"], "TimeoutError|log_error");
        assert_eq!(told["basis"]["own"], 8);
        assert!(told["explanation"][0].as_str().unwrap().contains("4 of 4"), "{told}");
        let mut drifting = question(&genes);
        drifting["node_id"] = "node_a".into();
        drifting["driftEnabled"] = true.into();
        assert_eq!(hub.post_as(&secret, "/kg/advice", &drifting).expect(200)["bannedGeneIds"], json!([]));
        let unasked = advice(hub, &secret, Some("node_a"), &["gene_new"]);
        assert_eq!(unasked["bannedGeneIds"], json!([]), "only what is asked about is told");
    });
}

#[test]
fn an_event_is_kept_once_however_often_and_in_whatever_way_it_comes() {
    on_sqlite(|hub| {
        let secret = bound(hub, "node_a");
        let event = outcome("mge_1", "gene_a", "success");
        assert!(ingest_outcome(hub, &secret, Some("node_a"), &event));
        assert!(!ingest_outcome(hub, &secret, Some("node_a"), &event));
        hub.clock.advance(3 * 86_400_000);
        assert!(!ingest_outcome(hub, &secret, Some("node_a"), &event), "days later it is still the same");
        hub.post_as(&secret, "/a2a/memory/event", &json!({"sender_id": "node_a", "event": event}))
            .expect(200);
        assert_eq!(advice(hub, &secret, Some("node_a"), &["gene_a"])["basis"]["own"], 1);
        assert!(ingest_outcome(hub, &secret, Some("node_a"), &outcome("mge_2", "gene_a", "success")));
        assert_eq!(advice(hub, &secret, Some("node_a"), &["gene_a"])["basis"]["own"], 2);
    });
}

#[test]
fn an_account_is_advised_by_its_nodes_too_and_nobody_by_those_of_others() {
    on_sqlite(|hub| {
        let ((ann, ann_id), (ben, _)) = (user(hub, "ann"), user(hub, "ben"));
        let secret = bound(hub, "node_a");
        let claimed = ann_id.strip_prefix("user:").unwrap().to_owned();
        let owner = claimed.clone();
        let own = move |tx: &mut dyn capsid_store::db::tx::Tx| {
            tx.run("UPDATE nodes SET owner = $1 WHERE node_id = 'node_a'", capsid_store::params![&owner])
        };
        assert_eq!(hub.hub.store.write_now(own).unwrap(), 1);
        for n in 0..4 {
            ingest_outcome(hub, &secret, Some("node_a"), &outcome(&format!("n{n}"), "gene_bad", "failed"));
        }
        ingest_outcome(hub, &ann, None, &outcome("u1", "gene_good", "success"));
        let genes = ["gene_good", "gene_bad"];
        let told = advice(hub, &ann, None, &genes);
        assert_eq!(
            (&told["preferredGeneId"], &told["bannedGeneIds"]),
            (&json!("gene_good"), &json!(["gene_bad"]))
        );
        assert_eq!(told["basis"]["own"], 5);
        assert_eq!(advice(hub, &secret, Some("node_a"), &genes)["preferredGeneId"], Value::Null);
        let other = advice(hub, &ben, None, &genes);
        assert_eq!((&other["basis"]["own"], &other["bannedGeneIds"]), (&json!(0), &json!([])));
        let mut spoof = question(&genes);
        spoof["node_id"] = "node_a".into();
        hub.post_as(&ben, "/kg/advice", &spoof).refused(401, "node_secret_required");
        hub.post("/kg/advice", &spoof).refused(401, "node_secret_required");
        hub.post("/kg/advice", &question(&genes)).refused(401, "unauthorized");
        let event = json!({"kind": "outcome", "event": outcome("x", "g", "failed"), "sender_id": "node_a"});
        hub.post_as(&ben, "/kg/ingest", &event).refused(401, "node_secret_required");
        // The name of an account's memory is no name of a node.
        for id in [format!("user/{claimed}"), format!("user%2F{claimed}")] {
            let mut named = question(&genes);
            named["node_id"] = id.into();
            hub.post_as(&ben, "/kg/advice", &named).refused(400, "validation_error");
        }
    });
}

#[test]
fn what_others_found_is_told_and_bans_nothing() {
    on_sqlite_with(quiet, |hub| {
        let root = admin(hub);
        let named = |n: u64| {
            let made = Bundle::new(n);
            let (mut gene, mut capsule) = (made.gene, made.capsule);
            gene["id"] = "gene_shared".into();
            (gene["signals_match"], capsule["trigger"]) = (json!(["TimeoutError"]), json!(["TimeoutError"]));
            Bundle::from_assets(gene, capsule, made.event)
        };
        for (n, node) in [(1, "node_x"), (2, "node_y")] {
            let bundle = named(n);
            hub.register(node);
            hub.publish(node, &bundle).expect(200);
            for id in [bundle.gene_id(), bundle.capsule_id()] {
                let path = format!("/admin/assets/{id}/promote");
                hub.post_as(&root, &path, &json!({"reason": "Works."})).expect(200);
            }
        }
        let secret = bound(hub, "node_a");
        let told = advice(hub, &secret, Some("node_a"), &["gene_other", "gene_shared"]);
        assert_eq!(told["basis"], json!({"own": 0, "hub": 2}), "{told}");
        assert_eq!((&told["preferredGeneId"], &told["bannedGeneIds"]), (&Value::Null, &json!([])));
        assert!(told["explanation"][0].as_str().unwrap().contains("2 other publisher"), "{told}");
        // Of two that did equally well here, the one that others had success with.
        for gene in ["gene_other", "gene_shared"] {
            ingest_outcome(hub, &secret, Some("node_a"), &outcome(gene, gene, "success"));
        }
        let told = advice(hub, &secret, Some("node_a"), &["gene_other", "gene_shared"]);
        assert_eq!(told["preferredGeneId"], "gene_shared", "{told}");
        let secret = bound(hub, "node_x");
        let own = advice(hub, &secret, Some("node_x"), &["gene_shared"]);
        assert_eq!(own["basis"]["hub"], 1, "one's own solutions are no word of others");
    });
}

#[test]
fn the_operator_says_who_is_advised_and_may_tell() {
    let closed = |access: GraphAccess| move |config: &mut HubConfig| config.graph.access = access;
    let event = json!({"kind": "outcome", "event": outcome("e", "g", "failed")});
    on_sqlite_with(closed(GraphAccess::Admins), |hub| {
        let ((ann, _), root, secret) = (user(hub, "ann"), admin(hub), bound(hub, "node_a"));
        for (path, body) in [("/kg/advice", question(&["g"])), ("/kg/ingest", event.clone())] {
            let refused = hub.post_as(&ann, path, &body).refused(403, "plan_upgrade_required");
            assert_eq!(refused["access"], "admins");
            let mut by_node = body.clone();
            by_node["sender_id"] = "node_a".into();
            hub.post_as(&secret, path, &by_node).refused(403, "plan_upgrade_required");
            hub.post(path, &body).refused(401, "unauthorized");
            hub.post_as(&root, path, &body).expect(200);
        }
    });
    on_sqlite_with(closed(GraphAccess::Nobody), |hub| {
        let root = admin(hub);
        for (path, body) in [("/kg/advice", question(&["g"])), ("/kg/ingest", event.clone())] {
            hub.post_as(&root, path, &body).refused(403, "plan_upgrade_required");
            hub.post(path, &body).refused(403, "plan_upgrade_required");
        }
    });
}

#[test]
fn advice_and_events_count_as_questions_and_tellings_and_cost_nothing() {
    let few = |config: &mut HubConfig| {
        config.limits.graph_query = RateLimit { count: 2, window_ms: 60_000 };
        config.limits.graph_ingest = RateLimit { count: 1, window_ms: 60_000 };
        (config.graph.query_price, config.graph.ingest_price) = (1_000_000_000, 1_000_000_000);
    };
    on_sqlite_with(few, |hub| {
        let ((ann, _), (ben, _)) = (user(hub, "ann"), user(hub, "ben"));
        for _ in 0..2 {
            advice(hub, &ann, None, &["g"]);
        }
        let refused = hub.post_as(&ann, "/kg/advice", &question(&["g"])).refused(429, "rate_limited");
        assert!(refused["retry_after_ms"].as_i64().unwrap() > 0, "{refused}");
        hub.post_as(&ann, "/kg/query", &json!({"query": "x"})).refused(429, "rate_limited");
        ingest_outcome(hub, &ann, None, &outcome("e1", "g", "failed"));
        let event = json!({"kind": "outcome", "event": outcome("e2", "g", "failed")});
        hub.post_as(&ann, "/kg/ingest", &event).refused(429, "rate_limited");
        advice(hub, &ben, None, &["g"]);
        hub.clock.advance(61_000);
        ingest_outcome(hub, &ann, None, &outcome("e2", "g", "failed"));
        assert_eq!(advice(hub, &ann, None, &["g"])["basis"]["own"], 2);
    });
}

#[test]
fn hostile_questions_and_events_are_refused_and_leave_nothing() {
    on_sqlite(|hub| {
        let secret = bound(hub, "node_a");
        let before = hub.dump();
        let good = json!({"sender_id": "node_a", "kind": "outcome", "event": outcome("e", "g", "failed")});
        let spoilt = [
            ("kind", json!("confidence_edge")),
            ("kind", json!("signal")),
            ("kind", json!(7)),
            ("event", json!([])),
            ("event", json!("outcome")),
            ("event", json!({"kind": 7})),
            ("event", json!({"kind": "outcome", "x": "y".repeat(70_000)})),
            ("node_secret", json!({})),
        ];
        for (key, value) in spoilt {
            let mut body = good.clone();
            body[key] = value;
            let refusal = hub.post_as(&secret, "/kg/ingest", &body);
            refusal.refused(400, "validation_error");
            refusal.explains();
        }
        for (members, named) in [
            (&["entities"][..], "`entities`"),
            (&["entities", "relations"], "`entities` and `relations`"),
            (&["relationships", "confidence"], "`relationships`"),
            (&["confidence"], "`confidence`"),
            (&["Event"], "`Event`"),
        ] {
            let mut body = good.clone();
            members.iter().for_each(|name| body[*name] = json!([]));
            let refusal = hub.post_as(&secret, "/kg/ingest", &body);
            refusal.refused(400, "validation_error");
            let told = refusal.json();
            assert!(told["correction"]["problem"].as_str().unwrap().contains(named), "{refusal}");
            let each = told["details"].as_array().unwrap().iter().map(|detail| &detail["path"]);
            assert_eq!(each.collect::<Vec<_>>(), members.iter().collect::<Vec<_>>(), "{refusal}");
        }
        let mut untold = good;
        untold["event"] = json!({"gene": {"id": "g"}});
        untold.as_object_mut().unwrap().shift_remove("kind");
        hub.post_as(&secret, "/kg/ingest", &untold).refused(400, "validation_error");
        let genes = vec![json!({"id": "g"}); 2001];
        for (key, value) in [
            ("signals", json!("log_error")),
            ("signals", json!(vec!["x"; 51])),
            ("signals", json!(["x".repeat(2001)])),
            ("genes", json!(genes)),
            ("genes", json!([{"id": ""}])),
            ("genes", json!([{"id": "a\u{202e}b"}])),
            ("genes", json!([{"category": "repair"}])),
            ("driftEnabled", json!("yes")),
        ] {
            let mut body = question(&["g"]);
            body["node_id"] = "node_a".into();
            body[key] = value;
            hub.post_as(&secret, "/kg/advice", &body).refused(400, "validation_error");
        }
        assert_eq!(before, hub.dump());
        // Texts that mean something elsewhere mean nothing here.
        let odd = json!({"sender_id": "node_a", "kind": "outcome", "event": {
            "id": "<script>", "signal": {"signals": ["'); DROP TABLE memories;--", 7, null], "key": {}},
            "gene": {"id": "g\u{202e}"}, "outcome": {"status": "success", "score": "high"}, "ts": [],
        }});
        hub.post_as(&secret, "/kg/ingest", &odd).expect(200);
        assert_eq!(advice(hub, &secret, Some("node_a"), &["g"])["preferredGeneId"], Value::Null);
    });
}
