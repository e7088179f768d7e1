//! Credits: what is earned, paid and put aside, to the milli-credit, on both databases.

use crate::common::{Bundle, TestHub, both, both_with};
use capsid_hub::config::HubConfig;
use capsid_model::time::Clock;
use capsid_rules::credits::{report_reward, reuse_reward};
use capsid_rules::identity::secrets::RequireSecret;
use capsid_store::accounts::{self, AccountRole, NewUser, sessions};
use capsid_store::assets::id::AssetId;
use capsid_store::evaluation::assignments;
use capsid_store::work::bounties;
use capsid_store::work::bounties::{NewBounty, OfferOutcome, settle};
use capsid_store::work::tasks::complete::{CompleteOutcome, SubmittedResult, complete};
use capsid_store::work::tasks::{NewTask, claim};
use capsid_store::{assets, fsck, ledger, nodes, params};
use serde_json::{Value, json};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// What an account holds, in milli-credits.
fn balance(hub: &TestHub, account: &str) -> i64 {
    let account = account.to_owned();
    hub.hub.store.read_now(move |tx| ledger::balance(tx, &account)).unwrap()
}

fn node_balance(hub: &TestHub, node: &str) -> i64 {
    balance(hub, &ledger::node_account(node))
}

#[track_caller]
fn assert_sound(hub: &TestHub) {
    let report = hub.hub.store.read_now(|tx| fsck::check(tx, &mut |_, _, _| {})).unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert_eq!(hub.hub.store.read_now(ledger::sum).unwrap(), 0);
}

fn run_jobs(hub: &TestHub) -> Value {
    hub.runtime.block_on(capsid_hub::jobs::run_now(&hub.hub)).unwrap().into()
}

/// An account with 200 credits, and a session of it.
fn account(hub: &TestHub, name: &str, role: AccountRole) -> String {
    let (now, token) = (hub.clock.now(), format!("sess_{name}"));
    let new = NewUser {
        user_id: format!("user_{name}"),
        email: format!("{name}@example.org"),
        password_hash: "none".to_owned(),
        role,
        grant: 200_000,
    };
    let session = token.clone();
    hub.hub
        .store
        .write_now(move |tx| {
            accounts::create(tx, &new, "operator", now)?;
            sessions::open(tx, &new.user_id, &session, now)
        })
        .unwrap();
    token
}

fn own(hub: &TestHub, name: &str, node: &str) {
    let (user, node) = (format!("user_{name}"), node.to_owned());
    let sql = "UPDATE nodes SET owner = $2 WHERE node_id = $1";
    hub.hub.store.write_now(move |tx| tx.run(sql, params![&node, &user])).unwrap();
}

/// Publishes a bundle and has an admin promote it.
fn promoted(hub: &TestHub, admin: &str, node: &str, n: u64) -> Bundle {
    let bundle = Bundle::new(n);
    hub.publish(node, &bundle).expect(200);
    promote(hub, admin, &bundle);
    bundle
}

fn promote(hub: &TestHub, admin: &str, bundle: &Bundle) {
    let path = format!("/admin/assets/{}/promote", bundle.capsule_id());
    hub.post_as(admin, &path, &json!({"reason": "Works."})).expect(200);
}

fn fetch(hub: &TestHub, node: &str, ids: &[&str]) -> Value {
    hub.message(node, "fetch", json!({"asset_ids": ids})).expect(200)
}

fn earnings(hub: &TestHub, node: &str) -> Value {
    hub.get(&format!("/billing/earnings/{node}")).expect(200)
}

#[test]
fn a_promotion_is_rewarded_once_and_a_copy_not_at_all() {
    both(|hub| {
        let admin = account(hub, "root", AccountRole::Admin);
        let bundle = promoted(hub, &admin, "node_a", 1);
        assert_eq!(node_balance(hub, "node_a"), 520_000);
        promote(hub, &admin, &bundle);
        assert_eq!(node_balance(hub, "node_a"), 520_000, "once");
        let copy = Bundle::new(2);
        hub.publish("node_a", &copy).expect(200);
        let (like, of) = (id(copy.gene_id()), id(bundle.gene_id()));
        let sql = "UPDATE assets SET similar_to = $2 WHERE asset_id = $1";
        hub.hub.store.write_now(move |tx| tx.run(sql, params![&like, &of])).unwrap();
        promote(hub, &admin, &copy);
        assert_eq!(node_balance(hub, "node_a"), 520_000, "a bundle that is like another one earns nothing");
        let earned = earnings(hub, "node_a");
        assert_eq!((&earned["total_earned"], &earned["by_source"]["promotion"]), (&json!(20), &json!(20)));
        assert_sound(hub);
    });
}

fn id(text: &str) -> AssetId {
    AssetId::parse(text).unwrap()
}

#[test]
fn reuse_is_rewarded_once_for_each_other_owner_by_the_score() {
    both(|hub| {
        let admin = account(hub, "root", AccountRole::Admin);
        account(hub, "ann", AccountRole::User);
        account(hub, "bob", AccountRole::User);
        let bundle = promoted(hub, &admin, "node_a", 1);
        for node in ["node_a2", "node_b", "node_b2", "node_c"] {
            hub.register(node);
        }
        own(hub, "ann", "node_a");
        own(hub, "ann", "node_a2");
        own(hub, "bob", "node_b");
        own(hub, "bob", "node_b2");
        let mut expected = 520_000;
        let mut fetched = |node: &str, counts: bool| {
            fetch(hub, node, &[bundle.capsule_id()]);
            let capsule = id(bundle.capsule_id());
            let asset = hub.hub.store.read_now(move |tx| assets::get(tx, &capsule)).unwrap().unwrap();
            let reward = reuse_reward(asset.gdi as f64 / 100.0, 12_000);
            assert!((1..12_000).contains(&reward), "{reward}");
            expected += if counts { reward } else { 0 };
            assert_eq!(node_balance(hub, "node_a"), expected, "{node}");
        };
        fetched("node_a", false);
        fetched("node_a2", false);
        fetched("node_b", true);
        fetched("node_b", false);
        fetched("node_b2", false);
        fetched("node_c", true);
        fetched("node_stranger", false);
        hub.message("node_c", "fetch", json!({"asset_ids": [bundle.gene_id()], "search_only": true}))
            .expect(200);
        assert_eq!(node_balance(hub, "node_a"), expected, "looking is no use");
        assert_eq!(earnings(hub, "node_a")["by_source"]["reuse"], (expected - 520_000) as f64 / 1000.0);
        assert_sound(hub);
    });
}

#[test]
fn an_owner_is_rewarded_with_so_much_a_day() {
    let cap = |config: &mut HubConfig| config.credits.daily_reward_cap = 25_000;
    both_with(cap, |hub| {
        let admin = account(hub, "root", AccountRole::Admin);
        account(hub, "ann", AccountRole::User);
        for node in ["node_a", "node_b", "node_c"] {
            hub.register(node);
        }
        own(hub, "ann", "node_a");
        own(hub, "ann", "node_b");
        promoted(hub, &admin, "node_a", 1);
        promoted(hub, &admin, "node_b", 2);
        assert_eq!((node_balance(hub, "node_a"), node_balance(hub, "node_b")), (520_000, 505_000));
        promoted(hub, &admin, "node_a", 3);
        assert_eq!(node_balance(hub, "node_a"), 520_000);
        promoted(hub, &admin, "node_c", 4);
        assert_eq!(node_balance(hub, "node_c"), 520_000, "another owner has a day of its own");
        hub.clock.advance(DAY);
        promoted(hub, &admin, "node_a", 5);
        assert_eq!(node_balance(hub, "node_a"), 540_000);
        assert_sound(hub);
    });
}

/// Lets validators answer what they were asked, each as it likes.
fn answer(hub: &TestHub, said: &[(&str, bool)]) {
    for (node, ok) in said {
        let (node_id, now) = ((*node).to_owned(), hub.clock.now());
        let open = hub.hub.store.read_now(move |tx| assignments::open_for(tx, &node_id, now)).unwrap();
        let report = json!({"task_id": open[0].task_id, "nonce": open[0].nonce, "overall_ok": ok,
            "commands_passed": i32::from(*ok), "commands_total": 1});
        let told = hub.message(node, "report", report).expect(200);
        assert_eq!((&told["reward_credits"], &told["reward_pending"]), (&json!(0), &json!(true)));
    }
}

#[test]
fn validators_that_agree_with_the_outcome_are_rewarded_once_it_is_final() {
    both(|hub| {
        hub.publish("node_a", &Bundle::new(1)).expect(200);
        let validators = ["node_v1", "node_v2", "node_v3"];
        for node in validators {
            hub.register(node);
            hub.post("/a2a/validator/stake", &json!({"sender_id": node})).expect(200);
        }
        run_jobs(hub);
        answer(hub, &[("node_v1", false), ("node_v2", false)]);
        hub.clock.advance(HOUR / 2);
        run_jobs(hub);
        assert_eq!(node_balance(hub, "node_v1"), 400_000, "somebody is still asked");
        answer(hub, &[("node_v3", true)]);
        run_jobs(hub);
        assert_eq!(node_balance(hub, "node_v1"), 400_000, "the last report is fresh");
        hub.clock.advance(HOUR + 1);
        assert_eq!(run_jobs(hub)["rewards"], 2);
        let reward = report_reward(2.0 / 3.0, 10_000, 30_000);
        assert_eq!(reward, 16_666);
        let all = |hub: &TestHub| validators.map(|node| node_balance(hub, node));
        assert_eq!(all(hub), [400_000 + reward, 400_000 + reward, 400_000]);
        assert_eq!(run_jobs(hub)["rewards"], 0);
        assert_eq!(all(hub), [400_000 + reward, 400_000 + reward, 400_000], "once");
        let back = hub.post("/a2a/validator/unstake", &json!({"sender_id": "node_v3"})).expect(200);
        assert_eq!((&back["credit_balance"], &back["is_validator"]), (&json!(500), &json!(false)));
        assert_eq!(earnings(hub, "node_v1")["by_source"]["validation"], json!(16.666));
        assert_sound(hub);
    });
}

#[test]
fn one_report_alone_is_no_outcome() {
    both(|hub| {
        hub.publish("node_a", &Bundle::new(1)).expect(200);
        hub.register("node_v1");
        hub.post("/a2a/validator/stake", &json!({"sender_id": "node_v1"})).expect(200);
        run_jobs(hub);
        answer(hub, &[("node_v1", true)]);
        for pause in [2 * HOUR, 40 * DAY] {
            hub.clock.advance(pause);
            assert_eq!(run_jobs(hub)["rewards"], 0);
            assert_eq!(node_balance(hub, "node_v1"), 400_000);
        }
        let open = "SELECT COUNT(*) FROM reports WHERE label = 'assigned' AND reward IS NULL";
        assert_eq!(hub.hub.store.read_now(move |tx| tx.count(open, &[])).unwrap(), 0, "it waits no longer");
        assert_sound(hub);
    });
}

#[test]
fn a_stake_is_what_the_hub_asks_for() {
    let stake = |config: &mut HubConfig| config.credits.validator_stake = 2_500;
    both_with(stake, |hub| {
        hub.register("node_v");
        let less = json!({"sender_id": "node_v", "stake_amount": 2.4});
        hub.post("/a2a/validator/stake", &less).refused(400, "validation_error");
        let told = hub.post("/a2a/validator/stake", &json!({"sender_id": "node_v"})).expect(200);
        assert_eq!((&told["stake"]["amount"], &told["min_stake"]), (&json!(2.5), &json!(2.5)));
        assert_eq!(balance(hub, "hold:stake:node_v"), 2_500);
        let much = json!({"sender_id": "node_v", "stake_amount": 1000});
        let refused = hub.post("/a2a/validator/stake", &much).refused(402, "insufficient_credits");
        assert_eq!((&refused["required"], &refused["available"]), (&json!(997.5), &json!(497.5)));
        hub.post("/a2a/validator/unstake", &json!({"sender_id": "node_v"})).expect(200);
        assert_eq!((node_balance(hub, "node_v"), balance(hub, "hold:stake:node_v")), (500_000, 0));
        assert_sound(hub);
    });
    let free = |config: &mut HubConfig| config.credits.validator_stake = 0;
    both_with(free, |hub| {
        hub.register("node_v");
        let told = hub.post("/a2a/validator/stake", &json!({"sender_id": "node_v"})).expect(200);
        assert_eq!((&told["is_validator"], &told["stake"]["amount"]), (&json!(true), &json!(0)));
        hub.post("/a2a/validator/unstake", &json!({"sender_id": "node_v"})).expect(200);
        assert_sound(hub);
    });
}

/// A first hello that names who brought the node in, from a machine.
fn brought(hub: &TestHub, node: &str, referrer: &str, device: &str) {
    let told = json!({"referrer": referrer, "env_fingerprint": {"device_id": device}});
    hub.message(node, "hello", told).expect(200);
}

#[test]
fn who_brings_in_others_is_rewarded_within_bounds() {
    let rewards = |config: &mut HubConfig| {
        config.credits.referrer_reward = 50_000;
        config.credits.referred_reward = 100_000;
        config.credits.daily_reward_cap = 0;
    };
    both_with(rewards, |hub| {
        brought(hub, "node_r", "node_r", "d0");
        assert_eq!(node_balance(hub, "node_r"), 500_000, "nobody brings in itself");
        brought(hub, "node_same", "node_r", "d0");
        brought(hub, "node_lost", "node_unknown", "d1");
        assert_eq!(node_balance(hub, "node_r"), 500_000, "the same machine, or nobody");
        brought(hub, "node_1", "node_r", "d1");
        brought(hub, "node_1", "node_r", "d1");
        assert_eq!((node_balance(hub, "node_r"), node_balance(hub, "node_1")), (550_000, 600_000));
        hub.register("node_old");
        brought(hub, "node_old", "node_r", "d9");
        assert_eq!(node_balance(hub, "node_r"), 550_000, "only the first hello counts");
        for n in 2..=12 {
            brought(hub, &format!("node_{n}"), "node_r", "d2");
        }
        assert_eq!(node_balance(hub, "node_r"), 1_000_000, "ten a day");
        assert_eq!(node_balance(hub, "node_12"), 500_000);
        for day in 0..5 {
            hub.clock.advance(DAY);
            for n in 0..10 {
                brought(hub, &format!("node_{day}_{n}"), "node_r", "d2");
            }
        }
        assert_eq!(node_balance(hub, "node_r"), 3_000_000, "fifty in all");
        assert_eq!(earnings(hub, "node_r")["by_source"]["referral"], 2500);
        assert_sound(hub);
    });
    both(|hub| {
        brought(hub, "node_r", "", "d0");
        brought(hub, "node_1", "node_r", "d1");
        assert_eq!(
            (node_balance(hub, "node_r"), node_balance(hub, "node_1")),
            (500_000, 500_000),
            "usually not"
        );
    });
}

#[test]
fn an_asset_with_a_price_is_paid_for_once() {
    let priced = |config: &mut HubConfig| {
        config.require_secret = RequireSecret::Never;
        config.credits.fetch_price = 100_001;
        config.credits.commission_milli = 10_000;
        config.credits.reuse_reward = 0;
        config.credits.promotion_reward = 0;
    };
    both_with(priced, |hub| {
        let admin = account(hub, "root", AccountRole::Admin);
        account(hub, "ann", AccountRole::User);
        let bundle = promoted(hub, &admin, "node_a", 1);
        let ids = [bundle.gene_id(), bundle.capsule_id(), bundle.event_id()];
        for node in ["node_a2", "node_b", "node_v"] {
            hub.register(node);
        }
        own(hub, "ann", "node_a");
        own(hub, "ann", "node_a2");
        let one = json!({"asset_ids": [bundle.capsule_id()]});
        hub.message("node_stranger", "fetch", one).refused(401, "node_secret_not_set");
        let free =
            hub.message("node_stranger", "fetch", json!({"asset_ids": ids, "search_only": true})).expect(200);
        assert_eq!((&free["count"], &free["credits_charged"]), (&json!(3), &json!(0)));
        let detail = format!("/a2a/assets/{}?detailed=true&node_id=node_b", bundle.capsule_id());
        assert!(hub.get(&detail).expect(200)["payload"].is_null());

        let told = fetch(hub, "node_b", &[bundle.capsule_id()]);
        assert_eq!((&told["credits_charged"], &told["credit_balance"]), (&json!(100.001), &json!(399.999)));
        let publisher = 500_000 + 100_001 - 10_000;
        assert_eq!((node_balance(hub, "node_a"), balance(hub, "hub")), (publisher, 10_000));
        let again = fetch(hub, "node_b", &[bundle.capsule_id()]);
        assert_eq!((&again["credits_charged"], &again["credit_balance"]), (&json!(0), &json!(399.999)));
        assert_eq!(again["assets"][0], bundle.capsule);
        assert_eq!(hub.get(&detail).expect(200)["payload"], bundle.capsule);
        let rest = fetch(hub, "node_b", &ids);
        assert_eq!((&rest["credits_charged"], &rest["credit_balance"]), (&json!(200.002), &json!(199.997)));
        for own in ["node_a", "node_a2"] {
            assert_eq!(fetch(hub, own, &ids)["credits_charged"], 0, "{own}");
        }

        let more = promoted(hub, &admin, "node_a", 2);
        let both_more = json!({"asset_ids": [more.gene_id(), more.capsule_id()]});
        let refused = hub.message("node_b", "fetch", both_more).refused(402, "insufficient_credits");
        assert_eq!((&refused["required"], &refused["available"]), (&json!(200.002), &json!(199.997)));
        assert!(refused.get("assets").is_none());
        assert_eq!(node_balance(hub, "node_b"), 199_997, "nothing is charged");
        let bought = hub.get("/a2a/assets/purchased?node_id=node_b").expect(200);
        assert_eq!(bought["count"], 3);
        assert_eq!(earnings(hub, "node_a")["by_source"]["sale"], json!(270.003));
        assert_sound(hub);
    });
}

#[test]
fn what_is_to_be_validated_costs_nothing_and_all_may_go_to_the_hub() {
    let priced = |config: &mut HubConfig| {
        config.require_secret = RequireSecret::Never;
        config.credits.fetch_price = 1_000;
        config.credits.commission_milli = 100_000;
        config.credits.reuse_reward = 0;
    };
    both_with(priced, |hub| {
        let admin = account(hub, "root", AccountRole::Admin);
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        hub.register("node_v");
        hub.post("/a2a/validator/stake", &json!({"sender_id": "node_v"})).expect(200);
        run_jobs(hub);
        assert_eq!(fetch(hub, "node_v", &[bundle.capsule_id()])["count"], 1);
        promote(hub, &admin, &bundle);
        assert_eq!(fetch(hub, "node_v", &[bundle.capsule_id()])["credits_charged"], 0, "it is still asked");
        hub.register("node_b");
        assert_eq!(fetch(hub, "node_b", &[bundle.capsule_id()])["credits_charged"], 1);
        assert_eq!(fetch(hub, "node_b", &[bundle.capsule_id()])["credits_charged"], 0);
        assert_eq!((balance(hub, "hub"), node_balance(hub, "node_a")), (1_000, 520_000));
        assert_sound(hub);
    });
}

#[test]
fn many_fetches_at_once_pay_once() {
    let priced = |config: &mut HubConfig| {
        config.require_secret = RequireSecret::Never;
        config.credits.fetch_price = 1_000;
    };
    both_with(priced, |hub| {
        let admin = account(hub, "root", AccountRole::Admin);
        let bundle = promoted(hub, &admin, "node_a", 1);
        hub.register("node_b");
        let bodies: Vec<Value> = (0..12)
            .map(|_| hub.envelope("node_b", "fetch", json!({"asset_ids": [bundle.capsule_id()]})))
            .collect();
        let charged: f64 = hub.runtime.block_on(async {
            let mut calls = Vec::new();
            for body in bodies {
                let request =
                    crate::common::request("POST", "/a2a/fetch", None, Some(body.to_string().into_bytes()));
                calls.push(tokio::spawn(crate::common::send(hub.router(), request)));
            }
            let mut sum = 0.0;
            for call in calls {
                sum += call.await.unwrap().expect(200)["credits_charged"].as_f64().unwrap();
            }
            sum
        });
        assert_eq!(charged, 1.0);
        assert_eq!(node_balance(hub, "node_b"), 499_000);
        assert_sound(hub);
    });
}

/// Puts a bounty of a user on a task.
fn offer(hub: &TestHub, creator: &str, amount: i64) {
    let now = hub.clock.now();
    let task = NewTask {
        task_id: "task_1".to_owned(),
        asker: creator.to_owned(),
        title: "Mend the build".to_owned(),
        amount,
        expires_at: now.0 + DAY,
        ..NewTask::default()
    };
    let new = NewBounty {
        request: None,
        bounty_id: "bounty_1".to_owned(),
        source: "bounty",
        listing_id: None,
        task,
        high_value: 1,
        funds: capsid_rules::credits::CreditSource::GrantedFirst,
    };
    let offered = hub.hub.store.write_now(move |tx| bounties::offer(tx, &new, now)).unwrap();
    assert!(matches!(offered, OfferOutcome::Done(_)), "{offered:?}");
}

#[test]
fn earnings_tell_what_waits_and_what_was_paid() {
    let config = |config: &mut HubConfig| {
        config.credits.commission_milli = 10_000;
        config.work.reduced_payouts = true;
    };
    both_with(config, |hub| {
        account(hub, "ann", AccountRole::User);
        hub.publish("node_w", &Bundle::new(1)).expect(200);
        offer(hub, "user:user_ann", 50_000);
        let (now, capsule) = (hub.clock.now(), id(Bundle::new(1).capsule_id()));
        let terms = hub.hub.config.work.completion_terms();
        let done = hub
            .hub
            .store
            .write_now(move |tx| {
                let node = nodes::lock(tx, "node_w")?.unwrap();
                claim::claim(tx, &node, "task_1", None, "sub_1", &[], now)?;
                complete(tx, &node, "task_1", SubmittedResult::Asset(&capsule), &terms, now)
            })
            .unwrap();
        assert!(matches!(done, CompleteOutcome::Done(_)), "{done:?}");
        let waiting = earnings(hub, "node_w");
        assert_eq!((&waiting["pending"], &waiting["total_earned"]), (&json!(45), &json!(0)));
        assert_eq!(waiting["multiplier"], 1);
        assert_sound(hub);
        let terms = hub.hub.config.settlement_terms();
        hub.hub
            .store
            .write_now(move |tx| settle::accept(tx, "bounty_1", "user:user_ann", "Accepted.", &terms, now))
            .unwrap();
        let paid = hub.get("/a2a/billing/earnings/node_w").expect(200);
        assert_eq!((&paid["pending"], &paid["total_earned"]), (&json!(0), &json!(45)));
        assert_eq!(paid["by_source"]["bounty"], 45);
        assert_eq!(paid["by_source"].as_object().unwrap().len(), 8);
        assert_eq!((node_balance(hub, "node_w"), balance(hub, "hub")), (545_000, 5_000));
        let sql = "UPDATE nodes SET reputation_override = 10 WHERE node_id = 'node_w'";
        hub.hub.store.write_now(move |tx| tx.run(sql, &[])).unwrap();
        assert_eq!(earnings(hub, "node_w")["multiplier"], 0.5);
        hub.get("/billing/earnings/node_nobody").refused(404, "node_not_found");
        hub.get("/billing/earnings/..%2Fetc").refused(400, "validation_error");
    });
}

#[test]
fn the_hub_tells_what_things_cost_and_what_there_is() {
    both(|hub| {
        hub.register("node_v");
        hub.post("/a2a/validator/stake", &json!({"sender_id": "node_v"})).expect(200);
        account(hub, "ann", AccountRole::User);
        offer(hub, "user:user_ann", 50_500);
        let told = hub.get("/a2a/credit/economics").expect(200);
        assert_eq!(
            told,
            json!({"minted": 700, "escrow": 50.5, "staked": 100, "held_rewards": 0, "granted": 700, "hub": 0,
                "circulating": 549.5, "sum": 0, "transfers": 4})
        );
        let price = hub.get("/a2a/credit/price").expect(200);
        assert_eq!((&price["prices"]["fetch"], &price["rewards"]["promotion"]), (&json!(0), &json!(20)));
        let estimate = hub.get("/a2a/credit/estimate?action=reuse&amount=50").expect(200);
        assert_eq!((&estimate["pays"], &estimate["cost"]), (&json!(6), &json!(0)));
        for wrong in ["", "?action=theft", "?action=bounty&amount=-1", "?action=bounty&amount=NaN"] {
            hub.get(&format!("/a2a/credit/estimate{wrong}")).refused(400, "validation_error");
        }
    });
}

#[test]
fn credits_move_between_an_account_and_its_own_nodes_once() {
    both(|hub| {
        let (ann, bob) = (account(hub, "ann", AccountRole::User), account(hub, "bob", AccountRole::User));
        for node in ["node_a", "node_a2", "node_b"] {
            hub.register(node);
        }
        own(hub, "ann", "node_a");
        own(hub, "ann", "node_a2");
        own(hub, "bob", "node_b");
        let order = |from: &str, to: &str, amount: f64, reference: &str| json!({"from": from, "to": to, "amount": amount, "reference": reference});
        let send = |by: &str, body: &Value| hub.post_as(by, "/account/transfer", body);
        let first = order("user", "node_a", 12.345, "r1");
        let told = send(&ann, &first).expect(200);
        assert_eq!((&told["status"], &told["from"]["credit_balance"]), (&json!("done"), &json!(187.655)));
        assert_eq!(told["to"]["credit_balance"], json!(512.345));
        let again = send(&ann, &first).expect(200);
        assert_eq!(
            (&again["status"], &again["to"]["credit_balance"]),
            (&json!("already_done"), &json!(512.345))
        );
        for other in [order("user", "node_a", 12.0, "r1"), order("node_a", "user", 12.345, "r1")] {
            send(&ann, &other).refused(409, "reference_used");
        }
        assert_eq!(send(&bob, &order("user", "node_b", 1.0, "r1")).expect(200)["status"], "done");
        send(&ann, &order("node_a", "node_a2", 512.345, "r2")).expect(200);
        let refused = send(&ann, &order("node_a", "user", 0.001, "r3")).refused(402, "insufficient_credits");
        assert_eq!((&refused["required"], &refused["available"]), (&json!(0.001), &json!(0)));
        send(&ann, &order("node_b", "user", 1.0, "r4")).refused(404, "node_not_found");
        send(&ann, &order("user", "node_b", 1.0, "r4")).refused(404, "node_not_found");
        send(&ann, &order("user", "mint", 1.0, "r4")).refused(404, "node_not_found");
        for (from, to, amount, reference) in [
            ("user", "user", 1.0, "r"),
            ("user", "node_a", 0.0, "r"),
            ("user", "node_a", -1.0, "r"),
            ("user", "node_a", 0.0001, "r"),
            ("user", "node_a", 1.0, ""),
            ("user", "node:a/..", 1.0, "r"),
        ] {
            send(&ann, &order(from, to, amount, reference)).refused(400, "validation_error");
        }
        hub.post("/account/transfer", &first).refused(401, "unauthorized");
        assert_eq!(
            balance(hub, "user:user_ann") + node_balance(hub, "node_a") + node_balance(hub, "node_a2"),
            1_200_000
        );
        assert_sound(hub);
    });
}

#[test]
fn a_statement_tells_every_movement_and_opens_in_a_spreadsheet() {
    both(|hub| {
        let (ann, bob) = (account(hub, "ann", AccountRole::User), account(hub, "bob", AccountRole::User));
        let secret = hub.register("node_a");
        own(hub, "ann", "node_a");
        for n in 1..=5 {
            hub.clock.advance(DAY);
            let body =
                json!({"from": "user", "to": "node_a", "amount": n, "reference": format!("=say,\"{n}\"")});
            hub.post_as(&ann, "/account/transfer", &body).expect(200);
        }
        let whole = hub.get_as(&ann, "/account/statement").expect(200);
        assert_eq!((&whole["count"], &whole["credit_balance"]), (&json!(6), &json!(185)));
        let newest = &whole["entries"][0];
        assert_eq!(
            (&newest["kind"], &newest["delta"], &newest["balance_after"]),
            (&json!("transfer"), &json!(-5), &json!(185))
        );
        assert_eq!(newest["counterparty"], "node:node_a");
        assert_eq!(newest["reference"], "transfer:user_ann:=say,\"5\"");
        assert_eq!(newest["time"], "2026-01-06T00:00:00.000Z");

        let mut pages = Vec::new();
        let mut cursor = String::new();
        loop {
            let path = format!("/account/statement?account=node_a&limit=4&cursor={cursor}");
            let page = hub.get_as(&ann, &path).expect(200);
            pages.extend(page["entries"].as_array().unwrap().clone());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = next.to_owned(),
                None => break,
            }
        }
        let deltas: Vec<i64> = pages.iter().map(|entry| entry["delta"].as_i64().unwrap()).collect();
        assert_eq!(deltas, [5, 4, 3, 2, 1, 500]);
        hub.get_as(&ann, &format!("/account/statement?cursor={cursor}")).refused(400, "invalid_cursor");
        let some = hub.get_as(&ann, "/account/statement?from=2026-01-03&to=2026-01-05T00:00:00Z").expect(200);
        assert_eq!(some["count"], 2);

        let csv = hub.get_as(&ann, "/account/statement?format=csv&limit=2");
        assert_eq!(csv.status, 200, "{csv}");
        assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8");
        assert_eq!(csv.headers["content-disposition"], "attachment; filename=\"statement.csv\"");
        assert!(csv.headers.contains_key("x-next-cursor"));
        let lines: Vec<&str> = csv.text.split("\r\n").collect();
        assert_eq!(lines[0], "time,kind,reference,delta,balance_after,counterparty");
        let five =
            r#""2026-01-06T00:00:00.000Z","transfer","transfer:user_ann:=say,""5""",-5,185,"node:node_a""#;
        assert_eq!(lines[1], five);
        assert_eq!(lines.len(), 4);

        let own = "/a2a/credit/statement?node_id=node_a";
        assert_eq!(hub.get_as(&secret, own).expect(200)["count"], 6);
        assert_eq!(hub.get_as(&ann, own).expect(200)["account"], "node_a");
        hub.get_as(&bob, own).refused(401, "node_secret_required");
        hub.get(own).refused(401, "node_secret_required");
        hub.get_as(&"0".repeat(64), own).refused(403, "node_secret_invalid");
        hub.get("/a2a/credit/statement?node_id=node_nobody").refused(401, "node_secret_not_set");
        hub.get("/a2a/credit/statement").refused(400, "validation_error");
        hub.get_as(&bob, "/account/statement?account=node_a").refused(404, "node_not_found");
        hub.get("/account/statement").refused(401, "unauthorized");
        for wrong in ["format=pdf", "from=yesterday", "account=..%2Fx"] {
            hub.get_as(&ann, &format!("/account/statement?{wrong}")).refused(400, "validation_error");
        }
    });
}
