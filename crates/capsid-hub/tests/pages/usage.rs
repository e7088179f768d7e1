//! How an asset was used, day by day.

use super::{column, fetch, promoted, report};
use crate::common::economy::{DAY, admin, trusting};
use crate::common::{Bundle, both_with, on_sqlite_with};

#[test]
fn use_is_told_for_each_day() {
    both_with(trusting, |hub| {
        let (root, bundle) = (admin(hub), Bundle::new(1));
        promoted(hub, &root, "node_a", &bundle);
        let id = bundle.capsule_id();
        for node in ["node_b", "node_c"] {
            hub.register(node);
            fetch(hub, node, id);
        }
        fetch(hub, "node_a", id);
        report(hub, "node_b", id, true);
        hub.clock.advance(2 * DAY);
        fetch(hub, "node_b", id);
        report(hub, "node_c", id, false);
        report(hub, "node_a", id, true);
        let used = hub.get(&format!("/a2a/assets/{id}/usage?days=3")).expect(200);
        assert_eq!(used["asset_id"], id);
        assert_eq!(column(&used["days"], "day"), ["2026-01-01", "2026-01-02", "2026-01-03"]);
        let numbers: Vec<Vec<i64>> = used["days"]
            .as_array()
            .unwrap()
            .iter()
            .map(|day| {
                let names = ["fetches", "reuses", "reports_ok", "reports_failed"];
                names.iter().map(|name| day[*name].as_i64().unwrap()).collect()
            })
            .collect();
        // A publisher's own fetches and reports are not use.
        assert_eq!(numbers, [[2, 2, 1, 0], [0, 0, 0, 0], [1, 0, 0, 1]]);
        let usual = hub.get(&format!("/a2a/assets/{id}/usage")).expect(200);
        assert_eq!(usual["days"].as_array().unwrap().len(), 90);
    });
}

#[test]
fn odd_questions_are_refused() {
    on_sqlite_with(trusting, |hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let path = format!("/a2a/assets/{}/usage", bundle.capsule_id());
        for days in ["0", "-1", "367", "99999999999999999999", "1e3", "x", "1;2", "NaN"] {
            hub.get(&format!("{path}?days={days}")).refused(400, "validation_error");
        }
        for id in ["x", "sha256:0", &format!("sha256:{}", "0".repeat(64)), "%F0%9F%98%80"] {
            for call in ["usage", "lineage"] {
                let answer = hub.get(&format!("/a2a/assets/{id}/{call}"));
                assert_eq!(answer.status, 404, "{answer}");
                answer.explains();
            }
        }
    });
}
