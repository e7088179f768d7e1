//! Orders of services: the price is put aside, the provider does it, and is paid when the orderer accepts.

use crate::common::economy::{
    DAY, all_is_well, balance, claim, complete, detail, event_kinds, node_balance, pass, solve, text,
    trusting, try_claim, user,
};
use crate::common::{TestHub, both_with, on_sqlite_with};
use capsid_store::work::tasks::claim::ClaimOutcome;
use serde_json::{Value, json};

fn publish(hub: &TestHub, node: &str, price: f64, most: i64) -> String {
    let offer =
        json!({"sender_id": node, "title": "Fix builds", "price_per_task": price, "max_concurrent": most});
    text(&hub.post("/a2a/service/publish", &offer).expect(200)["listing_id"])
}

fn order(node: &str, listing: &str) -> Value {
    json!({"sender_id": node, "listing_id": listing, "question": "Please fix our build", "signals": "build"})
}

#[test]
fn an_order_is_done_by_its_provider_and_paid() {
    let commission = |config: &mut capsid_hub::config::HubConfig| {
        trusting(config);
        config.credits.service_commission_milli = 30_000;
        config.credits.commission_milli = 1_000;
    };
    both_with(commission, |hub| {
        for node in ["node_p", "node_o", "node_x"] {
            hub.register(node);
        }
        let listing = publish(hub, "node_p", 10.5, 2);
        let mut wanted = order("node_o", &listing);
        wanted["reference"] = json!("o1");
        let made = hub.post("/a2a/service/order", &wanted).expect(201);
        assert_eq!((&made["status"], &made["provider_node_id"]), (&json!("ordered"), &json!("node_p")));
        assert_eq!((&made["amount_deducted"], &made["remaining_balance"]), (&json!(10.5), &json!(489.5)));
        // A new price changes nothing about what was ordered.
        publish(hub, "node_p", 12.0, 2);
        let again = hub.post("/a2a/service/order", &wanted).expect(200);
        assert_eq!((&again["order_id"], &again["amount_deducted"]), (&made["order_id"], &json!(10.5)));
        let (bounty, task) = (text(&made["bounty_id"]), text(&made["task_id"]));
        assert_eq!(event_kinds(hub, "node_p"), ["task_available"]);
        let shown = detail(hub, &bounty);
        assert_eq!((&shown["source"], &shown["reserved_for"]), (&json!("service"), &json!("node_p")));
        assert_eq!(shown["claimable"], false);
        assert!(matches!(try_claim(hub, "node_x", &task), ClaimOutcome::Reserved));
        claim(hub, "node_p", &task);
        complete(hub, "node_p", &task, 1);
        let decision = json!({"sender_id": "node_o"});
        hub.post(&format!("/bounty/{bounty}/accept"), &json!({"sender_id": "node_p"}))
            .refused(403, "not_bounty_creator");
        hub.post(&format!("/bounty/{bounty}/accept"), &decision).expect(200);
        // 30 % of 10500 are 3150.
        assert_eq!((node_balance(hub, "node_p"), balance(hub, "hub")), (507_350, 3_150));
        assert_eq!(node_balance(hub, "node_o"), 489_500);
        for (node, role) in [("node_o", "orderer"), ("node_p", "provider")] {
            let orders = hub.get(&format!("/a2a/service/orders?node_id={node}")).expect(200);
            assert_eq!((&orders["count"], &orders["orders"][0]["role"]), (&json!(1), &json!(role)));
        }
        assert_eq!(hub.get("/a2a/service/orders?node_id=node_x").expect(200)["count"], 0);
        all_is_well(hub);
    });
}

#[test]
fn an_order_that_cannot_be_given_is_refused() {
    on_sqlite_with(trusting, |hub| {
        for node in ["node_p", "node_o"] {
            hub.register(node);
        }
        let listing = publish(hub, "node_p", 100.0, 1);
        let path = "/a2a/service/order";
        hub.post(path, &order("node_o", "svc_x")).refused(404, "listing_not_found");
        hub.post(path, &order("node_p", &listing)).refused(409, "state_conflict");
        hub.post(path, &order("node_new", &listing)).refused(401, "node_secret_not_set");
        for (key, bad) in [
            ("listing_id", Value::Null),
            ("question", json!("x")),
            ("signals", json!(1)),
            ("expires_at", json!(1)),
        ] {
            let mut spoilt = order("node_o", &listing);
            spoilt[key] = bad;
            hub.post(path, &spoilt).refused(400, "validation_error");
        }
        let first = hub.post(path, &order("node_o", &listing)).expect(201);
        hub.post(path, &order("node_o", &listing)).refused(409, "worker_full");
        assert_eq!(node_balance(hub, "node_o"), 400_000);
        solve(hub, "node_p", &text(&first["task_id"]), 1);
        // What was handed in keeps the provider no longer busy.
        for left in [300_000, 200_000, 100_000, 0] {
            let made = hub.post(path, &order("node_o", &listing)).expect(201);
            assert_eq!(node_balance(hub, "node_o"), left);
            solve(hub, "node_p", &text(&made["task_id"]), left as u64);
        }
        hub.post(path, &order("node_o", &listing)).refused(402, "insufficient_credits");
        let odd = json!({"sender_id": "node_p", "title": "Odd", "price_per_task": 0.0001});
        hub.post("/a2a/service/publish", &odd).refused(400, "validation_error");
        let free = json!({"sender_id": "node_p", "title": "Free"});
        let free = text(&hub.post("/a2a/service/publish", &free).expect(200)["listing_id"]);
        hub.post(path, &order("node_o", &free)).expect(201);
        all_is_well(hub);
    });
}

#[test]
fn an_order_nobody_does_is_given_back_and_own_services_are_not_ordered() {
    on_sqlite_with(trusting, |hub| {
        hub.register("node_o");
        let (ann, _) = user(hub, "ann");
        for node in ["node_p", "node_q"] {
            let code = text(&hub.message(node, "hello", json!({})).expect(200)["claim_code"]);
            hub.post_as(&ann, &format!("/claim/{code}"), &json!({})).expect(200);
        }
        let listing = publish(hub, "node_p", 5.0, 10);
        hub.post("/a2a/service/order", &order("node_q", &listing)).refused(409, "state_conflict");
        let made = hub.post("/a2a/service/order", &order("node_o", &listing)).expect(201);
        pass(hub, 7 * DAY);
        let shown = detail(hub, made["bounty_id"].as_str().unwrap());
        assert_eq!((&shown["status"], &shown["refunded"]), (&json!("expired"), &json!(5)));
        assert_eq!(node_balance(hub, "node_o"), 500_000);
        assert!(event_kinds(hub, "node_o").contains(&"bounty_refunded".to_owned()));
        all_is_well(hub);
    });
}
