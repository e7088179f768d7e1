//! What other nodes of the same owner published.

use super::helpers::{account, own, report, run_jobs};
use crate::common::{Bundle, both};
use capsid_store::accounts::AccountRole;
use serde_json::{Value, json};

#[test]
fn three_agents_of_one_account_share_nothing_after_they_were_claimed() {
    both(|hub| {
        account(hub, "ann", AccountRole::User);
        for node in ["node_1", "node_2", "node_3"] {
            hub.register(node);
            own(hub, "ann", node);
        }
        hub.register("node_z");
        // Both answer the same signal.
        let (mine, others) = (Bundle::new(1), Bundle::new(8));
        hub.publish("node_1", &mine).expect(200);
        hub.publish("node_x", &others).expect(200);
        let search = |node: &str, rows: bool| -> Value {
            let ask = json!({"signals": [mine.capsule["trigger"][0]], "asset_type": "Capsule", "search_only": rows});
            hub.message(node, "fetch", ask).expect(200)
        };
        let found = search("node_2", true);
        assert_eq!(
            (&found["count"], &found["results"][0]["asset_id"]),
            (&json!(1), &json!(mine.capsule_id()))
        );
        assert_eq!(
            (&found["results"][0]["own"], &found["results"][0]["status"]),
            (&json!(true), &json!("candidate"))
        );
        assert_eq!(search("node_1", true)["count"], 0, "a node has what it published");
        assert_eq!(search("node_z", true)["count"], 0, "a stranger finds nothing");
        let whole = search("node_3", false);
        assert_eq!(whole["results"][0], mine.capsule);
        assert_eq!(whole["meta"][mine.capsule_id()]["own"], true);
        let by_id = json!({"asset_ids": [mine.capsule_id()]});
        assert_eq!(hub.message("node_3", "fetch", by_id.clone()).expect(200)["count"], 1);
        assert_eq!(hub.message("node_z", "fetch", by_id).expect(200)["count"], 0);
        let answer = report(hub, "node_2", mine.capsule_id(), true).expect(200);
        assert_eq!(answer["grade"], "self", "it counts for nothing else");
        report(hub, "node_y", others.capsule_id(), true).expect(200);
        run_jobs(hub);
        let found = search("node_2", true);
        let ids: Vec<&Value> =
            found["results"].as_array().unwrap().iter().map(|row| &row["asset_id"]).collect();
        assert_eq!(ids, [others.capsule_id(), mine.capsule_id()], "promoted ones come first");
        assert!(found["results"][0].get("own").is_none());
    });
}
