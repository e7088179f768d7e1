//! Lists, details, votes and reviews of assets.

use crate::common::{Bundle, START, TestHub, both};
use capsid_rules::lifecycle::AssetEvent;
use capsid_store::assets::id::AssetId;
use capsid_store::evaluation::lifecycle;
use serde_json::{Value, json};

fn promote(hub: &TestHub, id: &str) {
    let id = AssetId::parse(id).unwrap();
    hub.hub
        .store
        .write_now(move |tx| lifecycle::change(tx, &id, AssetEvent::Promote, "operator", None, START))
        .unwrap();
}

fn ids(answer: &Value) -> Vec<String> {
    let rows = answer["assets"].as_array().unwrap();
    rows.iter().map(|row| row["asset_id"].as_str().unwrap().to_owned()).collect()
}

/// Makes an account and gives its token.
fn account(hub: &TestHub, name: &str) -> String {
    let body = json!({"email": format!("{name}@example.org"), "password": "correct horse battery"});
    hub.post("/auth/register", &body).json()["token"].as_str().unwrap().to_owned()
}

/// All rows of a list, page by page.
fn walk(hub: &TestHub, path: &str) -> Vec<String> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    for _ in 0..100 {
        let page = hub.get(&format!("{path}&limit=3&cursor={cursor}")).expect(200);
        all.extend(ids(&page));
        match page["next_cursor"].as_str() {
            Some(next) if page["has_more"] == true => cursor = next.to_owned(),
            _ => return all,
        }
    }
    panic!("the list has no end");
}

#[test]
fn lists_are_complete_in_every_order_and_page_by_page() {
    both(|hub| {
        let bundles = hub.fill(7);
        for bundle in bundles.iter().take(5) {
            promote(hub, bundle.capsule_id());
        }
        for sort in ["newest", "ranked", "most_used"] {
            let all = walk(hub, &format!("/a2a/assets?sort={sort}&type=Capsule"));
            assert_eq!(all.len(), 5, "{sort}");
            let mut unique = all.clone();
            unique.sort();
            unique.dedup();
            assert_eq!(unique.len(), 5, "{sort}");
            let whole = hub.get(&format!("/a2a/assets?sort={sort}&type=Capsule&limit=100")).expect(200);
            assert_eq!(ids(&whole), all, "{sort}");
            assert_eq!(whole["total"], 5);
            let skipped =
                hub.get(&format!("/a2a/assets?sort={sort}&type=Capsule&limit=2&offset=2")).expect(200);
            assert_eq!(ids(&skipped), all[2..4], "{sort}");
        }
        let newest = walk(hub, "/a2a/assets?type=Capsule");
        let expected: Vec<&str> = bundles.iter().take(5).rev().map(Bundle::capsule_id).collect();
        assert_eq!(newest, expected);
        assert_eq!(walk(hub, "/a2a/assets?status=candidate").len(), 6);
        assert_eq!(walk(hub, "/a2a/assets?source_node_id=node_1&type=Capsule").len(), 2);
        assert_eq!(walk(hub, "/a2a/assets?source_node_id=nobody").len(), 0);
        assert_eq!(walk(hub, "/a2a/assets?category=repair").len(), 15, "a capsule is of its gene's kind");
        assert_eq!(walk(hub, "/a2a/assets?category=repair&type=Capsule"), expected);
        assert_eq!(walk(hub, "/a2a/assets?category=innovate").len(), 0);
        assert_eq!(walk(hub, "/a2a/assets/ranked?type=Capsule").len(), 5);
        assert_eq!(walk(hub, "/a2a/assets/ranked?").len(), 15);
    });
}

#[test]
fn unknown_words_and_cursors_are_refused_and_odd_numbers_are_not() {
    both(|hub| {
        for bad in [
            "status=lost",
            "type=Recipe",
            "sort=best",
            "category=x",
            "offset=5000",
            "limit=1&limit=2",
            "chain_id=%00",
        ] {
            hub.get(&format!("/a2a/assets?{bad}")).refused(400, "validation_error");
        }
        for cursor in ["x", "00", "zz", "%F0%9F%98%80", "6173736574732e72616e6b65641f301f30"] {
            hub.get(&format!("/a2a/assets?cursor={cursor}")).refused(400, "invalid_cursor");
        }
        for odd in ["limit=abc", "limit=-1", "limit=0", "limit=1e9", "limit=99999", "offset=-3", "limit="] {
            hub.get(&format!("/a2a/assets?{odd}")).expect(200);
        }
        for path in ["/a2a/assets/sha256:00", "/a2a/assets/..%2f..", "/a2a/assets/x/verify"] {
            hub.get(path).refused(404, "asset_not_found");
        }
        hub.get(&format!("/a2a/assets/sha256:{}", "0".repeat(64))).refused(404, "asset_not_found");
    });
}

#[test]
fn a_detail_tells_all_and_keeps_a_candidates_body_for_those_who_may_see_it() {
    both(|hub| {
        let secret = hub.register("node_a");
        let bundle = Bundle::new(1);
        hub.message_as("node_a", &secret, "publish", bundle.payload()).expect(200);
        let id = bundle.capsule_id();
        let encoded = id.replace(':', "%3A");
        let detail = hub.get(&format!("/a2a/assets/{encoded}?detailed=true")).expect(200);
        assert_eq!(detail["asset_id"], id);
        assert_eq!(detail["status"], "candidate");
        assert_eq!(detail["payload"], Value::Null);
        assert!(detail.get("bundle_events").is_none());
        assert_eq!(detail["bundle"]["gene"]["asset_id"], bundle.gene_id());
        assert_eq!(detail["bundle"]["event"]["asset_id"], bundle.event_id());
        assert_eq!(detail["validation"]["consensus"], "pending");
        assert_eq!(detail["audit_trail"][0]["action"], "publish");
        assert!(detail["gdi"]["parts"].as_array().unwrap().len() > 10);
        let why = detail["why_not_promoted"].as_array().unwrap();
        assert!(why.iter().any(|obstacle| obstacle["code"] == "no_report_by_others"), "{why:?}");
        let own = hub.get_as(&secret, &format!("/a2a/assets/{id}?detailed=true")).expect(200);
        assert_eq!(own["payload"], bundle.capsule);
        assert_eq!(own["bundle_events"], json!([bundle.event]));
        promote(hub, id);
        let detail = hub.get(&format!("/a2a/assets/{id}?detailed=true")).expect(200);
        assert_eq!(detail["payload"], bundle.capsule);
        assert!(detail.get("why_not_promoted").is_none());
        let trail = hub.get(&format!("/a2a/assets/{id}/audit-trail")).expect(200);
        assert_eq!(trail["audit_trail"][1]["after"], "promoted");
        hub.runtime.block_on(hub.hub.usage.flush()).unwrap();
        let views = hub.get(&format!("/a2a/assets/{id}?fields=view_count")).expect(200);
        assert_eq!(views, json!({"asset_id": id, "view_count": 3}));
        let verified = hub.get(&format!("/a2a/assets/{id}/verify")).expect(200);
        assert_eq!((&verified["valid"], &verified["computed_asset_id"]), (&json!(true), &json!(id)));
    });
}

#[test]
fn an_account_votes_once_and_never_for_itself() {
    both(|hub| {
        let bundle = Bundle::new(1);
        let secret = hub.register("node_a");
        hub.message_as("node_a", &secret, "publish", bundle.payload()).expect(200);
        let path = format!("/a2a/assets/{}/vote", bundle.capsule_id());
        let (owner, voter) = (account(hub, "owner"), account(hub, "voter"));
        hub.post(&path, &json!({"vote": "up"})).refused(401, "unauthorized");
        hub.post_as(&secret, &path, &json!({"vote": "up", "sender_id": "node_a"}))
            .refused(401, "unauthorized");
        for torn in
            [json!({"vote": "up", "value": -1}), json!({"vote": "none", "value": 1}), json!({"value": 2})]
        {
            hub.post_as(&voter, &path, &torn).refused(400, "validation_error");
        }
        let first = hub.post_as(&voter, &path, &json!({"vote": "up", "value": 1})).expect(200);
        assert_eq!((&first["upvotes"], &first["your_vote"]), (&json!(1), &json!("up")));
        let again = hub.post_as(&voter, &path, &json!({"value": 1})).expect(200);
        assert_eq!(again["upvotes"], 1);
        let down = hub.post_as(&voter, &path, &json!({"vote": "down"})).expect(200);
        assert_eq!((&down["upvotes"], &down["downvotes"]), (&json!(0), &json!(1)));
        assert!(down["gdi_score"].as_f64() <= first["gdi_score"].as_f64());
        let none = hub.post_as(&voter, &path, &json!({"vote": "none"})).expect(200);
        assert_eq!((&none["upvotes"], &none["downvotes"]), (&json!(0), &json!(0)));
        hub.hub
            .store
            .write_now(|tx| {
                tx.run(
                    "UPDATE nodes SET owner = (SELECT user_id FROM users WHERE email = 'owner@example.org')
                     WHERE node_id = 'node_a'",
                    &[],
                )
            })
            .unwrap();
        hub.post_as(&owner, &path, &json!({"vote": "up"})).refused(403, "self_vote_forbidden");
        let by_node = json!({"vote": "up", "sender_id": "node_a"});
        hub.post_as(&secret, &path, &by_node).refused(403, "self_vote_forbidden");
        for bad in
            [json!({}), json!({"vote": "sideways"}), json!({"value": 2}), json!({"value": "1"}), json!([])]
        {
            hub.post_as(&voter, &path, &bad).refused(400, "validation_error");
        }
        let nowhere = format!("/a2a/assets/sha256:{}/vote", "0".repeat(64));
        hub.post_as(&voter, &nowhere, &json!({"vote": "up"})).refused(404, "asset_not_found");
    });
}

#[test]
fn a_review_needs_a_fetch_and_is_written_once() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        promote(hub, bundle.capsule_id());
        hub.register("node_b");
        let path = format!("/a2a/assets/{}/reviews", bundle.capsule_id().replace(':', "%3A"));
        let review = json!({"sender_id": "node_b", "rating": 5, "content": "It <b>works</b>."});
        hub.post(&path, &review).refused(403, "usage_required");
        hub.message("node_b", "fetch", json!({"asset_ids": [bundle.capsule_id()]})).expect(200);
        let kept = hub.post(&path, &review).expect(200);
        hub.post(&path, &review).refused(409, "already_reviewed");
        let own = json!({"sender_id": "node_a", "rating": 5});
        hub.post(&path, &own).refused(403, "self_vote_forbidden");
        for bad in [
            json!({"sender_id": "node_b"}),
            json!({"rating": 3}),
            json!({"sender_id": "node_b", "rating": 0}),
            json!({"sender_id": "node_b", "rating": 2.5}),
            json!({"sender_id": "node_b", "rating": "5"}),
            json!({"sender_id": "node_b", "rating": 5, "content": "x".repeat(2001)}),
        ] {
            hub.post(&path, &bad).refused(400, "validation_error");
        }
        let list = hub.get(&path).expect(200);
        assert_eq!((&list["total"], &list["average_rating"]), (&json!(1), &json!(5.0)));
        assert_eq!(list["reviews"][0]["content"], "It <b>works</b>.");
        let one = format!("{path}/{}", kept["review_id"].as_str().unwrap());
        let put = |node: &str| {
            let body = json!({"sender_id": node, "rating": 2}).to_string();
            hub.call("PUT", &one, None, Some(body.into_bytes()))
        };
        put("node_a").refused(403, "not_asset_owner");
        assert_eq!(put("node_b").expect(200)["rating"], 2);
        hub.call("DELETE", &format!("{one}?node_id=node_a"), None, None).refused(403, "not_asset_owner");
        hub.call("DELETE", &format!("{one}?node_id=node_b"), None, None).expect(200);
        hub.call("DELETE", &format!("{one}?node_id=node_b"), None, None).refused(404, "not_found");
        hub.get(&format!("{path}?sort=best")).refused(400, "validation_error");
    });
}
