//! Fetching: by id, by signals, the best; byte for byte, and counted.

use crate::common::{Bundle, START, TestHub, both, on_sqlite};
use capsid_rules::lifecycle::AssetEvent;
use capsid_store::assets::id::AssetId;
use capsid_store::evaluation::lifecycle;
use serde_json::{Value, json};

/// Promotes a capsule and what goes with it.
fn promote(hub: &TestHub, id: &str) {
    let id = AssetId::parse(id).unwrap();
    hub.hub
        .store
        .write_now(move |tx| lifecycle::change(tx, &id, AssetEvent::Promote, "operator", None, START))
        .unwrap();
}

/// Writes what was counted.
fn flush(hub: &TestHub) {
    hub.runtime.block_on(hub.hub.usage.flush()).unwrap();
}

fn promoted(hub: &TestHub, n: u64) -> Bundle {
    let bundle = Bundle::new(n);
    hub.publish("node_a", &bundle).expect(200);
    promote(hub, bundle.capsule_id());
    bundle
}

#[test]
fn a_fetched_asset_is_what_was_published_byte_for_byte() {
    both(|hub| {
        let capsule = r#"{"type":"Capsule","schema_version":"1.5.0","trigger":["TimeoutError"],"summary":"Retry with \u00e9 and back-off, twice","confidence":0.850,"blast_radius":{"files":1,"lines":1e1},"outcome":{"status":"success","score":0.85},"env_fingerprint":{"platform":"linux","arch":"x64"},"success_streak":3,"gene":"GENE"}"#;
        let bundle = Bundle::new(7);
        let text = capsule.replace("GENE", bundle.gene_id());
        let mut value: Value = serde_json::from_str(&text).unwrap();
        crate::common::bundle::set_id(&mut value);
        let id = value["asset_id"].as_str().unwrap().to_owned();
        let text = text.replace("{\"type\"", &format!("{{\"asset_id\":\"{id}\",\"type\""));
        let mut envelope = hub.envelope("node_a", "publish", json!({"assets": [bundle.gene, "CAPSULE"]}));
        envelope["message_id"] = "m".into();
        let body = envelope.to_string().replace("\"CAPSULE\"", &text);
        hub.call("POST", "/a2a/publish", None, Some(body.into_bytes())).expect(200);
        promote(hub, &id);
        let answer = hub.message("node_b", "fetch", json!({"asset_ids": [id]}));
        answer.expect(200);
        assert!(answer.text.contains(&format!("\"results\":[{text}]")), "{answer}");
        let body = answer.json();
        assert_eq!(body["payload"]["results"], body["results"]);
        assert_eq!(body["assets"], body["results"]);
        assert_eq!(body["payload"]["meta"][&id]["status"], "promoted");
        assert_eq!(body["count"], 1);
    });
}

#[test]
fn others_get_only_what_is_promoted_and_the_publisher_gets_its_own() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let fetch =
            |node: &str| hub.message(node, "fetch", json!({"asset_ids": [bundle.capsule_id()]})).expect(200);
        assert_eq!(fetch("node_b")["results"], json!([]));
        assert_eq!(fetch("node_b")["missing"], json!([bundle.capsule_id()]));
        assert_eq!(fetch("node_a")["results"], json!([bundle.capsule]));
        promote(hub, bundle.capsule_id());
        assert_eq!(fetch("node_b")["results"], json!([bundle.capsule]));
        let both = json!({"asset_ids": [bundle.gene_id(), bundle.capsule_id(), bundle.gene_id()]});
        let answer = hub.message("stranger", "fetch", both).expect(200);
        assert_eq!(answer["results"], json!([bundle.gene, bundle.capsule]));
    });
}

#[test]
fn without_a_wish_the_best_promoted_assets_come() {
    both(|hub| {
        let bundle = promoted(hub, 1);
        hub.publish("node_a", &Bundle::new(2)).expect(200);
        let all =
            hub.message("node_b", "fetch", json!({"asset_type": null, "include_tasks": true})).expect(200);
        assert_eq!(all["count"], 3, "{all}");
        assert_eq!(all["tasks"], json!([]));
        assert_eq!(all["validation_tasks"], json!([]));
        let capsules = hub.message("node_b", "fetch", json!({"asset_type": "Capsule"})).expect(200);
        assert_eq!(capsules["results"], json!([bundle.capsule]));
        let one = hub.message("node_b", "fetch", json!({"limit": 1})).expect(200);
        assert_eq!(one["count"], 1);
        let odd = hub.message("node_b", "fetch", json!({"limit": "many"})).expect(200);
        assert_eq!(odd["count"], 3);
        let none =
            hub.message("node_b", "fetch", json!({"tasks_only": true, "include_tasks": true})).expect(200);
        assert_eq!((&none["count"], &none["tasks"]), (&json!(0), &json!([])));
    });
}

#[test]
fn a_search_gives_rows_and_counts_nothing() {
    on_sqlite(|hub| {
        let bundle = promoted(hub, 3);
        let found = hub
            .message("node_b", "fetch", json!({"signals": ["signal3error"], "search_only": true}))
            .expect(200);
        let rows = found["results"].as_array().unwrap();
        assert!(!rows.is_empty(), "{found}");
        let row = rows.iter().find(|row| row["type"] == "Capsule").unwrap();
        assert_eq!(row["asset_id"], bundle.capsule_id());
        assert_eq!(row["status"], "promoted");
        assert_eq!(row["reputation_score"].as_f64().map(|r| r > 0.0), Some(true));
        assert_eq!(row["source_node_id"], "node_a");
        assert_eq!(row["matched_signals"], json!(["signal3error"]));
        assert!(row.get("env_fingerprint").is_none());
        flush(hub);
        let detail = hub.get(&format!("/a2a/assets/{}", bundle.capsule_id())).expect(200);
        assert_eq!(detail["call_count"], 0);
    });
}

#[test]
fn a_fetch_by_another_counts_each_time_and_reuse_once() {
    both(|hub| {
        let bundle = promoted(hub, 1);
        hub.register("node_b");
        for node in ["node_b", "node_b", "node_a", "node_unknown"] {
            hub.message(node, "fetch", json!({"asset_ids": [bundle.capsule_id()]})).expect(200);
        }
        flush(hub);
        let detail = hub.get(&format!("/a2a/assets/{}", bundle.capsule_id())).expect(200);
        assert_eq!((&detail["call_count"], &detail["reuse_count"]), (&json!(2), &json!(1)));
        assert!(detail["gdi_usage"].as_f64().unwrap() > 0.0);
        let mine = hub.get("/a2a/assets/purchased?node_id=node_b").expect(200);
        assert_eq!(mine["assets"][0]["asset_id"], bundle.capsule_id());
        assert_eq!(mine["assets"][0]["payload"], bundle.capsule);
        assert_eq!(mine["count"], 1);
    });
}

#[test]
fn a_bound_node_cannot_be_read_for_without_its_secret() {
    on_sqlite(|hub| {
        let secret = hub.register("node_a");
        let bundle = Bundle::new(1);
        hub.message_as("node_a", &secret, "publish", bundle.payload()).expect(200);
        let wish = json!({"asset_ids": [bundle.capsule_id()]});
        hub.message("node_a", "fetch", wish.clone()).refused(401, "node_secret_required");
        hub.message_as("node_a", &"0".repeat(64), "fetch", wish.clone()).refused(403, "node_secret_invalid");
        let own = hub.message_as("node_a", &secret, "fetch", wish).expect(200);
        assert_eq!(own["results"], json!([bundle.capsule]));
        hub.get("/a2a/assets/published-by-me?node_id=node_a").refused(401, "node_secret_required");
        let mine = hub.get_as(&secret, "/a2a/assets/published-by-me?node_id=node_a&limit=2").expect(200);
        assert_eq!((&mine["count"], &mine["has_more"]), (&json!(2), &json!(true)));
        let cursor = mine["next_cursor"].as_str().unwrap();
        let path = format!("/a2a/assets/published-by-me?node_id=node_a&limit=2&cursor={cursor}");
        let rest = hub.get_as(&secret, &path).expect(200);
        assert_eq!((&rest["count"], &rest["has_more"]), (&json!(1), &json!(false)));
    });
}

#[test]
fn spoilt_wishes_are_refused() {
    on_sqlite(|hub| {
        for payload in [
            json!({"asset_ids": "x"}),
            json!({"asset_ids": ["sha256:short"]}),
            json!({"asset_ids": [1]}),
            json!({"asset_ids": vec!["sha256:0"; 101]}),
            json!({"asset_type": "Recipe"}),
            json!({"asset_type": 5}),
            json!({"signals": "timeout"}),
            json!({"signals": vec!["timeout"; 51]}),
            json!({"content_hash": "../../etc/passwd"}),
            json!({"search_only": "yes"}),
            json!({"questions": vec!["why"; 6]}),
        ] {
            hub.message("node_b", "fetch", payload).refused(400, "validation_error");
        }
        for signals in [json!([""]), json!(["\" OR *"]), json!(["'"]), json!(["|"]), json!(["हिन्दी ग़लती"])]
        {
            let found = hub.message("node_b", "fetch", json!({"signals": signals})).expect(200);
            assert_eq!(found["results"], json!([]), "{signals}");
        }
        hub.message("node_b", "fetch", json!({"local_id": "nothing"})).expect(200);
        hub.get("/a2a/fetch").refused(404, "route_not_found");
    });
}
