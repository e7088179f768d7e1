//! What fails for others: demotion, observation, rejection, and what happens to the rest of the bundle.

use super::helpers::{HOUR, account, asset, audited, own, report, run_jobs, status};
use crate::common::{Bundle, START, TestHub, both, on_sqlite};
use capsid_store::accounts::AccountRole;
use capsid_store::audit::{self, AuditChange};
use capsid_store::{params, search};
use serde_json::{Value, json};

/// Publishes a bundle and has another node pass it.
fn promoted(hub: &TestHub, n: u64) -> Bundle {
    let bundle = Bundle::new(n);
    hub.publish("node_a", &bundle).expect(200);
    report(hub, "node_b", bundle.capsule_id(), true).expect(200);
    run_jobs(hub);
    assert_eq!(status(hub, bundle.capsule_id()), "promoted");
    hub.clock.advance(1000);
    bundle
}

fn fetch_count(hub: &TestHub, node: &str, id: &str) -> Value {
    hub.message(node, "fetch", json!({"asset_ids": [id]})).expect(200)["count"].clone()
}

fn notices(hub: &TestHub, node: &str, kind: &str) -> i64 {
    let (node, kind) = (node.to_owned(), kind.to_owned());
    let count = "SELECT COUNT(*) FROM events WHERE node_id = $1 AND kind = $2";
    hub.hub.store.read_now(move |tx| tx.count(count, params![&node, &kind])).unwrap()
}

#[test]
fn what_fails_for_others_is_still_served() {
    both(|hub| {
        let bundle = promoted(hub, 1);
        let id = bundle.capsule_id();
        hub.register("node_f");
        assert_eq!(fetch_count(hub, "node_f", id), 1);
        let before = asset(hub, id).gdi;
        for n in 0..6 {
            report(hub, &format!("node_x{n}"), id, false).expect(200);
        }
        run_jobs(hub);
        assert_eq!(status(hub, id), "candidate");
        assert!(asset(hub, id).gdi < before, "failures do not raise the score");
        assert_eq!(fetch_count(hub, "node_f", id), 0, "it is not served any more");
        let signal = bundle.capsule["trigger"][0].clone();
        let search = json!({"signals": [signal], "search_only": true});
        assert_eq!(hub.message("node_f", "fetch", search).expect(200)["count"], 0);
        assert_eq!(status(hub, bundle.event_id()), "candidate", "its event goes with it");
        assert_eq!(status(hub, bundle.gene_id()), "candidate", "and its gene, which nobody else needs");
        assert_eq!(notices(hub, "node_f", "asset_demoted"), 1, "whoever fetched it is told");
        assert_eq!(notices(hub, "node_x0", "asset_demoted"), 0);
    });
}

#[test]
fn a_failed_verdict_leaves_an_asset_promoted() {
    both(|hub| {
        let bundle = promoted(hub, 1);
        let id = bundle.capsule_id();
        report(hub, "node_x", id, false).expect(200);
        run_jobs(hub);
        assert_eq!(status(hub, id), "promoted", "one owner is no verdict");
        assert_eq!(asset(hub, id).trust_tier, "observation");
        account(hub, "ann", AccountRole::User);
        for node in ["node_x", "node_y"] {
            hub.take_on_trial(node, id);
            own(hub, "ann", node);
        }
        report(hub, "node_y", id, false).expect(200);
        run_jobs(hub);
        assert_eq!(status(hub, id), "promoted", "two nodes of one owner are one owner");
        report(hub, "node_z", id, false).expect(200);
        run_jobs(hub);
        assert_eq!(status(hub, id), "candidate");
        let entry = audited(hub, "asset", id).into_iter().find(|entry| entry.action == "demote").unwrap();
        assert_eq!(entry.reason.as_deref(), Some("2 owners reported that it fails"));
    });
}

#[test]
fn an_administrator_who_rejects_a_promoted_asset_demotes_it() {
    on_sqlite(|hub| {
        let bundle = promoted(hub, 1);
        let admin = account(hub, "root", AccountRole::Admin);
        let path = format!("/admin/assets/{}/reject", bundle.capsule_id());
        let done = hub.post_as(&admin, &path, &json!({"reason": "It breaks Windows."})).expect(200);
        assert_eq!(done["asset_status"], "candidate");
        assert_eq!(
            hub.post_as(&admin, &path, &json!({"reason": "Still."})).expect(200)["asset_status"],
            "rejected"
        );
    });
}

#[test]
fn older_reports_do_not_count_again_and_the_third_demotion_is_a_rejection() {
    both(|hub| {
        let bundle = promoted(hub, 1);
        let id = bundle.capsule_id();
        for round in 1..=3 {
            hub.clock.advance(1000);
            for node in ["node_x", "node_y"] {
                report(hub, node, id, false).expect(200);
            }
            run_jobs(hub);
            if round == 3 {
                break;
            }
            assert_eq!(status(hub, id), "candidate", "round {round}");
            run_jobs(hub);
            assert_eq!(status(hub, id), "candidate", "the pass of before promotes it no more");
            hub.clock.advance(HOUR);
            report(hub, "node_b", id, true).expect(200);
            run_jobs(hub);
            assert_eq!(status(hub, id), "promoted", "a pass since then does");
        }
        assert_eq!(status(hub, id), "rejected");
        assert_eq!(status(hub, bundle.event_id()), "rejected");
    });
}

#[test]
fn a_candidate_that_four_of_four_reports_fail_is_never_rejected() {
    both(|hub| {
        let (failing, disputed) = (Bundle::new(1), Bundle::new(2));
        hub.publish("node_a", &failing).expect(200);
        hub.publish("node_a", &disputed).expect(200);
        report(hub, "node_p", disputed.capsule_id(), true).expect(200);
        for n in 0..4 {
            let node = format!("node_x{n}");
            report(hub, &node, failing.capsule_id(), false).expect(200);
            report(hub, &node, disputed.capsule_id(), false).expect(200);
        }
        run_jobs(hub);
        assert_eq!(status(hub, failing.capsule_id()), "rejected");
        assert_eq!(status(hub, failing.event_id()), "rejected");
        let entry = audited(hub, "asset", failing.capsule_id());
        let entry = entry.iter().find(|entry| entry.action == "reject").unwrap();
        assert_eq!(entry.reason.as_deref(), Some("4 owners reported that it fails"));
        assert_eq!(status(hub, disputed.capsule_id()), "candidate", "somebody passed it");
    });
}

#[test]
fn a_revoked_bundles_event_is_still_served_ranked_and_paid() {
    both(|hub| {
        let bundle = promoted(hub, 1);
        hub.register("node_f");
        assert_eq!(fetch_count(hub, "node_f", bundle.event_id()), 1);
        hub.message("node_a", "revoke", json!({"target_asset_id": bundle.capsule_id()})).expect(200);
        assert_eq!(status(hub, bundle.event_id()), "revoked");
        let reused = asset(hub, bundle.event_id()).reuse_count;
        hub.register("node_g");
        assert_eq!(fetch_count(hub, "node_g", bundle.event_id()), 0, "it is not served");
        assert_eq!(asset(hub, bundle.event_id()).reuse_count, reused, "nor paid");
        for list in ["/a2a/assets?type=EvolutionEvent", "/a2a/assets/ranked?type=EvolutionEvent"] {
            assert_eq!(hub.get(list).expect(200)["count"], 0, "{list}");
        }
        let detail = hub.get(&format!("/a2a/assets/{}", bundle.event_id())).expect(200);
        assert_eq!(detail["status"], "revoked", "it stays readable by its id");
    });
}

#[test]
fn an_event_that_an_older_version_left_behind_is_withdrawn() {
    both(|hub| {
        let bundle = promoted(hub, 1);
        hub.message("node_a", "revoke", json!({"target_asset_id": bundle.capsule_id()})).expect(200);
        let event = asset(hub, bundle.event_id());
        let id = event.asset_id;
        hub.hub
            .store
            .write_now(move |tx| {
                let subject = id.to_string();
                let back = AuditChange {
                    kind: "asset",
                    subject: &subject,
                    action: "promote",
                    before: Some("revoked"),
                    after: Some("promoted"),
                    reason: None,
                };
                audit::add(tx, "operator", back, START)?;
                tx.run("UPDATE assets SET status = 'promoted' WHERE asset_id = $1", params![&id])?;
                search::index_again(tx, &id, START)
            })
            .unwrap();
        run_jobs(hub);
        assert_eq!(status(hub, bundle.event_id()), "revoked");
    });
}

#[test]
fn a_review_after_a_fetch_weighs_half_of_a_report() {
    both(|hub| {
        let bundle = promoted(hub, 1);
        let id = bundle.capsule_id();
        let review = |node: &str, rating: i64| {
            hub.register(node);
            hub.message(node, "fetch", json!({"asset_ids": [id]})).expect(200);
            let body = json!({"sender_id": node, "rating": rating, "content": "Tried it."});
            assert!(hub.post(&format!("/a2a/assets/{id}/reviews"), &body).status < 300);
        };
        review("node_r1", 1);
        let detail = || hub.get(&format!("/a2a/assets/{id}")).expect(200)["validation"].clone();
        assert_eq!(detail()["weight"], json!({"passes": 0.5, "fails": 0.25}));
        review("node_r2", 3);
        assert_eq!(detail()["weight"]["fails"], 0.25, "three of five says neither");
        review("node_r3", 2);
        assert_eq!(status(hub, id), "candidate", "two owners say that it fails, with the same weight");
    });
}
