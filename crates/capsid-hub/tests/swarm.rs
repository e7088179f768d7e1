//! Swarms: a task in parts, merged once, and shared to the milli-credit.

use crate::common::economy::{
    DAY, HOUR, admin, all_is_well, balance, claim, complete, detail, event_kinds, node_balance, offer, pass,
    quiet, solve, stands, text, try_claim, user,
};
use crate::common::{TestHub, both_with, on_sqlite_with};
use capsid_hub::config::HubConfig;
use capsid_store::accounts::admin as operator;
use capsid_store::accounts::admin::{AdminAction, NodeStatus};
use capsid_store::nodes;
use capsid_store::work::tasks::claim;
use capsid_store::work::tasks::claim::{ClaimOutcome, TaskChangeOutcome};
use serde_json::{Value, json};

const PATH: &str = "/task/propose-decomposition";

fn proposal(task: &str, node: &str, weights: &[f64]) -> Value {
    let parts: Vec<Value> = weights
        .iter()
        .enumerate()
        .map(|(n, weight)| {
            json!({"title": format!("Part {n}"), "signals": "TimeoutError,retry", "weight": weight,
            "body": "Look at the logs."})
        })
        .collect();
    json!({"task_id": task, "node_id": node, "subtasks": parts})
}

/// Claims a task and cuts it into parts; gives their ids.
fn cut(hub: &TestHub, task: &str, node: &str, weights: &[f64]) -> Vec<String> {
    claim(hub, node, task);
    let told = hub.post(PATH, &proposal(task, node, weights)).expect(200);
    told["subtasks"].as_array().unwrap().iter().map(|part| text(&part["task_id"])).collect()
}

fn swarm(hub: &TestHub, task: &str) -> Value {
    hub.get(&format!("/task/swarm/{task}")).expect(200)
}

#[test]
fn three_solvers_and_an_aggregator_share_a_bounty() {
    both_with(quiet, |hub| {
        for node in ["node_p", "node_a", "node_b", "node_c", "node_m"] {
            hub.register(node);
        }
        stands(hub, "node_m", 60.0);
        let (ann, account) = user(hub, "ann");
        let (bounty, task) = offer(hub, &ann, 100.001);
        claim(hub, "node_p", &task);
        let told_parts = hub.post(PATH, &proposal(&task, "node_p", &[0.35, 0.3, 0.2])).expect(200);
        assert_eq!(
            (&told_parts["status"], &told_parts["auto_approved"]),
            (&json!("decomposed"), &json!(true))
        );
        assert_eq!(
            (&told_parts["parent_task_id"], &told_parts["total_weight"]),
            (&json!(task), &json!(0.85))
        );
        let parts: Vec<String> =
            told_parts["subtasks"].as_array().unwrap().iter().map(|part| text(&part["task_id"])).collect();
        let first = &told_parts["subtasks"][0];
        assert_eq!((&first["swarm_role"], &first["contribution_weight"]), (&json!("solver"), &json!(0.35)));
        assert_eq!(
            (&first["parent_task_id"], &first["signals"]),
            (&json!(task), &json!("TimeoutError,retry"))
        );
        pass(hub, 1000);
        assert!(event_kinds(hub, "node_a").contains(&"swarm_subtask_available".to_owned()));
        for (n, (node, part)) in ["node_a", "node_b", "node_c"].iter().zip(&parts).enumerate() {
            let shown = swarm(hub, part);
            assert_eq!(
                shown["progress"],
                json!({"solvers_completed": n, "solvers_total": 3, "status": "solving"})
            );
            assert_eq!(shown["aggregation_task"], Value::Null);
            solve(hub, node, part, n as u64);
        }
        let shown = swarm(hub, &task);
        assert_eq!(shown["progress"]["status"], "aggregating");
        assert_eq!(shown["child_progress"], json!({"completed": 3, "total": 3}));
        let merge = text(&shown["aggregation_task"]["task_id"]);
        assert_eq!(shown["aggregation_task"]["min_reputation"], 60.0);
        assert!(matches!(try_claim(hub, "node_a", &merge), ClaimOutcome::Reputation { .. }));
        pass(hub, 1000);
        assert!(event_kinds(hub, "node_m").contains(&"swarm_aggregation_available".to_owned()));
        assert!(!event_kinds(hub, "node_a").contains(&"swarm_aggregation_available".to_owned()));
        let asset = solve(hub, "node_m", &merge, 9);
        assert_eq!(detail(hub, &bounty)["matched_asset_id"], asset);
        assert_eq!(swarm(hub, &task)["progress"]["status"], "completed");
        let paid =
            hub.post_as(&ann, &format!("/bounty/{bounty}/accept"), &json!({"asset_id": asset})).expect(200);
        let roles: Vec<_> =
            paid["payouts"].as_array().unwrap().iter().map(|one| text(&one["role"])).collect();
        assert_eq!(roles, ["proposer", "solver", "solver", "solver", "aggregator"]);
        // 100001 milli-credits: 5 % are 5000, the solvers get 35000, 30000 and 20000, and the rest is the aggregator's.
        for (node, earned) in [
            ("node_p", 5_000),
            ("node_a", 35_000),
            ("node_b", 30_000),
            ("node_c", 20_000),
            ("node_m", 10_001),
        ] {
            assert_eq!(node_balance(hub, node), 500_000 + earned, "{node}");
            assert!(event_kinds(hub, node).contains(&"bounty_paid".to_owned()), "{node}");
        }
        assert_eq!(balance(hub, &account), 99_999);
        let shown = swarm(hub, &merge);
        assert_eq!(shown["progress"]["status"], "settled");
        let last = &shown["contributions"][4];
        assert_eq!((&last["role"], &last["credits"]), (&json!("aggregator"), &json!(10.001)));
        assert_eq!((&last["weight"], &last["asset_id"]), (&json!(0.1), &json!(asset)));
        all_is_well(hub);
    });
}

/// Which of some assets a node gets by fetching them.
fn fetched(hub: &TestHub, node: &str, bearer: Option<&str>, assets: &[String]) -> Vec<String> {
    let message = hub.envelope(node, "fetch", json!({"asset_ids": assets})).to_string().into_bytes();
    let told = hub.call("POST", "/a2a/fetch", bearer, Some(message)).expect(200);
    told["payload"]["assets"].as_array().unwrap().iter().map(|asset| text(&asset["asset_id"])).collect()
}

#[test]
fn whoever_merges_and_whoever_pays_reads_what_was_handed_in() {
    let priced = |config: &mut HubConfig| {
        quiet(config);
        config.credits.fetch_price = 1000;
    };
    on_sqlite_with(priced, |hub| {
        for node in ["node_p", "node_a", "node_b", "node_m", "node_x"] {
            hub.register(node);
        }
        let sees = |node: &str, assets: &[String]| fetched(hub, node, None, assets);
        stands(hub, "node_m", 60.0);
        let (ann, _) = user(hub, "ann");
        let (bob, _) = user(hub, "bob");
        let (bounty, task) = offer(hub, &ann, 10.0);
        let parts = cut(hub, &task, "node_p", &[0.5, 0.3]);
        let results: Vec<String> = [("node_a", 1), ("node_b", 2)]
            .iter()
            .zip(&parts)
            .map(|((node, n), part)| solve(hub, node, part, *n))
            .collect();
        let nothing: &[String] = &[];
        assert_eq!(sees("node_p", &results), results);
        for other in ["node_m", "node_x"] {
            assert_eq!(sees(other, &results), nothing, "{other}");
        }
        assert_eq!(sees("node_a", &results), results[..1]);
        let shown = |told: Value| told["payload"]["asset_id"].clone();
        let path = |asset: &str| format!("/a2a/assets/{asset}?detailed=true");
        let whole = |bearer: &str, asset: &str| shown(hub.get_as(bearer, &path(asset)).expect(200));
        let by =
            |node: &str, asset: &str| shown(hub.get(&format!("{}&node_id={node}", path(asset))).expect(200));
        assert_eq!(whole(&ann, &results[0]), json!(results[0]));
        assert_eq!(whole(&bob, &results[0]), Value::Null);

        let merge = text(&swarm(hub, &task)["aggregation_task"]["task_id"]);
        let body = text(&hub.get(&format!("/task/{merge}")).expect(200)["body"]);
        assert!(body.contains(&results[1]) && body.contains("POST /a2a/fetch"), "{body}");
        claim(hub, "node_m", &merge);
        assert_eq!(sees("node_m", &results), results);
        assert_eq!(by("node_m", &results[1]), json!(results[1]));
        assert_eq!(by("node_x", &results[1]), Value::Null);
        let merged = [complete(hub, "node_m", &merge, 9)];
        assert_eq!(fetched(hub, "node_unknown", Some(&ann), &merged), merged);
        assert_eq!(fetched(hub, "node_unknown", Some(&bob), &merged), nothing);
        assert_eq!(whole(&ann, &merged[0]), json!(merged[0]));
        assert_eq!(sees("node_x", &merged), nothing);
        assert_eq!(node_balance(hub, "node_m"), 500_000);

        hub.post_as(&ann, &format!("/bounty/{bounty}/reject"), &json!({})).expect(200);
        assert_eq!(whole(&ann, &merged[0]), Value::Null);
        assert_eq!(sees("node_m", &results), nothing);
        all_is_well(hub);
        // What is held back is closed to all of them.
        hub.hub
            .store
            .write_now(|tx| tx.run("UPDATE assets SET status = 'quarantined' WHERE node_id = 'node_a'", &[]))
            .unwrap();
        assert_eq!(sees("node_p", &results), results[1..]);
        assert_eq!(whole(&ann, &results[0]), Value::Null);
    });
}

#[test]
fn a_node_and_its_owner_read_the_answer_to_its_question() {
    on_sqlite_with(quiet, |hub| {
        let hello = hub.message("node_q", "hello", json!({})).expect(200);
        let (secret, code) = (text(&hello["node_secret"]), text(&hello["claim_code"]));
        let (ann, _) = user(hub, "ann");
        let (bob, _) = user(hub, "bob");
        hub.post_as(&ann, &format!("/claim/{code}"), &json!({})).expect(200);
        hub.register("node_w");
        let asked = json!({"sender_id": "node_q", "question": "Why does it time out?", "amount": 3});
        let task = text(&hub.post_as(&secret, "/a2a/ask", &asked).expect(200)["task_id"]);
        let answer = [solve(hub, "node_w", &task, 1)];
        assert_eq!(fetched(hub, "node_q", Some(&secret), &answer), answer);
        for (bearer, sees) in [(&ann, json!(answer[0])), (&bob, Value::Null)] {
            let shown = hub.get_as(bearer, &format!("/a2a/assets/{}?detailed=true", answer[0])).expect(200);
            assert_eq!(shown["payload"]["asset_id"], sees);
        }
    });
}

#[test]
fn a_proposal_is_refused_with_its_reason() {
    on_sqlite_with(quiet, |hub| {
        for node in ["node_p", "node_a"] {
            hub.register(node);
        }
        let (ann, _) = user(hub, "ann");
        let (_, task) = offer(hub, &ann, 1.0);
        let good = proposal(&task, "node_p", &[0.4, 0.4]);
        for path in [PATH, "/a2a/task/propose-decomposition"] {
            hub.post(path, &proposal("t1", "node_p", &[0.4, 0.4])).refused(404, "task_not_found");
            hub.post(path, &json!({"task_id": "t1"})).refused(400, "task_id_and_node_id_required");
        }
        let unclaimed = hub.post(PATH, &good).refused(409, "task_not_claimed");
        assert_eq!(unclaimed["task_status"], "open");
        // What is wrong with the task comes first.
        hub.post(PATH, &proposal(&task, "node_p", &[])).refused(409, "task_not_claimed");
        hub.post(PATH, &proposal(&task, "node_new", &[0.4, 0.4])).refused(401, "node_secret_not_set");
        claim(hub, "node_p", &task);
        hub.post(PATH, &proposal(&task, "node_a", &[0.4, 0.4])).refused(403, "not_task_claimer");
        for weights in [vec![], vec![0.85], vec![0.05; 11]] {
            hub.post(PATH, &proposal(&task, "node_p", &weights)).refused(400, "invalid_subtask_count");
        }
        for weights in [[0.0, 0.1], [-0.1, 0.1], [0.1, 1.1]] {
            hub.post(PATH, &proposal(&task, "node_p", &weights)).refused(400, "invalid_subtask");
        }
        hub.post(PATH, &proposal(&task, "node_p", &[0.425, 0.4251])).refused(400, "weight_exceeds_limit");
        for (key, bad, code) in [
            ("title", Value::Null, "invalid_subtask"),
            ("title", json!(5), "invalid_subtask"),
            ("title", json!(" "), "invalid_subtask"),
            ("title", json!("x".repeat(301)), "invalid_subtask"),
            ("weight", Value::Null, "invalid_subtask"),
            ("weight", json!("0.1"), "invalid_subtask"),
            ("signals", json!(5), "validation_error"),
            ("body", json!("x".repeat(8001)), "validation_error"),
            ("body", json!(5), "validation_error"),
        ] {
            let mut spoilt = good.clone();
            spoilt["subtasks"][1][key] = bad;
            hub.post(PATH, &spoilt).refused(400, code);
        }
        hub.post(PATH, &json!({"task_id": task, "node_id": "node_p", "subtasks": "two"}))
            .refused(400, "validation_error");
        let told = hub.post(PATH, &proposal(&task, "node_p", &[0.425, 0.425])).expect(200);
        let part = text(&told["subtasks"][0]["task_id"]);
        let again = hub.post(PATH, &good).refused(409, "already_decomposed");
        assert_eq!(again["subtasks"].as_array().unwrap().len(), 2);
        claim(hub, "node_p", &part);
        hub.post(PATH, &proposal(&part, "node_p", &[0.4, 0.4])).refused(409, "cannot_decompose_subtask");
        // Nor is it given back, by the node or by time.
        let released = {
            let (part, now) = (part, hub.hub.now());
            hub.hub.store.write_now(move |tx| {
                let node = nodes::lock(tx, "node_p")?.unwrap();
                claim::release(tx, &node, &part, now)
            })
        };
        assert!(matches!(released.unwrap(), TaskChangeOutcome::Refused(..)));
        pass(hub, 2 * DAY);
        assert_eq!(swarm(hub, &task)["subtasks"][0]["status"], "claimed");
        for path in ["/task/swarm/t1", "/a2a/task/swarm/t1"] {
            hub.get(path).refused(404, "task_not_found");
        }
        let (_, whole) = offer(hub, &ann, 1.0);
        assert_eq!(swarm(hub, &whole)["progress"]["status"], "not_decomposed");
        all_is_well(hub);
    });
}

#[test]
fn a_rejected_swarm_is_merged_again_and_nothing_else() {
    on_sqlite_with(quiet, |hub| {
        for node in ["node_p", "node_m", "node_n"] {
            hub.register(node);
            stands(hub, node, 70.0);
        }
        let (ann, account) = user(hub, "ann");
        let root = admin(hub);
        let (bounty, task) = offer(hub, &ann, 10.0);
        let parts = cut(hub, &task, "node_p", &[0.1, 0.3]);
        let published = solve(hub, "node_p", &parts[0], 1);
        let matched = json!({"asset_id": published});
        hub.post_as(&root, &format!("/bounty/{bounty}/match"), &matched).refused(409, "bounty_state");
        solve(hub, "node_p", &parts[1], 2);
        let merge = text(&swarm(hub, &task)["aggregation_task"]["task_id"]);
        solve(hub, "node_m", &merge, 3);
        let back =
            hub.post_as(&ann, &format!("/bounty/{bounty}/reject"), &json!({"reason": "No."})).expect(200);
        assert_eq!((&back["status"], &back["task_status"]), (&json!("claimed"), &json!("claimed")));
        let shown = swarm(hub, &task);
        assert_eq!(
            (&shown["aggregation_task"]["status"], &shown["child_progress"]["completed"]),
            (&json!("open"), &json!(2))
        );
        assert_eq!(shown["aggregation_task"]["claimed_by"], Value::Null);
        assert!(event_kinds(hub, "node_m").contains(&"submission_rejected".to_owned()));
        let submission = claim(hub, "node_n", &merge);
        complete(hub, "node_n", &merge, 4);
        let taken = json!({"task_id": task, "submission_id": submission});
        hub.post_as(&ann, "/task/accept-submission", &taken).expect(200);
        // One node in three roles is paid for each: 500 + 2125 + 6375.
        assert_eq!((node_balance(hub, "node_p"), node_balance(hub, "node_n")), (509_000, 501_000));
        assert_eq!((node_balance(hub, "node_m"), balance(hub, &account)), (500_000, 190_000));
        all_is_well(hub);
    });
}

#[test]
fn a_swarm_that_is_not_done_in_time_ends_with_all_its_parts() {
    both_with(quiet, |hub| {
        for node in ["node_p", "node_a", "node_b"] {
            hub.register(node);
        }
        let (ann, account) = user(hub, "ann");
        let (bounty, task) = offer(hub, &ann, 10.0);
        let parts = cut(hub, &task, "node_p", &[0.2, 0.2, 0.2]);
        solve(hub, "node_a", &parts[0], 1);
        claim(hub, "node_b", &parts[1]);
        pass(hub, 7 * DAY);
        let shown = detail(hub, &bounty);
        assert_eq!((&shown["status"], &shown["refunded"]), (&json!("expired"), &json!(10)));
        let shown = swarm(hub, &parts[2]);
        let statuses: Vec<_> =
            shown["subtasks"].as_array().unwrap().iter().map(|part| text(&part["status"])).collect();
        assert_eq!(statuses, ["completed", "expired", "expired"]);
        assert_eq!(
            (&shown["progress"]["status"], &shown["parent_task"]["status"]),
            (&json!("expired"), &json!("expired"))
        );
        for node in ["node_p", "node_a", "node_b"] {
            assert!(event_kinds(hub, node).contains(&"task_expired".to_owned()), "{node}");
            assert_eq!(node_balance(hub, node), 500_000);
        }
        let open = hub.hub.store.read_now(|tx| {
            tx.count("SELECT COUNT(*) FROM submissions WHERE status IN ('working', 'pending')", &[])
        });
        assert_eq!((open.unwrap(), balance(hub, &account)), (0, 200_000));
        all_is_well(hub);
    });
}

#[test]
fn commission_and_reduced_payouts_of_a_swarm_add_up() {
    let terms = |config: &mut capsid_hub::config::HubConfig| {
        quiet(config);
        config.credits.commission_milli = 15_000;
        config.work.reduced_payouts = true;
    };
    on_sqlite_with(terms, |hub| {
        for node in ["node_p", "node_a", "node_b", "node_m"] {
            hub.register(node);
        }
        stands(hub, "node_a", 10.0);
        stands(hub, "node_m", 99.0);
        let (ann, account) = user(hub, "ann");
        let (bounty, task) = offer(hub, &ann, 100.0);
        let parts = cut(hub, &task, "node_p", &[0.425, 0.425]);
        let expected = || -> Vec<(String, Value)> {
            let told = swarm(hub, &task);
            let rows = told["contributions"].as_array().unwrap().iter();
            rows.map(|row| (text(&row["node_id"]), row["credits"].clone())).collect()
        };
        let row = |node: &str, credits: f64| (node.to_owned(), json!(credits));
        // Nobody works on the first part yet.
        let asset = solve(hub, "node_b", &parts[1], 2);
        assert_eq!(expected(), [row("node_p", 4.25), row("node_b", 36.125)]);
        let again = json!({"task_id": parts[1], "node_id": "node_b", "asset_id": asset});
        assert_eq!(hub.post("/task/complete", &again).expect(200)["credits_pending"], 36.125);
        let asset = solve(hub, "node_a", &parts[0], 1);
        let again = json!({"task_id": parts[0], "node_id": "node_a", "asset_id": asset});
        assert_eq!(hub.post("/task/complete", &again).expect(200)["credits_pending"], 18.062);
        let merge = text(&swarm(hub, &task)["aggregation_task"]["task_id"]);
        solve(hub, "node_m", &merge, 3);
        let before = expected();
        // Of 100 the hub keeps 15; of 85 the solvers get 36.125 each, one of them half of it.
        let earned = [("node_p", 4_250), ("node_a", 18_062), ("node_b", 36_125), ("node_m", 8_500)];
        let pending =
            |node: &str| hub.get(&format!("/billing/earnings/{node}")).expect(200)["pending"].clone();
        for (node, earned) in earned {
            assert_eq!(pending(node), json!(capsid_rules::credits::to_decimal(earned)), "{node}");
        }
        hub.post_as(&ann, &format!("/bounty/{bounty}/accept"), &json!({})).expect(200);
        assert_eq!(expected(), before);
        for (node, earned) in earned {
            assert_eq!(node_balance(hub, node), 500_000 + earned, "{node}");
            assert_eq!(pending(node), 0, "{node}");
        }
        assert_eq!((balance(hub, "hub"), balance(hub, &account)), (15_000, 100_000 + 18_063));
        all_is_well(hub);
    });
}

#[test]
fn a_part_of_a_node_that_was_banned_is_done_by_another() {
    on_sqlite_with(quiet, |hub| {
        for node in ["node_p", "node_a", "node_b", "node_c", "node_m", "node_n"] {
            hub.register(node);
        }
        stands(hub, "node_m", 60.0);
        stands(hub, "node_n", 60.0);
        let (ann, _) = user(hub, "ann");
        let offer = json!({"title": "Fix the timeout", "body": "ä".repeat(2500), "amount": 10});
        let made = hub.post_as(&ann, "/bounty/create", &offer).expect(201);
        let (bounty, task) = (text(&made["bounty_id"]), text(&made["task_id"]));
        let parts = cut(hub, &task, "node_p", &[0.4, 0.4]);
        let taken = hub.post("/task/claim", &json!({"task_id": parts[0], "node_id": "node_a"})).expect(200);
        // Who works on a part is told what the whole asks; a list is not.
        assert_eq!(taken["task"]["parent_instruction"], "ä".repeat(2000));
        assert_eq!(taken["task"]["complexity_score"], json!(0.31));
        assert_eq!(
            hub.get(&format!("/task/{}", parts[0])).expect(200)["parent_instruction"],
            "ä".repeat(2000)
        );
        assert_eq!(hub.get("/task/list").expect(200)["tasks"][0].get("parent_instruction"), None);
        claim(hub, "node_b", &parts[1]);
        let ban = |node: &'static str| {
            let by = AdminAction { actor: "operator", reason: Some("it lies"), now: hub.hub.now() };
            hub.hub
                .store
                .write_now(move |tx| operator::set_node_status(tx, node, NodeStatus::Banned, "ban", by))
                .unwrap();
            pass(hub, HOUR);
        };
        ban("node_a");
        let status = |task: &str| text(&hub.get(&format!("/task/{task}")).expect(200)["status"]);
        assert_eq!((status(&parts[0]), status(&parts[1])), ("open".to_owned(), "claimed".to_owned()));
        solve(hub, "node_c", &parts[0], 1);
        complete(hub, "node_b", &parts[1], 2);
        let merge = text(&swarm(hub, &task)["aggregation_task"]["task_id"]);
        claim(hub, "node_m", &merge);
        ban("node_m");
        assert_eq!(status(&merge), "open");
        // Whoever proposed the parts is not needed any more.
        ban("node_p");
        assert_eq!(status(&task), "claimed");
        solve(hub, "node_n", &merge, 3);
        hub.post_as(&ann, &format!("/bounty/{bounty}/accept"), &json!({})).expect(200);
        assert_eq!(node_balance(hub, "node_c"), 504_250);
        all_is_well(hub);
    });
}

#[test]
fn a_swarm_nobody_decides_on_gives_back() {
    on_sqlite_with(quiet, |hub| {
        hub.register("node_p");
        stands(hub, "node_p", 70.0);
        let (ann, account) = user(hub, "ann");
        let (bounty, task) = offer(hub, &ann, 10.0);
        for (n, part) in cut(hub, &task, "node_p", &[0.2, 0.2]).iter().enumerate() {
            solve(hub, "node_p", part, n as u64);
        }
        let merge = text(&swarm(hub, &task)["aggregation_task"]["task_id"]);
        solve(hub, "node_p", &merge, 3);
        pass(hub, 8 * DAY);
        assert_eq!(detail(hub, &bounty)["status"], "expired");
        assert_eq!((node_balance(hub, "node_p"), balance(hub, &account)), (500_000, 200_000));
        let open = hub.hub.store.read_now(|tx| {
            tx.count("SELECT COUNT(*) FROM submissions WHERE status IN ('working', 'pending')", &[])
        });
        assert_eq!(open.unwrap(), 0);
        all_is_well(hub);
    });
}

#[test]
fn solvers_who_finish_together_are_merged_once_and_many_acceptances_pay_once() {
    both_with(quiet, |hub| {
        let nodes = ["node_a", "node_b", "node_c", "node_d"];
        for node in nodes.iter().chain(&["node_p"]) {
            hub.register(node);
            stands(hub, node, 70.0);
        }
        let (ann, account) = user(hub, "ann");
        let (bounty, task) = offer(hub, &ann, 20.0);
        let parts = cut(hub, &task, "node_p", &[0.2; 4]);
        for (node, part) in nodes.iter().zip(&parts) {
            claim(hub, node, part);
        }
        std::thread::scope(|scope| {
            for (n, (node, part)) in nodes.iter().zip(&parts).enumerate() {
                scope.spawn(move || complete(hub, node, part, n as u64));
            }
        });
        let shown = swarm(hub, &task);
        assert_eq!(shown["child_progress"], json!({"completed": 4, "total": 4}));
        let merge = text(&shown["aggregation_task"]["task_id"]);
        solve(hub, "node_p", &merge, 9);
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope
                    .spawn(|| hub.post_as(&ann, &format!("/bounty/{bounty}/accept"), &json!({})).expect(200));
            }
        });
        // 5 % and 10 % for who proposed and merged, and 4.25 for each of the others.
        assert_eq!((node_balance(hub, "node_p"), node_balance(hub, "node_d")), (503_000, 504_250));
        assert_eq!(balance(hub, &account), 180_000);
        all_is_well(hub);
    });
}
