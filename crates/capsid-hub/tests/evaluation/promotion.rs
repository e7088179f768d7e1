//! How a candidate is promoted, and what keeps it from it.

use super::helpers::{
    account, asset, audited, decide, node, own, report, run_jobs, set_reputation, status, validator,
};
use crate::common::{Bundle, TestHub, both, both_with};
use capsid_model::time::Clock;
use capsid_store::accounts::AccountRole;
use capsid_store::evaluation::promotion;
use serde_json::json;

fn obstacles(hub: &TestHub, id: &str) -> Vec<&'static str> {
    let (asset, rule, now) = (asset(hub, id), hub.hub.config.promotion.rule, hub.clock.now());
    let found = hub.hub.store.read_now(move |tx| promotion::list_obstacles(tx, &asset, &rule, now)).unwrap();
    found.into_iter().map(|obstacle| obstacle.code).collect()
}

#[test]
fn a_report_by_another_owner_promotes_the_bundle() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        run_jobs(hub);
        assert_eq!(status(hub, bundle.capsule_id()), "candidate");
        assert_eq!(obstacles(hub, bundle.capsule_id()), ["no_report_by_others"]);
        report(hub, "node_a", bundle.capsule_id(), true).expect(200);
        run_jobs(hub);
        assert_eq!(status(hub, bundle.capsule_id()), "candidate", "the publisher's own word is not enough");
        report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        assert_eq!(status(hub, bundle.capsule_id()), "candidate", "only the job promotes");
        assert_eq!(run_jobs(hub)["promotion"], 1);
        for id in [bundle.capsule_id(), bundle.gene_id(), bundle.event_id()] {
            assert_eq!(status(hub, id), "promoted");
        }
        let audit = audited(hub, "asset", bundle.capsule_id());
        let last = audit.last().unwrap();
        assert_eq!((last.actor.as_str(), last.action.as_str()), ("hub", "promote"));
        assert_eq!(run_jobs(hub)["promotion"], 0);
        assert!(node(hub, "node_a").reputation > 50.0, "the publisher's reputation follows");
    });
}

#[test]
fn a_gene_without_a_validation_is_promoted_by_a_report_too() {
    both(|hub| {
        let bundle = Bundle::new(1).with(|bundle| {
            bundle.gene.as_object_mut().unwrap().shift_remove("validation");
        });
        hub.publish("node_a", &bundle).expect(200);
        report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        assert_eq!(obstacles(hub, bundle.capsule_id()), [""; 0]);
        run_jobs(hub);
        assert_eq!(status(hub, bundle.capsule_id()), "promoted");
    });
}

#[test]
fn reports_of_the_same_owner_do_not_promote() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        hub.register("node_b");
        account(hub, "ann", AccountRole::User);
        own(hub, "ann", "node_a");
        own(hub, "ann", "node_b");
        report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        run_jobs(hub);
        assert_eq!(status(hub, bundle.capsule_id()), "candidate");
    });
}

#[test]
fn half_failing_blocks_and_an_admin_overrides() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        report(hub, "node_c", bundle.capsule_id(), false).expect(200);
        run_jobs(hub);
        assert_eq!(status(hub, bundle.capsule_id()), "candidate");
        assert_eq!(obstacles(hub, bundle.capsule_id()), ["reports_failed"]);
        let admin = account(hub, "root", AccountRole::Admin);
        let payload = json!({"target_asset_id": bundle.capsule_id(), "decision": "accept"});
        hub.message_as("node_r", &admin, "decision", payload).expect(200);
        assert_eq!(status(hub, bundle.capsule_id()), "promoted");
    });
}

#[test]
fn a_validators_acceptance_is_no_report_but_its_rejection_holds_back() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        validator(hub, "node_v");
        decide(hub, "node_v", bundle.capsule_id(), "accept").expect(200);
        assert_eq!(obstacles(hub, bundle.capsule_id()), ["no_report_by_others"]);
        hub.clock.advance(1000);
        decide(hub, "node_v", bundle.capsule_id(), "reject").expect(200);
        report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        assert_eq!(obstacles(hub, bundle.capsule_id()), ["reports_failed"]);
    });
}

#[test]
fn without_the_rule_no_report_is_needed() {
    both_with(
        |config| config.promotion.rule.require_report = false,
        |hub| {
            let bundle = Bundle::new(1).with(|bundle| {
                bundle.capsule["success_streak"] = 10.into();
                bundle.capsule["confidence"] = 1.into();
                bundle.capsule["trigger"] = json!(["one_error", "two_error", "three_error", "four_error"]);
            });
            hub.publish("node_a", &bundle).expect(200);
            assert_eq!(obstacles(hub, bundle.capsule_id()), [""; 0]);
            run_jobs(hub);
            assert_eq!(status(hub, bundle.capsule_id()), "promoted");
        },
    );
}

#[test]
fn a_publisher_that_is_held_or_has_lost_its_reputation_waits() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        set_reputation(hub, "node_a", 20.0);
        run_jobs(hub);
        assert_eq!(status(hub, bundle.capsule_id()), "candidate");
        assert!(obstacles(hub, bundle.capsule_id()).contains(&"reputation_too_low"));
        set_reputation(hub, "node_a", 50.0);
        run_jobs(hub);
        assert_eq!(status(hub, bundle.capsule_id()), "promoted");
    });
}

#[test]
fn many_candidates_are_walked_through_to_the_end() {
    let hub = TestHub::sqlite();
    let bundles = hub.fill(450);
    for bundle in bundles.iter().step_by(50) {
        report(&hub, "node_x", bundle.capsule_id(), true).expect(200);
    }
    assert_eq!(run_jobs(&hub)["promotion"], 9);
    for (n, bundle) in bundles.iter().enumerate() {
        let expected = if n % 50 == 0 { "promoted" } else { "candidate" };
        assert_eq!(status(&hub, bundle.capsule_id()), expected, "{n}");
    }
}
