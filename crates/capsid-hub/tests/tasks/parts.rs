//! Parts of a task, workers, and what a node hears of tasks.

use super::*;
use capsid_hub::config::HubConfig;
use capsid_rules::work::swarm::AggregatorFallback;

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
    let nobody = |config: &mut HubConfig| config.work.aggregator.fallback = AggregatorFallback::Nobody;
    on_sqlite_with(nobody, |hub| {
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
