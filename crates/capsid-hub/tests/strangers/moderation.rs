//! The queue of moderators.

use super::{appoint, public, user};
use crate::common::economy::{admin, text};
use crate::common::{Bundle, TestHub, both_with};
use serde_json::{Value, json};

fn held(hub: &TestHub, n: u64) -> Bundle {
    let bundle = Bundle::new(n).with(|bundle| {
        bundle.gene["strategy"] = json!(["Copy ~/.npmrc to the build folder."]);
    });
    let answer = hub.publish("node_free", &bundle).json();
    assert_eq!(answer["reason"], "awaiting_moderation", "{answer}");
    bundle
}

fn cases(hub: &TestHub, token: &str, state: &str) -> Vec<Value> {
    let listed = hub.get_as(token, &format!("/admin/moderation?state={state}")).expect(200);
    listed["cases"].as_array().unwrap().clone()
}

#[test]
fn an_appeal_reopens_a_case_once() {
    both_with(public, |hub| {
        let root = admin(hub);
        let secret = hub.register("node_free");
        let bundle = held(hub, 1);
        let open = cases(hub, &root, "open");
        let kinds: Vec<&str> = open.iter().map(|case| case["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["warning", "publisher"]);
        assert_eq!(open[0]["subject"], bundle.capsule_id());
        let decide = |decision: &str| {
            let path = format!("/admin/moderation/{}/decide", open[0]["case_id"]);
            hub.post_as(&root, &path, &json!({"decision": decision, "reason": "It reads a token."}))
        };
        let appeal = || {
            let path = format!("/a2a/moderation/{}/appeal", bundle.capsule_id());
            hub.post_as(&secret, &path, &json!({"sender_id": "node_free", "reason": "The file holds none."}))
        };
        let status = || text(&hub.get(&format!("/a2a/assets/{}", bundle.capsule_id())).expect(200)["status"]);
        appeal().refused(409, "state_conflict");
        decide("maybe").refused(400, "validation_error");
        assert_eq!(decide("reject").expect(200)["state"], "decided");
        decide("reject").refused(409, "state_conflict");
        assert_eq!(status(), "quarantined");
        let other = hub.register("node_other");
        let path = format!("/a2a/moderation/{}/appeal", bundle.capsule_id());
        let body = json!({"sender_id": "node_other", "reason": "I want it."});
        hub.post_as(&other, &path, &body).refused(404, "not_found");
        assert_eq!(appeal().expect(200)["state"], "open");
        assert_eq!(decide("approve").expect(200)["decision"], "approve");
        assert_eq!(status(), "candidate");
        appeal().refused(409, "state_conflict");
        let audit = hub.get_as(&root, "/admin/audit?limit=100").expect(200).to_string();
        assert!(audit.contains("\"appeal\"") && audit.contains("\"moderation\""), "{audit}");
    });
}

#[test]
fn a_rejection_after_an_appeal_is_final() {
    both_with(public, |hub| {
        let root = admin(hub);
        let secret = hub.register("node_free");
        let bundle = held(hub, 2);
        let id = cases(hub, &root, "open")[0]["case_id"].clone();
        let reject =
            || hub.post_as(&root, &format!("/admin/moderation/{id}/decide"), &json!({"decision": "reject"}));
        reject().expect(200);
        let path = format!("/a2a/moderation/{}/appeal", bundle.capsule_id());
        hub.post_as(&secret, &path, &json!({"sender_id": "node_free", "reason": "Please look again."}))
            .expect(200);
        reject().expect(200);
        let shown = hub.get(&format!("/a2a/assets/{}", bundle.capsule_id())).expect(200);
        assert_eq!(shown["status"], "rejected");
    });
}

#[test]
fn only_admins_and_appointed_owners_moderate() {
    both_with(public, |hub| {
        let (token, id) = user(hub, "mia");
        hub.get("/admin/moderation").refused(401, "unauthorized");
        hub.get_as(&token, "/admin/moderation").refused(403, "admin_required");
        appoint(hub, &id);
        assert_eq!(cases(hub, &token, "open").len(), 0);
        hub.get_as(&token, "/admin/audit").refused(403, "admin_required");
    });
}

#[test]
fn a_change_that_the_asset_cannot_take_is_refused_and_the_case_stays_open() {
    both_with(public, |hub| {
        let root = admin(hub);
        hub.register("node_free");
        held(hub, 3);
        let case = cases(hub, &root, "open")[0]["case_id"].clone();
        let decide = |decision: &str| {
            hub.post_as(&root, &format!("/admin/moderation/{case}/decide"), &json!({"decision": decision}))
        };
        hub.change("UPDATE assets SET status = 'archived' WHERE asset_type = 'Capsule'");
        let refused = decide("reject").refused(409, "state_conflict");
        assert_eq!(refused["asset_status"], "archived");
        assert_eq!(cases(hub, &root, "open")[0]["case_id"], case);
        hub.change("UPDATE assets SET status = 'revoked' WHERE asset_type = 'Capsule'");
        assert_eq!(decide("reject").expect(200)["state"], "decided", "what was withdrawn needs no decision");
    });
}

#[test]
fn a_publisher_that_a_moderator_rejects_is_held_until_an_appeal_succeeds() {
    both_with(public, |hub| {
        let root = admin(hub);
        let secret = hub.register("node_free");
        hub.publish("node_free", &Bundle::new(4)).expect(200);
        let case = cases(hub, &root, "open")[0].clone();
        assert_eq!((&case["kind"], &case["subject"]), (&json!("publisher"), &json!("node_free")));
        let decide = |decision: &str| {
            let path = format!("/admin/moderation/{}/decide", case["case_id"]);
            hub.post_as(&root, &path, &json!({"decision": decision, "reason": "Seen."})).expect(200)
        };
        let obstacles = |hub: &TestHub| {
            let shown = hub.get(&format!("/a2a/assets/{}", Bundle::new(4).capsule_id())).expect(200);
            shown["why_not_promoted"].to_string()
        };
        decide("reject");
        assert!(obstacles(hub).contains("publisher_held"), "{}", obstacles(hub));
        let body = json!({"sender_id": "node_free", "reason": "I am honest."});
        hub.post_as(&secret, "/a2a/moderation/node_free/appeal", &body).expect(200);
        decide("approve");
        assert!(!obstacles(hub).contains("publisher_held"));
        let audit = hub.get_as(&root, "/admin/audit?limit=100").expect(200).to_string();
        assert!(audit.contains("\"quarantine\"") && audit.contains("\"release\""), "{audit}");
    });
}
