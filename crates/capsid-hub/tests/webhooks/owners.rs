//! What the owner of a node sees and does.

use super::receiver::{Answers, Receiver};
use super::{Hooked, both, on_sqlite, work};
use crate::common::TestHub;
use capsid_model::time::Clock;
use capsid_store::notifications::deliveries;
use capsid_store::notifications::deliveries::calls::DeliverySettlement;
use capsid_store::notifications::deliveries::{DeliveryFilter, ReplayOutcome};
use capsid_store::notifications::webhooks;
use serde_json::{Value, json};

const DAY: i64 = 24 * 3_600_000;

/// Somebody's session token.
fn account(hub: &TestHub, email: &str) -> String {
    let login = json!({"email": email, "password": "correct horse"});
    hub.post("/auth/register", &login).expect(201)["token"].as_str().unwrap().to_owned()
}

/// A node with a webhook, and its owner.
fn owned(hub: &TestHub, url: &str) -> (Hooked, String) {
    let token = account(hub, "ann@example.org");
    let told = hub.message("node_a", "hello", json!({})).expect(200);
    let code = told["claim_code"].as_str().unwrap();
    // Claimed first: the node is told of that, and these tests count its calls.
    hub.post_as(&token, &format!("/claim/{code}"), &json!({})).expect(200);
    (Hooked::new(hub, "node_a", url), token)
}

#[test]
fn the_owner_sees_what_became_of_every_call() {
    both(|hub| {
        let script = [Answers::Status(200), Answers::Status(500), Answers::Status(200)];
        let receiver = Receiver::start(&hub.runtime, &script);
        let (node, token) = owned(hub, &receiver.url());
        let ids: Vec<String> = (0..5).map(|_| node.ping(hub)).collect();
        work(hub);
        let told = hub.get_as(&token, "/account/agents/node_a/webhook").expect(200);
        assert_eq!((&told["url"], &told["enabled"]), (&json!(receiver.url()), &json!(true)));
        assert_eq!(
            (&told["deliveries"]["delivered"], &told["deliveries"]["retrying"]),
            (&json!(4), &json!(1))
        );
        assert_eq!((&told["deaths"], &told["disabled_reason"]), (&json!(0), &Value::Null));
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/account/agents/node_a/deliveries?limit=2&cursor={cursor}");
            let page = hub.get_as(&token, &path).expect(200);
            assert_eq!(page["count"], page["deliveries"].as_array().unwrap().len());
            assert!(!page.to_string().contains("whsec_"));
            for row in page["deliveries"].as_array().unwrap() {
                all.push(row["delivery_id"].as_str().unwrap().to_owned());
            }
            match page["next_cursor"].as_str() {
                Some(next) => cursor = next.to_owned(),
                None => break assert_eq!(page["has_more"], false),
            }
        }
        all.reverse();
        assert_eq!(all, ids);
        let failed = hub.get_as(&token, "/account/agents/node_a/deliveries?state=retrying").expect(200);
        assert_eq!((&failed["count"], &failed["deliveries"][0]["last_status"]), (&json!(1), &json!(500)));
        let none = hub.get_as(&token, "/account/agents/node_a/deliveries?state=dead").expect(200);
        assert_eq!(none["count"], 0);
        hub.get_as(&token, "/account/agents/node_a/deliveries?state=odd").refused(400, "validation_error");
        hub.get_as(&token, "/account/agents/node_a/deliveries?cursor=odd").refused(400, "invalid_cursor");
    });
}

#[test]
fn only_the_owner_sees_and_does_any_of_it() {
    on_sqlite(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(200)]);
        let (node, token) = owned(hub, &receiver.url());
        let eve = account(hub, "eve@example.org");
        let id = node.ping(hub);
        work(hub);
        let base = "/account/agents/node_a";
        for (method, path) in [
            ("GET", "/webhook".to_owned()),
            ("GET", "/deliveries".to_owned()),
            ("POST", format!("/deliveries/{id}/replay")),
            ("POST", "/webhook/rotate".to_owned()),
            ("POST", "/webhook/enable".to_owned()),
        ] {
            let call = |who: Option<&str>| hub.call(method, &format!("{base}{path}"), who, None);
            call(Some(&eve)).refused(404, "node_not_found");
            call(None).refused(401, "unauthorized");
            assert_eq!(call(Some(&token)).status, 200, "{path}");
        }
        let key = hub.post_as(&token, "/account/api-keys", &json!({})).expect(201)["api_key"].clone();
        let key = key.as_str().unwrap();
        hub.get_as(key, "/account/agents/node_a/webhook").expect(200);
        hub.post_as(key, "/account/agents/node_a/webhook/rotate", &json!({})).refused(401, "unauthorized");
        // Another node's deliveries are not this node's.
        let other = Hooked::new(hub, "node_b", &receiver.url());
        let foreign = other.ping(hub);
        work(hub);
        let path = format!("{base}/deliveries/{foreign}/replay");
        hub.post_as(&token, &path, &json!({})).refused(404, "delivery_not_found");
        let asked = json!({"node_id": "node_a", "delivery_id": foreign});
        hub.post_as(&node.secret, "/a2a/webhook/replay", &asked).refused(404, "delivery_not_found");
    });
}

#[test]
fn what_arrived_or_was_given_up_can_be_sent_again() {
    on_sqlite(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(200)]);
        let (node, token) = owned(hub, &receiver.url());
        let id = node.ping(hub);
        let path = format!("/account/agents/node_a/deliveries/{id}/replay");
        let early = hub.post_as(&token, &path, &json!({})).refused(409, "state_conflict");
        assert_eq!(early["state"], "queued");
        work(hub);
        assert_eq!(hub.post_as(&token, &path, &json!({})).expect(200)["delivery_id"], id);
        assert_eq!(work(hub), [DeliverySettlement::Delivered]);
        // One that was given up has its three days again.
        receiver.answers(&[Answers::Status(500)]);
        hub.post_as(&token, &path, &json!({})).expect(200);
        work(hub);
        hub.clock.advance(4 * DAY);
        assert_eq!(work(hub), [DeliverySettlement::Dead]);
        let asked = json!({"node_id": "node_a", "delivery_id": id});
        hub.post_as(&node.secret, "/a2a/webhook/replay", &asked).expect(200);
        assert_eq!(work(hub), [DeliverySettlement::Retrying]);
        receiver.answers(&[Answers::Status(200)]);
        hub.clock.advance(DAY);
        assert_eq!(work(hub), [DeliverySettlement::Delivered]);
        let calls = receiver.received();
        assert_eq!(calls.len(), 6);
        assert!(calls.iter().all(|call| call.header("webhook-id") == id));
        let missing = json!({"node_id": "node_a", "delivery_id": "evt_999"});
        hub.post_as(&node.secret, "/a2a/webhook/replay", &missing).refused(404, "delivery_not_found");
        let path = "/account/agents/node_a/deliveries/evt_999/replay";
        hub.post_as(&token, path, &json!({})).refused(404, "delivery_not_found");
    });
}

#[test]
fn a_replaced_secret_holds_for_another_day() {
    on_sqlite(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(200)]);
        let (node, token) = owned(hub, &receiver.url());
        let told = hub.post_as(&token, "/account/agents/node_a/webhook/rotate", &json!({})).expect(200);
        let fresh = told["webhook_secret"].as_str().unwrap();
        assert_ne!(fresh, node.webhook_secret);
        let shown = node.webhook(hub);
        assert_eq!(shown["old_secret_valid_until"], told["old_secret_valid_until"]);
        let call = || {
            node.ping(hub);
            work(hub);
            receiver.received().pop().unwrap()
        };
        let both_hold = call();
        assert!(both_hold.is_signed_with(fresh) && both_hold.is_signed_with(&node.webhook_secret));
        assert_eq!(both_hold.header("webhook-signature").split(' ').count(), 2);
        hub.clock.advance(DAY - 1);
        assert!(call().is_signed_with(&node.webhook_secret));
        hub.clock.advance(1);
        let one_holds = call();
        assert!(one_holds.is_signed_with(fresh) && !one_holds.is_signed_with(&node.webhook_secret));
        assert_eq!(one_holds.header("webhook-signature").split(' ').count(), 1);
        assert_eq!(node.webhook(hub)["old_secret_valid_until"], Value::Null);
        hub.register("node_free");
        hub.post_as(&token, "/account/agents/node_free/webhook/rotate", &json!({}))
            .refused(404, "node_not_found");
    });
}

#[test]
fn the_owner_switches_a_webhook_on_again() {
    on_sqlite(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(410), Answers::Status(200)]);
        let (node, token) = owned(hub, &receiver.url());
        let id = node.ping(hub);
        work(hub);
        let asked = json!({"node_id": "node_a", "delivery_id": id});
        hub.post_as(&node.secret, "/a2a/webhook/replay", &asked).refused(409, "state_conflict");
        let told = hub.post_as(&token, "/account/agents/node_a/webhook/enable", &json!({})).expect(200);
        assert_eq!((&told["enabled"], &told["disabled_reason"]), (&json!(true), &Value::Null));
        hub.post_as(&node.secret, "/a2a/webhook/replay", &asked).expect(200);
        assert_eq!(work(hub), [DeliverySettlement::Delivered]);
    });
}

#[test]
fn an_operator_sees_and_does_the_same_for_all() {
    on_sqlite(|hub| {
        let receiver = Receiver::start(&hub.runtime, &[Answers::Status(200)]);
        let nodes = ["node_a", "node_b"].map(|name| Hooked::new(hub, name, &receiver.url()));
        let id = nodes[1].ping(hub);
        nodes[0].ping(hub);
        work(hub);
        let (store, now) = (&hub.hub.store, hub.clock.now());
        let listed = store.read_now(|tx| webhooks::list(tx, false, "", 10)).unwrap();
        assert_eq!(listed.iter().map(|one| one.node_id.as_str()).collect::<Vec<_>>(), ["node_a", "node_b"]);
        assert_eq!(store.read_now(|tx| webhooks::list(tx, false, "node_a", 10)).unwrap().len(), 1);
        assert!(store.write_now(move |tx| webhooks::disable(tx, "node_a", "operator: odd", now)).unwrap());
        assert_eq!(store.read_now(|tx| webhooks::list(tx, true, "", 10)).unwrap()[0].node_id, "node_a");
        assert!(store.write_now(move |tx| webhooks::enable(tx, "node_a", now)).unwrap());
        let found = |node: Option<&str>, state: Option<&str>| {
            let filter = DeliveryFilter { node_id: node.map(str::to_owned), state: state.map(str::to_owned) };
            store.read_now(move |tx| deliveries::list(tx, &filter, i64::MAX, 10)).unwrap().len()
        };
        assert_eq!([found(None, None), found(None, Some("delivered")), found(None, Some("dead"))], [2, 2, 0]);
        assert_eq!([found(Some("node_b"), None), found(Some("node_b"), Some("dead"))], [1, 0]);
        assert_eq!(store.read_now(|tx| deliveries::counts(tx, None)).unwrap(), [("delivered".to_owned(), 2)]);
        let replayed = store.write_now(move |tx| deliveries::replay(tx, &id, None, now)).unwrap();
        assert_eq!(replayed, ReplayOutcome::Queued);
        assert_eq!(work(hub), [DeliverySettlement::Delivered]);
    });
}
