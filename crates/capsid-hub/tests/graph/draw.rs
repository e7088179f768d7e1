//! Drawings: each thing with a place of its own, each line between two of them.

use super::fill;
use crate::common::economy::{text, user};
use crate::common::{Bundle, TestHub, both};
use serde_json::{Value, json};
use std::collections::HashSet;

/// A drawing that can be drawn.
#[track_caller]
fn drawn(answer: &Value) -> (Vec<String>, Vec<(String, String, String)>) {
    let nodes = answer["nodes"].as_array().unwrap();
    let ids: Vec<String> = nodes.iter().map(|node| text(&node["id"])).collect();
    let mut places = HashSet::new();
    for node in nodes {
        for axis in ["x", "y"] {
            assert!((0.0..=1.0).contains(&node[axis].as_f64().unwrap()), "{node}");
        }
        assert!(places.insert(format!("{} {}", node["x"], node["y"])), "two on {node}");
    }
    let edges: Vec<_> = answer["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| (text(&edge["from"]), text(&edge["to"]), text(&edge["kind"])))
        .collect();
    for (from, to, _) in &edges {
        assert!(ids.contains(from) && ids.contains(to), "{answer}");
    }
    assert_eq!(edges.iter().collect::<HashSet<_>>().len(), edges.len(), "a line is there twice: {answer}");
    assert!(ids.len() <= 300 && edges.len() <= 900);
    (ids, edges)
}

fn node<'a>(answer: &'a Value, kind: &str) -> &'a Value {
    answer["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|node| node["kind"] == kind)
        .unwrap_or_else(|| panic!("no {kind}: {answer}"))
}

#[test]
fn anybody_may_draw_where_it_is_free() {
    both(|hub| {
        let [timeouts, _] = fill(hub);
        let answer = hub.get("/kg/graph?q=timeout").expect(200);
        let (ids, edges) = drawn(&answer);
        assert!(!edges.is_empty());
        assert_eq!(hub.get("/kg/graph?q=timeout").expect(200), answer, "the same question is drawn the same");
        let hits = answer["hits"].as_array().unwrap();
        assert!(!hits.is_empty() && hits.iter().all(|hit| ids.contains(&text(&hit["id"]))), "{answer}");
        let gene = node(&answer, "gene");
        assert_eq!((&gene["asset_id"], &gene["status"]), (&json!(timeouts.gene_id()), &json!("promoted")));
        let signal = node(&answer, "signal");
        assert_eq!((&signal["is_hit"], &signal["asset_id"]), (&json!(true), &json!(null)));
        assert_eq!((&answer["path"], &answer["credits_charged"]), (&json!([]), &json!(0)));
    });
}

#[test]
fn what_hangs_together_with_a_thing_is_drawn_around_it() {
    both(|hub| {
        let [timeouts, disks] = fill(hub);
        let found = hub.get("/kg/graph?q=timeout").expect(200);
        let signal = text(&node(&found, "signal")["id"]);
        let around = hub.get(&format!("/kg/graph?around={signal}&depth=1")).expect(200);
        let (ids, edges) = drawn(&around);
        assert!(
            ids.contains(&signal) && edges.iter().all(|(from, to, _)| *from == signal || *to == signal),
            "{around}"
        );
        let keys = |answer: &Value| -> Vec<String> {
            answer["nodes"].as_array().unwrap().iter().map(|node| text(&node["key"])).collect()
        };
        assert!(keys(&around).contains(&timeouts.gene_id().to_owned()), "{around}");
        assert!(node(&around, "gene")["hidden_relations"].as_i64().unwrap() > 0, "{around}");
        let genes = hub.get(&format!("/kg/graph?around={signal}&kinds=gene")).expect(200);
        let kinds: HashSet<String> =
            genes["nodes"].as_array().unwrap().iter().map(|node| text(&node["kind"])).collect();
        assert_eq!(
            kinds,
            HashSet::from(["signal".to_owned(), "gene".to_owned()]),
            "what it begins with stays"
        );
        let farther = hub.get(&format!("/kg/graph?around={signal}&depth=3")).expect(200);
        assert!(
            keys(&farther).contains(&disks.capsule_id().to_owned()),
            "by the node that made both: {farther}"
        );
        let few = hub.get(&format!("/kg/graph?around={signal}&depth=3&limit=2")).expect(200);
        assert_eq!((drawn(&few).0.len(), &few["truncated"]), (2, &json!(true)));
        let long_ago = hub.get(&format!("/kg/graph?around={signal}&until=2001-01-01")).expect(200);
        assert_eq!(drawn(&long_ago).0, std::slice::from_ref(&signal));
        let of_asset = hub.get(&format!("/kg/graph?around={}", timeouts.gene_id())).expect(200);
        assert_eq!(node(&of_asset, "gene")["asset_id"], timeouts.gene_id(), "an asset by its own id");
        assert!(drawn(&of_asset).0.contains(&signal), "{of_asset}");
        hub.get(&format!("/kg/graph?around=sha256:{}", "0".repeat(64))).refused(404, "not_found");
        hub.get("/kg/graph?around=e_0123456789abcdef").refused(404, "not_found");
        hub.get("/kg/graph?around=nothing").refused(400, "validation_error");
        hub.get("/kg/graph?q=x&category=odd").refused(400, "validation_error");
        hub.get("/kg/graph?q=x&since=soon").refused(400, "validation_error");
    });
}

#[test]
fn a_drawing_of_nothing_in_particular_begins_with_what_came_last() {
    both(|hub| {
        let empty = hub.get("/kg/graph").expect(200);
        assert_eq!(
            (&empty["nodes"], &empty["edges"], &empty["truncated"]),
            (&json!([]), &json!([]), &json!(false))
        );
        fill(hub);
        let answer = hub.get("/kg/graph").expect(200);
        assert!(drawn(&answer).0.len() > 4, "{answer}");
        assert_eq!(answer["hits"], json!([]));
        let kinds = |more: &str| -> HashSet<String> {
            let answer = hub.get(&format!("/kg/graph?{more}")).expect(200);
            drawn(&answer);
            answer["nodes"].as_array().unwrap().iter().map(|node| text(&node["kind"])).collect()
        };
        for none in ["environment=plan9_vax", "since=2026-01-02", "until=2025-12-31", "until=1000"] {
            assert_eq!(kinds(none), HashSet::new(), "{none}");
        }
        for some in ["environment=linux_x64", "since=2026-01-01", "until=2026-01-02"] {
            assert!(kinds(some).contains("capsule"), "{some}");
        }
        for kind in ["capsule", "gene", "signal"] {
            assert_eq!(kinds(&format!("kinds={kind}")), HashSet::from([kind.to_owned()]));
        }
    });
}

#[test]
fn a_way_is_told_from_end_to_end() {
    both(|hub| {
        let [timeouts, disks] = fill(hub);
        let way = |from: &str, to: &str| hub.get(&format!("/kg/path?from={from}&to={to}")).expect(200);
        let answer = way(timeouts.gene_id(), disks.gene_id());
        let (ids, edges) = drawn(&answer);
        let path: Vec<String> = answer["path"].as_array().unwrap().iter().map(text).collect();
        assert!(path.len() >= 3 && path.iter().all(|id| ids.contains(id)), "{answer}");
        for pair in path.windows(2) {
            let joins = |(from, to, _): &&(String, String, String)| {
                (from == &pair[0] && to == &pair[1]) || (from == &pair[1] && to == &pair[0])
            };
            assert!(edges.iter().any(|edge| joins(&edge)), "{pair:?}: {answer}");
        }
        // By its id, by kind and name, and by name alone.
        let signal = answer_of(hub, "signal");
        for name in [signal.as_str(), "signal:TimeoutError", "Signal:TimeoutError", "timeout_error"] {
            let answer = way(name, timeouts.gene_id());
            assert_eq!(answer["path"].as_array().unwrap().len(), 2, "{name}: {answer}");
        }
        let same = way(timeouts.gene_id(), timeouts.gene_id());
        assert_eq!((same["path"].as_array().unwrap().len(), drawn(&same).0.len()), (1, 1));
        hub.get("/kg/path?from=nothing&to=timeout_error").refused(404, "not_found");
        let missing = hub.get("/kg/path?from=timeout_error").refused(400, "validation_error");
        assert_eq!(missing["details"][0]["path"], "to");
    });
}

fn answer_of(hub: &TestHub, kind: &str) -> String {
    text(&node(&hub.get("/kg/graph?q=timeout").expect(200), kind)["id"])
}

#[test]
fn a_large_part_is_cut_and_says_so() {
    both(|hub| {
        let (token, _) = user(hub, "ann");
        let things: Vec<Value> =
            (0..400).map(|n| json!({"name": format!("leaf {n}"), "entity_type": "concept"})).collect();
        let joined: Vec<Value> =
            (1..400).map(|n| json!({"source_name": format!("leaf {}", n / 5), "target_name": format!("leaf {n}"), "type": format!("grows_{}", n % 3)})).collect();
        hub.post_as(&token, "/kg/ingest", &json!({"entities": things, "relations": joined})).expect(200);
        let answer = hub.get("/kg/graph?q=leaf&depth=3&limit=300").expect(200);
        let (ids, _) = drawn(&answer);
        assert!(ids.len() > 25, "{}", ids.len());
        let cut = hub.get("/kg/graph?q=leaf&depth=3&limit=25").expect(200);
        assert_eq!((drawn(&cut).0.len(), &cut["truncated"]), (25, &json!(true)));
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        drawn(&hub.get("/kg/graph?depth=3").expect(200));
    });
}
