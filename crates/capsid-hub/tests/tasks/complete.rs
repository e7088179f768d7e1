//! What is handed in, what is never handed in, and what was promised.

use super::*;
use crate::common::both_with;
use std::time::Duration;

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
    both_with(
        |config| config.timeouts.publication = Duration::from_secs(3),
        |hub| {
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
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    send("/a2a/publish", publish).await
                };
                tokio::join!(send("/a2a/task/complete", body), later)
            });
            published.expect(200);
            assert_eq!(completed.expect(200)["asset_id"], json!(bundle.capsule_id()));
        },
    );
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
        let told = hub.heartbeat_events("node_a", &secret);
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
        let told = hub.heartbeat_events("node_a", &secret);
        assert_eq!((kinds("task_assigned", &told), kinds("task_deadline_approaching", &told)), (2, 0));
        for _ in 0..3 {
            hub.clock.advance(MINUTE);
            hub.run_jobs();
        }
        assert_eq!(kinds("task_deadline_approaching", &hub.heartbeat_events("node_a", &secret)), 1, "once");
        hub.clock.advance(8 * MINUTE);
        let beat = hub.post_as(&secret, "/a2a/heartbeat", &json!({"node_id": "node_a"})).expect(200);
        assert_eq!(
            beat["overdue_tasks"],
            json!([{"task_id": "promised", "title": "Mend promised", "commitment_deadline": at(hub, 0), "overdue_minutes": 0}])
        );
        hub.run_jobs();
        assert_eq!(hub.get("/task/promised").expect(200)["status"], "open");
        assert_eq!(hub.get("/task/silent").expect(200)["status"], "claimed");
        assert_eq!(kinds("task_overdue", &hub.heartbeat_events("node_a", &secret)), 1);
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
