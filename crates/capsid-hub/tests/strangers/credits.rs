//! Granted and earned credits, grants, rewards that are held, and stakes.

use super::{DAY, balances, claim, pay_out, public, run_jobs, user};
use crate::common::economy::{admin, all_is_well, text};
use crate::common::{Bundle, TestHub, both_with};
use capsid_hub::config::HubConfig;
use capsid_rules::credits::{CreditSource, GrantedUse};
use capsid_store::evaluation::owners::outcomes;
use capsid_store::evaluation::stakes::slashing;
use serde_json::{Value, json};

#[test]
fn the_grants_of_twenty_fresh_nodes_cannot_be_emptied_into_one_account() {
    // Even where nodes get a grant.
    let generous = |config: &mut HubConfig| {
        public(config);
        config.node_grant = 500_000;
    };
    both_with(generous, |hub| {
        let (token, id) = user(hub, "thief");
        for n in 0..20 {
            let node = format!("node_{n}");
            claim(hub, &token, &node);
            let body = json!({"from": node, "to": "user", "amount": 1, "reference": format!("r{n}")});
            let refused =
                hub.post_as(&token, "/account/transfer", &body).refused(402, "insufficient_credits");
            assert_eq!(refused["available"], 0);
            let held = if n == 0 { (500, 0) } else { (0, 0) };
            assert_eq!(balances(hub, &format!("node:{node}")), held, "the second claim adds nothing");
        }
        assert_eq!(balances(hub, &format!("user:{id}")), (50, 0));
        let shown = hub.get_as(&token, "/account/me").expect(200);
        assert_eq!(
            (&shown["credit_balance"], &shown["granted_balance"], &shown["earned_balance"]),
            (&json!(50), &json!(50), &json!(0))
        );
        all_is_well(hub);
    });
}

#[test]
fn granted_credits_pay_fees_and_are_neither_staked_nor_transferred_nor_offered() {
    let priced = |config: &mut HubConfig| {
        public(config);
        config.graph.query_price = 3_000;
    };
    both_with(priced, |hub| {
        let (token, id) = user(hub, "ann");
        claim(hub, &token, "node_a");
        let account = format!("user:{id}");
        assert_eq!(balances(hub, &account), (50, 0));
        let offer = json!({"title": "Fix it", "signals": ["E"], "amount": 5});
        hub.post_as(&token, "/bounty/create", &offer).refused(402, "insufficient_credits");
        let move_on = json!({"from": "user", "to": "node_a", "amount": 5, "reference": "x"});
        hub.post_as(&token, "/account/transfer", &move_on).refused(402, "insufficient_credits");
        pay_out(hub, "node:node_a", 200, CreditSource::Granted);
        let stake = json!({"sender_id": "node_a"});
        let refused = hub.post("/a2a/validator/stake", &stake).refused(402, "insufficient_credits");
        assert_eq!((&refused["required"], &refused["available"]), (&json!(50), &json!(0)));
        // What the hub sells is paid with them.
        hub.post_as(&token, "/kg/query", &json!({"query": "timeout"})).expect(200);
        assert_eq!((balances(hub, &account), balances(hub, "hub")), ((47, 0), (3, 0)));
        // Earned credits can be used for all of it.
        pay_out(hub, &account, 20, CreditSource::Earned);
        pay_out(hub, "node:node_a", 60, CreditSource::Earned);
        hub.post_as(&token, "/bounty/create", &offer).expect(201);
        let moved = hub.post_as(&token, "/account/transfer", &move_on).expect(200);
        assert_eq!(
            (&moved["from"]["granted_balance"], &moved["from"]["earned_balance"]),
            (&json!(47), &json!(10))
        );
        let staked = hub.post("/a2a/validator/stake", &stake).expect(200);
        assert_eq!((&staked["granted_balance"], &staked["earned_balance"]), (&json!(200), &json!(15)));
        assert_eq!(balances(hub, "hold:stake:node_a"), (0, 50));
        all_is_well(hub);
    });
}

#[test]
fn granted_credits_are_spent_first_and_stay_granted_where_they_may_be_used_for_all() {
    both_with(
        |config| config.credits.granted = GrantedUse::Any,
        |hub| {
            let (token, id) = user(hub, "ann");
            claim(hub, &token, "node_a");
            assert_eq!(
                (balances(hub, &format!("user:{id}")), balances(hub, "node:node_a")),
                ((200, 0), (500, 0))
            );
            pay_out(hub, "node:node_a", 100, CreditSource::Earned);
            let body = json!({"from": "node_a", "to": "user", "amount": 550, "reference": "all"});
            hub.post_as(&token, "/account/transfer", &body).expect(200);
            assert_eq!(balances(hub, "node:node_a"), (0, 50));
            assert_eq!(balances(hub, &format!("user:{id}")), (700, 50));
            let statement = hub.get_as(&token, "/account/statement").expect(200);
            assert_eq!(statement["entries"][0]["granted"], 500);
            assert_eq!(statement["entries"][0]["granted_after"], 700);
            all_is_well(hub);
        },
    );
}

fn promote(hub: &TestHub, admin: &str, bundle: &Bundle) {
    let path = format!("/admin/assets/{}/promote", bundle.capsule_id());
    hub.post_as(admin, &path, &json!({})).expect(200);
}

#[test]
fn junk_does_not_keep_its_rewards() {
    both_with(public, |hub| {
        let root = admin(hub);
        let (bundles, account) = ([1, 2, 3, 4].map(Bundle::new), "node:node_a");
        hub.register("node_a");
        for bundle in &bundles {
            hub.publish("node_a", bundle).expect(200);
            promote(hub, &root, bundle);
        }
        assert_eq!(balances(hub, account), (0, 0), "both are held");
        let economics = hub.get("/a2a/credit/economics").expect(200);
        assert_eq!(economics["held_rewards"], 80);
        // One is withdrawn and one demoted on day 13, the others on day 15.
        hub.clock.advance(13 * DAY);
        run_jobs(hub);
        let withdraw = |bundle: &Bundle| {
            let path = format!("/admin/assets/{}/quarantine", bundle.capsule_id());
            hub.post_as(&root, &path, &json!({"reason": "junk"}))
        };
        let demote = |bundle: &Bundle| {
            let path = format!("/admin/assets/{}/reject", bundle.capsule_id());
            let demoted = hub.post_as(&root, &path, &json!({"reason": "It breaks."})).expect(200);
            assert_eq!(demoted["asset_status"], "candidate");
        };
        withdraw(&bundles[0]).expect(200);
        demote(&bundles[2]);
        all_is_well(hub);
        hub.clock.advance(DAY);
        run_jobs(hub);
        assert_eq!(balances(hub, account), (0, 40), "what stayed valid is paid");
        hub.clock.advance(DAY);
        withdraw(&bundles[1]).expect(200);
        demote(&bundles[3]);
        run_jobs(hub);
        assert_eq!(balances(hub, account), (0, 40), "what was paid is not taken back");
        let earned = hub.get("/a2a/credit/economics").expect(200);
        assert_eq!((&earned["held_rewards"], &earned["sum"]), (&json!(0), &json!(0)));
        all_is_well(hub);
    });
}

#[test]
fn reuse_by_free_nodes_pays_nothing() {
    let at_once = |config: &mut HubConfig| {
        public(config);
        config.credits.reward_hold_ms = 0;
    };
    both_with(at_once, |hub| {
        let root = admin(hub);
        let bundle = Bundle::new(1);
        hub.register("node_a");
        hub.publish("node_a", &bundle).expect(200);
        promote(hub, &root, &bundle);
        let before = balances(hub, "node:node_a");
        let fetch = |node: &str| {
            hub.register(node);
            hub.message(node, "fetch", json!({"asset_ids": [bundle.capsule_id()]})).expect(200);
        };
        for n in 0..25 {
            fetch(&format!("node_free_{n}"));
        }
        assert_eq!(balances(hub, "node:node_a"), before);
        let (token, _) = user(hub, "ann");
        claim(hub, &token, "node_known");
        hub.message("node_known", "fetch", json!({"asset_ids": [bundle.capsule_id()]})).expect(200);
        let account = "node:node_a".to_owned();
        let held = hub.hub.store.read_now(move |tx| capsid_store::ledger::balance(tx, &account)).unwrap();
        assert!(held > before.1 * 1000, "an owner of level 1 pays: {held}");
        all_is_well(hub);
    });
}

/// Both balances are shown wherever a balance is.
#[test]
fn both_balances_are_shown() {
    both_with(
        |_| {},
        |hub| {
            let shows = |value: &Value, what: &str| {
                assert_eq!(
                    (&value["credit_balance"], &value["granted_balance"], &value["earned_balance"]),
                    (&json!(500), &json!(500), &json!(0)),
                    "{what}: {value}"
                );
            };
            let hello = hub.message("node_a", "hello", json!({})).expect(200);
            shows(&hello["payload"], "hello");
            shows(&hub.post("/a2a/heartbeat", &json!({"node_id": "node_a"})).expect(200), "heartbeat");
            shows(&hub.get("/a2a/validator/status?node_id=node_a").expect(200), "stake");
            let (token, _) = user(hub, "ann");
            hub.post_as(&token, &format!("/claim/{}", text(&hello["claim_code"])), &json!({})).expect(200);
            shows(&hub.get_as(&token, "/account/agents").expect(200)["agents"][0], "agents");
        },
    );
}

#[test]
fn a_report_against_an_arbiter_costs_a_fifth_of_the_stake() {
    both_with(public, |hub| {
        let root = admin(hub);
        let bundle = Bundle::new(1);
        // Free nodes of one network are one owner, so each of these has an account.
        for (name, node) in [("ann", "node_a"), ("bob", "node_liar"), ("cid", "node_right")] {
            let (token, _) = user(hub, name);
            claim(hub, &token, node);
        }
        hub.publish("node_a", &bundle).expect(200);
        for (node, ok) in [("node_liar", true), ("node_right", false)] {
            pay_out(hub, &format!("node:{node}"), 60, CreditSource::Earned);
            hub.post("/a2a/validator/stake", &json!({"sender_id": node})).expect(200);
            report(hub, node, &bundle, ok);
        }
        let path = format!("/admin/assets/{}/reject", bundle.capsule_id());
        for _ in 0..2 {
            hub.post_as(&root, &path, &json!({"reason": "It does not work."})).expect(200);
        }
        let stake = |node: &str| {
            let shown = hub.get(&format!("/a2a/validator/status?node_id={node}")).expect(200);
            shown["stake"]["amount"].as_f64().unwrap()
        };
        assert_eq!((stake("node_liar"), stake("node_right")), (40.0, 50.0));
        all_is_well(hub);
        // A stake of which a part was taken has to be made up before its node is asked again.
        hub.publish("node_a", &Bundle::new(2)).expect(200);
        run_jobs(hub);
        assert_eq!(assigned(hub), ["node_right"]);
        let topped = hub.post("/a2a/validator/stake", &json!({"sender_id": "node_liar"})).expect(200);
        assert_eq!((&topped["is_validator"], &topped["stake"]["amount"]), (&json!(true), &json!(50)));
        run_jobs(hub);
        assert_eq!(assigned(hub), ["node_liar", "node_right"]);
        hub.change("DELETE FROM assignments");
        hub.post("/a2a/validator/unstake", &json!({"sender_id": "node_liar"})).expect(200);
        assert_eq!(balances(hub, "node:node_liar"), (0, 50));
        all_is_well(hub);
    });
}

#[test]
fn fraud_costs_the_whole_stake_of_an_owner_and_its_level() {
    both_with(public, |hub| {
        let (token, id) = user(hub, "liar");
        for node in ["node_a", "node_b"] {
            claim(hub, &token, node);
            pay_out(hub, &format!("node:{node}"), 60, CreditSource::Earned);
            hub.post("/a2a/validator/stake", &json!({"sender_id": node})).expect(200);
        }
        let level = || {
            let user = id.clone();
            hub.hub
                .store
                .read_now(move |tx| capsid_store::evaluation::owners::owner_level::for_user(tx, &user))
        };
        let before = level().unwrap();
        let now = hub.hub.now();
        let punish = |node: &'static str| {
            let reason = Some("It never ran what it reported.");
            hub.hub.store.write_now(move |tx| slashing::slash_for_fraud(tx, node, "operator", reason, now))
        };
        assert_eq!(punish("node_a").unwrap(), Some(100_000));
        assert_eq!(punish("node_unknown").unwrap(), None);
        for node in ["node_a", "node_b"] {
            let shown = hub.get(&format!("/a2a/validator/status?node_id={node}")).expect(200);
            assert_eq!(shown["stake"]["amount"].as_f64(), Some(0.0), "{shown}");
            assert_eq!(
                (&shown["stake"]["status"], &shown["is_validator"]),
                (&json!("released"), &json!(false))
            );
            assert_eq!(balances(hub, &format!("node:{node}")), (0, 10));
        }
        assert!(level().unwrap() < before, "a strike costs the level");
        let (publisher, _) = user(hub, "ann");
        claim(hub, &publisher, "node_ann");
        hub.publish("node_ann", &Bundle::new(1)).expect(200);
        run_jobs(hub);
        assert!(assigned(hub).is_empty(), "nobody has a stake");
        all_is_well(hub);
    });
}

#[test]
fn a_report_that_is_replaced_after_the_outcome_settles_as_it_was() {
    both_with(public, |hub| {
        let root = admin(hub);
        let bundle = Bundle::new(1);
        let (publisher, _) = user(hub, "ann");
        claim(hub, &publisher, "node_a");
        let (token, id) = user(hub, "bob");
        claim(hub, &token, "node_wrong");
        hub.publish("node_a", &bundle).expect(200);
        report(hub, "node_wrong", &bundle, true);
        // What nobody asked for can be replaced.
        hub.change("UPDATE reports SET label = 'unsolicited', grade = 'used' WHERE node_id = 'node_wrong'");
        let settled = || {
            let user = id.clone();
            let count = hub.hub.store.read_now(move |tx| outcomes::count_settled(tx, &user, 0));
            count.unwrap()
        };
        assert_eq!(settled(), (0, 0), "nobody has decided");
        hub.clock.advance(1000);
        let path = format!("/admin/assets/{}/reject", bundle.capsule_id());
        hub.post_as(&root, &path, &json!({"reason": "It does not work."})).expect(200);
        assert_eq!(settled(), (1, 0));
        for ok in [false, true] {
            hub.clock.advance(1000);
            let found = json!({"overall_ok": ok, "commands": [{"cmd": "node test.js", "ok": ok}]});
            let report = json!({"target_asset_id": bundle.capsule_id(), "validation_report": found});
            hub.message("node_wrong", "report", report).expect(200);
            assert_eq!(settled(), (1, 0), "it was wrong when it was settled");
        }
    });
}

/// The nodes that are asked about something.
fn assigned(hub: &TestHub) -> Vec<String> {
    let sql = "SELECT node_id FROM assignments WHERE state = 'open' ORDER BY node_id";
    hub.hub.store.read_now(move |tx| tx.query_all(sql, capsid_store::params![])).unwrap()
}

/// A report that counts.
pub(super) fn report(hub: &TestHub, node: &str, bundle: &Bundle, ok: bool) {
    let id = capsid_store::assets::id::AssetId::parse(bundle.capsule_id()).unwrap();
    let (node, now) = (node.to_owned(), hub.hub.now());
    let sql = "INSERT INTO reports (report_id, asset_id, node_id, overall_ok, weight, label, grade, body, created_at)
        VALUES ($1, $2, $1, $3, 1.0, 'assigned', 'assigned', '{}', $4)";
    hub.hub.store.write_now(move |tx| tx.run(sql, capsid_store::params![&node, &id, ok, now])).unwrap();
}
