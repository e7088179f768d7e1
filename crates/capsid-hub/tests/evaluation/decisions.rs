//! Whose decision does what.

use super::helpers::{account, audited, decide, own, report, set_reputation, status, validator};
use crate::common::{Bundle, TestHub, both, on_sqlite};
use capsid_hub::ops::evaluation::moderate::moderate_in;
use capsid_rules::lifecycle::AssetEvent;
use capsid_store::accounts::AccountRole;
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use serde_json::json;

#[test]
fn a_decision_without_authority_is_recorded_and_says_so() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let own = decide(hub, "node_a", bundle.capsule_id(), "accept").expect(200);
        assert_eq!(own["payload"]["status"], "recorded");
        assert_eq!((&own["weight"], &own["label"]), (&json!(0.0), &json!("self")));
        let stranger = decide(hub, "node_b", bundle.capsule_id(), "reject").expect(200);
        assert_eq!((&stranger["weight"], &stranger["label"]), (&json!(0.0), &json!("no_authority")));
        assert_eq!(stranger["asset_status"], "candidate");
        assert_eq!(stranger["consensus"]["verdict"], "pending");
    });
}

#[test]
fn a_validators_decision_is_one_vote_beside_the_reports() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        validator(hub, "node_v");
        let staked = decide(hub, "node_v", bundle.capsule_id(), "reject").expect(200);
        assert_eq!((&staked["label"], &staked["weight"]), (&json!("validator"), &json!(0.5)));
        assert_eq!(
            staked["consensus"],
            json!({"passes": 0, "fails": 1, "total": 1, "weight": {"passes": 0.0, "fails": 0.5}, "verdict": "failed"})
        );
        hub.register("node_w");
        set_reputation(hub, "node_w", 80.0);
        let senior = decide(hub, "node_w", bundle.capsule_id(), "accept").expect(200);
        assert_eq!(
            senior["consensus"],
            json!({"passes": 1, "fails": 1, "total": 2, "weight": {"passes": 0.8, "fails": 0.5}, "verdict": "passed"})
        );
        hub.clock.advance(1000);
        let changed = decide(hub, "node_w", bundle.capsule_id(), "quarantine").expect(200);
        assert_eq!(changed["consensus"]["weight"]["fails"], 1.3);
        let audit = audited(hub, "asset", bundle.capsule_id());
        assert!(audit.iter().any(|entry| entry.action == "decision_replaced"), "{audit:?}");
    });
}

#[test]
fn a_validator_has_one_voice_for_report_and_decision() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        validator(hub, "node_v");
        report(hub, "node_v", bundle.capsule_id(), true).expect(200);
        hub.clock.advance(1000);
        let answer = decide(hub, "node_v", bundle.capsule_id(), "reject").expect(200);
        assert_eq!(
            answer["consensus"],
            json!({"passes": 0, "fails": 1, "total": 1, "weight": {"passes": 0.0, "fails": 0.5}, "verdict": "failed"})
        );
    });
}

#[test]
fn an_admins_decision_is_carried_out_and_audited() {
    both(|hub| {
        let admin = account(hub, "root", AccountRole::Admin);
        for (n, word, after) in
            [(1, "accept", "promoted"), (2, "reject", "rejected"), (3, "quarantine", "quarantined")]
        {
            let bundle = Bundle::new(n);
            hub.publish("node_a", &bundle).expect(200);
            let payload = json!({"target_asset_id": bundle.capsule_id(), "decision": word, "reason": "seen"});
            let answer = hub.message_as("node_r", &admin, "decision", payload.clone()).expect(200);
            assert_eq!((&answer["status"], &answer["asset_status"]), (&json!("applied"), &json!(after)));
            for id in [bundle.capsule_id(), bundle.gene_id(), bundle.event_id()] {
                assert_eq!(status(hub, id), after, "the bundle moves together");
            }
            let audit = audited(hub, "asset", bundle.capsule_id());
            let last = audit.last().unwrap();
            assert_eq!((last.actor.as_str(), last.after.as_deref()), ("user:user_root", Some(after)));
            let again = hub.message_as("node_r", &admin, "decision", payload).expect(200);
            assert_eq!(again["asset_status"], after, "deciding it again changes nothing");
            assert_eq!(audited(hub, "asset", bundle.capsule_id()).len(), audit.len());
        }
    });
}

#[test]
fn an_admins_node_binds_only_when_it_shows_its_secret() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        account(hub, "root", AccountRole::Admin);
        let secret = hub.register("node_r");
        own(hub, "root", "node_r");
        let spoofed = decide(hub, "node_r", bundle.capsule_id(), "accept").expect(200);
        assert_eq!((&spoofed["status"], &spoofed["asset_status"]), (&json!("recorded"), &json!("candidate")));
        let payload = json!({"target_asset_id": bundle.capsule_id(), "decision": "accept"});
        let real = hub.message_as("node_r", &secret, "decision", payload).expect(200);
        assert_eq!((&real["status"], &real["asset_status"]), (&json!("applied"), &json!("promoted")));
    });
}

#[test]
fn an_operators_decision_scores_the_asset_like_an_admins() {
    let promoted = |by_operator: bool| {
        let hub = TestHub::sqlite();
        let admin = account(&hub, "root", AccountRole::Admin);
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        hub.clock.advance(5 * 24 * 3_600_000);
        if by_operator {
            let (id, rates) = (AssetId::parse(bundle.capsule_id()).unwrap(), hub.hub.config.rewards());
            let now = hub.hub.now();
            let decide = move |tx: &mut dyn Tx| {
                moderate_in(tx, &id, AssetEvent::Promote, "operator", None, &rates, now)
            };
            hub.hub.store.write_now(decide).unwrap();
        } else {
            let path = format!("/admin/assets/{}/promote", bundle.capsule_id());
            hub.post_as(&admin, &path, &json!({})).expect(200);
        }
        let id = AssetId::parse(bundle.capsule_id()).unwrap();
        let asset = hub.hub.store.read_now(move |tx| capsid_store::assets::get(tx, &id)).unwrap().unwrap();
        assert_eq!(asset.scored_at, hub.hub.now().0);
        (asset.status, asset.gdi, hub.get("/a2a/nodes/node_a").expect(200)["reputation_score"].clone())
    };
    assert_eq!(promoted(true), promoted(false));
}

#[test]
fn what_is_over_stays_over() {
    on_sqlite(|hub| {
        let admin = account(hub, "root", AccountRole::Admin);
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        hub.message("node_a", "revoke", json!({"target_asset_id": bundle.capsule_id()})).expect(200);
        let payload = json!({"target_asset_id": bundle.capsule_id(), "decision": "accept"});
        let refused = hub.message_as("node_r", &admin, "decision", payload).refused(409, "state_conflict");
        assert_eq!(refused["asset_status"], "revoked");
        for word in ["promote", "reject", "quarantine", "release"] {
            let path = format!("/admin/assets/{}/{word}", bundle.capsule_id());
            hub.post_as(&admin, &path, &json!({})).refused(409, "state_conflict");
        }
        assert_eq!(status(hub, bundle.capsule_id()), "revoked");
    });
}

#[test]
fn an_admin_decides_over_plain_rest_and_nobody_else_does() {
    on_sqlite(|hub| {
        let (admin, user) =
            (account(hub, "root", AccountRole::Admin), account(hub, "ann", AccountRole::User));
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let path = |word: &str| format!("/admin/assets/{}/{word}", bundle.capsule_id());
        hub.post(&path("promote"), &json!({})).refused(401, "unauthorized");
        hub.post_as(&user, &path("promote"), &json!({})).refused(403, "admin_required");
        hub.post("/admin/promote-now", &json!({})).refused(401, "unauthorized");
        hub.post_as(&user, "/admin/promote-now", &json!({})).refused(403, "admin_required");
        for (word, after) in
            [("quarantine", "quarantined"), ("release", "candidate"), ("promote", "promoted")]
        {
            let answer = hub.post_as(&admin, &path(word), &json!({"reason": "seen"})).expect(200);
            assert_eq!(answer["asset_status"], after);
            assert_eq!(status(hub, bundle.gene_id()), after);
        }
        hub.post_as(&admin, "/admin/assets/nothing/promote", &json!({})).refused(400, "validation_error");
        let unknown = format!("/admin/assets/sha256:{}/promote", "0".repeat(64));
        hub.post_as(&admin, &unknown, &json!({})).refused(404, "asset_not_found");
        let long = json!({"reason": "x".repeat(2001)});
        hub.post_as(&admin, &path("quarantine"), &long).refused(400, "validation_error");
        assert_eq!(hub.post_as(&admin, "/admin/promote-now", &json!({})).expect(200)["status"], "done");
    });
}

#[test]
fn an_unknown_word_is_refused() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        for word in [json!("approve"), json!(""), json!(null), json!(7), json!(["accept"])] {
            let payload = json!({"target_asset_id": bundle.capsule_id(), "decision": word});
            hub.message("node_b", "decision", payload).refused(400, "validation_error");
        }
        let unknown = format!("sha256:{}", "0".repeat(64));
        decide(hub, "node_b", &unknown, "accept").refused(404, "asset_not_found");
        decide(hub, "node_b", "x", "accept").refused(400, "validation_error");
        let long =
            json!({"target_asset_id": bundle.capsule_id(), "decision": "accept", "reason": "x".repeat(2001)});
        hub.message("node_b", "decision", long).refused(400, "validation_error");
    });
}
