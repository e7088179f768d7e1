//! Bounties and questions: credits are held in escrow, and every end pays or refunds them, to the milli-credit.

use crate::common::economy::{
    DAY, HOUR, admin, all_is_well, balance, claim, complete, detail, event_kinds, node_balance, offer, pass,
    quiet, solve, stands, text, trusting, try_claim, user,
};
use crate::common::{Bundle, TestHub, both_with, on_sqlite_with};
use capsid_hub::config::HubConfig;
use capsid_rules::work::bounties::UndecidedOutcome;
use capsid_rules::work::tasks::RewardRequirement;
use capsid_store::assets::id::AssetId;
use capsid_store::work::tasks::claim::ClaimOutcome;
use serde_json::{Value, json};

#[test]
fn what_was_handed_in_is_paid_when_the_creator_accepts() {
    both_with(quiet, |hub| {
        let hello = hub.message("node_w", "hello", json!({"model": "m-1"})).expect(200);
        let secret = text(&hello["node_secret"]);
        let (ann, account) = user(hub, "ann");
        let (bob, _) = user(hub, "bob");
        let body = json!({"title": "Fix the timeout", "body": "Of the API.", "signals": "TimeoutError, retry",
            "amount": 12.345, "min_reputation": 20, "min_model_tier": 2, "allowed_models": ["m-1"]});
        let made = hub.post_as(&ann, "/bounty/create", &body).expect(201);
        let (bounty, task) = (text(&made["bounty_id"]), text(&made["task_id"]));
        assert_eq!((&made["status"], &made["amount"]), (&json!("open"), &json!(12.345)));
        assert_eq!((&made["min_reputation"], &made["remaining_balance"]), (&json!(20.0), &json!(187.655)));
        assert_eq!(
            (&made["signals"], &made["allowed_models"]),
            (&json!("TimeoutError,retry"), &json!(["m-1"]))
        );
        assert_eq!(balance(hub, &account), 187_655);
        assert_eq!(detail(hub, &bounty)["claimable"], true);

        let submission = claim(hub, "node_w", &task);
        let shown = detail(hub, &bounty);
        assert_eq!((&shown["status"], &shown["claimable"]), (&json!("claimed"), &json!(false)));
        let path = |verb: &str| format!("/bounty/{bounty}/{verb}");
        hub.post_as(&ann, &path("cancel"), &json!({})).refused(409, "bounty_state");
        let early = hub.post_as(&ann, &path("accept"), &json!({})).refused(409, "bounty_state");
        assert_eq!(early["bounty_status"], "claimed");
        let asset = complete(hub, "node_w", &task, 1);
        let shown = detail(hub, &bounty);
        assert_eq!((&shown["status"], &shown["task_status"]), (&json!("matched"), &json!("completed")));
        assert_eq!(
            (&shown["matched_asset_id"], &shown["matched_node_id"]),
            (&json!(asset), &json!("node_w"))
        );
        assert_eq!(shown["submissions"][0]["status"], "pending");
        assert!(shown["decide_by"].is_string());

        hub.post(&path("accept"), &json!({})).refused(401, "unauthorized");
        hub.post_as(&bob, &path("accept"), &json!({})).refused(403, "not_bounty_creator");
        hub.post_as(&secret, &path("accept"), &json!({})).refused(403, "not_bounty_creator");
        let named = json!({"node_id": "node_w"});
        hub.post_as(&secret, &path("reject"), &named).refused(403, "not_bounty_creator");
        for other in [json!({"asset_id": Bundle::new(9).capsule_id()}), json!({"submission_id": "sub_x"})] {
            let refused = hub.post_as(&ann, &path("accept"), &other).refused(409, "bounty_state");
            assert_eq!(refused["bounty_status"], "matched");
        }
        assert_eq!(node_balance(hub, "node_w"), 500_000);
        let taken = json!({"asset_id": asset, "submission_id": submission});
        for _ in 0..2 {
            let paid = hub.post_as(&ann, &path("accept"), &taken).expect(200);
            assert_eq!(paid["status"], "accepted");
            let payout = json!([{"node_id": "node_w", "role": "solo", "task_id": task, "credits": 12.345}]);
            assert_eq!((&paid["payouts"], &paid["refunded"]), (&payout, &json!(0)));
            assert_eq!(paid["submissions"][0]["status"], "accepted");
            assert!(paid["outcome"].as_str().unwrap().contains("accepted"));
        }
        assert_eq!((node_balance(hub, "node_w"), balance(hub, &account)), (512_345, 187_655));
        for verb in ["reject", "cancel"] {
            let refused = hub.post_as(&ann, &path(verb), &json!({})).refused(409, "bounty_state");
            assert_eq!(refused["bounty_status"], "accepted");
        }
        assert!(event_kinds(hub, "node_w").contains(&"bounty_paid".to_owned()));
        all_is_well(hub);
    });
}

#[test]
fn an_offer_is_checked_and_paid_for_at_once() {
    on_sqlite_with(quiet, |hub| {
        let (ann, account) = user(hub, "ann");
        let good = json!({"title": "Fix the timeout"});
        hub.post("/bounty/create", &good).refused(401, "unauthorized");
        hub.post("/bounty/create", &json!({})).refused(401, "unauthorized");
        let ahead = |ms: i64| hub.hub.now().0 + ms;
        for (key, bad) in [
            ("title", Value::Null),
            ("title", json!("four")),
            ("title", json!("x".repeat(301))),
            ("title", json!("two\nlines")),
            ("title", json!(5)),
            ("body", json!("x".repeat(8001))),
            ("signals", json!(5)),
            ("signals", json!([5])),
            ("signals", json!(vec!["x"; 51])),
            ("amount", json!(-1)),
            ("amount", json!(0.0001)),
            ("amount", json!("5")),
            ("amount", json!(1e300)),
            ("min_reputation", json!(-1)),
            ("min_reputation", json!(101)),
            ("min_model_tier", json!(6)),
            ("min_model_tier", json!(1.5)),
            ("allowed_models", json!("m")),
            ("expires_at", json!(ahead(10 * 60_000 - 1))),
            ("expires_at", json!(ahead(90 * DAY + 1))),
            ("expires_at", json!("tomorrow")),
            ("expires_at", json!(true)),
            ("reference", json!("x".repeat(201))),
        ] {
            let mut spoilt = good.clone();
            spoilt[key] = bad.clone();
            let answered = hub.post_as(&ann, "/bounty/create", &spoilt);
            assert_eq!(answered.status, 400, "{key} {bad}: {answered}");
            answered.refused(400, "validation_error");
        }
        let poor = json!({"title": "Fix the timeout", "amount": 200.001});
        let refused = hub.post_as(&ann, "/bounty/create", &poor).refused(402, "insufficient_credits");
        assert_eq!((&refused["required"], &refused["available"]), (&json!(200.001), &json!(200)));
        assert_eq!(hub.get("/bounty/list").expect(200)["total"], 0);
        for end in [json!(ahead(10 * 60_000)), json!("2026-03-31T00:00:00Z")] {
            let good = json!({"title": "Fix the timeout", "amount": 0, "expires_at": end});
            hub.post_as(&ann, "/bounty/create", &good).expect(201);
        }
        let usual = hub.post_as(&ann, "/bounty/create", &good).expect(201);
        assert_eq!(usual["expires_at"], "2026-01-08T00:00:00.000Z");
        assert_eq!(balance(hub, &account), 200_000);
        all_is_well(hub);
    });
}

#[test]
fn the_same_reference_is_the_same_bounty() {
    on_sqlite_with(quiet, |hub| {
        let (ann, account) = user(hub, "ann");
        let (bob, _) = user(hub, "bob");
        let asked = json!({"title": "Fix the timeout", "amount": 5, "reference": "r1",
            "expires_at": hub.hub.now().0 + HOUR});
        let first = hub.post_as(&ann, "/bounty/create", &asked).expect(201);
        // Even when the time that it names is nearly over.
        hub.clock.advance(HOUR - 1);
        let again = hub.post_as(&ann, "/bounty/create", &asked).expect(200);
        assert_eq!((&first["bounty_id"], &first["task_id"]), (&again["bounty_id"], &again["task_id"]));
        let mut other = asked;
        other["amount"] = json!(6);
        hub.post_as(&ann, "/bounty/create", &other).refused(409, "already_exists");
        assert_eq!(balance(hub, &account), 195_000);
        other["expires_at"] = Value::Null;
        let bobs = hub.post_as(&bob, "/bounty/create", &other).expect(201);
        assert_ne!(bobs["bounty_id"], first["bounty_id"]);
        let (one, two) = (offer(hub, &ann, 1.0), offer(hub, &ann, 1.0));
        assert_ne!(one, two);
        all_is_well(hub);
    });
}

#[test]
fn many_at_once_by_one_reference_make_one_bounty() {
    both_with(quiet, |hub| {
        let (ann, account) = user(hub, "ann");
        let body = json!({"title": "Fix the timeout", "amount": 5, "reference": "r1"}).to_string();
        let answers = hub.runtime.block_on(async {
            let all = (0..12).map(|_| {
                let request = crate::common::request(
                    "POST",
                    "/bounty/create",
                    Some(&ann),
                    Some(body.clone().into_bytes()),
                );
                tokio::spawn(crate::common::send(hub.router(), request))
            });
            let mut answers = Vec::new();
            for answer in all.collect::<Vec<_>>() {
                answers.push(answer.await.unwrap());
            }
            answers
        });
        assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
        assert!(answers.iter().all(|answer| answer.status < 202), "{answers:?}");
        assert_eq!(balance(hub, &account), 195_000);
        all_is_well(hub);
    });
}

#[test]
fn what_is_sent_back_is_done_again_by_others() {
    on_sqlite_with(quiet, |hub| {
        hub.register("node_a");
        hub.register("node_b");
        let (ann, account) = user(hub, "ann");
        let (bounty, task) = offer(hub, &ann, 10.0);
        solve(hub, "node_a", &task, 1);
        let reject = format!("/bounty/{bounty}/reject");
        hub.post_as(&ann, &reject, &json!({"reason": "x".repeat(1001)})).refused(400, "validation_error");
        let back = hub.post_as(&ann, &reject, &json!({"reason": "It does not build."})).expect(200);
        assert_eq!((&back["status"], &back["claimable"]), (&json!("open"), &json!(true)));
        assert_eq!((&back["matched_asset_id"], &back["decide_by"]), (&Value::Null, &Value::Null));
        assert_eq!(back["submissions"][0]["status"], "rejected");
        hub.post_as(&ann, &reject, &json!({})).refused(409, "bounty_state");
        assert!(event_kinds(hub, "node_a").contains(&"submission_rejected".to_owned()));
        solve(hub, "node_b", &task, 2);
        hub.post_as(&ann, &format!("/bounty/{bounty}/accept"), &json!({})).expect(200);
        assert_eq!((node_balance(hub, "node_a"), node_balance(hub, "node_b")), (500_000, 510_000));

        let (bounty, task) = offer(hub, &ann, 10.0);
        solve(hub, "node_a", &task, 3);
        hub.post_as(&ann, &format!("/bounty/{bounty}/reject"), &json!({})).expect(200);
        for _ in 0..2 {
            let gone = hub.post_as(&ann, &format!("/bounty/{bounty}/cancel"), &json!({})).expect(200);
            assert_eq!((&gone["status"], &gone["refunded"]), (&json!("cancelled"), &json!(10)));
            assert_eq!(gone["task_status"], "cancelled");
        }
        assert!(matches!(try_claim(hub, "node_b", &task), ClaimOutcome::NotOpen(_)));
        assert_eq!(balance(hub, &account), 190_000);

        // When the time is over meanwhile, sending it back ends it.
        let (bounty, task) = offer(hub, &ann, 10.0);
        solve(hub, "node_a", &task, 4);
        hub.clock.advance(7 * DAY);
        let ended = hub.post_as(&ann, &format!("/bounty/{bounty}/reject"), &json!({})).expect(200);
        assert_eq!((&ended["status"], &ended["task_status"]), (&json!("expired"), &json!("expired")));
        assert_eq!(balance(hub, &account), 190_000);
        all_is_well(hub);
    });
}

#[test]
fn every_state_has_an_end_that_gives_back_what_nobody_earned() {
    both_with(quiet, |hub| {
        for node in ["node_a", "node_b"] {
            hub.register(node);
        }
        let (ann, account) = user(hub, "ann");
        let (open, _) = offer(hub, &ann, 10.0);
        let (claimed, task) = offer(hub, &ann, 20.0);
        let (matched, handed_in) = offer(hub, &ann, 30.0);
        solve(hub, "node_b", &handed_in, 1);
        assert_eq!(balance(hub, &account), 140_000);
        pass(hub, 7 * DAY - HOUR);
        claim(hub, "node_a", &task);
        pass(hub, HOUR - 1);
        assert_eq!(detail(hub, &claimed)["status"], "claimed");
        pass(hub, 1001);
        for bounty in [&open, &claimed] {
            let shown = detail(hub, bounty);
            assert_eq!((&shown["status"], &shown["task_status"]), (&json!("expired"), &json!("expired")));
            assert!(shown["outcome"].is_string() && shown["settled_at"].is_string());
        }
        assert!(event_kinds(hub, "node_a").contains(&"task_expired".to_owned()));
        // The creator may decide until the end of the bounty, and three days after what was handed in.
        let shown = detail(hub, &matched);
        assert_eq!((&shown["status"], &shown["refunded"]), (&json!("expired"), &json!(30)));
        assert_eq!(shown["submissions"][0]["status"], "expired");
        assert!(event_kinds(hub, "node_b").contains(&"bounty_expired".to_owned()));
        assert_eq!((balance(hub, &account), node_balance(hub, "node_b")), (200_000, 500_000));
        pass(hub, 30 * DAY);
        assert_eq!(balance(hub, &account), 200_000);
        all_is_well(hub);
    });
}

#[test]
fn late_work_leaves_the_creator_three_days() {
    on_sqlite_with(quiet, |hub| {
        hub.register("node_a");
        let (ann, account) = user(hub, "ann");
        let (bounty, task) = offer(hub, &ann, 10.0);
        hub.clock.advance(7 * DAY - 1);
        solve(hub, "node_a", &task, 1);
        pass(hub, 3 * DAY - 1);
        assert_eq!(detail(hub, &bounty)["status"], "matched");
        pass(hub, 1001);
        assert_eq!(detail(hub, &bounty)["status"], "expired");
        assert_eq!(balance(hub, &account), 200_000);
        all_is_well(hub);
    });
}

#[test]
fn where_the_operator_wants_that_silence_pays() {
    let pays = |config: &mut capsid_hub::config::HubConfig| {
        quiet(config);
        config.work.undecided = UndecidedOutcome::Pay;
        config.credits.commission_milli = 15_000;
    };
    on_sqlite_with(pays, |hub| {
        hub.register("node_a");
        let (ann, account) = user(hub, "ann");
        let (bounty, task) = offer(hub, &ann, 10.001);
        solve(hub, "node_a", &task, 1);
        pass(hub, 8 * DAY);
        let shown = detail(hub, &bounty);
        assert_eq!((&shown["status"], &shown["commission"]), (&json!("accepted"), &json!(1.5)));
        assert_eq!((node_balance(hub, "node_a"), balance(hub, "hub")), (508_501, 1_500));
        assert_eq!(balance(hub, &account), 189_999);
        hub.post_as(&ann, &format!("/bounty/{bounty}/accept"), &json!({})).expect(200);
        all_is_well(hub);
    });
}

#[test]
fn commission_and_reduced_payouts_add_up() {
    let terms = |config: &mut capsid_hub::config::HubConfig| {
        quiet(config);
        config.credits.commission_milli = 15_000;
        config.work.reduced_payouts = true;
    };
    on_sqlite_with(terms, |hub| {
        hub.register("node_low");
        hub.register("node_high");
        stands(hub, "node_low", 29.9);
        let (ann, account) = user(hub, "ann");
        for (node, n) in [("node_low", 1), ("node_high", 2)] {
            let (bounty, task) = offer(hub, &ann, 10.001);
            solve(hub, node, &task, n);
            hub.post_as(&ann, &format!("/bounty/{bounty}/accept"), &json!({})).expect(200);
        }
        // 10001 - 1500 = 8501; half of that is 4250, and the other 4251 go back.
        assert_eq!((node_balance(hub, "node_low"), node_balance(hub, "node_high")), (504_250, 508_501));
        assert_eq!((balance(hub, "hub"), balance(hub, &account)), (3_000, 200_000 - 20_002 + 4_251));
        all_is_well(hub);
    });
}

#[test]
fn amounts_ask_for_reputation_where_the_operator_wants_that() {
    let gates = |config: &mut capsid_hub::config::HubConfig| {
        quiet(config);
        config.work.gates = vec![
            RewardRequirement { amount: 10_000, reputation: 65.0 },
            RewardRequirement { amount: 5_000, reputation: 40.0 },
        ];
    };
    on_sqlite_with(gates, |hub| {
        hub.register("node_a");
        let (ann, _) = user(hub, "ann");
        let (rich, task) = offer(hub, &ann, 10.0);
        let (small, _) = offer(hub, &ann, 9.999);
        assert_eq!(detail(hub, &rich)["min_reputation"], 65.0);
        assert_eq!(detail(hub, &small)["min_reputation"], 40.0);
        assert!(matches!(try_claim(hub, "node_a", &task), ClaimOutcome::Reputation { .. }));
        let asked = json!({"title": "Fix the timeout", "amount": 5, "min_reputation": 70});
        assert_eq!(hub.post_as(&ann, "/bounty/create", &asked).expect(201)["min_reputation"], 70.0);
    });
}

#[test]
fn an_admin_matches_a_bounty_with_what_was_published() {
    on_sqlite_with(quiet, |hub| {
        for node in ["node_a", "node_b"] {
            hub.register(node);
        }
        let root = admin(hub);
        let (ann, account) = user(hub, "ann");
        let (bounty, task) = offer(hub, &ann, 10.0);
        let path = format!("/bounty/{bounty}/match");
        let found = Bundle::new(1);
        hub.publish("node_b", &found).expect(200);
        let body = json!({"asset_id": found.capsule_id()});
        hub.post(&path, &body).refused(401, "unauthorized");
        hub.post_as(&ann, &path, &body).refused(403, "admin_required");
        hub.post_as(&root, &path, &json!({})).refused(400, "validation_error");
        let unknown = json!({"asset_id": Bundle::new(7).capsule_id()});
        hub.post_as(&root, &path, &unknown).refused(404, "asset_not_found");
        hub.post_as(&root, "/bounty/b1/match", &body).refused(404, "bounty_not_found");
        claim(hub, "node_a", &task);
        let matched = hub.post_as(&root, &path, &body).expect(200);
        assert_eq!((&matched["status"], &matched["task_status"]), (&json!("matched"), &json!("completed")));
        assert_eq!(matched["matched_node_id"], "node_b");
        let tries: Vec<_> =
            matched["submissions"].as_array().unwrap().iter().map(|s| s["status"].clone()).collect();
        assert_eq!(tries, [json!("released"), json!("pending")]);
        assert!(event_kinds(hub, "node_a").contains(&"task_released".to_owned()));
        hub.post_as(&root, &path, &body).refused(409, "bounty_state");
        // The creator sends it back once, and takes it the second time.
        hub.post_as(&ann, &format!("/bounty/{bounty}/reject"), &json!({})).expect(200);
        hub.post_as(&root, &path, &body).expect(200);
        hub.post_as(&root, &format!("/bounty/{bounty}/accept"), &json!({})).expect(200);
        assert_eq!((node_balance(hub, "node_a"), node_balance(hub, "node_b")), (500_000, 510_000));
        assert_eq!(balance(hub, &account), 190_000);
        all_is_well(hub);
    });
}

/// Sets how an asset stands.
fn asset_stands(hub: &TestHub, asset: &str, status: &'static str) {
    let asset = AssetId::parse(asset).unwrap();
    let set = move |tx: &mut dyn capsid_store::db::tx::Tx| {
        let set = "UPDATE assets SET status = $2 WHERE asset_id = $1";
        tx.run(set, capsid_store::params![&asset, status])
    };
    assert_eq!(hub.hub.store.write_now(set).unwrap(), 1);
    // The graph follows what happens through the hub, which this does not.
    hub.hub.store.reset_index().unwrap();
}

#[test]
fn what_was_withdrawn_after_it_was_handed_in_is_not_paid() {
    let pays = |config: &mut HubConfig| {
        quiet(config);
        config.work.undecided = UndecidedOutcome::Pay;
    };
    on_sqlite_with(pays, |hub| {
        hub.register("node_a");
        let root = admin(hub);
        let (ann, account) = user(hub, "ann");
        let (bounty, task) = offer(hub, &ann, 10.0);
        let (late, late_task) = offer(hub, &ann, 20.0);
        let found = solve(hub, "node_a", &task, 1);
        let forgotten = solve(hub, "node_a", &late_task, 2);
        assert_eq!(detail(hub, &bounty)["matched_asset_status"], "candidate");
        for status in ["revoked", "rejected", "quarantined"] {
            asset_stands(hub, &found, status);
            for (who, body) in [(&ann, json!({})), (&root, json!({"asset_id": found}))] {
                let path = format!("/bounty/{bounty}/accept");
                let refused = hub.post_as(who, &path, &body).refused(409, "bounty_state");
                assert_eq!(refused["matched_asset_status"], status);
            }
        }
        assert_eq!(detail(hub, &bounty)["matched_asset_status"], "quarantined");
        hub.post_as(&ann, &format!("/bounty/{bounty}/reject"), &json!({})).expect(200);
        assert_eq!(detail(hub, &bounty)["matched_asset_status"], Value::Null);
        let matching = json!({"asset_id": found});
        let refused =
            hub.post_as(&root, &format!("/bounty/{bounty}/match"), &matching).refused(409, "state_conflict");
        assert_eq!(refused["asset_status"], "quarantined");
        asset_stands(hub, &found, "candidate");
        hub.post_as(&root, &format!("/bounty/{bounty}/match"), &matching).expect(200);
        hub.post_as(&ann, &format!("/bounty/{bounty}/accept"), &json!({})).expect(200);

        asset_stands(hub, &forgotten, "revoked");
        pass(hub, 40 * DAY);
        let given_back = detail(hub, &late);
        assert_eq!((&given_back["status"], &given_back["refunded"]), (&json!("expired"), &json!(20)));
        assert!(given_back["outcome"].as_str().unwrap().contains("withdrawn"), "{given_back}");
        assert_eq!((node_balance(hub, "node_a"), balance(hub, &account)), (510_000, 190_000));
        asset_stands(hub, &forgotten, "candidate");
        all_is_well(hub);
    });
}

#[test]
fn nobody_does_what_they_asked_themselves() {
    on_sqlite_with(trusting, |hub| {
        let (ann, _) = user(hub, "ann");
        for node in ["node_a", "node_b"] {
            let hello = hub.message(node, "hello", json!({})).expect(200);
            let code = text(&hello["claim_code"]);
            hub.post_as(&ann, &format!("/claim/{code}"), &json!({})).expect(200);
        }
        for node in ["node_c", "node_p"] {
            hub.register(node);
        }
        let (_, of_ann) = offer(hub, &ann, 3.0);
        let ask = |node: &str, amount: i64| {
            let body = json!({"sender_id": node, "question": "Why does it time out?", "amount": amount});
            text(&hub.post("/a2a/ask", &body).expect(200)["task_id"])
        };
        let (of_a, of_c) = (ask("node_a", 2), ask("node_c", 1));
        let ids = |tasks: &Value| -> Vec<String> {
            tasks.as_array().unwrap().iter().map(|task| text(&task["task_id"])).collect()
        };
        hub.post("/a2a/worker/register", &json!({"node_id": "node_b"})).expect(200);
        for (node, offered) in [
            ("node_a", vec![of_c.clone()]),
            ("node_b", vec![of_c.clone()]),
            ("node_c", vec![of_ann.clone(), of_a.clone()]),
            ("node_p", vec![of_ann.clone(), of_a.clone(), of_c.clone()]),
        ] {
            let listed = hub.get(&format!("/task/list?node_id={node}")).expect(200);
            assert_eq!(
                (ids(&listed["tasks"]), listed["total"].as_u64().unwrap()),
                (offered.clone(), offered.len() as u64)
            );
            let told = hub.message(node, "fetch", json!({"tasks_only": true})).expect(200);
            assert_eq!(ids(&told["payload"]["tasks"]), offered, "{node}");
            let beat = hub.post("/a2a/heartbeat", &json!({"node_id": node})).expect(200);
            assert_eq!(ids(&beat["available_tasks"]), offered, "{node}");
            let hello = hub.message(node, "hello", json!({})).expect(200);
            assert_eq!(ids(&hello["recommended_tasks"]), offered, "{node}");
            let work = hub.get(&format!("/a2a/work/available?node_id={node}")).expect(200);
            assert_eq!(ids(&work["work"]), offered, "{node}");
        }
        let all = hub.get("/task/list").expect(200);
        assert_eq!(all["count"], 3);
        let take =
            |node: &str, task: &str| hub.post("/task/claim", &json!({"node_id": node, "task_id": task}));
        for (node, task) in [
            ("node_a", &of_ann),
            ("node_b", &of_ann),
            ("node_b", &of_a),
            ("node_a", &of_a),
            ("node_c", &of_c),
        ] {
            take(node, task).refused(403, "own_task");
        }
        let body = json!({"node_id": "node_b", "task_id": of_a});
        hub.post("/a2a/work/claim", &body).refused(403, "own_task");
        take("node_a", &of_c).expect(200);

        // Parts of an own task are own as well; whoever proposed them may solve them.
        take("node_p", &of_ann).expect(200);
        let parts = json!({"task_id": of_ann, "node_id": "node_p",
            "subtasks": [{"title": "One", "weight": 0.4}, {"title": "Two", "weight": 0.4}]});
        let parts = ids(&hub.post("/task/propose-decomposition", &parts).expect(200)["subtasks"]);
        take("node_b", &parts[0]).refused(403, "own_task");
        take("node_p", &parts[0]).expect(200);
        take("node_c", &parts[1]).expect(200);
        all_is_well(hub);
    });
}

#[test]
fn bounties_are_listed_the_newest_first() {
    both_with(quiet, |hub| {
        let (ann, _) = user(hub, "ann");
        let (bob, _) = user(hub, "bob");
        let made: Vec<String> = (0..5).map(|_| offer(hub, &ann, 1.0).0).collect();
        offer(hub, &bob, 2.0);
        hub.post_as(&ann, &format!("/bounty/{}/cancel", made[0]), &json!({})).expect(200);
        let mut seen = Vec::new();
        let mut path = "/a2a/bounty/list?status=open&limit=2".to_owned();
        loop {
            let page = hub.get(&path).expect(200);
            assert_eq!(page["total"], 5);
            seen.extend(page["bounties"].as_array().unwrap().iter().map(|row| text(&row["bounty_id"])));
            match page["next_cursor"].as_str() {
                Some(next) => path = format!("/a2a/bounty/list?status=open&limit=2&cursor={next}"),
                None => break,
            }
        }
        let newest: Vec<_> = made[1..].iter().rev().cloned().collect();
        assert_eq!(seen[1..], newest);
        let mine = hub.get_as(&ann, "/bounty/my").expect(200);
        assert_eq!((&mine["count"], &mine["has_more"]), (&json!(5), &json!(false)));
        assert_eq!(hub.get_as(&ann, "/a2a/bounty/my?status=cancelled").expect(200)["count"], 1);
        hub.get("/bounty/my").refused(401, "unauthorized");
        hub.get("/bounty/list?status=paid").refused(400, "validation_error");
        hub.get("/bounty/list?cursor=00").refused(400, "invalid_cursor");
        hub.get("/bounty/b1").refused(404, "bounty_not_found");
        for verb in ["accept", "reject", "cancel"] {
            hub.post_as(&ann, &format!("/a2a/bounty/b1/{verb}"), &json!({})).refused(404, "bounty_not_found");
        }
    });
}

#[test]
fn a_node_asks_and_pays_for_the_answer() {
    on_sqlite_with(quiet, |hub| {
        let secret = hub.register("node_q");
        hub.register("node_w");
        let good = json!({"sender_id": "node_q", "question": "Why does it time out?", "amount": 2.5,
            "signals": ["TimeoutError"], "reference": "r1"});
        hub.post("/a2a/ask", &json!({"sender_id": "node_new", "question": "Why is it so?"}))
            .refused(401, "node_secret_not_set");
        let asked = hub.post_as(&secret, "/a2a/ask", &good).expect(200);
        assert_eq!((&asked["status"], &asked["amount_deducted"]), (&json!("created"), &json!(2.5)));
        assert_eq!((&asked["remaining_balance"], &asked["source"]), (&json!(497.5), &json!("node")));
        assert_eq!(hub.post_as(&secret, "/a2a/ask", &good).expect(200), asked);
        hub.post("/a2a/ask", &good).refused(401, "node_secret_required");
        for (key, bad) in [("question", json!("Why?")), ("amount", json!(-1)), ("signals", json!(1))] {
            let mut spoilt = good.clone();
            spoilt[key] = bad;
            hub.post_as(&secret, "/a2a/ask", &spoilt).refused(400, "validation_error");
        }
        let poor = json!({"sender_id": "node_q", "question": "Why does it time out?", "amount": 500});
        hub.post_as(&secret, "/a2a/ask", &poor).refused(402, "insufficient_credits");
        let (bounty, task) = (text(&asked["bounty_id"]), text(&asked["task_id"]));
        let submission = claim(hub, "node_w", &task);
        assert!(event_kinds(hub, "node_q").is_empty());
        complete(hub, "node_w", &task, 1);
        assert_eq!(event_kinds(hub, "node_q"), ["bounty_matched"]);
        let accept = "/task/accept-submission";
        hub.post_as(&secret, accept, &json!({"task_id": "t", "submission_id": "s"}))
            .refused(404, "task_not_found");
        hub.post_as(&secret, accept, &json!({"task_id": task, "submission_id": "s"}))
            .refused(404, "submission_not_found");
        hub.post_as(&secret, accept, &json!({"task_id": task})).refused(400, "validation_error");
        let taken = json!({"task_id": task, "submission_id": submission});
        hub.post(accept, &taken).refused(401, "unauthorized");
        let by_another = json!({"task_id": task, "submission_id": submission, "node_id": "node_w"});
        hub.post(accept, &by_another).refused(403, "not_bounty_creator");
        let paid = hub.post_as(&secret, "/a2a/task/accept-submission", &taken).expect(200);
        assert_eq!((&paid["status"], &paid["bounty_id"]), (&json!("accepted"), &json!(bounty)));
        assert_eq!((node_balance(hub, "node_q"), node_balance(hub, "node_w")), (497_500, 502_500));
        assert_eq!(hub.get_as(&secret, "/bounty/my?node_id=node_q").expect(200)["count"], 1);
        hub.get("/bounty/my?node_id=node_q").refused(401, "node_secret_required");
        all_is_well(hub);
    });
}

#[test]
fn nobody_spends_what_a_node_holds_without_its_secret() {
    on_sqlite_with(quiet, |hub| {
        let hello = hub.message("node_q", "hello", json!({})).expect(200);
        let (ann, _) = user(hub, "ann");
        let question = |amount: i64| json!({"sender_id": "node_q", "question": "Why does it time out?", "amount": amount});
        // Whether or not somebody owns it: until its secret was shown anybody may speak for a node.
        hub.post("/a2a/ask", &question(0)).expect(200);
        hub.post("/a2a/ask", &question(1)).refused(401, "node_secret_required");
        hub.post_as(&ann, &format!("/claim/{}", text(&hello["claim_code"])), &json!({})).expect(200);
        hub.post("/a2a/ask", &question(1)).refused(401, "node_secret_required");
        let asked = hub.post_as(&ann, "/a2a/ask", &question(1)).expect(200);
        let path = format!("/bounty/{}/cancel", text(&asked["bounty_id"]));
        hub.post(&path, &json!({"node_id": "node_q"})).refused(401, "node_secret_required");
        hub.post_as(&text(&hello["node_secret"]), &path, &json!({"node_id": "node_q"})).expect(200);
        assert_eq!(node_balance(hub, "node_q"), 500_000);
        all_is_well(hub);
    });
}

#[test]
fn an_admin_ends_what_others_hold_on_to() {
    on_sqlite_with(quiet, |hub| {
        hub.register("node_w");
        let (ann, account) = user(hub, "ann");
        let made = hub
            .post_as(&ann, "/bounty/create", &json!({"title": "Fix the timeout", "amount": 8}))
            .expect(201);
        let (bounty, task) = (text(&made["bounty_id"]), text(&made["task_id"]));
        claim(hub, "node_w", &task);
        let parts = json!([{"title": "One half", "weight": 0.4}, {"title": "The other", "weight": 0.4}]);
        let body = json!({"task_id": task, "node_id": "node_w", "subtasks": parts});
        hub.post("/task/propose-decomposition", &body).expect(200);
        claim(hub, "node_w", &format!("{task}_s1"));
        let path = format!("/bounty/{bounty}/cancel");
        hub.post_as(&ann, &path, &json!({})).refused(409, "bounty_state");
        let admin = admin(hub);
        let ended = hub.post_as(&admin, &path, &json!({"reason": "nobody goes on with it"})).expect(200);
        assert_eq!((&ended["status"], &ended["task_status"]), (&json!("cancelled"), &json!("cancelled")));
        assert!(text(&ended["outcome"]).contains("nobody goes on with it"), "{ended}");
        assert_eq!(hub.get(&format!("/task/{task}_s1")).expect(200)["status"], "cancelled");
        assert_eq!(balance(hub, &account), 200_000);
        all_is_well(hub);
    });
}

#[test]
fn the_owner_of_a_node_decides_for_it() {
    on_sqlite_with(trusting, |hub| {
        let hello = hub.message("node_q", "hello", json!({})).expect(200);
        let (ann, _) = user(hub, "ann");
        hub.post_as(&ann, &format!("/claim/{}", text(&hello["claim_code"])), &json!({})).expect(200);
        let question = json!({"sender_id": "node_q", "question": "Why does it time out?", "amount": 1});
        let asked = hub.post("/a2a/ask", &question).expect(200);
        let path = format!("/bounty/{}/cancel", text(&asked["bounty_id"]));
        let (bob, _) = user(hub, "bob");
        hub.post_as(&bob, &path, &json!({})).refused(403, "not_bounty_creator");
        hub.post_as(&ann, &path, &json!({})).expect(200);
        assert_eq!(event_kinds(hub, "node_q"), ["node_claimed", "bounty_refunded"]);
        assert_eq!(node_balance(hub, "node_q"), 500_000);
        all_is_well(hub);
    });
}

#[test]
fn a_fetch_asks_each_question_once() {
    on_sqlite_with(trusting, |hub| {
        hub.register("node_q");
        let questions = json!([
            "Why does it time out?",
            {"question": "How is it retried?", "amount": 3, "signals": ["retry"]},
            {"question": "Too dear for us?", "amount": 5000},
            {"question": "x"},
            7,
        ]);
        let envelope = hub.envelope("node_q", "fetch", json!({"questions": questions, "limit": 1}));
        let first = hub.post("/a2a/fetch", &envelope).expect(200);
        let told = first["questions_created"].as_array().unwrap();
        let statuses: Vec<_> = told.iter().map(|one| text(&one["status"])).collect();
        assert_eq!(statuses, ["created", "created", "rejected", "rejected", "rejected"]);
        let reasons: Vec<_> = told[2..].iter().map(|one| text(&one["reason"])).collect();
        assert_eq!(reasons, ["insufficient_credits", "validation_error", "validation_error"]);
        assert_eq!(first["credit_balance"], 497);
        let shown = detail(hub, told[1]["bounty_id"].as_str().unwrap());
        assert_eq!((&shown["source"], &shown["amount"]), (&json!("question"), &json!(3)));
        let again = hub.post("/a2a/fetch", &envelope).expect(200);
        assert_eq!(again["questions_created"], first["questions_created"]);
        assert_eq!(node_balance(hub, "node_q"), 497_000);
        let mut other = envelope;
        other["payload"]["questions"][0] = json!("Why does it not time out?");
        let changed = hub.post("/a2a/fetch", &other).expect(200);
        assert_eq!(changed["questions_created"][0]["reason"], "duplicate_message_id");
        let stranger =
            hub.message("node_x", "fetch", json!({"questions": ["Why does it time out?"]})).expect(200);
        assert_eq!(stranger["questions_created"][0]["reason"], "node_secret_not_set");
        assert_eq!(hub.get("/bounty/list").expect(200)["total"], 2);
        all_is_well(hub);
    });
}

#[test]
fn a_decision_needs_no_body_and_the_outcome_says_who_took_it() {
    on_sqlite_with(quiet, |hub| {
        let secret = hub.register("node_asks");
        hub.register("node_w");
        let ((ann, account), root) = (user(hub, "ann"), admin(hub));
        let decide = |who: &str, bounty: &str, verb: &str, body: Option<&str>| {
            let body = body.map(|body| body.as_bytes().to_vec());
            hub.call("POST", &format!("/bounty/{bounty}/{verb}"), Some(who), body)
        };
        let mut done = 0;
        let mut outcome = |who: &str, verb: &str, body: Option<&str>| {
            let (bounty, task) = offer(hub, &ann, 1.0);
            if verb == "accept" {
                done += 1;
                solve(hub, "node_w", &task, done);
            }
            text(&decide(who, &bounty, verb, body).expect(200)["outcome"])
        };
        for nothing in [None, Some(""), Some(" \n"), Some("{}"), Some("null")] {
            assert_eq!(outcome(&ann, "cancel", nothing), "Given back: the creator cancelled it.");
        }
        assert_eq!(outcome(&ann, "accept", None), "Paid: the creator accepted what was handed in.");
        let reason = Some(r#"{"reason": "Ann is away."}"#);
        assert_eq!(
            outcome(&root, "accept", reason),
            "Paid: an admin accepted what was handed in. Reason: Ann is away."
        );
        assert_eq!(
            outcome(&root, "cancel", reason),
            "Given back: an admin cancelled it. Reason: Ann is away."
        );
        assert_eq!(outcome(&root, "cancel", None), "Given back: an admin cancelled it.");

        let (bounty, task) = offer(hub, &ann, 1.0);
        solve(hub, "node_w", &task, 9);
        assert_eq!(decide(&ann, &bounty, "reject", None).expect(200)["status"], "open");
        for bad in ["[]", "5", "{", r#"{"reason": 5}"#] {
            assert_eq!(decide(&ann, &bounty, "cancel", Some(bad)).status, 400, "{bad}");
        }
        let long = json!({"reason": "x".repeat(1001)}).to_string();
        decide(&ann, &bounty, "cancel", Some(&long)).refused(400, "validation_error");

        let question = json!({"node_id": "node_asks", "question": "Why does it time out?", "amount": 1});
        let ask = || text(&hub.post_as(&secret, "/a2a/ask", &question).expect(200)["bounty_id"]);
        let (first, second) = (ask(), ask());
        let told = decide(&secret, &first, "cancel", None).expect(200);
        assert_eq!(told["outcome"], "Given back: the creator cancelled it.");
        let owner = account.strip_prefix("user:").unwrap();
        hub.change(&format!(
            "UPDATE nodes SET owner = '{owner}', claimed_at = 1 WHERE node_id = 'node_asks'"
        ));
        let told = decide(&ann, &second, "cancel", None).expect(200);
        assert_eq!(told["outcome"], "Given back: the owner of the node that asked cancelled it.");
        for verb in ["accept", "reject", "cancel"] {
            let body = &hub.description["paths"][format!("/bounty/{{id}}/{verb}")]["post"]["requestBody"];
            assert!(body["required"].as_bool() != Some(true) && body["content"].is_object(), "{body}");
        }
        all_is_well(hub);
    });
}
