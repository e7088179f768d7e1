//! How a node stands, why, and how it stood before.

use super::promoted;
use crate::common::economy::{DAY, admin, trusting};
use crate::common::{Bundle, TestHub, both_with, on_sqlite_with};
use capsid_store::accounts::admin::{AdminAction, set_reputation};
use serde_json::Value;

fn stands(hub: &TestHub, node: &str) -> Value {
    let told = hub.get(&format!("/a2a/nodes/{node}/reputation")).expect(200);
    let score = told["score"].as_f64().unwrap();
    let sum: f64 =
        told["parts"].as_array().unwrap().iter().map(|part| part["points"].as_f64().unwrap()).sum();
    assert!((sum - score).abs() < 0.02, "{sum} {told}");
    let shown = hub.get(&format!("/a2a/nodes/{node}")).expect(200);
    assert_eq!(shown["reputation_score"], told["score"]);
    told
}

fn scores(told: &Value) -> Vec<f64> {
    told["history"].as_array().unwrap().iter().map(|point| point["score"].as_f64().unwrap()).collect()
}

#[test]
fn parts_add_up_and_history_has_a_point_a_day() {
    on_sqlite_with(trusting, |hub| {
        let root = admin(hub);
        hub.register("node_a");
        assert_eq!(scores(&stands(hub, "node_a")), [50.0]);
        promoted(hub, &root, "node_a", &Bundle::new(1));
        promoted(hub, &root, "node_a", &Bundle::new(2));
        let after = stands(hub, "node_a");
        let good = after["score"].as_f64().unwrap();
        assert!(good > 50.0, "{after}");
        assert_eq!(scores(&after), [good], "two changes of one day are one point");
        hub.clock.advance(DAY);
        assert_eq!(scores(&stands(hub, "node_a")), [good, good], "the present comes last");
        let rejected = Bundle::new(3);
        hub.publish("node_a", &rejected).expect(200);
        let path = format!("/admin/assets/{}/reject", rejected.capsule_id());
        hub.post_as(&root, &path, &serde_json::json!({})).expect(200);
        let worse = stands(hub, "node_a");
        assert_eq!(scores(&worse), [good, worse["score"].as_f64().unwrap()]);
        assert!(worse["score"].as_f64().unwrap() < good);
        hub.clock.advance(DAY);
        let now = hub.hub.now();
        let by = move |tx: &mut dyn capsid_store::db::tx::Tx| {
            set_reputation(tx, "node_a", Some(90.0), AdminAction { actor: "operator", reason: None, now })
        };
        assert!(hub.hub.store.write_now(by).unwrap());
        let set = stands(hub, "node_a");
        assert_eq!(set["score"], 90.0);
        assert_eq!(set["parts"].as_array().unwrap().last().unwrap()["name"], "operator");
        assert_eq!(scores(&set).len(), 3);
        // What is worked out meanwhile changes nothing that holds.
        promoted(hub, &root, "node_a", &Bundle::new(4));
        assert_eq!(scores(&stands(hub, "node_a")), scores(&set));
    });
}

#[test]
fn a_node_that_is_not_there_has_none() {
    on_sqlite_with(trusting, |hub| {
        for node in ["node_x", "%F0%9F%98%80", "a%20b", &"x".repeat(500)] {
            hub.get(&format!("/a2a/nodes/{node}/reputation")).refused(404, "node_not_found");
        }
    });
}

#[test]
fn the_history_moves_with_a_backup_and_is_forgotten_after_two_years() {
    both_with(trusting, |hub| {
        let root = admin(hub);
        promoted(hub, &root, "node_a", &Bundle::new(1));
        assert!(hub.dump().contains("reputation_days: 1 rows"));
        hub.clock.advance(800 * DAY);
        let login = serde_json::json!({"email": "root@example.org", "password": "correct horse"});
        let root = crate::common::economy::text(&hub.post("/auth/login", &login).expect(200)["token"]);
        promoted(hub, &root, "node_a", &Bundle::new(2));
        assert!(hub.dump().contains("reputation_days: 1 rows"));
    });
}
