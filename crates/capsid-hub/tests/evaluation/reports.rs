//! What becomes of a report.

use super::helpers::{account, asset, audited, node, own, report, set_reputation};
use crate::common::{Bundle, both, on_sqlite};
use capsid_store::accounts::AccountRole;
use serde_json::json;

#[test]
fn the_publishers_own_report_is_recorded_without_weight() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let before = asset(hub, bundle.capsule_id()).gdi;
        let answer = report(hub, "node_a", bundle.capsule_id(), true).expect(200);
        assert_eq!(answer["payload"]["status"], "recorded");
        assert_eq!((&answer["weight"], &answer["label"]), (&json!(0.0), &json!("self")));
        assert!(answer["note"].as_str().unwrap().contains("own"), "{answer}");
        assert_eq!(
            answer["consensus"],
            json!({"passes": 0, "fails": 0, "total": 0, "weight": {"passes": 0.0, "fails": 0.0}, "verdict": "pending"})
        );
        assert_eq!(answer["asset_status"], "candidate");
        assert_eq!(asset(hub, bundle.capsule_id()).gdi, before);
    });
}

#[test]
fn a_report_by_another_node_weighs_by_its_reputation_and_raises_the_score() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let before = asset(hub, bundle.capsule_id()).gdi;
        let answer = report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        assert_eq!((&answer["status"], &answer["label"]), (&json!("accepted"), &json!("unsolicited")));
        assert_eq!(answer["weight"], 0.5);
        assert_eq!(answer["consensus"]["verdict"], "passed");
        assert_eq!(answer["reward_credits"], 0);
        assert!(asset(hub, bundle.capsule_id()).gdi > before);
    });
}

#[test]
fn a_report_tells_the_kind_of_machine_where_it_can() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        hub.take_on_trial("node_b", bundle.capsule_id());
        let machine = json!({"platform": "darwin", "arch": "arm64"});
        for (print, told) in [(json!(null), "b98472b2ef785976"), (machine, "darwin_arm64")] {
            let found = json!({"overall_ok": true, "env_fingerprint_key": "b98472b2ef785976", "env_fingerprint": print});
            let message = json!({"target_asset_id": bundle.capsule_id(), "validation_report": found});
            hub.message("node_b", "report", message).expect(200);
            let list = format!("/a2a/validation-reports?asset_id={}", bundle.capsule_id());
            assert_eq!(hub.get(&list).expect(200)["reports"][0]["env_fingerprint_key"], told);
        }
        let places = "SELECT key FROM entities WHERE kind = 'environment' ORDER BY key";
        hub.follow();
        let known = hub.hub.store.read_now(move |tx| tx.index()?.query_all::<String>(places, &[])).unwrap();
        assert_eq!(known, ["darwin_arm64", "linux_x64"], "where the report was made, and the capsule");
    });
}

#[test]
fn another_node_of_the_same_owner_is_no_other() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        hub.register("node_b");
        account(hub, "ann", AccountRole::User);
        own(hub, "ann", "node_a");
        own(hub, "ann", "node_b");
        let answer = report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        assert_eq!((&answer["weight"], &answer["label"]), (&json!(0.0), &json!("self")));
    });
}

#[test]
fn a_node_that_comes_to_belong_to_the_publishers_owner_no_longer_counts() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        account(hub, "ann", AccountRole::User);
        own(hub, "ann", "node_a");
        own(hub, "ann", "node_b");
        let answer = report(hub, "node_c", bundle.capsule_id(), false).expect(200);
        assert_eq!(
            answer["consensus"],
            json!({"passes": 0, "fails": 1, "total": 1, "weight": {"passes": 0.0, "fails": 0.5}, "verdict": "failed"})
        );
    });
}

#[test]
fn a_later_report_takes_the_place_of_the_earlier_and_the_audit_keeps_it() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let first = report(hub, "node_b", bundle.capsule_id(), false).expect(200);
        hub.clock.advance(1000);
        let second = report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        assert_eq!(second["report_id"], first["report_id"]);
        assert_eq!(
            second["consensus"],
            json!({"passes": 1, "fails": 0, "total": 1, "weight": {"passes": 0.5, "fails": 0.0}, "verdict": "passed"})
        );
        let audit = audited(hub, "asset", bundle.capsule_id());
        let replaced = audit.iter().find(|entry| entry.action == "report_replaced").unwrap();
        assert_eq!(replaced.actor, "node:node_b");
        assert_eq!((replaced.before.as_deref(), replaced.after.as_deref()), (Some("failed"), Some("passed")));
    });
}

#[test]
fn of_an_owners_nodes_the_last_one_speaks() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        account(hub, "bob", AccountRole::User);
        for name in ["node_b", "node_c"] {
            hub.register(name);
            own(hub, "bob", name);
        }
        report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        hub.clock.advance(1000);
        let answer = report(hub, "node_c", bundle.capsule_id(), false).expect(200);
        assert_eq!(answer["consensus"]["total"], 1);
        assert_eq!(answer["consensus"]["verdict"], "failed");
        hub.clock.advance(1000);
        let answer = report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        assert_eq!(answer["consensus"]["verdict"], "passed", "what was said again is the last word");
    });
}

#[test]
fn the_same_id_from_two_senders_makes_two_reports() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let one = report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        let two = report(hub, "node_c", bundle.capsule_id(), true).expect(200);
        assert_eq!(one["report_id"], "report_001");
        assert_ne!(two["report_id"], "report_001");
        assert_eq!(two["consensus"]["total"], 2);
    });
}

#[test]
fn a_report_on_a_gene_counts_for_the_gene() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let (gene, capsule) = (asset(hub, bundle.gene_id()).gdi, asset(hub, bundle.capsule_id()).gdi);
        report(hub, "node_b", bundle.gene_id(), true).expect(200);
        assert!(asset(hub, bundle.gene_id()).gdi > gene);
        assert_eq!(asset(hub, bundle.capsule_id()).gdi, capsule);
    });
}

#[test]
fn what_could_not_be_run_weighs_nothing() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let answer = hub
            .message(
                "node_b",
                "report",
                json!({"target_asset_id": bundle.capsule_id(), "validation_report": {"overall_ok": false,
                    "failure_class": "sandbox_block_node_flag", "reproduction_score": 0}}),
            )
            .expect(200);
        assert_eq!((&answer["status"], &answer["weight"]), (&json!("recorded"), &json!(0.0)));
        assert_eq!(answer["consensus"]["verdict"], "pending");
    });
}

#[test]
fn a_node_without_reputation_is_recorded_without_weight() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        hub.register("node_b");
        set_reputation(hub, "node_b", 0.0);
        assert_eq!(node(hub, "node_b").reputation, 0.0);
        let answer = report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        assert_eq!((&answer["status"], &answer["label"]), (&json!("recorded"), &json!("unsolicited")));
    });
}

#[test]
fn the_same_message_has_its_effect_once() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let message = hub.envelope(
            "node_b",
            "report",
            json!({"target_asset_id": bundle.capsule_id(), "validation_report": {"overall_ok": true}}),
        );
        let first = hub.post("/a2a/report", &message);
        let dump = hub.dump();
        assert_eq!(hub.post("/a2a/report", &message).text, first.text);
        assert_eq!(hub.dump(), dump);
    });
}

#[test]
fn what_cannot_be_is_refused_and_nothing_is_kept() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let unknown = format!("sha256:{}", "0".repeat(64));
        report(hub, "node_b", &unknown, true).refused(404, "asset_not_found");
        let local = json!({"target_local_id": "no_such", "validation_report": {"overall_ok": true}});
        hub.message("node_b", "report", local).refused(404, "asset_not_found");
        report(hub, "node_b", "not an id", true).refused(400, "validation_error");
        let task = json!({"task_id": "val_1", "nonce": "n", "overall_ok": true});
        hub.message("node_b", "report", task).refused(409, "assignment_not_open");
        let large = json!({"target_asset_id": bundle.capsule_id(), "validation_report": {"overall_ok": true,
            "log": "x".repeat(70_000)}});
        hub.message("node_b", "report", large).refused(413, "payload_too_large");
        assert!(!hub.dump().contains("\"report_id\""), "a refused report was kept");
    });
}
