//! Tasks: listed, claimed, promised, released, completed, expired; the worker pool; and where else they show, on both
//! databases.

mod complete;
mod parts;

use crate::common::work::WEEK_MS;
use crate::common::{Bundle, TestHub, TestResponse, both, on_sqlite, on_sqlite_with};
use capsid_store::work::swarm;
use capsid_store::work::swarm::{ProposeOutcome, SubtaskProposal};
use serde_json::{Value, json};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

fn call(task: &str, node: &str) -> Value {
    json!({"task_id": task, "node_id": node})
}

fn claim(hub: &TestHub, task: &str, node: &str) -> TestResponse {
    hub.post("/task/claim", &call(task, node))
}

fn claim_as(hub: &TestHub, task: &str, node: &str, secret: &str) -> TestResponse {
    hub.post_as(secret, "/task/claim", &call(task, node))
}

fn complete(hub: &TestHub, task: &str, node: &str, asset: &str) -> TestResponse {
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
