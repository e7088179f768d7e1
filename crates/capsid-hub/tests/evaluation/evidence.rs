//! What a report must contain to count.

use super::helpers::{asset, blind_report, report, run_jobs, status, validator};
use crate::common::{Bundle, TestHub, both, both_with, on_sqlite};
use crate::strangers::{claim, pay_out, user};
use capsid_hub::config::{HubConfig, HubProfile};
use capsid_model::hash::hmac_sha256_hex;
use capsid_rules::credits::CreditSource;
use capsid_rules::evaluation::quorum::ArbiterRule;
use serde_json::{Value, json};

/// What a node has to send along with a report to show that it read an asset, from what it was given.
fn read_proof(trial: &Value, bundle: &Bundle) -> String {
    let nonce = trial["trials"][0]["nonce"].as_str().unwrap();
    hmac_sha256_hex(nonce.as_bytes(), bundle.capsule.to_string().as_bytes())
}

fn proof_record() -> Value {
    json!({"v": 1, "grade": "fail_to_pass", "command": "npm test", "runs": [
        {"run": "before", "ok": false, "exit_code": 1, "duration_ms": 7},
        {"run": "after", "ok": true, "exit_code": 0, "duration_ms": 7}]})
}

fn send(hub: &TestHub, node: &str, bundle: &Bundle, found: Value) -> Value {
    let payload = json!({"target_asset_id": bundle.capsule_id(), "validation_report": found});
    hub.message(node, "report", payload).expect(200)
}

#[test]
fn publish_plus_one_blind_report_by_two_nodes_that_never_said_hello_promotes() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let answer = blind_report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        assert_eq!((&answer["grade"], &answer["weight"]), (&json!("unverified"), &json!(0.0)));
        assert_eq!((&answer["status"], &answer["consensus"]["total"]), (&json!("recorded"), &json!(0)));
        assert!(answer["note"].as_str().unwrap().contains("trial"), "{answer}");
        run_jobs(hub);
        assert_eq!(status(hub, bundle.capsule_id()), "candidate", "a blind report promotes nothing");
        report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        run_jobs(hub);
        assert_eq!(status(hub, bundle.capsule_id()), "promoted", "one that took it does");
    });
}

#[test]
fn a_report_after_a_plain_fetch_counts_a_half() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        run_jobs(hub);
        hub.register("node_c");
        hub.message("node_c", "fetch", json!({"asset_ids": [bundle.capsule_id()]})).expect(200);
        let answer = blind_report(hub, "node_c", bundle.capsule_id(), true).expect(200);
        assert_eq!((&answer["grade"], &answer["weight"]), (&json!("fetched"), &json!(0.5)));
        hub.clock.advance(60_000);
        let answer = send(
            hub,
            "node_c",
            &bundle,
            json!({"overall_ok": true,
            "env": {"platform": "linux", "arch": "x64", "runtime": "node 22"},
            "commands": [{"cmd": "npm test", "ok": true, "exit_code": 0, "duration_ms": 9}]}),
        );
        assert_eq!((&answer["grade"], &answer["weight"]), (&json!("used"), &json!(0.5)));
    });
}

#[test]
fn a_stake_is_enough_on_a_private_hub() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        validator(hub, "node_b");
        let answer = blind_report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        assert_eq!((&answer["grade"], &answer["weight"]), (&json!("fetched"), &json!(0.5)));
    });
}

#[test]
fn a_proof_in_ones_own_repository_counts_in_full_with_a_read_proof() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let trial = hub.take_on_trial("node_b", bundle.capsule_id()).expect(200);
        let right = read_proof(&trial, &bundle);
        let other = hmac_sha256_hex(trial["trials"][0]["nonce"].as_str().unwrap().as_bytes(), b"{}");
        for (proof, grade, weight) in
            [(json!(right), "applied", 1.0), (json!(other), "unverified", 0.0), (Value::Null, "fetched", 0.5)]
        {
            let found = json!({"overall_ok": true, "proof": proof_record(), "read_proof": proof});
            let answer = send(hub, "node_b", &bundle, found);
            assert_eq!((&answer["grade"], &answer["weight"]), (&json!(grade), &json!(weight)));
        }
        let outer = json!({"target_asset_id": bundle.capsule_id(), "read_proof": right,
            "validation_report": {"overall_ok": true, "proof": proof_record()}});
        assert_eq!(hub.message("node_b", "report", outer).expect(200)["grade"], "applied");
        let rows = hub.get(&format!("/a2a/validation-reports?asset_id={}", bundle.capsule_id())).expect(200);
        assert_eq!(rows["reports"][0]["grade"], "applied");
    });
}

#[test]
fn the_publishers_own_proof_is_not_counted() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1).with(|bundle| bundle.capsule["proof"] = proof_record());
        hub.publish("node_a", &bundle).expect(200);
        let trial = hub.take_on_trial("node_a", bundle.capsule_id()).expect(200);
        let found =
            json!({"overall_ok": true, "proof": proof_record(), "read_proof": read_proof(&trial, &bundle)});
        let answer = send(hub, "node_a", &bundle, found);
        assert_eq!((&answer["grade"], &answer["weight"]), (&json!("self"), &json!(0.0)));
        run_jobs(hub);
        assert_eq!(status(hub, bundle.capsule_id()), "candidate");
    });
}

#[test]
fn a_ticket_is_valid_for_an_hour() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let trial = hub.take_on_trial("node_b", bundle.capsule_id()).expect(200);
        let proof = read_proof(&trial, &bundle);
        hub.clock.advance(3_600_000);
        let found = json!({"overall_ok": true, "proof": proof_record(), "read_proof": proof});
        assert_eq!(
            send(hub, "node_b", &bundle, found.clone())["grade"],
            "fetched",
            "it shows nothing any more"
        );
        let again = hub.take_on_trial("node_b", bundle.capsule_id()).expect(200);
        assert_ne!(read_proof(&again, &bundle), proof);
        assert_eq!(send(hub, "node_b", &bundle, found)["grade"], "unverified", "it is of another ticket");
    });
}

#[test]
fn a_report_that_contradicts_itself_is_refused() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        hub.register("node_b");
        let ok = |ok: bool, code: i64| json!({"cmd": "npm test", "ok": ok, "exit_code": code});
        let mut bad_proof = proof_record();
        bad_proof["runs"] = json!([]);
        for found in [
            json!({"overall_ok": true, "commands": [ok(false, 1)]}),
            json!({"overall_ok": false, "commands": [ok(true, 0)]}),
            json!({"overall_ok": true, "commands": [ok(true, 3)]}),
            json!({"overall_ok": true, "commands_passed": 1, "commands_total": 2}),
            json!({"overall_ok": true, "commands": [ok(true, 0), ok(true, 0)], "commands_total": 1, "commands_passed": 1}),
            json!({"overall_ok": true, "files": [{"path": "a.js", "sha256": "11"}], "files_sha256": "0".repeat(64)}),
            json!({"overall_ok": false, "proof": proof_record()}),
            json!({"overall_ok": true, "proof": bad_proof}),
        ] {
            let payload = json!({"target_asset_id": bundle.capsule_id(), "validation_report": found});
            hub.message("node_b", "report", payload).refused(422, "report_contradictory");
        }
        for found in [
            json!({"overall_ok": true, "read_proof": "abc"}),
            json!({"overall_ok": true, "control": true}),
            json!({"overall_ok": true, "control": {"bare": "yes"}}),
            json!({"overall_ok": true, "proof": {"grade": "best"}}),
            json!({"overall_ok": true, "files": [7]}),
            json!({"overall_ok": true, "files_sha256": "x"}),
        ] {
            let payload = json!({"target_asset_id": bundle.capsule_id(), "validation_report": found});
            hub.message("node_b", "report", payload).refused(400, "validation_error");
        }
        let none = hub.get(&format!("/a2a/validation-reports?asset_id={}", bundle.capsule_id())).expect(200);
        assert_eq!(none["count"], 0, "nothing of it is kept");
    });
}

/// What the hub asks a validator to do.
fn assignment(hub: &TestHub, node: &str) -> Value {
    run_jobs(hub);
    hub.message(node, "fetch", json!({"validation_only": true})).expect(200)["validation_tasks"][0].clone()
}

#[test]
fn a_validator_answers_for_the_commands_that_it_was_asked_to_run() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        validator(hub, "node_v");
        let asked = assignment(hub, "node_v");
        let nonce = asked["nonce"].as_str().unwrap();
        let answer = |command: &str| {
            json!({"task_id": asked["task_id"], "nonce": nonce, "overall_ok": true,
                "commands": [{"cmd": command, "ok": true, "exit_code": 0}],
                "env": {"platform": "linux", "arch": "x64"}, "isolation": "overlay", "ran_on": "scratch",
                "control": {"bare": false, "base": false},
                "read_proof": hmac_sha256_hex(nonce.as_bytes(), bundle.capsule.to_string().as_bytes())})
        };
        hub.message("node_v", "report", answer("node --version")).refused(422, "report_contradictory");
        let told = hub.message("node_v", "report", answer("node tests/retry.test.js")).expect(200);
        assert_eq!((&told["grade"], &told["weight"]), (&json!("reproduced"), &json!(1.0)));
    });
}

#[test]
fn a_control_that_passes_makes_the_validation_vacuous() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let label = || {
            let path = format!("/a2a/assets/{}", bundle.capsule_id());
            hub.get(&path).expect(200)["validation"]["label"].clone()
        };
        let found = |bare: bool| json!({"overall_ok": true, "control": {"bare": bare, "base": false}});
        send(hub, "node_x", &bundle, found(true));
        assert_eq!(label(), "real", "a report that does not count says nothing of the test");
        hub.take_on_trial("node_b", bundle.capsule_id());
        send(hub, "node_b", &bundle, found(false));
        let good = asset(hub, bundle.capsule_id()).gdi;
        assert_eq!(label(), "real");
        hub.take_on_trial("node_c", bundle.capsule_id());
        send(hub, "node_c", &bundle, found(true));
        assert_eq!(label(), "vacuous", "a control cannot be argued away");
        assert!(asset(hub, bundle.capsule_id()).gdi < good);
        let rows = hub.get(&format!("/a2a/validation-reports?asset_id={}", bundle.capsule_id())).expect(200);
        assert_eq!(rows["reports"][0]["control"], json!({"bare": true, "base": false}));
    });
}

fn public(config: &mut HubConfig) {
    let data = (config.data.clone(), config.database.clone(), config.public_url.clone());
    *config = HubConfig::for_profile(HubProfile::Public);
    (config.data, config.database, config.public_url) = data;
}

#[test]
fn a_public_hub_wants_more_than_a_fetch() {
    both_with(public, |hub| {
        let bundle = Bundle::new(1);
        // Free nodes of one network are one owner, so the publisher has an account.
        let (token, _) = user(hub, "ann");
        claim(hub, &token, "node_a");
        hub.publish("node_a", &bundle).expect(200);
        hub.register("node_b");
        hub.message("node_b", "fetch", json!({"asset_ids": [bundle.capsule_id()], "trial": true}))
            .refused(403, "trial_not_allowed");
        hub.register("node_v");
        pay_out(hub, "node:node_v", 200, CreditSource::Earned);
        validator(hub, "node_v");
        let answer = blind_report(hub, "node_v", bundle.capsule_id(), true).expect(200);
        assert_eq!(
            (&answer["grade"], &answer["weight"]),
            (&json!("unverified"), &json!(0.0)),
            "a stake is no evidence"
        );
        let asked = assignment(hub, "node_v");
        let unread = json!({"task_id": asked["task_id"], "nonce": asked["nonce"], "overall_ok": true});
        let told = hub.message("node_v", "report", unread).expect(200);
        assert_eq!(
            (&told["grade"], &told["weight"], &told["label"]),
            (&json!("unverified"), &json!(0.0), &json!("assigned"))
        );
    });
}

#[test]
fn where_an_arbiter_is_asked_a_disagreement_waits() {
    both_with(
        |config| config.promotion.rule.quorum.arbiter = ArbiterRule::Small,
        |hub| {
            let bundle = Bundle::new(1);
            hub.publish("node_a", &bundle).expect(200);
            for (node, ok) in [("node_b", true), ("node_c", true), ("node_d", false)] {
                report(hub, node, bundle.capsule_id(), ok).expect(200);
            }
            run_jobs(hub);
            assert_eq!(status(hub, bundle.capsule_id()), "candidate");
            let detail = hub.get(&format!("/a2a/assets/{}", bundle.capsule_id())).expect(200);
            assert_eq!(detail["why_not_promoted"][0]["code"], "waiting_for_arbiter");
        },
    );
}
