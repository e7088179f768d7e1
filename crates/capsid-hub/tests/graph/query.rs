//! Questions: who may ask, and what is answered.

use super::{fill, names};
use crate::common::economy::{admin, text, user};
use crate::common::{TestHub, both, both_with};
use capsid_hub::config::GraphAccess;
use capsid_rules::rate_limit::RateLimit;
use serde_json::{Value, json};

fn question(words: &str) -> Value {
    json!({"query": words, "type": "semantic"})
}

#[test]
fn accounts_keys_and_nodes_may_ask_and_nobody_else() {
    both(|hub| {
        let secret = hub.register("node_a");
        hub.post("/kg/query", &question("timeout")).refused(401, "unauthorized");
        hub.post_as("sess_unknown", "/kg/query", &question("timeout")).refused(401, "unauthorized");
        let bare = hub.post_as(&secret, "/kg/query", &question("timeout")).refused(401, "unauthorized");
        assert!(bare["correction"]["fix"].as_str().unwrap().contains("sender_id"), "{bare}");
        let (token, _) = user(hub, "ann");
        hub.post_as(&token, "/kg/query", &question("timeout")).expect(200);
        let key = hub.post_as(&token, "/account/api-keys", &json!({"name": "laptop"})).expect(201);
        hub.post_as(&text(&key["api_key"]), "/kg/query", &question("timeout")).expect(200);
        let mut by_node = question("timeout");
        by_node["sender_id"] = json!("node_a");
        hub.post_as(&secret, "/kg/query", &by_node).expect(200);
        // The secret was shown, so it is asked for from now on.
        hub.post("/kg/query", &by_node).refused(401, "node_secret_required");
        hub.post_as(&"0".repeat(64), "/kg/query", &by_node).refused(403, "node_secret_invalid");
        by_node["node_secret"] = json!(secret);
        hub.post("/kg/query", &by_node).expect(200);
        by_node["sender_id"] = json!("node_nobody");
        hub.post("/kg/query", &by_node).refused(401, "node_secret_not_set");
    });
}

#[test]
fn the_operator_says_who_may_ask() {
    let closed =
        |access: GraphAccess| move |config: &mut capsid_hub::config::HubConfig| config.graph.access = access;
    both_with(closed(GraphAccess::Admins), |hub| {
        let (token, _) = user(hub, "ann");
        let root = admin(hub);
        let refused = hub.post_as(&token, "/kg/query", &question("x")).refused(403, "plan_upgrade_required");
        assert_eq!(refused["access"], "admins");
        hub.post_as(&root, "/kg/query", &question("x")).expect(200);
        hub.get("/kg/graph?q=x").refused(401, "unauthorized");
        hub.get_as(&root, "/kg/graph?q=x").expect(200);
        hub.get_as(&token, "/kg/my-graph").refused(403, "plan_upgrade_required");
        assert_eq!(hub.get_as(&token, "/kg/status").expect(200)["entitled"], false);
        assert_eq!(hub.get_as(&root, "/kg/status").expect(200)["entitled"], true);
        // An admin's node is as good as the admin.
        let code = text(&hub.message("node_own", "hello", json!({})).expect(200)["claim_code"]);
        let mut by_node = question("x");
        by_node["sender_id"] = json!("node_own");
        hub.post("/kg/query", &by_node).refused(403, "plan_upgrade_required");
        hub.post_as(&root, &format!("/claim/{code}"), &json!({})).expect(200);
        hub.post_as(&root, "/kg/query", &by_node).expect(200);
    });
    both_with(closed(GraphAccess::Nobody), |hub| {
        let root = admin(hub);
        hub.post_as(&root, "/kg/query", &question("x")).refused(403, "plan_upgrade_required");
        hub.post_as(&root, "/kg/ingest", &json!({"entities": [{"name": "x", "entity_type": "concept"}]}))
            .refused(403, "plan_upgrade_required");
        hub.get("/kg/graph?q=x").refused(403, "plan_upgrade_required");
        hub.get("/kg/path?from=a&to=b").refused(403, "plan_upgrade_required");
        let status = hub.get("/kg/status").expect(200);
        assert_eq!((&status["entitled"], &status["available"]), (&json!(false), &json!(false)));
    });
}

#[test]
fn everybody_has_a_limit_of_their_own() {
    let few = |config: &mut capsid_hub::config::HubConfig| {
        config.limits.graph_query = RateLimit { count: 2, window_ms: 60_000 };
        config.limits.graph_ingest = RateLimit { count: 1, window_ms: 60_000 };
    };
    both_with(few, |hub| {
        let (ann, _) = user(hub, "ann");
        let (bob, _) = user(hub, "bob");
        for _ in 0..2 {
            hub.post_as(&ann, "/kg/query", &question("x")).expect(200);
        }
        let refused = hub.post_as(&ann, "/kg/query", &question("x")).refused(429, "rate_limited");
        assert!(refused["retry_after_ms"].as_i64().unwrap() > 0, "{refused}");
        hub.get_as(&ann, "/kg/graph?q=x").refused(429, "rate_limited");
        hub.post_as(&bob, "/kg/query", &question("x")).expect(200);
        hub.get("/kg/graph?q=x").expect(200);
        let told = json!({"entities": [{"name": "x", "entity_type": "concept"}]});
        hub.post_as(&ann, "/kg/ingest", &told).expect(200);
        hub.post_as(&ann, "/kg/ingest", &told).refused(429, "rate_limited");
        hub.clock.advance(61_000);
        hub.post_as(&ann, "/kg/query", &question("x")).expect(200);
        hub.post_as(&ann, "/kg/ingest", &told).expect(200);
    });
}

#[test]
fn a_question_finds_things_assets_and_the_ways_between_them() {
    both(|hub| {
        let [timeouts, disks] = fill(hub);
        let (token, _) = user(hub, "ann");
        let answer = hub.post_as(&token, "/kg/query", &question("timeout")).expect(200);
        let found = names(&answer);
        assert!(found[0].contains("timeout"), "{found:?}");
        let nodes = answer["nodes"].as_array().unwrap();
        let of_kind = |kind: &str| {
            nodes
                .iter()
                .find(|node| node["entity_type"] == kind)
                .unwrap_or_else(|| panic!("no {kind}: {answer}"))
        };
        let signal = of_kind("signal");
        assert_eq!((&signal["score"], &signal["labels"]), (&json!(1.0), &json!(["signal"])));
        assert!(!signal["words"].as_array().unwrap().is_empty(), "{signal}");
        // The capsule's own words say nothing of it; the graph leads there.
        let capsule = of_kind("capsule");
        assert_eq!(capsule["properties"]["asset_id"], timeouts.capsule_id());
        let path = capsule["path"].as_array().unwrap();
        assert!(!path.is_empty() && path[0]["from_name"].is_string(), "{capsule}");
        assert!(path.iter().all(|step| step["told"] == false && step["said_by"].is_string()), "{capsule}");
        assert_eq!(capsule["provenance"]["said_by"], "node:node_maker");
        assert_eq!(capsule["provenance"]["asset_id"], timeouts.capsule_id());
        let relations = answer["relationships"].as_array().unwrap();
        for step in path {
            let told =
                |relation: &&Value| relation["source"] == step["from"] && relation["target"] == step["to"];
            let relation =
                relations.iter().find(told).unwrap_or_else(|| panic!("{step} is not told: {answer}"));
            assert_eq!((&relation["type"], &relation["told"]), (&step["type"], &json!(false)));
        }
        let assets: Vec<&Value> =
            answer["assets"].as_array().unwrap().iter().map(|asset| &asset["asset_id"]).collect();
        assert!(assets.contains(&&json!(timeouts.gene_id())), "{assets:?}");
        assert!(!assets.contains(&&json!(disks.gene_id())), "{assets:?}");
        assert_eq!((&answer["credits_charged"], &answer["query"]), (&json!(0), &json!("timeout")));
        assert_eq!(answer["ways"], json!(["text", "graph"]));
    });
}

#[test]
fn words_alone_walk_nowhere() {
    both(|hub| {
        fill(hub);
        let (token, _) = user(hub, "ann");
        let asked = json!({"query": "timeout", "type": "keyword"});
        let answer = hub.post_as(&token, "/kg/query", &asked).expect(200);
        assert_eq!(answer["ways"], json!(["text"]));
        for node in answer["nodes"].as_array().unwrap() {
            assert_eq!((&node["path"], &node["ways"]), (&json!([]), &json!(["text"])), "{node}");
        }
    });
}

#[test]
fn filters_leave_out_what_is_not_asked_for() {
    both(|hub| {
        let [timeouts, _] = fill(hub);
        let (token, _) = user(hub, "ann");
        let ask = |filters: Value| {
            let body = json!({"query": "timeout retry", "filters": filters, "depth": 2, "limit": 50});
            hub.post_as(&token, "/kg/query", &body).expect(200)
        };
        let kinds = |answer: &Value| -> Vec<String> {
            let mut kinds: Vec<String> =
                answer["nodes"].as_array().unwrap().iter().map(|node| text(&node["entity_type"])).collect();
            kinds.sort();
            kinds.dedup();
            kinds
        };
        assert_eq!(kinds(&ask(json!({"types": ["gene"]}))), ["gene"]);
        assert_eq!(kinds(&ask(json!({"entity_types": ["Capsule"]}))), ["capsule"]);
        let signals = ask(json!({"types": ["signal"]}));
        assert_eq!((kinds(&signals), &signals["assets"]), (vec!["signal".to_owned()], &json!([])));
        let assets = |answer: &Value| -> Vec<String> {
            answer["assets"].as_array().unwrap().iter().map(|asset| text(&asset["asset_id"])).collect()
        };
        let of_repair = assets(&ask(json!({"category": "repair"})));
        assert!(of_repair.contains(&timeouts.gene_id().to_owned()), "{of_repair:?}");
        assert!(assets(&ask(json!({"category": "innovate", "types": ["gene"]}))).is_empty());
        assert!(!assets(&ask(json!({"since": "2025-12-31", "until": "2026-01-02"}))).is_empty());
        assert!(assets(&ask(json!({"until": "2025-12-31"}))).is_empty());
        let there = assets(&ask(json!({"environment": "linux_x64"})));
        assert_eq!(there, [timeouts.capsule_id()], "a gene has no environment of its own");
        assert!(assets(&ask(json!({"environment": "plan9_vax"}))).is_empty());
        let followed = ask(json!({"relation_types": ["triggers"]}));
        let nodes = followed["nodes"].as_array().unwrap();
        let steps: Vec<&Value> = nodes.iter().flat_map(|node| node["path"].as_array().unwrap()).collect();
        assert!(!steps.is_empty() && steps.iter().all(|step| step["type"] == "triggers"), "{followed}");
        let relations = followed["relationships"].as_array().unwrap();
        assert!(relations.iter().all(|relation| relation["type"] == "triggers"), "{followed}");
    });
}

#[test]
fn a_question_that_cannot_be_read_is_refused_by_its_field() {
    let hub = TestHub::sqlite();
    let (token, _) = user(&hub, "ann");
    for (body, path) in [
        (json!({}), "query"),
        (json!({"query": "  "}), "query"),
        (json!({"query": 7}), "query"),
        (json!({"query": "x".repeat(4001)}), "query"),
        (json!({"query": "x", "type": "vector"}), "type"),
        (json!({"query": "x", "limit": 0}), "limit"),
        (json!({"query": "x", "limit": "many"}), "limit"),
        (json!({"query": "x", "depth": -1}), "depth"),
        (json!({"query": "x", "filters": []}), "filters"),
        (json!({"query": "x", "filters": {"kind": "gene"}}), "filters.kind"),
        (json!({"query": "x", "filters": {"types": [1]}}), "filters.types[0]"),
        (json!({"query": "x", "filters": {"since": "soon"}}), "filters.since"),
        (json!({"query": "x", "sender_id": "a b"}), "sender_id"),
    ] {
        let refused = hub.post_as(&token, "/kg/query", &body).refused(400, "validation_error");
        assert_eq!(refused["details"][0]["path"], path, "{refused}");
    }
    let unknown = hub.post_as(&token, "/kg/query", &json!({"query": "x", "filters": {"kind": 1}}));
    assert!(unknown.text.contains("environment") && unknown.text.contains("relation_types"), "{unknown}");
    for odd in ["???", "\u{202e}", "(((", "' OR 1=1 --", "\"unclosed", "a*b:c&!d", "🧬", "超时"] {
        hub.post_as(&token, "/kg/query", &question(odd)).expect(200);
    }
}

#[test]
fn the_status_tells_what_there_is_and_what_one_used() {
    both(|hub| {
        let empty = hub.get("/kg/status").expect(200);
        assert_eq!((&empty["entitled"], &empty["plan"]), (&json!(true), &json!("self_hosted")));
        assert!(empty.get("balance").is_none() && empty.get("usage_30d").is_none(), "{empty}");
        fill(hub);
        let (token, _) = user(hub, "ann");
        hub.post_as(&token, "/kg/query", &question("timeout")).expect(200);
        hub.get_as(&token, "/kg/graph?q=timeout").expect(200);
        hub.post_as(&token, "/kg/query", &json!({})).refused(400, "validation_error");
        hub.post_as(&token, "/kg/ingest", &json!({"entities": [{"name": "x", "entity_type": "concept"}]}))
            .expect(200);
        let status = hub.get_as(&token, "/kg/status").expect(200);
        assert_eq!(status["usage_30d"], json!({"query_count": 2, "ingest_count": 1, "total_credits": 0}));
        assert_eq!((&status["balance"], &status["by_kind"]["capsule"]), (&json!(200), &json!(2)), "{status}");
        assert!(status["relationships"].as_i64().unwrap() > 0, "{status}");
        hub.clock.advance(31 * 24 * 3_600_000);
        let (bob, _) = user(hub, "bob");
        assert_eq!(hub.get_as(&bob, "/kg/status").expect(200)["usage_30d"]["query_count"], 0);
        // What a node has is told to nobody who does not show its secret.
        let secret = hub.register("node_a");
        hub.get("/kg/status?node_id=node_a").refused(401, "node_secret_required");
        assert_eq!(hub.get_as(&secret, "/kg/status?node_id=node_a").expect(200)["balance"], 500);
    });
}
