//! Display names.

use super::*;
use crate::common::{both, both_with, request, send};
use capsid_testkit::rounds::rounds;
use serde_json::json;

fn status(hub: &TestHub, node: &str, name: &str) -> String {
    let answer = hub.message(node, "hello", json!({"name": name})).expect(200);
    answer["name_status"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn alias(hub: &TestHub, node: &str) -> Value {
    hub.get(&format!("/a2a/nodes/{node}")).expect(200)["alias"].clone()
}

#[test]
fn a_name_that_could_be_taken_for_another_is_refused_and_the_hello_goes_on() {
    both(|hub| {
        for (n, (name, expected)) in [
            ("admin", "reserved"),
            ("\u{430}dmin", "mixed_script"),
            ("ＡＤＭＩＮ", "reserved"),
            ("a\u{200b}b", "invisible"),
            (&"x".repeat(33)[..], "too_long"),
        ]
        .into_iter()
        .enumerate()
        {
            let node = format!("node_{n}");
            assert_eq!(status(hub, &node, name), expected, "{name}");
            assert_eq!(alias(hub, &node), Value::Null);
        }
        assert_eq!(status(hub, "node_first", "Ada Lovelace"), "accepted");
        assert_eq!(status(hub, "node_first", "Ada Lovelace"), "accepted");
        assert_eq!(status(hub, "node_first", "Grace"), "unchanged");
        for lookalike in ["ada lovelace", "Ada-LoveIace", "ＡｄａＬｏｖｅｌａｃｅ"] {
            assert_eq!(status(hub, "node_second", lookalike), "taken", "{lookalike}");
        }
        assert_eq!(status(hub, "node_second", "Grace"), "accepted");
        let unnamed = hub.message("node_third", "hello", json!({})).expect(200);
        assert!(unnamed.get("name_status").is_none(), "{unnamed}");
    });
}

#[test]
fn of_hellos_at_the_same_moment_one_gets_a_free_name() {
    both(|hub| {
        for round in 0..rounds(8, 200) {
            let statuses = hub.runtime.block_on(async {
                let calls: Vec<_> = (0..4)
                    .map(|n| {
                        let name = format!("Ada {}", "a".repeat(round % 20 + 1));
                        let hello =
                            hub.envelope(&format!("node_{round}_{n}"), "hello", json!({"name": name}));
                        let body = Some(hello.to_string().into_bytes());
                        tokio::spawn(send(hub.router(), request("POST", "/a2a/hello", None, body)))
                    })
                    .collect();
                let mut statuses = Vec::new();
                for call in calls {
                    let status = call.await.unwrap().expect(200)["name_status"].clone();
                    statuses.push(status.as_str().unwrap().to_owned());
                }
                statuses
            });
            let accepted = statuses.iter().filter(|status| *status == "accepted").count();
            let expected = usize::from(round < 20);
            assert_eq!(accepted, expected, "round {round}: {statuses:?}");
            assert!(statuses.iter().all(|status| status == "accepted" || status == "taken"), "{statuses:?}");
        }
    });
}

#[test]
fn the_nodes_of_one_owner_may_share_a_name() {
    both(|hub| {
        let ann = account(hub, "ann@example.org");
        for node in ["node_a", "node_b"] {
            let code = hub.message(node, "hello", json!({})).expect(200)["claim_code"].clone();
            hub.post_as(&ann, &format!("/claim/{}", code.as_str().unwrap()), &json!({})).expect(200);
        }
        assert_eq!(status(hub, "node_a", "Ada"), "accepted");
        assert_eq!(status(hub, "node_b", "Ada"), "accepted");
        assert_eq!(status(hub, "node_c", "Ada"), "taken");
        assert_eq!(alias(hub, "node_a"), "Ada");
    });
}

#[test]
fn the_end_of_the_id_stands_with_the_name_of_an_unclaimed_node() {
    both(|hub| {
        assert_eq!(status(hub, NODE, "Ada"), "accepted");
        assert_eq!(alias(hub, NODE), "Ada (e1f2)");
        let listed = hub.get("/a2a/nodes").expect(200);
        assert_eq!(listed["nodes"][0]["alias"], "Ada (e1f2)");
    });
}

#[test]
fn the_operator_chooses_the_reserved_names() {
    both_with(
        |config| config.identity.reserved_names = vec!["Acme".to_owned()],
        |hub| {
            assert_eq!(status(hub, "node_a", "ACME"), "reserved");
            assert_eq!(status(hub, "node_a", "admin"), "accepted");
        },
    );
}
