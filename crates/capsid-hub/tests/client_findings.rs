//! What clients of other hubs could not do here, each by its own test.

use crate::common::economy::{event_kinds, offer, pass, quiet, user};
use crate::common::{Bundle, TestHub, both, both_with, on_sqlite, on_sqlite_with, request, send};
use axum::extract::ConnectInfo;
use capsid_hub::config::{HubConfig, HubProfile};
use capsid_rules::work::swarm::AggregatorFallback;
use serde_json::{Value, json};
use std::net::SocketAddr;

fn promote(hub: &TestHub, capsules: &[&Bundle]) {
    let root = crate::common::economy::admin(hub);
    for bundle in capsules {
        let path = format!("/admin/assets/{}/promote", bundle.capsule_id());
        hub.post_as(&root, &path, &json!({"reason": "Works."})).expect(200);
    }
}

#[test]
fn stream_and_mailbox_use_one_id_for_one_message() {
    both_with(quiet, |hub| {
        hub.register("node_proxy");
        let subscribe = json!({"sender_id": "node_proxy", "messages": [
            {"id": "s1", "type": "task_subscribe", "payload": {"enabled": true}}]});
        hub.post("/a2a/mailbox/outbound", &subscribe).expect(200);
        offer(hub, &user(hub, "ann").0, 20.0);
        pass(hub, 1000);
        let polled =
            hub.post("/a2a/events/poll", &json!({"node_id": "node_proxy", "timeout_ms": 0})).expect(200);
        let waiting = hub.post("/a2a/mailbox/inbound", &json!({"sender_id": "node_proxy"})).expect(200);
        let (event, letter) = (&polled["events"][0], &waiting["messages"][0]);
        assert_eq!((&event["type"], &letter["type"]), (&json!("high_value_task"), &json!("task_available")));
        assert_eq!(
            letter["id"].as_str().unwrap().strip_prefix("mail_"),
            event["id"].as_str().unwrap().strip_prefix("evt_")
        );
        let acknowledge = json!({"sender_id": "node_proxy", "message_ids": [letter["id"]]});
        assert_eq!(hub.post("/a2a/mailbox/ack", &acknowledge).expect(200)["acknowledged"], 1);
    });
}

#[test]
fn rows_of_a_search_by_meaning_have_similarity() {
    both(|hub| {
        let bundle = crate::graph::bundle(
            "TimeoutError",
            "Retry with exponential backoff when requests time out",
            "Bounded retry and a connection pool for the payment gateway",
        );
        hub.publish("node_a", &bundle).expect(200);
        promote(hub, &[&bundle]);
        let first = |query: &str| {
            let found = hub.get(&format!("/a2a/assets/semantic-search?type=Capsule&q={query}")).expect(200);
            let row = found["assets"][0].clone();
            (row["similarity"].as_f64().unwrap(), row["similarity_band"].as_str().unwrap().to_owned())
        };
        let (all, band) = first("bounded%20retry%20payment%20gateway");
        assert!(all > 0.75 && all <= 1.0 && band == "high", "{all} {band}");
        let (some, band) = first("bounded%20unicorn%20harvest%20moon%20teapot");
        assert!(some > 0.0 && some < 0.6 && band == "low", "{some} {band}");
        let (word, band) = first("TimeoutError&mode=keyword");
        assert!(word == 1.0 && band == "high", "{word} {band}");
    });
}

#[test]
fn every_row_has_a_validation_summary() {
    both(|hub| {
        let (real, untried) = (Bundle::new(1), Bundle::new(2));
        let absent = Bundle::new(3)
            .with(|bundle| drop(bundle.gene.as_object_mut().unwrap().shift_remove("validation")));
        for bundle in [&real, &untried, &absent] {
            hub.publish("node_a", bundle).expect(200);
        }
        promote(hub, &[&real, &untried, &absent]);
        let report = |node: &str, ok: bool| {
            hub.message(node, "hello", json!({})).expect(200);
            hub.message(node, "fetch", json!({"asset_ids": [real.capsule_id()]})).expect(200);
            let report =
                json!({"target_asset_id": real.capsule_id(), "validation_report": {"overall_ok": ok}});
            hub.message(node, "report", report).expect(200);
        };
        report("node_b", true);
        report("node_c", true);
        report("node_d", false);
        report("node_a", true);
        let fetched =
            hub.message("node_e", "fetch", json!({"search_only": true, "asset_type": "Capsule"})).expect(200);
        let lists = [
            fetched["results"].clone(),
            hub.get("/a2a/assets?type=Capsule").expect(200)["assets"].clone(),
            hub.get("/a2a/assets/ranked?type=Capsule").expect(200)["assets"].clone(),
            hub.get("/a2a/assets/search?type=Capsule&signals=Signal1Error,Signal2Error,Signal3Error")
                .expect(200)["assets"]
                .clone(),
            hub.get("/a2a/assets/semantic-search?type=Capsule&q=Signal1Error%20Signal2Error%20Signal3Error")
                .expect(200)["assets"]
                .clone(),
        ];
        for rows in lists {
            let of = |bundle: &Bundle| {
                let mut each = rows.as_array().unwrap().iter();
                let row = each.find(|row| row["asset_id"] == bundle.capsule_id());
                row.unwrap_or_else(|| panic!("no row of it in {rows}"))["validation_summary"].clone()
            };
            let summary = of(&real);
            assert_eq!(summary["validationQuality"], "real", "{summary}");
            assert_eq!((&summary["passes"], &summary["fails"]), (&json!(2), &json!(1)), "{summary}");
            assert!(summary["grade"].is_string(), "{summary}");
            assert_eq!(of(&untried)["validationQuality"], "suspicious");
            assert_eq!(
                (&of(&absent)["validationQuality"], &of(&absent)["grade"]),
                (&json!("empty"), &Value::Null)
            );
        }
    });
}

#[test]
fn a_refused_publish_does_not_read_as_success() {
    both(|hub| {
        hub.register("node_a");
        let poor = Bundle::new(1).with(|bundle| bundle.capsule["outcome"]["score"] = json!(0.1));
        let message = hub.envelope("node_a", "publish", poor.payload());
        let first = hub.post("/a2a/publish", &message).refused(422, "bundle_rejected");
        assert_eq!(first["payload"]["decision"], "reject");
        assert_eq!((&first["stored"], &first["reason"]), (&json!(true), &json!("quality_gate_failed")));
        assert_eq!(
            hub.post("/a2a/publish", &message).expect(422),
            first,
            "the same message has the same answer"
        );
        hub.publish("node_a", &poor).refused(422, "bundle_rejected");
        // A proxy reads the result of each message, and the status is that of the batch.
        let other = Bundle::new(2).with(|bundle| bundle.capsule["outcome"]["score"] = json!(0.1));
        let batch = json!({"sender_id": "node_a", "messages": [
            {"id": "m1", "type": "asset_submit", "payload": other.payload()}]});
        let sent = hub.post("/a2a/mailbox/outbound", &batch).expect(200);
        assert_eq!(
            (&sent["results"][0]["status"], &sent["results"][0]["terminal"]),
            (&json!("rejected"), &json!(true))
        );
    });
}

#[test]
fn a_skill_is_found_by_the_name_in_its_front_matter() {
    both(|hub| {
        for node in ["node_a", "node_b"] {
            hub.register(node);
        }
        let publish = |node: &str, id: &str, name: &str| {
            let content = format!(
                "---\nname: {name}\ndescription: Retries 100% of what times out\ntags: [net, retry]\n---\n# How"
            );
            hub.post(
                "/a2a/skill/store/publish",
                &json!({"sender_id": node, "skill_id": id, "content": content}),
            )
            .expect(201)
        };
        publish("node_a", "skill_retry", "Retry Well");
        hub.clock.advance(1000);
        publish("node_b", "another", "Retry Well");
        hub.post(
            "/a2a/skill/store/publish",
            &json!({"sender_id": "node_b", "skill_id": "plain", "content": "# No front matter"}),
        )
        .expect(201);
        for name in ["skill_retry", "Retry%20Well", "Retry%20Well&version=1"] {
            let skill = hub.get(&format!("/a2a/skill/store/fetch?name={name}")).expect(200);
            assert_eq!(
                (&skill["name"], &skill["skill_id"]),
                (&json!("Retry Well"), &json!("skill_retry")),
                "{name}"
            );
            assert_eq!((&skill["version"], &skill["tags"]), (&json!("1"), &json!(["net", "retry"])));
            assert!(skill["content"].as_str().unwrap().ends_with("# How"));
        }
        for name in ["none", "Retry%20Well&version=7"] {
            hub.get(&format!("/a2a/skill/store/fetch?name={name}")).refused(404, "not_found");
        }
        hub.get("/a2a/skill/store/fetch").refused(400, "validation_error");
        let listed = |query: &str| {
            let page = hub.get(&format!("/a2a/skill/store/list{query}")).expect(200);
            page["skills"].as_array().unwrap().clone()
        };
        let names: Vec<_> = listed("").iter().map(|skill| skill["name"].clone()).collect();
        assert_eq!(names, ["Retry Well", "plain", "Retry Well"]);
        assert_eq!(listed("?q=RETRY").len(), 2);
        assert_eq!(listed("?q=100%25%20of")[0]["description"], "Retries 100% of what times out");
        assert_eq!((listed("?q=100_").len(), listed("?q=unicorn").len()), (0, 0));
        assert_eq!(listed("?q=plain")[0]["sizeBytes"], "# No front matter".len());
    });
}

#[test]
fn a_question_finds_the_properties_of_what_was_ingested() {
    for on in [crate::common::On::Sqlite, crate::common::On::Postgres] {
        let hub = TestHub::start(on, |_| {});
        let (token, _) = user(&hub, "ann");
        let ingest = json!({"entities": [
            {"name": "Payment gateway", "entity_type": "service", "properties": {"symptom": "requests hang until timeout"}},
            {"name": "Hang glider", "entity_type": "thing"}]});
        hub.post_as(&token, "/kg/ingest", &ingest).expect(200);
        let found = |hub: &TestHub, query: &str| {
            crate::graph::names(&hub.post_as(&token, "/kg/query", &json!({"query": query})).expect(200))
        };
        assert!(found(&hub, "requests hang").contains(&"Payment gateway".to_owned()));
        // A name says twice as much.
        assert_eq!(found(&hub, "hang")[0], "Hang glider");
        let changed = json!({"entities": [
            {"name": "Payment gateway", "entity_type": "service", "properties": {"symptom": "certificates expire"}}]});
        hub.post_as(&token, "/kg/ingest", &changed).expect(200);
        assert!(!found(&hub, "requests until").contains(&"Payment gateway".to_owned()));
        assert_eq!(found(&hub, "expired certificates"), ["Payment gateway"]);
        // A hub that has lost its index makes another.
        hub.hub.store.reset_index().unwrap();
        let hub = hub.restart();
        assert_eq!(found(&hub, "expired certificates"), ["Payment gateway"]);
        hub.post_as(&token, "/kg/forget", &json!({"everything": true})).expect(200);
        assert_eq!(found(&hub, "expired certificates"), [""; 0]);
    }
}

#[test]
fn a_revoked_capsule_is_not_offered_for_reuse() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let fix = |refused: Value| refused["correction"]["fix"].as_str().unwrap().to_owned();
        let candidate = hub.publish("node_b", &bundle).refused(409, "duplicate_asset");
        assert!(!fix(candidate).contains("reuse"));
        promote(hub, &[&bundle]);
        assert!(
            fix(hub.publish("node_b", &bundle).refused(409, "duplicate_asset"))
                .contains("Fetch and reuse it")
        );
        hub.message("node_a", "revoke", json!({"target_asset_id": bundle.capsule_id()})).expect(200);
        let revoked = fix(hub.publish("node_b", &bundle).refused(409, "asset_revoked"));
        assert!(!revoked.contains("reuse") && !revoked.contains("etch"), "{revoked}");
    });
}

/// Cuts a task into two parts, which two nodes solve; gives the answer to the proposal.
fn solve_in_parts(hub: &TestHub) -> Value {
    for (n, node) in ["node_p", "node_s", "node_t"].into_iter().enumerate() {
        hub.register(node);
        hub.publish(node, &Bundle::new(n as u64)).expect(200);
    }
    let (_, task) = offer(hub, &user(hub, "ann").0, 5.0);
    let call = |task: &str, node: &str| json!({"task_id": task, "node_id": node});
    hub.post("/task/claim", &call(&task, "node_p")).expect(200);
    let mut parts = call(&task, "node_p");
    parts["subtasks"] =
        json!([{"title": "One half", "weight": 0.4}, {"title": "Other half", "weight": 0.45}]);
    let proposed = hub.post("/task/propose-decomposition", &parts).expect(200);
    for (part, node, bundle) in [("s1", "node_s", 1), ("s2", "node_t", 2)] {
        let mut done = call(&format!("{task}_{part}"), node);
        hub.post("/task/claim", &done).expect(200);
        done["asset_id"] = json!(Bundle::new(bundle).capsule_id());
        hub.post("/task/complete", &done).expect(200);
    }
    proposed
}

#[test]
fn a_swarm_on_a_fresh_hub_can_end() {
    both_with(quiet, |hub| {
        let proposed = solve_in_parts(hub);
        let warning = &proposed["warnings"][0];
        assert_eq!(warning["code"], "no_eligible_aggregator", "{proposed}");
        assert_eq!(
            (&warning["required_reputation"], &warning["best_reputation"]),
            (&json!(60.0), &json!(50.0))
        );
        pass(hub, 1000);
        assert!(event_kinds(hub, "node_p").contains(&"swarm_aggregation_available".to_owned()));
        assert!(!event_kinds(hub, "node_s").contains(&"swarm_aggregation_available".to_owned()));
        let task = proposed["parent_task_id"].as_str().unwrap();
        let merge = |node: &str| json!({"task_id": format!("{task}_merge"), "node_id": node});
        hub.post("/task/claim", &merge("node_s")).refused(403, "task_reserved");
        hub.post("/task/claim", &merge("node_p")).expect(200);
        let mut done = merge("node_p");
        done["asset_id"] = json!(Bundle::new(0).capsule_id());
        assert_eq!(hub.post("/task/complete", &done).expect(200)["swarm"]["parent_status"], "completed");
    });
}

#[test]
fn a_swarm_waits_for_reputation_where_the_operator_wants_that() {
    let config = |config: &mut HubConfig| {
        quiet(config);
        config.work.aggregator.fallback = AggregatorFallback::Nobody;
    };
    on_sqlite_with(config, |hub| {
        let proposed = solve_in_parts(hub);
        let task = proposed["parent_task_id"].as_str().unwrap();
        assert!(proposed["warnings"][0]["text"].as_str().unwrap().contains("without a result"), "{proposed}");
        let merge = json!({"task_id": format!("{task}_merge"), "node_id": "node_p"});
        hub.post("/task/claim", &merge).refused(403, "insufficient_reputation");
    });
    let lower = |config: &mut HubConfig| {
        quiet(config);
        config.work.aggregator.min_reputation = 40.0;
    };
    on_sqlite_with(lower, |hub| assert_eq!(solve_in_parts(hub).get("warnings"), None));
    assert_eq!(
        HubConfig::for_profile(HubProfile::Public).work.aggregator.fallback,
        AggregatorFallback::Nobody
    );
}

#[test]
fn a_high_value_task_reaches_only_nodes_with_its_signals() {
    both_with(quiet, |hub| {
        for node in ["node_silent", "node_worker", "node_other", "node_maker", "node_maker_of_else"] {
            hub.register(node);
        }
        let works =
            |node: &str, domains: Value| json!({"sender_id": node, "enabled": true, "domains": domains});
        hub.post("/a2a/worker/register", &works("node_worker", json!(["timeout"]))).expect(200);
        hub.post("/a2a/worker/register", &works("node_other", json!(["css"]))).expect(200);
        hub.publish(
            "node_maker",
            &crate::graph::bundle(
                "timeout error",
                "Retry what times out",
                "Retry with a pause, five times at most",
            ),
        )
        .expect(200);
        hub.publish("node_maker_of_else", &Bundle::new(1)).expect(200);
        let (ann, _) = user(hub, "ann");
        let asked = json!({"title": "Fix the timeout", "signals": ["Timeout_Error"], "amount": 20});
        hub.post_as(&ann, "/bounty/create", &asked).expect(201);
        pass(hub, 1000);
        for (node, hears) in [
            ("node_silent", 0),
            ("node_worker", 1),
            ("node_other", 0),
            ("node_maker", 1),
            ("node_maker_of_else", 0),
        ] {
            assert_eq!(event_kinds(hub, node).len(), hears, "{node}");
        }
        // What has no signals is about anything.
        hub.post_as(&ann, "/bounty/create", &json!({"title": "Fix anything at all", "amount": 20}))
            .expect(201);
        pass(hub, 1000);
        assert_eq!(event_kinds(hub, "node_silent"), ["high_value_task"]);
    });
}

#[test]
fn the_status_of_the_graph_is_not_told_to_strangers() {
    let from = |hub: &TestHub, address: &str, bearer: Option<&str>| {
        let mut asked = request("GET", "/kg/status", bearer, None);
        asked.extensions_mut().insert(ConnectInfo(address.parse::<SocketAddr>().unwrap()));
        hub.runtime.block_on(send(hub.router(), asked))
    };
    on_sqlite(|hub| {
        let (token, _) = user(hub, "ann");
        from(hub, "203.0.113.7:9000", None).refused(401, "unauthorized");
        from(hub, "203.0.113.7:9000", Some(&token)).expect(200);
        for local in ["127.0.0.1:9000", "[::1]:9000"] {
            from(hub, local, None).expect(200);
        }
    });
    let public = |config: &mut HubConfig| config.profile = HubProfile::Public;
    on_sqlite_with(public, |hub| drop(from(hub, "127.0.0.1:9000", None).refused(401, "unauthorized")));
}

#[test]
fn an_id_over_python_numbers_is_refused_with_the_rule_for_numbers() {
    on_sqlite(|hub| {
        let mut bundle = Bundle::new(1);
        bundle.capsule["confidence"] = json!(1.0);
        let python = format!("sha256:{}", capsid_model::hash::sha256_hex(b"{\"confidence\":1.0}"));
        bundle.capsule["asset_id"] = json!(python);
        let refused = hub.publish("node_a", &bundle).refused(422, "asset_id_mismatch");
        let fix = refused["correction"]["fix"].as_str().unwrap();
        assert!(fix.contains("`1.0` as `1`") && fix.contains("/a2a/validate"), "{fix}");
    });
}

#[test]
fn calls_that_only_other_hubs_offer_are_named() {
    on_sqlite(|hub| {
        for path in [
            "/a2a/atp/order",
            "/a2a/recipe/list",
            "/oauth/token",
            "/a2a/privacy/query",
            "/a2a/directory",
            "/.well-known/agent-card.json",
        ] {
            for method in ["GET", "POST"] {
                let refused = hub.call(method, path, None, Some(b"{}".to_vec())).refused(404, "not_offered");
                assert!(
                    refused["correction"]["problem"]
                        .as_str()
                        .unwrap()
                        .starts_with("This hub does not offer ")
                );
            }
        }
        hub.get("/a2a/nothing").refused(404, "route_not_found");
    });
}

#[test]
fn validate_answers_with_ids_filled_in() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        let mut bare = bundle.payload();
        for asset in bare["assets"].as_array_mut().unwrap() {
            for member in ["asset_id", "gene", "capsule_id", "genes_used"] {
                asset.as_object_mut().unwrap().shift_remove(member);
            }
        }
        let answer = hub.message("node_a", "validate", bare).expect(200);
        assert_eq!(
            (&answer["valid"], &answer["computed_assets"][1]["claimed_asset_id"]),
            (&json!(true), &Value::Null)
        );
        let filled = json!({"assets": answer["payload"]["assets"]});
        let ids: Vec<_> =
            filled["assets"].as_array().unwrap().iter().map(|asset| asset["asset_id"].clone()).collect();
        assert_eq!(ids[..2], [json!(bundle.gene_id()), json!(bundle.capsule_id())]);
        assert_eq!(hub.message("node_a", "publish", filled).expect(200)["status"], "accepted");
        // An id that is there and wrong is still told, and the right ones come with it.
        let mut wrong = Bundle::new(2).payload();
        wrong["assets"][0]["summary"] = json!("Another summary than the one that was hashed.");
        let answer = hub.message("node_a", "validate", wrong).expect(200);
        assert_eq!((&answer["valid"], &answer["error"]), (&json!(false), &json!("asset_id_mismatch")));
        let filled = json!({"assets": answer["assets"]});
        assert_eq!(hub.message("node_a", "publish", filled).expect(200)["status"], "accepted");
        let right = hub.message("node_a", "validate", Bundle::new(3).payload()).expect(200);
        assert_eq!((&right["valid"], right.get("assets")), (&json!(true), None));
    });
}

#[test]
fn help_finds_a_call_by_its_name() {
    on_sqlite(|hub| {
        for (query, path) in [
            ("publish", "/a2a/publish"),
            ("POST%20/a2a/publish", "/a2a/publish"),
            ("semantic-search", "/a2a/assets/semantic-search"),
            ("skill%20publish", "/a2a/skill/store/publish"),
            ("heartbeat", "/a2a/heartbeat"),
            ("task/claim", "/task/claim"),
            ("kg%20query", "/kg/query"),
        ] {
            let first = hub.get(&format!("/a2a/help?q={query}")).expect(200)["matches"][0].clone();
            assert_eq!((&first["kind"], &first["path"]), (&json!("call"), &json!(path)), "{query}");
        }
        let first = hub.get("/a2a/help?q=bundle_required").expect(200)["matches"][0].clone();
        assert_eq!(first["error"], "bundle_required");
    });
}
