//! What admins look at and do with accounts.

use super::{column, promoted};
use crate::common::economy::{admin, text, trusting, user};
use crate::common::{Bundle, both_with, on_sqlite_with};
use serde_json::json;

#[test]
fn the_audit_is_listed_page_by_page() {
    both_with(trusting, |hub| {
        let root = admin(hub);
        let bundles: Vec<Bundle> = (0..5).map(Bundle::new).collect();
        bundles.iter().for_each(|bundle| promoted(hub, &root, "node_a", bundle));
        let all = hub.get_as(&root, "/admin/audit?limit=100").expect(200);
        let all = all["entries"].as_array().unwrap().clone();
        assert!(all.len() > 5, "{all:?}");
        let (mut paged, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = hub.get_as(&root, &format!("/admin/audit?limit=3&cursor={cursor}")).expect(200);
            paged.extend(page["entries"].as_array().unwrap().clone());
            match page["next_cursor"].as_str() {
                Some(next) => next.clone_into(&mut cursor),
                None => break,
            }
        }
        assert_eq!(paged, all);
        let id = bundles[0].capsule_id();
        let of = hub.get_as(&root, &format!("/admin/audit?subject={id}&action=promote")).expect(200);
        assert_eq!(column(&of["entries"], "subject"), [id]);
        let entry = &of["entries"][0];
        assert_eq!((&entry["after"], &entry["reason"]), (&json!("promoted"), &json!("Works.")));
        assert_eq!(entry["subject_kind"], "asset");
        let actor = text(&entry["actor"]);
        let by = hub.get_as(&root, &format!("/admin/audit?actor={actor}&limit=100")).expect(200);
        assert!(column(&by["entries"], "actor").iter().all(|name| *name == actor));
        let none = hub.get_as(&root, "/admin/audit?actor=nobody").expect(200);
        assert_eq!(none, json!({"entries": [], "next_cursor": null}));
    });
}

#[test]
fn only_admins_see_it_and_odd_questions_are_refused() {
    on_sqlite_with(trusting, |hub| {
        let (root, (ann, _)) = (admin(hub), user(hub, "ann"));
        hub.get("/admin/audit").refused(401, "unauthorized");
        hub.get_as(&ann, "/admin/audit").refused(403, "admin_required");
        for cursor in ["x", "00", "6173", "'; --"] {
            let path = format!("/admin/audit?cursor={}", cursor.replace(' ', "%20"));
            hub.get_as(&root, &path).refused(400, "invalid_cursor");
        }
        let long = "x".repeat(201);
        for name in ["subject", "actor", "action"] {
            hub.get_as(&root, &format!("/admin/audit?{name}={long}")).refused(400, "validation_error");
        }
    });
}

#[test]
fn an_account_is_banned_and_let_back_and_both_are_written_down() {
    on_sqlite_with(trusting, |hub| {
        let (root, (ann, account)) = (admin(hub), user(hub, "ann"));
        let id = account.strip_prefix("user:").unwrap();
        let why = json!({"reason": "Sold votes."});
        let path = |verb: &str| format!("/admin/users/{id}/{verb}");
        hub.post(&path("ban"), &why).refused(401, "unauthorized");
        hub.post_as(&ann, &path("ban"), &why).refused(403, "admin_required");
        let banned = hub.post_as(&root, &path("ban"), &why).expect(200);
        assert!(banned["banned_at"].is_string(), "{banned}");
        hub.get_as(&ann, "/account/me").refused(403, "account_banned");
        hub.post_as(&root, &path("ban"), &json!({})).expect(200);
        let back = hub.post_as(&root, &path("unban"), &json!({})).expect(200);
        assert!(back["banned_at"].is_null(), "{back}");
        hub.get_as(&ann, "/account/me").expect(200);
        let audit =
            hub.get_as(&root, &format!("/admin/audit?subject={id}&actor={}", actor(hub, &root))).expect(200);
        assert_eq!(column(&audit["entries"], "action"), ["unban", "ban"], "what is so already is no change");
        assert_eq!(audit["entries"][1]["reason"], "Sold votes.");
    });
}

fn actor(hub: &super::TestHub, token: &str) -> String {
    format!("user:{}", text(&hub.get_as(token, "/account/me").expect(200)["user_id"]))
}

#[test]
fn no_admin_bans_the_own_account_or_one_that_is_not_there() {
    on_sqlite_with(trusting, |hub| {
        let root = admin(hub);
        let own = actor(hub, &root).replace("user:", "");
        hub.post_as(&root, &format!("/admin/users/{own}/ban"), &json!({})).refused(409, "state_conflict");
        for id in ["user_x", "%F0%9F%98%80", &"x".repeat(500)] {
            hub.post_as(&root, &format!("/admin/users/{id}/ban"), &json!({})).refused(404, "not_found");
        }
        let long = json!({"reason": "x".repeat(2001)});
        hub.post_as(&root, "/admin/users/user_x/ban", &long).refused(400, "validation_error");
    });
}
