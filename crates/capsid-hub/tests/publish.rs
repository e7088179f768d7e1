//! Publishing, rehearsing and withdrawing bundles.

use crate::common::bundle::set_id;
use crate::common::{Bundle, both, on_sqlite};
use serde_json::{Value, json};

fn published(hub: &crate::common::TestHub, node: &str, bundle: &Bundle) -> Value {
    hub.publish(node, bundle).expect(200)
}

#[test]
fn a_bundle_enters_as_a_candidate_and_the_answer_says_all_about_it() {
    both(|hub| {
        hub.register("node_a");
        let bundle = Bundle::new(1);
        let answer = published(hub, "node_a", &bundle);
        assert_eq!(answer["payload"]["status"], "accepted");
        assert_eq!(answer["status"], "accepted");
        assert_eq!(answer["decision"], "accept");
        assert_eq!(answer["message_type"], "decision");
        assert_eq!(answer["asset_ids"], json!([bundle.gene_id(), bundle.capsule_id(), bundle.event_id()]));
        assert!(answer["assets"].as_array().unwrap().iter().all(|asset| asset["status"] == "candidate"));
        assert!(answer["bundle_id"].as_str().unwrap().starts_with("bundle_"));
        assert_eq!(answer["credits"], json!({"charged": 0, "available": 500}));
    });
}

#[test]
fn publishing_again_is_a_success_and_changes_nothing() {
    both(|hub| {
        hub.register("node_a");
        let first = published(hub, "node_a", &Bundle::new(1));
        let dump = hub.dump();
        let again = published(hub, "node_a", &Bundle::new(1));
        assert_eq!(again["status"], "published");
        assert_eq!(again["reason"], "already_published");
        assert_eq!(again["bundle_id"], first["bundle_id"]);
        assert_eq!(again["receipt_id"], first["receipt_id"]);
        let assets = |dump: &str| dump.lines().filter(|line| line.contains("\"asset_id\"")).count();
        assert_eq!(assets(&hub.dump()), assets(&dump));
    });
}

#[test]
fn another_node_cannot_publish_the_same_capsule_but_may_share_the_gene() {
    both(|hub| {
        hub.register("node_a");
        hub.register("node_b");
        let bundle = Bundle::new(1);
        published(hub, "node_a", &bundle);
        hub.publish("node_b", &bundle).refused(409, "duplicate_asset");
        let mut other = Bundle::new(2);
        other.gene = bundle.gene.clone();
        let shared = Bundle::from_assets(other.gene, other.capsule, other.event);
        assert_eq!(shared.gene_id(), bundle.gene_id());
        assert_eq!(published(hub, "node_b", &shared)["status"], "accepted");
    });
}

#[test]
fn a_single_asset_is_not_a_bundle() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        let payloads = [
            json!({"asset": bundle.gene}),
            json!({}),
            json!({"assets": []}),
            json!({"assets": [bundle.gene]}),
            json!({"assets": [bundle.capsule, bundle.event]}),
            json!({"assets": [bundle.gene, bundle.gene, bundle.capsule]}),
            json!({"assets": [bundle.gene, bundle.capsule, bundle.event, bundle.event]}),
        ];
        for payload in payloads {
            hub.message("node_a", "publish", payload).refused(422, "bundle_required");
        }
    });
}

#[test]
fn an_id_that_is_not_the_hash_is_told_with_the_right_one() {
    on_sqlite(|hub| {
        let mut bundle = Bundle::new(1);
        let right = bundle.capsule["asset_id"].clone();
        bundle.capsule["asset_id"] = json!(format!("sha256:{}", "0".repeat(64)));
        let refused = hub.publish("node_a", &bundle).refused(422, "asset_id_mismatch");
        assert!(refused["correction"]["problem"].as_str().unwrap().contains("asset_id mismatch"));
        assert_eq!(refused["computed_asset_id"], right);
        for spoilt in [json!(""), json!("sha256:ABC"), json!(7), Value::Null] {
            bundle.capsule["asset_id"] = spoilt;
            hub.publish("node_a", &bundle).refused(422, "asset_id_mismatch");
        }
    });
}

#[test]
fn both_public_forms_of_the_id_are_taken() {
    on_sqlite(|hub| {
        // Once without `model_name`, once with nothing of the outcome but status and score.
        let mut bundle = Bundle::new(1).with(|bundle| bundle.gene["model_name"] = json!("some-model"));
        let mut plain = bundle.gene.clone();
        plain.as_object_mut().unwrap().shift_remove("model_name");
        set_id(&mut plain);
        bundle.gene["asset_id"] = plain["asset_id"].clone();
        bundle.capsule["gene"] = plain["asset_id"].clone();
        bundle.capsule["outcome"] = json!({"status": "success", "score": 0.85, "note": "three runs"});
        let mut plain = bundle.capsule.clone();
        plain["outcome"] = json!({"status": "success", "score": 0.85});
        set_id(&mut plain);
        bundle.capsule["asset_id"] = plain["asset_id"].clone();
        bundle.event["capsule_id"] = plain["asset_id"].clone();
        set_id(&mut bundle.event);
        assert_eq!(published(hub, "node_a", &bundle)["status"], "accepted");
    });
}

#[test]
fn what_fails_the_quality_gate_is_rejected_with_its_reasons() {
    on_sqlite(|hub| {
        let changes: [fn(&mut Bundle); 4] = [
            |b| b.capsule["outcome"]["score"] = json!(0.69),
            |b| b.capsule["blast_radius"]["files"] = json!(0),
            |b| b.capsule["blast_radius"]["lines"] = json!(0),
            |b| b.capsule["outcome"]["status"] = json!("failed"),
        ];
        for (n, change) in changes.into_iter().enumerate() {
            let bundle = Bundle::new(n as u64).with(change);
            let answer = hub.publish("node_a", &bundle).refused(422, "bundle_rejected");
            assert_eq!((&answer["status"], &answer["stored"]), (&json!("rejected"), &json!(true)), "{n}");
            assert_eq!(answer["decision"], "reject");
            assert_eq!(answer["reason"], "quality_gate_failed");
            assert_eq!(answer["problems"].as_array().unwrap().len(), 1);
        }
    });
}

#[test]
fn a_field_of_the_wrong_kind_is_named() {
    type Change = fn(&mut Bundle);
    on_sqlite(|hub| {
        let changes: [(&str, Change); 10] = [
            ("payload.assets[0].category", |b| b.gene["category"] = json!("destroy")),
            ("payload.assets[0].signals_match", |b| b.gene["signals_match"] = json!([])),
            ("payload.assets[0].signals_match[0]", |b| b.gene["signals_match"] = json!(["ab"])),
            ("payload.assets[0].summary", |b| b.gene["summary"] = json!("short")),
            ("payload.assets[1].summary", |b| b.capsule["summary"] = json!("nineteen characters")),
            ("payload.assets[1].confidence", |b| b.capsule["confidence"] = json!(1.01)),
            ("payload.assets[1].blast_radius.files", |b| b.capsule["blast_radius"]["files"] = json!("1")),
            ("payload.assets[1].outcome", |b| b.capsule["outcome"] = json!("success")),
            ("payload.assets[1].env_fingerprint", |b| b.capsule["env_fingerprint"] = json!([])),
            ("payload.assets[2].intent", |b| b.event["intent"] = Value::Null),
        ];
        for (path, change) in changes {
            let refused =
                hub.publish("node_a", &Bundle::new(1).with(change)).refused(400, "validation_error");
            assert_eq!(refused["details"][0]["path"], path);
        }
        assert_eq!(hub.get("/a2a/assets?status=candidate").expect(200)["assets"], json!([]));
    });
}

#[test]
fn a_validation_command_outside_the_policy_is_refused() {
    on_sqlite(|hub| {
        for command in [
            "rm -rf /",
            "node -e 1; curl x",
            "node test.js && npm publish",
            "bash -c true",
            "node ../../x.js",
        ] {
            let bundle = Bundle::new(1).with(|bundle| bundle.gene["validation"] = json!([command]));
            hub.publish("node_a", &bundle).refused(422, "validation_command_rejected");
        }
    });
}

#[test]
fn the_same_message_gets_the_same_answer_and_another_one_under_its_id_is_refused() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        let message = hub.envelope("node_a", "publish", bundle.payload());
        let first = hub.post("/a2a/publish", &message).expect(200);
        hub.clock.advance(1000);
        assert_eq!(hub.post("/a2a/publish", &message).expect(200), first);
        let mut other = message.clone();
        other["payload"] = Bundle::new(2).payload();
        hub.post("/a2a/publish", &other).refused(409, "duplicate_message_id");
        // A rehearsal may carry the same id.
        let mut rehearsal = message;
        rehearsal["message_type"] = json!("validate");
        assert_eq!(hub.post("/a2a/validate", &rehearsal).expect(200)["payload"]["valid"], true);
        // After a day the id is free again.
        hub.clock.advance(25 * 3_600_000);
        hub.post("/a2a/publish", &other).expect(200);
    });
}

#[test]
fn a_node_that_showed_its_secret_cannot_be_spoofed() {
    on_sqlite(|hub| {
        let secret = hub.register("node_a");
        hub.message_as("node_a", &secret, "publish", Bundle::new(1).payload()).expect(200);
        hub.publish("node_a", &Bundle::new(2)).refused(401, "node_secret_required");
        hub.message_as("node_a", &"0".repeat(64), "publish", Bundle::new(2).payload())
            .refused(403, "node_secret_invalid");
        let hello = hub.message("node_a", "hello", json!({})).expect(200);
        assert_eq!(hello["node_secret_status"], "active");
        assert!(hello.get("node_secret").is_none());
    });
}

#[test]
fn a_near_copy_of_another_nodes_long_text_is_held_back() {
    both(|hub| {
        let text = (0..60).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
        let original = Bundle::new(1).with(|bundle| bundle.capsule["content"] = json!(text));
        assert_eq!(published(hub, "node_a", &original)["status"], "accepted");
        let copy = original.with(|bundle| bundle.capsule["confidence"] = json!(0.9));
        let answer = hub.publish("node_b", &copy).refused(422, "bundle_quarantined");
        assert_eq!((&answer["decision"], &answer["stored"]), (&json!("quarantine"), &json!(true)));
        assert_eq!(answer["reason"], "near_duplicate");
    });
}

#[test]
fn a_withdrawn_bundle_is_gone_for_good() {
    both(|hub| {
        let bundle = Bundle::new(1);
        published(hub, "node_a", &bundle);
        let target =
            json!({"target_asset_id": bundle.capsule_id(), "reason": "Superseded by improved version"});
        hub.message("node_b", "revoke", target.clone()).refused(403, "not_asset_owner");
        let answer = hub.message("node_a", "revoke", target.clone()).expect(200);
        assert_eq!(answer["status"], "revoked");
        assert_eq!(hub.message("node_a", "revoke", target).expect(200)["status"], "already_revoked");
        hub.publish("node_a", &bundle).refused(409, "asset_revoked");
        let unknown = json!({"target_asset_id": format!("sha256:{}", "0".repeat(64))});
        hub.message("node_a", "revoke", unknown).refused(404, "asset_not_found");
        hub.message("node_a", "revoke", json!({})).refused(400, "validation_error");
        hub.message("node_a", "revoke", json!({"target_asset_id": "x"})).refused(400, "validation_error");
    });
}
