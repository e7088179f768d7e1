//! What a list could be narrowed down to.

use super::{column, promoted};
use crate::common::economy::{admin, trusting};
use crate::common::{Bundle, TestHub, both_with, on_sqlite_with};
use serde_json::{Value, json};

/// A facet as words with their counts.
fn counts(facets: &Value, name: &str) -> Vec<(String, i64)> {
    let rows = facets[name].as_array().unwrap().iter();
    rows.map(|row| (row["value"].as_str().unwrap().to_owned(), row["count"].as_i64().unwrap())).collect()
}

fn pairs(wanted: &[(&str, i64)]) -> Vec<(String, i64)> {
    wanted.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect()
}

/// Four promoted bundles and one candidate; the last promoted one is another's and proves nothing.
fn fill(hub: &TestHub) -> Vec<Bundle> {
    let root = admin(hub);
    let of = |n: u64| {
        Bundle::new(n).with(|bundle| {
            let vacuous = json!(["node --version"]);
            bundle.gene["category"] = json!(if n < 2 { "repair" } else { "optimize" });
            bundle.gene["validation"] = if n == 3 { vacuous } else { bundle.gene["validation"].clone() };
            bundle.capsule["trigger"] =
                json!([if n < 2 { "TimeoutError" } else { "Panic" }, format!("own_{n}")]);
            bundle.gene["signals_match"] = bundle.capsule["trigger"].clone();
        })
    };
    let bundles: Vec<Bundle> = (0..5).map(of).collect();
    for (n, bundle) in bundles.iter().enumerate() {
        let node = if n == 3 { "node_b" } else { "node_a" };
        if n == 4 {
            hub.publish(node, bundle).expect(200);
        } else {
            promoted(hub, &root, node, bundle);
        }
    }
    bundles
}

#[test]
fn facets_count_what_the_list_lists() {
    both_with(trusting, |hub| {
        fill(hub);
        let facets = hub.get("/a2a/facets").expect(200);
        assert_eq!(facets["is_lower_bound"], false);
        let total =
            |query: &str| hub.get(&format!("/a2a/assets?{query}")).expect(200)["total"].as_i64().unwrap();
        for (name, key) in [
            ("types", "type"),
            ("statuses", "status"),
            ("categories", "category"),
            ("labels", "label"),
            ("signals", "signal"),
        ] {
            let counted = counts(&facets, name);
            assert!(!counted.is_empty(), "{name}: {facets}");
            for (value, count) in counted {
                assert_eq!(total(&format!("{key}={value}")), count, "{name} {value}: {facets}");
            }
        }
        let statuses = counts(&facets, "statuses");
        assert!(statuses.iter().any(|(status, _)| status == "candidate"), "{facets}");
    });
}

#[test]
fn a_facet_leaves_itself_out_of_its_filter() {
    on_sqlite_with(trusting, |hub| {
        fill(hub);
        let facets = hub.get("/a2a/facets?type=Capsule&label=real").expect(200);
        assert_eq!(counts(&facets, "labels"), pairs(&[("real", 3), ("vacuous", 1)]), "{facets}");
        assert!(counts(&facets, "types").len() > 1, "{facets}");
        assert_eq!(
            counts(&facets, "signals"),
            pairs(&[("TimeoutError", 2), ("Panic", 1), ("own_0", 1), ("own_1", 1), ("own_2", 1)])
        );
        let of_node = hub.get("/a2a/facets?type=Capsule&node_id=node_b").expect(200);
        assert_eq!(counts(&of_node, "labels"), pairs(&[("vacuous", 1)]));
        let of_signal = hub.get("/a2a/facets?type=Capsule&signal=timeouterror").expect(200);
        assert_eq!(counts(&of_signal, "signals"), pairs(&[("TimeoutError", 2), ("own_0", 1), ("own_1", 1)]));
    });
}

#[test]
fn a_list_is_narrowed_down_by_label_and_signal() {
    on_sqlite_with(trusting, |hub| {
        let bundles = fill(hub);
        let ids = |query: &str| {
            let page = hub.get(&format!("/a2a/assets?type=Capsule&{query}")).expect(200);
            column(&page["assets"], "asset_id").into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(ids("label=vacuous"), [bundles[3].capsule_id()]);
        assert_eq!(ids("signal=TimeoutError"), [bundles[1].capsule_id(), bundles[0].capsule_id()]);
        assert_eq!(ids("signal=panic&label=real"), [bundles[2].capsule_id()]);
        assert_eq!(ids("signal=Panic&status=candidate"), [bundles[4].capsule_id()]);
        assert_eq!(ids("signal=Panic&node_id=node_b"), [bundles[3].capsule_id()]);
        assert!(ids("signal=Timeout").is_empty(), "only whole signals count");
        assert!(ids("signal=!!!").is_empty());
        let first = hub.get("/a2a/assets?type=Capsule&signal=TimeoutError&limit=1").expect(200);
        assert_eq!(first["total"], 2);
        let cursor = first["next_cursor"].as_str().unwrap();
        let second = ids(&format!("signal=TimeoutError&limit=1&cursor={cursor}"));
        assert_eq!(second, [bundles[0].capsule_id()]);
    });
}

#[test]
fn odd_filters_are_refused() {
    on_sqlite_with(trusting, |hub| {
        let long = "x".repeat(501);
        for path in ["/a2a/facets", "/a2a/assets"] {
            for query in [
                "label=good",
                "status=new",
                "type=Dog",
                "category=x",
                &format!("signal={long}"),
                "label=real&label=real",
            ] {
                hub.get(&format!("{path}?{query}")).refused(400, "validation_error");
            }
        }
        assert_eq!(hub.get("/a2a/facets?signal=nothing").expect(200)["types"], json!([]));
    });
}
