//! What the graph lets itself be told: taken as a whole, once, and marked as told and by whom.

use super::{fill, graph_dump};
use crate::common::economy::{text, trusting, user};
use crate::common::{both, both_with};
use serde_json::{Value, json};

fn backoff() -> Value {
    json!({
        "entities": [
            {"name": "Exponential Backoff", "entity_type": "technique", "properties": {"rule": "wait 2^n"}, "confidence": 0.9},
            {"name": "Thundering Herd", "entity_type": "problem"},
        ],
        "relations": [
            {"source_name": "Exponential Backoff", "target_name": "Thundering Herd", "type": "prevents", "confidence": 0.8,
                "properties": {"source": "the outage of May"}},
        ],
    })
}

#[test]
fn what_is_told_is_found_and_marked_as_told() {
    both(|hub| {
        let (token, account) = user(hub, "ann");
        let taken = hub.post_as(&token, "/kg/ingest", &backoff()).expect(200);
        assert_eq!(taken["ingested"], json!({"entities": 2, "relations": 1}));
        assert_eq!((&taken["added"], &taken["unchanged"]), (&json!(3), &json!(0)));
        let answer = hub.post_as(&token, "/kg/query", &json!({"query": "backoff"})).expect(200);
        let node = &answer["nodes"][0];
        assert_eq!(
            (&node["entity_type"], &node["properties"]["rule"]),
            (&json!("technique"), &json!("wait 2^n")),
            "{answer}"
        );
        let said = &node["properties"]["said"][0];
        assert_eq!((&said["said_by"], &said["confidence"]), (&json!(account), &json!(0.9)), "{node}");
        assert!(
            node["provenance"]["told"].as_i64().unwrap() > 0 && node["provenance"]["mentions"] == 0,
            "{node}"
        );
        let herd =
            answer["nodes"].as_array().unwrap().iter().find(|node| node["entity_type"] == "problem").unwrap();
        assert_eq!(herd["path"][0]["type"], "prevents", "{herd}");
        let relation = &answer["relationships"][0];
        assert_eq!(
            (&relation["type"], &relation["told"], &relation["said_by"]),
            (&json!("prevents"), &json!(true), &json!(account))
        );
    });
}

#[test]
fn telling_the_same_again_changes_nothing() {
    both(|hub| {
        let (token, _) = user(hub, "ann");
        hub.post_as(&token, "/kg/ingest", &backoff()).expect(200);
        let before = graph_dump(hub);
        hub.clock.advance(3_600_000);
        let again = hub.post_as(&token, "/kg/ingest", &backoff()).expect(200);
        assert_eq!(
            (&again["added"], &again["changed"], &again["unchanged"]),
            (&json!(0), &json!(0), &json!(3))
        );
        assert_eq!(graph_dump(hub), before);
        // Case, spacing and compatible forms do not make another thing.
        let mut other = backoff();
        other["entities"][0]["name"] = json!("  exponential   ＢＡＣＫＯＦＦ ");
        hub.post_as(&token, "/kg/ingest", &other).expect(200);
        assert_eq!(hub.get("/kg/status").expect(200)["entities"], 2);
        // What is said anew takes the place of what the same one said before.
        other["entities"][0]["properties"] = json!({"rule": "wait 3^n"});
        let changed = hub.post_as(&token, "/kg/ingest", &other).expect(200);
        assert_eq!((&changed["added"], &changed["changed"]), (&json!(0), &json!(1)), "{changed}");
        let answer = hub.post_as(&token, "/kg/query", &json!({"query": "backoff"})).expect(200);
        assert_eq!(answer["nodes"][0]["properties"]["rule"], "wait 3^n");
        // What another one says stands beside it, and does not push it aside.
        let (bob, _) = user(hub, "bob");
        other["entities"][0]["properties"] = json!({"rule": "never wait", "name": "Mine now"});
        hub.post_as(&bob, "/kg/ingest", &other).expect(200);
        let answer = hub.post_as(&token, "/kg/query", &json!({"query": "backoff"})).expect(200);
        let node = &answer["nodes"][0];
        assert_eq!(node["properties"]["rule"], "wait 3^n", "{node}");
        assert_ne!(node["properties"]["name"], "Mine now");
        assert_eq!(node["properties"]["said"].as_array().unwrap().len(), 2);
    });
}

#[test]
fn one_wrong_item_keeps_all_the_others_out() {
    both(|hub| {
        let (token, _) = user(hub, "ann");
        let before = graph_dump(hub);
        let mut told = backoff();
        told["relations"].as_array_mut().unwrap().push(
            json!({"source_name": "Exponential Backoff", "target_name": "Nothing", "type": "prevents"}),
        );
        let refused = hub.post_as(&token, "/kg/ingest", &told);
        assert!((400..500).contains(&refused.status), "{refused}");
        assert!(refused.text.contains("relations[1]"), "{refused}");
        assert_eq!(graph_dump(hub), before);
    });
}

#[test]
fn assets_and_nodes_are_referred_to_and_not_invented() {
    both(|hub| {
        let [timeouts, _] = fill(hub);
        let (token, _) = user(hub, "ann");
        let about = |target: &str| {
            json!({"entities": [{"name": "Payments", "entity_type": "service"}],
                "relations": [{"source_name": "Payments", "source_type": "service", "target_name": target, "type": "uses"}]})
        };
        hub.post_as(&token, "/kg/ingest", &about(timeouts.capsule_id())).expect(200);
        let before = graph_dump(hub);
        let unknown = format!("sha256:{}", "0".repeat(64));
        for body in [
            about(&unknown),
            json!({"entities": [{"name": unknown, "entity_type": "capsule"}]}),
            json!({"entities": [{"name": "node_invented", "entity_type": "node"}]}),
            json!({"entities": [{"name": "task_invented", "entity_type": "task"}]}),
        ] {
            let refused = hub.post_as(&token, "/kg/ingest", &body);
            assert!((400..500).contains(&refused.status), "{refused}");
            refused.explains();
        }
        assert_eq!(graph_dump(hub), before);
        let way = hub.get(&format!("/kg/path?from=service:payments&to={}", timeouts.gene_id())).expect(200);
        assert_eq!(way["path"].as_array().unwrap().len(), 3, "{way}");
    });
}

#[test]
fn everybody_sees_what_they_told_page_by_page() {
    both_with(trusting, |hub| {
        let (token, account) = user(hub, "ann");
        hub.register("node_a");
        let things: Vec<Value> =
            (0..7).map(|n| json!({"name": format!("thing {n}"), "entity_type": "concept"})).collect();
        let relations: Vec<Value> = (1..7)
            .map(|n| json!({"source_name": "thing 0", "target_name": format!("thing {n}"), "type": "leads_to"}))
            .collect();
        hub.post_as(&token, "/kg/ingest", &json!({"entities": things, "relations": relations})).expect(200);
        hub.post(
            "/kg/ingest",
            &json!({"sender_id": "node_a", "entities": [{"name": "of the node", "entity_type": "concept"}]}),
        )
        .expect(200);
        let (mut found, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let page = hub.get_as(&token, &format!("/kg/my-graph?limit=4&cursor={cursor}")).expect(200);
            assert_eq!(page["asker"], json!(account));
            let rows = |key: &str| page[key].as_array().unwrap().clone();
            found.extend(rows("entities").iter().map(|thing| text(&thing["name"])));
            found.extend(
                rows("relations").iter().map(|relation| format!("to {}", text(&relation["target_name"]))),
            );
            pages += 1;
            assert!(pages < 10 && page["count"].as_i64().unwrap() <= 8, "{page}");
            match page["next_cursor"].as_str() {
                Some(next) => cursor = next.to_owned(),
                None => break,
            }
        }
        found.sort();
        let mut expected: Vec<String> = (0..7).map(|n| format!("thing {n}")).collect();
        expected.extend((1..7).map(|n| format!("to thing {n}")));
        expected.sort();
        assert_eq!((found, pages), (expected, 2));
        let of_node = hub.get("/kg/my-graph?node_id=node_a").expect(200);
        assert_eq!((&of_node["count"], &of_node["entities"][0]["name"]), (&json!(1), &json!("of the node")));
        hub.get("/kg/my-graph").refused(401, "unauthorized");
        hub.get_as(&token, "/kg/my-graph?cursor=zz").refused(400, "invalid_cursor");
        hub.get(&format!("/kg/my-graph?node_id=node_a&cursor={cursor}")).refused(400, "invalid_cursor");
    });
}
