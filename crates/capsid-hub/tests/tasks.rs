//! Tasks: listed, claimed, promised, given back, completed, expired; the worker pool; and where else they show, on both
//! databases.

use crate::common::work::WEEK_MS;
use crate::common::{Answered, Bundle, TestHub, both, on_sqlite, on_sqlite_with};
use capsid_store::work::swarm;
use capsid_store::work::swarm::{ProposeOutcome, SubtaskProposal};
use serde_json::{Value, json};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

fn call(task: &str, node: &str) -> Value {
    json!({"task_id": task, "node_id": node})
}

fn claim(hub: &TestHub, task: &str, node: &str) -> Answered {
    hub.post("/task/claim", &call(task, node))
}

fn complete(hub: &TestHub, task: &str, node: &str, asset: &str) -> Answered {
    hub.post("/task/complete", &json!({"task_id": task, "node_id": node, "asset_id": asset}))
}

fn list(hub: &TestHub, query: &str) -> Vec<String> {
    ids(&hub.get(&format!("/task/list?{query}")).expect(200)["tasks"])
}

fn ids(tasks: &Value) -> Vec<String> {
    tasks.as_array().unwrap().iter().map(|task| task["task_id"].as_str().unwrap().to_owned()).collect()
}

fn at(hub: &TestHub, ms: i64) -> String {
    use capsid_model::time::{Clock, Time};
    Time(hub.clock.now().0 + ms).iso()
}

fn with(mut body: Value, key: &str, value: Value) -> Value {
    body[key] = value;
    body
}

#[test]
fn a_task_is_found_claimed_and_completed() {
    both(|hub| {
        for prefix in ["", "/a2a"] {
            let (task, node) = (format!("t{}", prefix.len()), format!("node_{}", prefix.len()));
            hub.register(&node);
            hub.offer(&task, 10);
            let listed = hub.get(&format!("{prefix}/task/list?reputation=50&limit=5")).expect(200);
            assert_eq!(listed["tasks"][0]["task_id"], task.as_str());
            assert_eq!(listed["tasks"][0]["signals"], "TimeoutError,retry");
            assert_eq!(listed["tasks"][0]["bounty_amount"], 10);

            let claimed = hub.post(&format!("{prefix}/task/claim"), &call(&task, &node)).expect(200);
            assert_eq!(claimed["status"], "claimed");
            assert_eq!(claimed["claimed_by"], node.as_str());
            assert_eq!(claimed["claimed_at"], at(hub, 0));
            assert_eq!(claimed["commitment_deadline"], Value::Null);
            assert_eq!(claimed["task"]["status"], "claimed");
            let submission = claimed["submission_id"].clone();
            assert!(submission.is_string());
            // Asking again changes nothing and is no error.
            let again = hub.post(&format!("{prefix}/task/claim"), &call(&task, &node)).expect(200);
            assert_eq!(again, claimed);
            assert!(!list(hub, "").contains(&task));

            let bundle = Bundle::new(task.len() as u64 + prefix.len() as u64);
            hub.publish(&node, &bundle).expect(200);
            let body = with(call(&task, &node), "asset_id", json!(bundle.capsule_id()));
            let done = hub.post(&format!("{prefix}/task/complete"), &body).expect(200);
            assert_eq!(done["status"], "completed");
            assert_eq!(done["asset_id"], json!(bundle.capsule_id()));
            assert_eq!(done["bounty_matched"], true);
            assert_eq!(done["credits_pending"], 10);
            assert_eq!(done["submission_id"], submission);
            assert!(done.get("swarm").is_none());
            assert_eq!(hub.post(&format!("{prefix}/task/complete"), &body).expect(200), done);

            let mine = hub.get(&format!("{prefix}/task/my?node_id={node}&limit=20")).expect(200);
            assert_eq!(mine["tasks"][0]["status"], "completed");
            assert_eq!(mine["tasks"][0]["my_submission_id"], submission);
            assert_eq!(mine["tasks"][0]["my_submission_status"], "pending");
            assert_eq!(mine["tasks"][0]["my_submission_asset"], json!(bundle.capsule_id()));
            let detail = hub.get(&format!("{prefix}/task/{task}")).expect(200);
            assert_eq!((&detail["status"], &detail["claimable"]), (&json!("completed"), &json!(false)));
            assert_eq!(detail["result_asset_id"], json!(bundle.capsule_id()));
            let tries = hub.get(&format!("{prefix}/task/{task}/submissions")).expect(200);
            assert_eq!(tries["count"], 1);
            assert_eq!(tries["submissions"][0]["status"], "pending");
            assert_eq!(tries["submissions"][0]["node_id"], node.as_str());
        }
    });
}

#[test]
fn the_same_calls_are_served_twice_and_named_once() {
    let hub = TestHub::sqlite();
    let paths = hub.description["paths"].as_object().unwrap();
    let mut names = std::collections::HashSet::new();
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name.to_owned()), "{method} {path} has the name {name} of another one");
        }
        if path.starts_with("/task/") {
            assert_eq!(paths[&format!("/a2a{path}")]["post"]["summary"], item["post"]["summary"], "{path}");
        }
    }
    for path in ["/task/list", "/a2a/task/list"] {
        hub.post(path, &json!({})).refused(404, "route_not_found");
    }
    hub.get("/a2a/task/t1/nothing").refused(404, "route_not_found");
}

#[test]
fn lists_are_ordered_filtered_and_paged() {
    both(|hub| {
        hub.register("node_a");
        hub.register("node_b");
        for (task, credits) in [("cheap", 1), ("dear", 30), ("free", 0), ("mid_old", 5), ("mid_new", 5)] {
            hub.offer(task, credits);
        }
        hub.offer_with("hard", 20, |task| task.min_reputation = 70.0);
        hub.offer_with("kept", 40, |task| task.reserved_for = Some("node_a".to_owned()));
        hub.offer_with("short", 2, |task| task.expires_at -= WEEK_MS - HOUR);
        assert_eq!(list(hub, ""), ["dear", "hard", "mid_old", "mid_new", "short", "cheap", "free"]);
        assert_eq!(list(hub, "reputation=50&min_bounty=5"), ["dear", "mid_old", "mid_new"]);
        assert_eq!(list(hub, "node_id=node_a&min_bounty=5"), ["kept", "dear", "mid_old", "mid_new"]);
        assert_eq!(list(hub, "node_id=node_b&min_bounty=5"), ["dear", "mid_old", "mid_new"]);
        assert_eq!(list(hub, "node_id=node_unknown&min_bounty=20"), ["dear"]);
        hub.set_reputation("node_b", 80.0);
        assert_eq!(list(hub, "node_id=node_b&reputation=1&min_bounty=20"), ["dear", "hard"]);
        assert_eq!(list(hub, "min_bounty=99999999999999999999"), [""; 0]);
        hub.clock.advance(HOUR);
        assert!(!list(hub, "").contains(&"short".to_owned()), "what is over is not listed");
        assert_eq!(hub.get("/a2a/stats").expect(200)["open_tasks"], 7);

        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = hub.get(&format!("/task/list?limit=2&cursor={cursor}")).expect(200);
            assert_eq!(page["total"], 6);
            found.extend(ids(&page["tasks"]));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = next.to_owned(),
                None => break,
            }
        }
        assert_eq!(found, ["dear", "hard", "mid_old", "mid_new", "cheap", "free"]);
        for bad in ["reputation=x", "min_bounty=nan", "node_id=a%20b"] {
            hub.get(&format!("/task/list?{bad}")).refused(400, "validation_error");
        }
        hub.get("/task/list?cursor=zz").refused(400, "invalid_cursor");
        assert_eq!(hub.get("/a2a/task/my?limit=20").expect(200)["tasks"], json!([]));
        assert_eq!(hub.get("/task/my?node_id=node_x").expect(200)["tasks"], json!([]));
    });
}

#[test]
fn who_may_take_a_task_is_counted() {
    on_sqlite_with(
        |config| config.work.model_tiers = vec![("big".to_owned(), 3)],
        |hub| {
            for (node, model) in [("node_a", "big"), ("node_b", "small"), ("node_c", "big")] {
                hub.message(node, "hello", json!({"model": model})).expect(200);
            }
            hub.set_reputation("node_c", 10.0);
            hub.offer_with("t1", 0, |task| task.min_reputation = 20.0);
            hub.offer_with("t2", 0, |task| task.min_model_tier = Some(2));
            hub.offer_with("t3", 0, |task| task.reserved_for = Some("node_c".to_owned()));
            // The node that asks is one of them.
            for (query, count) in [("task_id=t1", 3), ("task_id=t2", 2), ("task_id=t3", 1), ("", 4)] {
                let told = hub.get(&format!("/task/eligible-count?{query}")).expect(200);
                assert_eq!(told["eligible_count"], count, "{query}");
            }
            let told = hub.get("/a2a/task/eligible-count?min_reputation=50").expect(200);
            assert_eq!((&told["eligible_count"], &told["min_reputation"]), (&json!(3), &json!(50.0)));
            hub.change("UPDATE nodes SET status = 'banned' WHERE node_id = 'node_a'");
            assert_eq!(hub.get("/task/eligible-count?task_id=t2").expect(200)["eligible_count"], 1);
            hub.get("/task/eligible-count?task_id=t9").refused(404, "task_not_found");
            hub.get("/task/eligible-count?min_reputation=x").refused(400, "validation_error");
        },
    );
}

#[test]
fn a_task_is_taken_by_one_who_may() {
    on_sqlite_with(
        |config| config.work.model_tiers = vec![("big".to_owned(), 3)],
        |hub| {
            for node in ["node_a", "node_b"] {
                hub.register(node);
            }
            hub.message("node_big", "hello", json!({"model": "big"})).expect(200);
            hub.offer("t1", 1);
            for body in
                [json!({}), json!({"task_id": "t1"}), json!({"node_id": "node_a"}), call("", "node_a")]
            {
                hub.post("/task/claim", &body).refused(400, "task_id_and_node_id_required");
            }
            claim(hub, "t9", "node_a").refused(404, "task_not_found");
            claim(hub, "t1", "node_unheard_of").refused(401, "node_secret_not_set");
            claim(hub, &"x".repeat(201), "node_a").refused(400, "validation_error");
            hub.post("/task/claim", &with(call("t1", "node_a"), "sender_id", json!("node_b")))
                .refused(400, "validation_error");

            claim(hub, "t1", "node_a").expect(200);
            let lost = claim(hub, "t1", "node_b").refused(409, "task_not_open");
            assert_eq!((&lost["task_status"], &lost["claimed_by"]), (&json!("claimed"), &json!("node_a")));

            hub.offer_with("hard", 1, |task| task.min_reputation = 60.5);
            let low = claim(hub, "hard", "node_a").refused(403, "insufficient_reputation");
            assert_eq!((&low["required"], &low["current"]), (&json!(60.5), &json!(50.0)));
            hub.set_reputation("node_a", 60.5);
            claim(hub, "hard", "node_a").expect(200);

            hub.offer_with("kept", 1, |task| task.reserved_for = Some("node_a".to_owned()));
            claim(hub, "kept", "node_b").refused(403, "task_reserved");
            claim(hub, "kept", "node_a").expect(200);

            hub.offer_with("modern", 1, |task| task.min_model_tier = Some(2));
            hub.offer_with("named", 1, |task| task.allowed_models = Some(r#"["Small-2"]"#.to_owned()));
            let refused = claim(hub, "modern", "node_a").refused(403, "insufficient_model_tier");
            assert_eq!((&refused["min_model_tier"], &refused["model"]), (&json!(2), &Value::Null));
            let refused = claim(hub, "named", "node_big").refused(403, "insufficient_model_tier");
            assert_eq!((&refused["model"], &refused["model_tier"]), (&json!("big"), &json!(3)));
            assert_eq!(refused["allowed_models"], json!(["Small-2"]));
            claim(hub, "modern", "node_big").expect(200);
            hub.message("node_a", "hello", json!({"model": "small-2"})).expect(200);
            claim(hub, "named", "node_a").expect(200);
            let tiers = hub.get("/a2a/policy/model-tiers").expect(200);
            assert_eq!(tiers["tiers"], json!([{"model": "big", "tier": 3}]));
            assert_eq!(tiers["enforced"], true);
        },
    );
}

#[test]
fn a_node_that_shows_its_secret_is_the_only_one_that_may() {
    on_sqlite(|hub| {
        let secret = hub.register("node_a");
        hub.offer("t1", 1);
        hub.post_as(&secret, "/task/claim", &call("t1", "node_a")).expect(200);
        for path in ["/task/claim", "/task/release", "/task/complete", "/task/submit", "/a2a/work/claim"] {
            hub.post(path, &call("t1", "node_a")).refused(401, "node_secret_required");
            hub.post_as(&"0".repeat(64), path, &call("t1", "node_a")).refused(403, "node_secret_invalid");
        }
        let promise = json!({"node_id": "node_a", "deadline": at(hub, HOUR)});
        hub.post("/task/t1/commitment", &promise).refused(401, "node_secret_required");
        hub.get("/task/my?node_id=node_a").refused(401, "node_secret_required");
        hub.get("/a2a/work/my?node_id=node_a").refused(401, "node_secret_required");
        assert_eq!(hub.get_as(&secret, "/task/my?node_id=node_a").expect(200)["count"], 1);
        let inside = with(call("t1", "node_a"), "node_secret", json!(secret));
        hub.post("/task/release", &inside).expect(200);
        hub.change("UPDATE nodes SET status = 'banned' WHERE node_id = 'node_a'");
        hub.post("/task/claim", &inside).refused(403, "node_banned");
    });
}

#[test]
fn what_is_taken_can_be_given_back() {
    on_sqlite(|hub| {
        for node in ["node_a", "node_b"] {
            hub.register(node);
        }
        hub.offer("t1", 1);
        let release = |node: &str| hub.post("/task/release", &call("t1", node));
        let refused = release("node_a").refused(409, "task_not_claimed");
        assert_eq!(refused["task_status"], "open");
        let first = claim(hub, "t1", "node_a").expect(200)["submission_id"].clone();
        release("node_b").refused(403, "not_task_claimer");
        let released = release("node_a").expect(200);
        assert_eq!((&released["status"], &released["task"]["status"]), (&json!("released"), &json!("open")));
        assert_eq!(released["task"]["claimed_by"], Value::Null);
        release("node_a").refused(409, "task_not_claimed");
        assert_eq!(hub.get("/task/my?node_id=node_a").expect(200)["tasks"], json!([]));
        let second = claim(hub, "t1", "node_b").expect(200)["submission_id"].clone();
        assert_ne!(first, second);
        let tries = hub.get("/task/t1/submissions").expect(200)["submissions"].clone();
        assert_eq!((&tries[0]["status"], &tries[1]["status"]), (&json!("released"), &json!("working")));
        hub.get("/task/t9/submissions").refused(404, "task_not_found");
        hub.get("/task/t9").refused(404, "task_not_found");
        hub.post("/task/release", &call("t9", "node_a")).refused(404, "task_not_found");
    });
}

#[test]
fn promises_lie_between_five_minutes_and_a_day() {
    on_sqlite(|hub| {
        hub.register("node_a");
        hub.offer_with("t1", 1, |task| task.expires_at -= WEEK_MS - 20 * HOUR);
        let promise = |deadline: Value| with(call("t1", "node_a"), "commitment_deadline", deadline);
        for bad in
            [json!(at(hub, 4 * MINUTE)), json!(at(hub, 25 * HOUR)), json!(at(hub, 21 * HOUR)), json!(1e300)]
        {
            hub.post("/task/claim", &promise(bad)).refused(400, "invalid_deadline");
        }
        for bad in [json!("soon"), json!([1]), json!(true)] {
            hub.post("/task/claim", &promise(bad)).refused(400, "validation_error");
        }
        claim(hub, "t1", "node_a").expect(200);
        // Whoever promised nothing at first may do so by claiming again.
        let in_ms = crate::common::START.0 + HOUR;
        let claimed = hub.post("/task/claim", &promise(json!(in_ms))).expect(200);
        assert_eq!(claimed["commitment_deadline"], at(hub, HOUR));
        let commit = |hours: i64| {
            hub.post(
                "/a2a/task/t1/commitment",
                &json!({"node_id": "node_a", "deadline": at(hub, hours * HOUR)}),
            )
        };
        assert_eq!(commit(1).expect(200)["extensions"], 0, "the same promise puts nothing off");
        assert_eq!(commit(2).expect(200)["extensions"], 1);
        assert_eq!(commit(3).expect(200)["extensions_left"], 0);
        commit(4).refused(400, "invalid_deadline");
        commit(3).expect(200);
        let other = json!({"sender_id": "node_a", "commitment_deadline": at(hub, 3 * HOUR)});
        hub.post("/task/t1/commitment", &other).expect(200);
        hub.post("/task/t1/commitment", &json!({"node_id": "node_a"})).refused(400, "validation_error");
        hub.post("/task/t1/commitment", &json!({"deadline": 1})).refused(400, "task_id_and_node_id_required");
        hub.post("/task/t9/commitment", &other).refused(404, "task_not_found");
        hub.register("node_b");
        let stranger = json!({"node_id": "node_b", "deadline": at(hub, HOUR)});
        hub.post("/task/t1/commitment", &stranger).refused(403, "not_task_claimer");
    });
}

#[test]
fn what_is_handed_in_is_the_nodes_own() {
    on_sqlite(|hub| {
        for node in ["node_a", "node_b"] {
            hub.register(node);
        }
        let (theirs, revoked, own) = (Bundle::new(1), Bundle::new(2), Bundle::new(3));
        hub.publish("node_b", &theirs).expect(200);
        hub.offer("t1", 1);
        complete(hub, "t1", "node_a", own.capsule_id()).refused(409, "task_not_claimed");
        claim(hub, "t1", "node_a").expect(200);
        let refused = complete(hub, "t1", "node_b", theirs.capsule_id()).refused(403, "not_task_claimer");
        assert_eq!(refused["claimed_by"], "node_a");
        complete(hub, "t1", "node_a", theirs.capsule_id()).refused(403, "not_asset_owner");
        complete(hub, "t1", "node_a", own.capsule_id()).refused(404, "asset_not_found");
        hub.publish("node_a", &revoked).expect(200);
        let withdrawal = json!({"node_id": "node_a", "asset_id": revoked.capsule_id()});
        hub.post("/a2a/asset/self-revoke", &withdrawal).expect(200);
        let refused = complete(hub, "t1", "node_a", revoked.capsule_id()).refused(409, "state_conflict");
        assert_eq!(refused["asset_status"], "revoked");
        hub.publish("node_a", &own).expect(200);
        complete(hub, "t1", "node_a", own.capsule_id()).expect(200);
        complete(hub, "t1", "node_b", theirs.capsule_id()).refused(403, "not_task_claimer");
        complete(hub, "t9", "node_a", own.capsule_id()).refused(404, "task_not_found");
        hub.post("/task/complete", &with(call("t1", "node_a"), "asset_id", json!(5)))
            .refused(400, "validation_error");
    });
}

#[test]
fn an_id_that_is_not_known_stands_for_the_newest_capsule_since_the_claim() {
    both(|hub| {
        hub.register("node_a");
        hub.publish("node_a", &Bundle::new(1)).expect(200);
        hub.clock.advance(MINUTE);
        let unknown = format!("sha256:{}", "0".repeat(64));
        for (n, handed_in) in [
            json!({"asset_id": unknown}),
            json!({"asset_id": "capsule_local"}),
            json!({}),
            json!({"asset_id": null}),
        ]
        .into_iter()
        .enumerate()
        {
            let task = format!("t{n}");
            hub.offer(&task, 1);
            hub.clock.advance(MINUTE);
            claim(hub, &task, "node_a").expect(200);
            let mut body = call(&task, "node_a");
            body.as_object_mut().unwrap().extend(handed_in.as_object().unwrap().clone());
            hub.post("/task/complete", &body).refused(404, "asset_not_found");
            let bundle = Bundle::new(10 + n as u64);
            hub.publish("node_a", &bundle).expect(200);
            let done = hub.post("/task/submit", &body).expect(200);
            assert_eq!(done["asset_id"], json!(bundle.capsule_id()));
            assert_eq!(hub.post("/task/complete", &body).expect(200), done);
        }
        hub.offer("named", 1);
        claim(hub, "named", "node_a").expect(200);
        let body = with(call("named", "node_a"), "result_asset_id", json!(Bundle::new(1).capsule_id()));
        assert_eq!(
            hub.post("/task/submit", &body).expect(200)["asset_id"],
            json!(Bundle::new(1).capsule_id())
        );
    });
}

#[test]
fn a_capsule_that_is_published_a_moment_later_is_found() {
    both(|hub| {
        hub.register("node_a");
        hub.offer("t1", 1);
        claim(hub, "t1", "node_a").expect(200);
        let bundle = Bundle::new(1);
        let body = with(call("t1", "node_a"), "asset_id", json!(bundle.capsule_id())).to_string();
        let publish = hub.envelope("node_a", "publish", bundle.payload()).to_string();
        let (completed, published) = hub.runtime.block_on(async {
            let send = |path: &str, body: String| {
                crate::common::send(
                    hub.router(),
                    crate::common::request("POST", path, None, Some(body.into_bytes())),
                )
            };
            let later = async {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                send("/a2a/publish", publish).await
            };
            tokio::join!(send("/a2a/task/complete", body), later)
        });
        published.expect(200);
        assert_eq!(completed.expect(200)["asset_id"], json!(bundle.capsule_id()));
    });
}

#[test]
fn what_nobody_completes_expires_and_the_credits_go_back() {
    both(|hub| {
        let secret = hub.register("node_a");
        let before = hub.dump();
        hub.offer("t1", 10);
        hub.offer("t2", 10);
        assert_ne!(before, hub.dump());
        claim(hub, "t1", "node_a").expect(200);
        hub.post("/task/t1/commitment", &json!({"node_id": "node_a", "deadline": at(hub, 20 * HOUR)}))
            .expect(200);
        let balance = || {
            hub.post("/a2a/heartbeat", &json!({"node_id": "node_asker"})).expect(200)["credit_balance"]
                .clone()
        };
        let aside = balance();
        hub.clock.advance(WEEK_MS);
        // Before any job has run, what is over is over.
        assert_eq!(hub.get("/task/t1").expect(200)["status"], "expired");
        let late = claim(hub, "t2", "node_a").refused(409, "task_not_open");
        assert_eq!(late["task_status"], "expired");
        hub.publish("node_a", &Bundle::new(1)).expect(200);
        let late =
            complete(hub, "t1", "node_a", Bundle::new(1).capsule_id()).refused(409, "task_not_claimed");
        assert_eq!(late["task_status"], "expired");
        hub.post("/task/release", &call("t1", "node_a")).refused(409, "task_not_claimed");
        hub.run_jobs();
        hub.run_jobs();
        assert_eq!(balance().as_f64().unwrap() - aside.as_f64().unwrap(), 20.0);
        let mine = hub.get("/task/my?node_id=node_a").expect(200);
        assert_eq!(mine["tasks"][0]["my_submission_status"], "expired");
        assert_eq!(mine["tasks"][0]["status"], "expired");
        let told = hub.told("node_a", &secret);
        assert_eq!(told.iter().filter(|event| event["type"] == "task_expired").count(), 1, "{told:?}");
        assert_eq!(hub.get("/a2a/stats").expect(200)["open_bounties"], 0);
    });
}

#[test]
fn a_promise_that_is_not_kept_opens_the_task_again() {
    both(|hub| {
        let secret = hub.register("node_a");
        hub.register("node_b");
        for task in ["promised", "silent", "of_banned"] {
            hub.offer(task, 10);
        }
        let body = with(call("promised", "node_a"), "commitment_deadline", json!(at(hub, HOUR)));
        hub.post("/task/claim", &body).expect(200);
        claim(hub, "silent", "node_a").expect(200);
        claim(hub, "of_banned", "node_b").expect(200);
        let kinds = |kind: &str, told: &[Value]| told.iter().filter(|event| event["type"] == kind).count();
        hub.clock.advance(49 * MINUTE);
        hub.run_jobs();
        let told = hub.told("node_a", &secret);
        assert_eq!((kinds("task_assigned", &told), kinds("task_deadline_approaching", &told)), (2, 0));
        for _ in 0..3 {
            hub.clock.advance(MINUTE);
            hub.run_jobs();
        }
        assert_eq!(kinds("task_deadline_approaching", &hub.told("node_a", &secret)), 1, "once");
        hub.clock.advance(8 * MINUTE);
        let beat = hub.post_as(&secret, "/a2a/heartbeat", &json!({"node_id": "node_a"})).expect(200);
        assert_eq!(
            beat["overdue_tasks"],
            json!([{"task_id": "promised", "title": "Mend promised", "commitment_deadline": at(hub, 0), "overdue_minutes": 0}])
        );
        hub.run_jobs();
        assert_eq!(hub.get("/task/promised").expect(200)["status"], "open");
        assert_eq!(hub.get("/task/silent").expect(200)["status"], "claimed");
        assert_eq!(kinds("task_overdue", &hub.told("node_a", &secret)), 1);
        hub.change("UPDATE nodes SET status = 'banned' WHERE node_id = 'node_b'");
        hub.run_jobs();
        assert_eq!(hub.get("/task/of_banned").expect(200)["status"], "open");
        hub.clock.advance(hub.hub.config.work.claim_ms);
        hub.run_jobs();
        assert_eq!(hub.get("/task/silent").expect(200)["status"], "open");
        // Otherwise one node could hold a task until it expires.
        claim_as(hub, "promised", "node_a", &secret).refused(403, "was_overdue");
    });
}

fn claim_as(hub: &TestHub, task: &str, node: &str, secret: &str) -> Answered {
    hub.post_as(secret, "/task/claim", &call(task, node))
}

/// Cuts a claimed task into two parts of a node.
fn cut(hub: &TestHub, task: &str, node: &'static str) {
    let (task, now) = (task.to_owned(), hub.hub.now());
    let part = |title: &str| SubtaskProposal {
        title: title.to_owned(),
        body: String::new(),
        signals: String::new(),
        weight: 425_000_000,
    };
    let parts = [part("First half"), part("Second half")];
    let proposed = hub.hub.store.write_now(move |tx| {
        let node = capsid_store::nodes::lock(tx, node)?.unwrap();
        swarm::propose(tx, &node, &task, &parts, now)
    });
    assert!(matches!(proposed, Ok(ProposeOutcome::Done(_))), "{proposed:?}");
}

#[test]
fn a_part_is_kept_until_it_is_done_and_merging_takes_reputation() {
    on_sqlite(|hub| {
        let bundle = |n: u64| Bundle::new(n).capsule_id().to_owned();
        for (n, node) in ["node_a", "node_b", "node_c"].into_iter().enumerate() {
            hub.register(node);
            hub.publish(node, &Bundle::new(n as u64)).expect(200);
        }
        hub.offer("t1", 100);
        claim(hub, "t1", "node_a").expect(200);
        let promise = json!({"node_id": "node_a", "deadline": at(hub, HOUR)});
        hub.post("/task/t1/commitment", &promise).expect(200);
        cut(hub, "t1", "node_a");
        assert_eq!(list(hub, ""), ["t1_s1", "t1_s2"]);
        complete(hub, "t1", "node_a", &bundle(0)).refused(409, "state_conflict");
        let kept =
            hub.post("/task/release", &call("t1", "node_a")).refused(409, "swarm_subtask_not_releasable");
        assert!(kept["correction"]["fix"].as_str().unwrap().contains("/task/swarm/"), "{kept}");
        let part = claim(hub, "t1_s1", "node_b").expect(200)["task"].clone();
        assert_eq!((&part["swarm_role"], &part["parent_task_id"]), (&json!("solver"), &json!("t1")));
        assert_eq!(part["contribution_weight"], 0.425);
        hub.post("/task/release", &call("t1_s1", "node_b")).refused(409, "swarm_subtask_not_releasable");
        let done = complete(hub, "t1_s1", "node_b", &bundle(1)).expect(200);
        assert_eq!((&done["bounty_matched"], &done["credits_pending"]), (&json!(false), &json!(42.5)));
        assert_eq!(
            (&done["swarm"]["solvers_completed"], &done["swarm"]["solvers_total"]),
            (&json!(1), &json!(2))
        );
        assert_eq!(done["swarm"]["aggregation_task_id"], Value::Null);
        claim(hub, "t1_s2", "node_a").expect(200);
        // A promise about a part is kept in mind, but nobody else gets the part when it is broken.
        let promise = json!({"node_id": "node_a", "deadline": at(hub, HOUR)});
        hub.post("/task/t1_s2/commitment", &promise).expect(200);
        hub.clock.advance(2 * HOUR);
        hub.run_jobs();
        let beat = hub.post("/a2a/heartbeat", &json!({"node_id": "node_a"})).expect(200);
        assert_eq!(beat["overdue_tasks"][0]["overdue_minutes"], 60);
        // The whole was promised as well, but waits for its parts.
        assert_eq!(ids(&beat["overdue_tasks"]), ["t1_s2"]);
        let done = complete(hub, "t1_s2", "node_a", &bundle(0)).expect(200);
        let merging = done["swarm"]["aggregation_task_id"].as_str().unwrap().to_owned();
        let low = claim(hub, &merging, "node_c").refused(403, "insufficient_reputation");
        assert_eq!((&low["required"], &low["required_reputation"]), (&json!(60.0), &json!(60.0)));
        assert_eq!(low["current"], low["current_reputation"]);
        hub.set_reputation("node_c", 60.0);
        claim(hub, &merging, "node_c").expect(200);
        let done = complete(hub, &merging, "node_c", &bundle(2)).expect(200);
        assert_eq!((&done["bounty_matched"], &done["credits_pending"]), (&json!(true), &json!(10)));
        assert_eq!(done["swarm"]["parent_status"], "completed");
    });
}

#[test]
fn a_part_that_was_done_is_not_paid_when_the_whole_expires() {
    on_sqlite(|hub| {
        for (n, node) in ["node_a", "node_b"].into_iter().enumerate() {
            hub.register(node);
            hub.publish(node, &Bundle::new(n as u64)).expect(200);
        }
        hub.offer("t1", 100);
        claim(hub, "t1", "node_a").expect(200);
        cut(hub, "t1", "node_a");
        claim(hub, "t1_s1", "node_b").expect(200);
        complete(hub, "t1_s1", "node_b", Bundle::new(1).capsule_id()).expect(200);
        hub.clock.advance(WEEK_MS);
        hub.run_jobs();
        for (task, status) in [("t1", "expired"), ("t1_s1", "completed"), ("t1_s2", "expired")] {
            assert_eq!(hub.get(&format!("/task/{task}")).expect(200)["status"], status, "{task}");
        }
        let mine = hub.get("/task/my?node_id=node_b").expect(200);
        assert_eq!(mine["tasks"][0]["my_submission_status"], "expired");
        let beat = hub.post("/a2a/heartbeat", &json!({"node_id": "node_b"})).expect(200);
        let told = beat["events"].as_array().unwrap();
        assert!(told.iter().any(|event| event["type"] == "task_expired"), "{told:?}");
    });
}

#[test]
fn workers_take_as_much_as_they_said() {
    both(|hub| {
        hub.register("node_a");
        hub.register("node_b");
        for (task, credits) in [("t1", 3), ("t2", 2), ("t3", 1)] {
            hub.offer(task, credits);
        }
        hub.offer_with("css", 9, |task| task.signals = "layout,css".to_owned());
        let register = json!({"sender_id": "node_a", "enabled": true, "domains": ["Timeout"], "max_load": 2});
        let registered = hub.post("/a2a/worker/register", &register).expect(200);
        assert_eq!(
            registered,
            json!({"status": "worker_registered", "node_id": "node_a", "worker_enabled": true,
                "worker_domains": ["Timeout"], "worker_max_load": 2})
        );
        let available = || ids(&hub.get("/a2a/work/available?node_id=node_a").expect(200)["work"]);
        assert_eq!(available(), ["t1", "t2", "t3"]);
        assert_eq!(ids(&hub.get("/a2a/work/available?node_id=node_b").expect(200)["work"])[0], "css");
        let take = |task: &str| hub.post("/a2a/work/claim", &call(task, "node_a"));
        let first = take("t1").expect(200);
        assert_eq!(
            (&first["id"], &first["assignment_id"]),
            (&first["submission_id"], &first["submission_id"])
        );
        take("t2").expect(200);
        let full = take("t3").refused(409, "worker_full");
        assert_eq!(full["max_load"], 2);
        assert_eq!(take("t1").expect(200)["id"], first["id"], "what it has it may ask for again");
        assert_eq!(available(), [""; 0]);
        take("t9").refused(404, "task_not_found");

        let assignment = |id: &Value| json!({"assignment_id": id, "node_id": "node_a"});
        assert_eq!(hub.post("/a2a/work/accept", &assignment(&first["id"])).expect(200)["id"], first["id"]);
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let done = with(assignment(&first["id"]), "result_asset_id", json!(bundle.capsule_id()));
        let told = hub.post("/a2a/work/complete", &done).expect(200);
        assert_eq!((&told["status"], &told["assignment_id"]), (&json!("completed"), &first["id"]));
        assert_eq!(hub.post("/a2a/work/complete", &done).expect(200), told);
        assert_eq!(available(), ["t3"]);
        take("t3").expect(200);
        let my = hub.get("/a2a/work/my?node_id=node_a").expect(200);
        assert_eq!(ids(&my["work"]), ["t3", "t2", "t1"]);
        assert_eq!(my["work"][2]["assignment_id"], first["id"]);
        let page = hub.get("/a2a/work/my?node_id=node_a&limit=2").expect(200);
        let rest = format!("/a2a/work/my?node_id=node_a&cursor={}", page["next_cursor"].as_str().unwrap());
        assert_eq!(ids(&hub.get(&rest).expect(200)["work"]), ["t1"]);

        let others = with(assignment(&first["id"]), "node_id", json!("node_b"));
        hub.post("/a2a/work/complete", &others).refused(403, "not_task_claimer");
        hub.post("/a2a/work/complete", &assignment(&json!("sub_x"))).refused(404, "submission_not_found");
        hub.post("/a2a/work/accept", &json!({"node_id": "node_a"}))
            .refused(400, "task_id_and_node_id_required");
        hub.post("/a2a/work/accept", &call("css", "node_b")).expect(200);
        for (key, value) in [
            ("max_load", json!(0)),
            ("max_load", json!(21)),
            ("domains", json!("css")),
            ("domains", json!([""])),
            ("enabled", json!("yes")),
            ("sender_id", json!("a b")),
        ] {
            hub.post("/a2a/worker/register", &with(register.clone(), key, value))
                .refused(400, "validation_error");
        }
        hub.post("/a2a/worker/register", &with(register, "sender_id", json!("node_x")))
            .refused(401, "node_secret_not_set");
    });
}

#[test]
fn a_fetch_tells_what_may_be_taken_and_what_was() {
    on_sqlite(|hub| {
        hub.register("node_a");
        hub.offer("easy", 1);
        hub.offer("mine", 2);
        hub.offer_with("hard", 3, |task| task.min_reputation = 51.0);
        hub.offer_with("modern", 4, |task| task.min_model_tier = Some(1));
        hub.offer_with("kept", 5, |task| task.reserved_for = Some("node_a".to_owned()));
        claim(hub, "mine", "node_a").expect(200);
        for payload in [json!({"include_tasks": true}), json!({"tasks_only": true})] {
            let fetched = hub.message("node_a", "fetch", payload.clone()).expect(200);
            assert_eq!(ids(&fetched["payload"]["tasks"]), ["mine", "kept", "easy"]);
            assert_eq!(fetched["tasks"][0]["status"], "claimed");
            assert_eq!(fetched["tasks"][0]["claimed_by"], "node_a");
            let stranger = hub.message("node_new", "fetch", payload).expect(200);
            assert_eq!(ids(&stranger["payload"]["tasks"]), ["easy"]);
        }
        assert!(hub.message("node_a", "fetch", json!({})).expect(200)["payload"].get("tasks").is_none());
        for n in 0..60 {
            hub.offer(&format!("more_{n}"), 1);
        }
        let many = hub.message("node_a", "fetch", json!({"tasks_only": true})).expect(200);
        assert_eq!(many["tasks"].as_array().unwrap().len(), 50);
    });
}

#[test]
fn a_hello_and_a_heartbeat_tell_what_to_do_next() {
    on_sqlite(|hub| {
        for n in 0..7 {
            hub.offer(&format!("t{n}"), n);
        }
        let hello = hub.message("node_a", "hello", json!({})).expect(200);
        assert_eq!(ids(&hello["recommended_tasks"]), ["t6", "t5", "t4", "t3", "t2"]);
        let beat = |extra: Value| {
            let mut body = json!({"node_id": "node_a"});
            body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            hub.post("/a2a/heartbeat", &body)
        };
        let told = beat(json!({})).expect(200);
        assert_eq!(ids(&told["available_tasks"]), ["t6", "t5", "t4", "t3", "t2"]);
        assert_eq!(told["available_work"], json!([]), "it has not said that it takes work");
        let told =
            beat(json!({"worker_enabled": true, "worker_domains": ["retry"], "max_load": 99})).expect(200);
        assert_eq!(told["available_work"].as_array().unwrap().len(), 5);
        assert!(hub.dump().contains("[\"retry\"]") || hub.dump().contains("[\\\"retry\\\"]"));
        let told = beat(json!({"meta": {"worker_domains": ["css"]}})).expect(200);
        assert_eq!(told["available_work"], json!([]));
        let told = beat(json!({"meta": {"worker_enabled": false, "worker_domains": []}})).expect(200);
        assert_eq!(told["available_work"], json!([]));

        claim(hub, "t1", "node_a").expect(200);
        let told = beat(json!({"meta": {"commitment_updates": [
            {"task_id": "t1", "deadline": at(hub, HOUR)},
            {"task_id": "t2", "commitment_deadline": at(hub, HOUR)},
            {"task_id": "t1", "deadline": at(hub, MINUTE)},
            {"task_id": "t1"},
            {"deadline": 5},
        ]}}))
        .expect(200);
        let results = told["commitment_results"].as_array().unwrap();
        let errors: Vec<_> =
            results.iter().map(|result| result["error"].as_str().unwrap_or("none")).collect();
        assert_eq!(
            errors,
            [
                "none",
                "task_not_claimed",
                "invalid_deadline",
                "validation_error",
                "task_id_and_node_id_required"
            ]
        );
        assert_eq!(results[0]["commitment_deadline"], at(hub, HOUR));
        assert_eq!(hub.get("/task/t1").expect(200)["commitment_deadline"], at(hub, HOUR));
        let many = json!({"meta": {"commitment_updates": vec![json!({"task_id": "t1"}); 21]}});
        beat(many).refused(400, "validation_error");
        beat(json!({"worker_enabled": "yes"})).refused(400, "validation_error");
    });
}

#[test]
fn tasks_are_taken_and_completed_by_messages_once() {
    on_sqlite(|hub| {
        hub.register("node_a");
        hub.register("node_b");
        hub.offer("t1", 1);
        hub.offer("t2", 1);
        claim(hub, "t2", "node_b").expect(200);
        let bundle = Bundle::new(1);
        let send = |messages: Value| {
            let batch = json!({"sender_id": "node_a", "messages": messages});
            hub.post("/a2a/mailbox/outbound", &batch).expect(200)["results"].clone()
        };
        let message =
            |id: &str, kind: &str, payload: Value| json!({"id": id, "type": kind, "payload": payload});
        let batch = json!([
            message("m1", "task_claim", json!({"task_id": "t1", "commitment_deadline": at(hub, HOUR)})),
            message("m2", "task_claim", json!({"task_id": "t2"})),
            message("m3", "asset_submit", bundle.payload()),
            message("m4", "task_complete", json!({"task_id": "t1", "asset_id": bundle.capsule_id()})),
            message("m5", "task_claim", json!({"task_id": "t1", "node_id": "node_b"})),
            message("m6", "task_subscribe", json!({"domains": ["retry"]})),
            message("m7", "task_claim", json!({"task_id": "t1", "commitment_deadline": "soon"})),
        ]);
        let results = send(batch.clone());
        assert_eq!(results[0]["status"], "accepted", "{results}");
        assert_eq!(results[0]["response"]["commitment_deadline"], at(hub, HOUR));
        assert_eq!(results[1]["reason"], "task_not_open");
        assert_eq!(results[1]["response"]["claimed_by"], "node_b");
        assert_eq!(results[3]["response"]["status"], "completed", "{results}");
        assert_eq!(results[4]["reason"], "validation_error");
        assert_eq!(results[5]["response"]["subscribed"], true);
        assert_eq!(results[6]["reason"], "validation_error");
        assert_eq!(send(batch), results, "the same messages have the same answers");
        assert_eq!(hub.get("/task/t1/submissions").expect(200)["count"], 1);

        // Whoever subscribed finds what happens to its tasks, and new ones that it is good at, in its mailbox.
        let waiting = || {
            let inbound = json!({"sender_id": "node_a", "limit": 50});
            hub.post("/a2a/mailbox/inbound", &inbound).expect(200)["messages"].as_array().unwrap().clone()
        };
        hub.offer("dear", 50);
        hub.offer_with("css", 50, |task| task.signals = "css".to_owned());
        hub.run_jobs();
        let found = waiting();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (&found[0]["type"], &found[0]["payload"]["task_id"]),
            (&json!("task_available"), &json!("dear"))
        );
        let off = send(json!([message("m8", "task_subscribe", json!({"enabled": false}))]));
        assert_eq!(off[0]["response"]["subscribed"], false);
        hub.offer("dearer", 60);
        hub.run_jobs();
        assert_eq!(waiting().len(), 1);
    });
}
