//! What an asset comes from and what came of it.

use super::{column, fetch, promoted, report};
use crate::common::economy::{admin, trusting};
use crate::common::{Bundle, both_with, on_sqlite_with};
use serde_json::{Value, json};

/// The lines of a drawing, with each id shortened to a name.
fn lines(drawing: &Value, names: &[(&str, &str)]) -> Vec<String> {
    let short = |id: &Value| {
        let id = id.as_str().unwrap();
        names.iter().find(|(full, _)| *full == id).map_or(id, |(_, name)| name).to_owned()
    };
    let edges = drawing["edges"].as_array().unwrap().iter();
    let mut lines: Vec<String> = edges
        .map(|edge| {
            format!("{} {} {}", short(&edge["from"]), edge["kind"].as_str().unwrap(), short(&edge["to"]))
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn a_bundle_its_maker_and_who_used_it_are_drawn() {
    on_sqlite_with(trusting, |hub| {
        let (root, bundle) = (admin(hub), Bundle::new(1));
        hub.message("node_a", "hello", json!({"name": "Reef"})).expect(200);
        promoted(hub, &root, "node_a", &bundle);
        let other = Bundle::from_assets(bundle.gene.clone(), Bundle::new(2).capsule, Bundle::new(2).event);
        hub.publish("node_b", &other).expect(200);
        for node in ["node_c", "node_d", "node_e"] {
            hub.register(node);
            fetch(hub, node, bundle.capsule_id());
        }
        report(hub, "node_c", bundle.capsule_id(), true);
        let review = json!({"sender_id": "node_d", "rating": 5, "content": "Good."});
        hub.post(&format!("/a2a/assets/{}/reviews", bundle.capsule_id()), &review).expect(200);
        let names = [
            (bundle.gene_id(), "gene"),
            (bundle.capsule_id(), "capsule"),
            (bundle.event_id(), "event"),
            (other.capsule_id(), "other"),
            (other.event_id(), "other_event"),
        ];
        let drawn = hub.get(&format!("/a2a/assets/{}/lineage", bundle.capsule_id())).expect(200);
        // Who only fetched it is not told.
        assert_eq!(
            lines(&drawn, &names),
            [
                "capsule implements gene",
                "capsule in_event event",
                "capsule made_by node_a",
                "capsule reused_by node_c",
                "capsule reused_by node_d",
                "gene made_by node_a",
                "other implements gene",
                "other in_event other_event",
                "other made_by node_b",
            ]
        );
        assert!(!drawn.to_string().contains("node_e"), "{drawn}");
        assert_eq!((&drawn["reuse_count"], &drawn["truncated"]), (&json!(3), &json!(false)));
        let nodes = drawn["nodes"].as_array().unwrap();
        let focus: Vec<_> = nodes.iter().filter(|node| node["is_focus"] == true).collect();
        assert_eq!((focus.len(), &focus[0]["id"]), (1, &json!(bundle.capsule_id())));
        assert_eq!(focus[0]["status"], "promoted");
        let maker = nodes.iter().find(|node| node["id"] == "node_a").unwrap();
        assert_eq!((&maker["kind"], &maker["label"]), (&json!("node"), &json!("Reef")));
        for node in nodes {
            let within = |name: &str| (0.0..=1.0).contains(&node[name].as_f64().unwrap());
            assert!(within("x") && within("y"), "{node}");
        }
        // The same is drawn around each of them; from the gene, and from the event.
        for id in [bundle.gene_id(), bundle.event_id()] {
            let drawn = hub.get(&format!("/a2a/assets/{id}/lineage")).expect(200);
            let lines = lines(&drawn, &names);
            assert!(lines.contains(&"capsule implements gene".to_owned()), "{lines:?}");
        }
    });
}

#[test]
fn a_chain_is_told_and_a_large_family_is_cut() {
    both_with(trusting, |hub| {
        let root = admin(hub);
        let chained = |n| Bundle::new(n).with(|bundle| bundle.capsule["chain_id"] = json!("chain_1"));
        let (first, second) = (chained(1), chained(2));
        promoted(hub, &root, "node_a", &first);
        promoted(hub, &root, "node_a", &second);
        let drawn = hub.get(&format!("/a2a/assets/{}/lineage", first.capsule_id())).expect(200);
        let names = [(first.capsule_id(), "first"), (second.capsule_id(), "second")];
        assert!(lines(&drawn, &names).contains(&"second follows first".to_owned()), "{drawn}");
        for n in 10..30 {
            let more = Bundle::from_assets(first.gene.clone(), Bundle::new(n).capsule, Bundle::new(n).event);
            hub.publish("node_b", &more).expect(200);
        }
        let drawn = hub.get(&format!("/a2a/assets/{}/lineage", first.gene_id())).expect(200);
        assert_eq!(drawn["truncated"], true);
        let kinds = column(&drawn["nodes"], "kind");
        assert!(kinds.len() <= 40 && kinds.contains(&"capsule"), "{kinds:?}");
        assert!(column(&drawn["nodes"], "id").contains(&first.gene_id()));
    });
}

#[test]
fn what_an_asset_says_it_was_made_from_is_drawn_only_where_it_is_there() {
    on_sqlite_with(trusting, |hub| {
        let root = admin(hub);
        let origin = Bundle::new(1);
        promoted(hub, &root, "node_a", &origin);
        let of = |n: u64, parent: Value| {
            let bundle = Bundle::new(n).with(|bundle| bundle.capsule["reused_asset_id"] = parent);
            promoted(hub, &root, "node_b", &bundle);
            let drawn = hub.get(&format!("/a2a/assets/{}/lineage", bundle.capsule_id())).expect(200);
            lines(&drawn, &[(bundle.capsule_id(), "new"), (origin.capsule_id(), "origin")])
        };
        assert!(of(2, json!(origin.capsule_id())).contains(&"new follows origin".to_owned()));
        for (n, odd) in [(3, json!(7)), (4, json!("sha256:x")), (5, json!({"a": [1]}))] {
            assert!(!of(n, odd).iter().any(|line| line.contains("follows")));
        }
    });
}
