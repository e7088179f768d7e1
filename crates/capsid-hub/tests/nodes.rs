//! Nodes, numbers, demand, reports and events as everybody may see them.

use crate::common::{START, TestHub, both};
use capsid_rules::lifecycle::AssetEvent;
use capsid_store::assets::id::AssetId;
use capsid_store::evaluation::lifecycle;
use serde_json::json;

fn promote(hub: &TestHub, id: &str) {
    let id = AssetId::parse(id).unwrap();
    hub.hub
        .store
        .write_now(move |tx| lifecycle::change(tx, &id, AssetEvent::Promote, "operator", None, START))
        .unwrap();
}

#[test]
fn nodes_are_listed_in_every_order_without_their_secrets() {
    both(|hub| {
        for n in 0..5 {
            let payload = json!({"name": format!("n{n}"), "webhook_url": "https://hooks.example.org/secret-hook",
                "env_fingerprint": {"device_id": "machine-7", "platform": "linux"}});
            hub.message(&format!("agent_{n}"), "hello", payload).expect(200);
            hub.clock.advance(1000);
        }
        hub.fill(4);
        for sort in ["reputation", "newest", "published"] {
            let whole = hub.get(&format!("/a2a/nodes?sort={sort}")).expect(200);
            assert_eq!((&whole["count"], &whole["total"]), (&json!(8), &json!(8)), "{sort}");
            let (mut all, mut cursor) = (Vec::new(), String::new());
            loop {
                let answer = hub.get(&format!("/a2a/nodes?sort={sort}&limit=3&cursor={cursor}"));
                for hidden in ["hook", "machine-7", "secret", "device", "owner", "fingerprint"] {
                    assert!(!answer.text.contains(hidden), "{hidden}: {answer}");
                }
                let page = answer.expect(200);
                all.extend(page["nodes"].as_array().unwrap().clone());
                let Some(next) = page["next_cursor"].as_str() else { break };
                cursor = next.to_owned();
            }
            assert_eq!(json!(all), whole["nodes"], "{sort}");
        }
        let most = hub.get("/a2a/nodes?sort=published&limit=1").expect(200);
        assert_eq!(
            (&most["nodes"][0]["node_id"], &most["nodes"][0]["total_published"]),
            (&json!("node_0"), &json!(2))
        );
        let one = hub.get("/a2a/nodes/agent_3").expect(200);
        assert_eq!(
            (&one["alias"], &one["online"], &one["claimed"]),
            (&json!("n3 (nt_3)"), &json!(true), &json!(false))
        );
        hub.get("/a2a/nodes/nobody").refused(404, "node_not_found");
        hub.get("/a2a/nodes/%00").refused(400, "validation_error");
        hub.get("/a2a/nodes?sort=best").refused(400, "validation_error");
        hub.get("/a2a/nodes?cursor=00").refused(400, "invalid_cursor");
        let activity = hub.get("/a2a/nodes/node_0/activity?limit=4").expect(200);
        assert_eq!((&activity["count"], &activity["activity"][0]["type"]), (&json!(4), &json!("publish")));
    });
}

#[test]
fn stats_and_trending_follow_what_happens() {
    both(|hub| {
        let bundles = hub.fill(3);
        for bundle in &bundles {
            promote(hub, bundle.capsule_id());
        }
        for (node, times) in [("x", 2), ("y", 1)] {
            hub.register(node);
            for bundle in bundles.iter().take(times) {
                hub.message(node, "fetch", json!({"asset_ids": [bundle.capsule_id()]})).expect(200);
            }
        }
        hub.runtime.block_on(hub.hub.usage.flush()).unwrap();
        let stats = hub.get("/a2a/stats").expect(200);
        assert_eq!(stats["status"], "ok");
        assert_eq!((&stats["total_all_types"], &stats["promoted_assets"]), (&json!(9), &json!(3)));
        assert_eq!(stats["total_assets"], stats["total_capsules"]);
        assert_eq!((&stats["total_calls"], &stats["total_reuses"]), (&json!(3), &json!(3)));
        assert_eq!((&stats["total_nodes"], &stats["today_calls"]), (&json!(5), &json!(3)));
        let trending = hub.get("/a2a/trending").expect(200);
        let rows = trending["assets"].as_array().unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0]["asset_id"], bundles[0].capsule_id());
        assert_eq!((&rows[0]["trend_score"], &rows[0]["unique_fetchers_window"]), (&json!(2.0), &json!(2)));
        hub.clock.advance(2 * 86_400_000);
        assert_eq!(hub.get("/a2a/trending?window=24h").expect(200)["count"], 0);
        assert_eq!(hub.get("/a2a/trending?window=7d&limit=1").expect(200)["count"], 1);
        hub.get("/a2a/trending?window=soon").refused(400, "validation_error");
    });
}

#[test]
fn reports_and_events_are_listed_and_filtered() {
    both(|hub| {
        let bundles = hub.fill(4);
        hub.register("validator");
        for bundle in &bundles {
            let report = json!({"target_asset_id": bundle.capsule_id(),
                "validation_report": {"overall_ok": true, "env_fingerprint_key": "linux_x64"}});
            hub.message("validator", "report", report).expect(200);
        }
        let first = hub.get("/a2a/validation-reports?limit=3").expect(200);
        assert_eq!((&first["count"], &first["has_more"]), (&json!(3), &json!(true)));
        assert_eq!(first["total"], 4);
        let cursor = first["next_cursor"].as_str().unwrap();
        let rest = hub.get(&format!("/a2a/validation-reports?limit=3&cursor={cursor}")).expect(200);
        assert_eq!(rest["count"], 1);
        assert_eq!(hub.get("/a2a/validation-reports?offset=3").expect(200)["reports"], rest["reports"]);
        let id = bundles[0].capsule_id();
        let of_asset =
            hub.get(&format!("/a2a/validation-reports?asset_id={id}&node_id=validator")).expect(200);
        assert_eq!((&of_asset["count"], &of_asset["reports"][0]["target_asset_id"]), (&json!(1), &json!(id)));
        assert_eq!(hub.get("/a2a/validation-reports?node_id=nobody").expect(200)["count"], 0);
        hub.get("/a2a/validation-reports?asset_id=x").refused(400, "validation_error");

        let all = hub.get("/a2a/evolution-events").expect(200);
        assert_eq!((&all["count"], &all["total"]), (&json!(4), &json!(4)));
        hub.get("/a2a/evolution-events?intent=conquer").refused(400, "validation_error");
        let twice = hub.get("/a2a/evolution-events?limit=1&limit=2").refused(400, "validation_error");
        assert_eq!(twice["details"][0]["expected"], "each name once");
        assert_eq!(all["events"][0]["asset_id"], bundles[3].event_id());
        assert_eq!(all["events"][0]["intent"], "repair");
        assert_eq!(all["events"][0]["source_node_id"], "node_0");
        let one = hub.get(&format!("/a2a/evolution-events?asset_id={id}")).expect(200);
        assert_eq!(
            (&one["count"], &one["events"][0]["asset_id"]),
            (&json!(1), &json!(bundles[0].event_id()))
        );
        assert_eq!(one["total"], 1);
        let mine = hub.get("/a2a/assets/published-by-me?node_id=node_0&limit=1").expect(200);
        assert_eq!((&mine["count"], &mine["total"]), (&json!(1), &json!(6)));
        let bought = hub.get("/a2a/assets/purchased?node_id=node_0").expect(200);
        assert_eq!((&bought["count"], &bought["total"]), (&json!(0), &json!(0)));
        let level = &hub.get("/a2a/nodes/node_0").expect(200)["capability_profile"];
        assert!(level["reputation"].is_number(), "{level}");
        assert_eq!(hub.get("/a2a/evolution-events?node_id=node_1").expect(200)["count"], 1);
        assert_eq!(hub.get("/a2a/evolution-events?intent=innovate").expect(200)["count"], 0);
        hub.get("/a2a/evolution-events?cursor=zz").refused(400, "invalid_cursor");
    });
}
