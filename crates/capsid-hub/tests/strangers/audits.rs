//! Audits: what validators are asked while the hub knows the answer.

use super::{DAY, pay_out, public, run_jobs, user};
use crate::common::economy::{HOUR, all_is_well, text};
use crate::common::{Bundle, TestHub, both_with};
use capsid_hub::config::{HubConfig, SecretText};
use capsid_model::hash::hmac_sha256_hex;
use capsid_rules::credits::CreditSource;
use capsid_rules::lifecycle::AssetEvent;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const TOKEN: &str = "runner_0123456789abcdef0123456789abcdef";

fn auditing(config: &mut HubConfig) {
    let audit_share = HubConfig::for_profile(capsid_hub::config::HubProfile::Public).promotion.audit_share;
    public(config);
    config.promotion.audit_share = audit_share;
    config.runner.is_on = true;
    config.runner.token = SecretText(TOKEN.to_owned());
}

/// An account with a node that has shown its secret; gives that.
fn member(hub: &TestHub, name: &str) -> String {
    let (token, _) = user(hub, name);
    let node = format!("node_{name}");
    let hello = hub.message(&node, "hello", json!({})).expect(200);
    hub.post_as(&token, &format!("/claim/{}", text(&hello["claim_code"])), &json!({})).expect(200);
    let secret = text(&hello["node_secret"]);
    hub.post_as(&secret, "/a2a/heartbeat", &json!({"node_id": node})).expect(200);
    secret
}

/// One that has put credits aside.
fn validator(hub: &TestHub, name: &str) -> String {
    let secret = member(hub, name);
    pay_out(hub, &format!("node:node_{name}"), 100, CreditSource::Earned);
    let stake = json!({"node_id": format!("node_{name}"), "amount": 50});
    hub.post_as(&secret, "/a2a/validator/stake", &stake).expect(200);
    secret
}

/// A capsule that makes a file and a test of it.
fn capsule(n: u64) -> Bundle {
    let made = |path: &str, line: &str| {
        format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{line}\n"
        )
    };
    Bundle::new(n).with(|bundle| {
        bundle.gene["validation"] = json!([format!("node sum{n}.test.js")]);
        let (source, test) =
            (made(&format!("sum{n}.js"), "exports.sum = 3"), made(&format!("sum{n}.test.js"), "1"));
        bundle.capsule["id"] = json!(format!("capsule_sum{n}"));
        bundle.capsule["diff"] = json!(source + &test);
    })
}

/// Publishes something that the runner reproduces.
fn publish_reproduced(hub: &TestHub, secret: &str, n: u64) {
    hub.message_as("node_ann", secret, "publish", capsule(n).payload()).expect(200);
    let job = hub.post_as(TOKEN, "/runner/next", &json!({})).expect(200)["job"].clone();
    assert_eq!(job["asset_id"], capsule(n).capsule_id());
    let report = json!({"job_id": job["job_id"], "outcome": "reproduced", "seconds": 1.0});
    hub.post_as(TOKEN, "/runner/report", &report).expect(200);
    // It is no candidate any more, so nobody is asked about it itself.
    let id = capsid_store::assets::id::AssetId::parse(capsule(n).capsule_id()).unwrap();
    let now = hub.hub.now();
    let promoted = hub.hub.store.write_now(move |tx| {
        capsid_store::evaluation::lifecycle::change(tx, &id, AssetEvent::Promote, "hub", None, now)
    });
    promoted.unwrap();
}

/// What a node is asked.
fn asked(hub: &TestHub, node: &str, secret: &str) -> Vec<Value> {
    let told = hub.message_as(node, secret, "fetch", json!({"validation_only": true})).expect(200);
    told["payload"]["validation_tasks"].as_array().unwrap().clone()
}

/// The bytes of an asset as a node is served them.
fn served(hub: &TestHub, node: &str, secret: &str, asset: &Value) -> String {
    let answer = hub.message_as(node, secret, "fetch", json!({"asset_ids": [asset]}));
    let answer: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&answer.text).unwrap();
    let results: Vec<Box<RawValue>> = serde_json::from_str(answer["results"].get()).unwrap();
    results.first().unwrap_or_else(|| panic!("{asset} is not served")).get().to_owned()
}

/// Answers an assignment as somebody who read it.
fn answer(hub: &TestHub, node: &str, secret: &str, task: &Value, ok: impl Fn(&str) -> bool) -> Value {
    answer_without(hub, node, secret, task, ok, &[])
}

/// The same with some members of the report left out.
fn answer_without(
    hub: &TestHub,
    node: &str,
    secret: &str,
    task: &Value,
    ok: impl Fn(&str) -> bool,
    without: &[&str],
) -> Value {
    let body = served(hub, node, secret, &task["target_asset_id"]);
    let proof = hmac_sha256_hex(text(&task["nonce"]).as_bytes(), body.as_bytes());
    let ok = ok(&body);
    let command = json!({"cmd": task["validation_commands"][0], "ok": ok, "exit_code": i32::from(!ok),
        "duration_ms": 41, "output_sha256": "0a".repeat(32)});
    let report = json!({"task_id": task["task_id"], "nonce": task["nonce"], "overall_ok": ok, "read_proof": proof,
        "env": {"platform": "linux", "arch": "x64", "runtime": "node v20.20.0"}, "commands": [command]});
    let report = without.iter().fold(report, |mut report, path| {
        let (parent, member) = path.rsplit_once('/').unwrap();
        report.pointer_mut(parent).and_then(Value::as_object_mut).unwrap().remove(member).unwrap();
        report
    });
    hub.message_as(node, secret, "report", report).expect(200)
}

/// Whoever runs the commands sees that they fail where the change is empty.
fn runs_it(body: &str) -> bool {
    body.contains("exports.sum")
}

#[test]
fn an_audit_looks_like_any_other_assignment_and_is_found_nowhere() {
    both_with(auditing, |hub| {
        let ann = member(hub, "ann");
        let val = validator(hub, "val");
        // Nothing can be copied yet, so the first candidate is asked about itself.
        hub.message_as("node_ann", &ann, "publish", capsule(1).payload()).expect(200);
        run_jobs(hub);
        let real = asked(hub, "node_val", &val).remove(0);
        assert_eq!(real["target_asset_id"], capsule(1).capsule_id());
        let path = |task: &Value| {
            format!("/a2a/assets/{}?detailed=true&node_id=node_val", text(&task["target_asset_id"]))
        };
        let real_detail = hub.get_as(&val, &path(&real)).expect(200);
        let real_answer = answer(hub, "node_val", &val, &real, |_| true);
        let job = hub.post_as(TOKEN, "/runner/next", &json!({})).expect(200)["job"]["job_id"].clone();
        let report = json!({"job_id": job, "outcome": "inconclusive", "seconds": 1.0});
        hub.post_as(TOKEN, "/runner/report", &report).expect(200);

        publish_reproduced(hub, &ann, 2);
        hub.message_as("node_ann", &ann, "publish", capsule(3).payload()).expect(200);
        hub.clock.advance(1000);
        run_jobs(hub);
        let tasks = asked(hub, "node_val", &val);
        assert_eq!(tasks.len(), 1, "its word weighs nothing, so it is asked nothing else: {tasks:?}");
        let audit = &tasks[0];
        let id = text(&audit["target_asset_id"]);
        for n in 1..4 {
            assert_ne!(id, capsule(n).capsule_id());
        }
        let members = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(members(audit), members(&real));
        assert_eq!(audit["validation_commands"], json!(["node sum2.test.js"]));
        let detail = hub.get_as(&val, &path(audit)).expect(200);
        assert_eq!(members(&detail), members(&real_detail));
        assert_eq!(detail["status"], "candidate");
        assert_eq!(members(&detail["payload"]), members(&real_detail["payload"]));
        assert_eq!(members(&detail["bundle"]), members(&real_detail["bundle"]));
        assert_eq!(detail["bundle"]["capsule"]["asset_id"], id.as_str());
        for member in ["trust", "validation", "validation_summary"] {
            assert!(!detail[member].is_null(), "{member} of {detail}");
        }
        // Nobody finds it, and nobody else gets it.
        let other = validator(hub, "other");
        for list in [
            "/a2a/assets?status=candidate",
            "/a2a/assets",
            "/a2a/assets/search?signals=Signal2Error&status=candidate",
        ] {
            assert!(!hub.get(list).text.contains(&id), "{list}");
        }
        for payload in [
            json!({"asset_ids": [id]}),
            json!({"asset_ids": [id], "trial": true}),
            json!({"signals": ["Signal2Error"]}),
        ] {
            let told = hub.message_as("node_other", &other, "fetch", payload).expect(200);
            let results = told["payload"]["results"].as_array().unwrap();
            assert!(results.iter().all(|one| one["asset_id"] != id.as_str()), "{told}");
        }
        assert!(hub.get(&format!("/a2a/assets/{id}?detailed=true")).expect(200)["payload"].is_null());
        let told = answer(hub, "node_val", &val, audit, runs_it);
        assert_eq!(members(&told), members(&real_answer));
        assert_eq!((&told["grade"], &told["asset_status"]), (&real_answer["grade"], &json!("candidate")));
        assert_eq!(told["grade"], "assigned");
        assert!(asked(hub, "node_val", &val).is_empty());
        run_jobs(hub);
        assert!(asked(hub, "node_val", &val).is_empty(), "one audit for each candidate");
        all_is_well(hub);
    });
}

#[test]
fn right_answers_earn_a_weight_and_credits_and_blind_ones_cost_a_stake() {
    both_with(auditing, |hub| {
        let ann = member(hub, "ann");
        for n in 0..8 {
            publish_reproduced(hub, &ann, n);
        }
        let names = ["val", "blind"];
        let secrets = names.map(|name| validator(hub, name));
        for n in 100..108 {
            hub.message_as("node_ann", &ann, "publish", capsule(n).payload()).expect(200);
        }
        hub.clock.advance(1000);
        run_jobs(hub);
        let mut answered = [0, 0];
        for (at, secret) in secrets.iter().enumerate() {
            let node = format!("node_{}", names[at]);
            for task in asked(hub, &node, secret) {
                answer(hub, &node, secret, &task, |body| at == 1 || runs_it(body));
                answered[at] += 1;
            }
        }
        assert!(answered.iter().all(|count| *count >= 5), "{answered:?}");
        run_jobs(hub);
        let pending = |name: &str| {
            hub.get(&format!("/billing/earnings/node_{name}")).expect(200)["pending"].as_f64().unwrap()
        };
        assert_eq!(pending("val"), 0.0, "answers wait as other reports do");
        hub.clock.advance(HOUR);
        run_jobs(hub);
        assert_eq!(pending("val"), 2.0 * f64::from(answered[0]), "the least reward, which is held");
        let stake = |at: usize| {
            let path = format!("/a2a/validator/status?node_id=node_{}", names[at]);
            hub.get_as(&secrets[at], &path).expect(200)["stake"]["amount"].as_f64().unwrap()
        };
        assert_eq!(stake(0), 50.0);
        assert!(stake(1) < 50.0, "half of what the blind one passed fails");
        hub.clock.advance(DAY);
        run_jobs(hub);
        let weights = names.map(|name| {
            let node = format!("node_{name}");
            hub.hub
                .store
                .read_now(move |tx| {
                    let node = capsid_store::nodes::get(tx, &node)?.unwrap();
                    let owner = capsid_store::evaluation::owners::owner_of(tx, &node)?;
                    Ok(capsid_store::evaluation::owners::load_standing(tx, &owner)?.weight)
                })
                .unwrap()
        });
        assert!(weights[0] > 0.6 && weights[1] < 0.6, "{weights:?}");
        all_is_well(hub);
    });
}

fn auditing_for_a_small_stake(config: &mut HubConfig) {
    auditing(config);
    config.credits.validator_stake = 10_000;
    config.credits.reward_hold_ms = 0;
}

#[test]
fn an_owner_without_a_stake_is_asked_audits_only_and_earns_its_first_stake() {
    both_with(auditing_for_a_small_stake, |hub| {
        let ann = member(hub, "ann");
        let secret = member(hub, "new");
        let free = hub.register("node_free");
        for n in 0..8 {
            publish_reproduced(hub, &ann, n);
        }
        let candidates: Vec<Bundle> = (100..108).map(capsule).collect();
        for candidate in &candidates {
            hub.message_as("node_ann", &ann, "publish", candidate.payload()).expect(200);
        }
        run_jobs(hub);
        // Whoever never asks for work gets none.
        assert!(asked(hub, "node_new", &secret).is_empty() && asked(hub, "node_free", &free).is_empty());
        run_jobs(hub);
        assert!(asked(hub, "node_free", &free).is_empty(), "nobody claimed it");
        let audits = asked(hub, "node_new", &secret);
        let is_real = |task: &Value| candidates.iter().any(|one| task["target_asset_id"] == one.capsule_id());
        assert!(audits.len() == 8 && !audits.iter().any(is_real), "{audits:?}");
        // What is left out makes a report worth nothing.
        for (task, without) in audits
            .iter()
            .zip([&["/env/runtime"][..], &["/commands/0/duration_ms", "/commands/0/output_sha256"]])
        {
            let told = answer_without(hub, "node_new", &secret, task, runs_it, without);
            assert_eq!((&told["grade"], &told["weight"]), (&json!("unverified"), &json!(0.0)), "{without:?}");
        }
        for task in &audits[2..] {
            assert_eq!(answer(hub, "node_new", &secret, task, runs_it)["grade"], "assigned");
        }
        let stake = || hub.post_as(&secret, "/a2a/validator/stake", &json!({"node_id": "node_new"}));
        stake().refused(402, "insufficient_credits");
        hub.clock.advance(DAY);
        run_jobs(hub);
        assert_eq!(stake().expect(200)["is_validator"], true, "six right answers earned 12 credits");
        run_jobs(hub);
        let tasks = asked(hub, "node_new", &secret);
        assert!(tasks.iter().any(is_real), "six settled answers have a weight: {tasks:?}");
        // However many ask, a candidate is the cause of so many audits without a stake as it wants validators.
        for n in 0..5 {
            let secret = member(hub, &format!("new{n}"));
            asked(hub, &format!("node_new{n}"), &secret);
        }
        hub.message_as("node_ann", &ann, "publish", capsule(200).payload()).expect(200);
        run_jobs(hub);
        run_jobs(hub);
        let id = capsid_store::assets::id::AssetId::parse(capsule(200).capsule_id()).unwrap();
        let sql = "SELECT COUNT(*) FROM audits WHERE candidate = $1 AND node_id <> 'node_new'";
        let count = hub.hub.store.read_now(move |tx| tx.count(sql, capsid_store::params![&id])).unwrap();
        assert_eq!(count, 3);
        all_is_well(hub);
    });
}
