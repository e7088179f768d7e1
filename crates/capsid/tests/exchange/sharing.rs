//! One rule for sharing, and what other nodes report about what was shared.

use super::*;
use capsid_client::{ClientConfig, Identity, NodeClient};
use capsid_model::{Object, SystemClock};
use capsid_testkit::hub::{HubProcess, TestHubLocation};
use std::path::Path;
use std::sync::Arc;

/// What the list of capsules and the dry run of a publish say of the only capsule.
#[track_caller]
fn ask_both(desk: &ProgramRepo) -> (bool, String) {
    let listed = desk.program.expect(0, &desk.repo, &["capsules", "--json"]).json();
    let offered = desk.program.expect(0, &desk.repo, &["node", "publish", "--dry-run", "--json"]).json();
    let (listed, offered) = (&listed["sharing"][0], &offered["offers"][0]);
    assert_eq!(listed["eligible"], offered["eligible"]);
    assert_eq!(listed["reason"], offered["reasons"].as_array().unwrap().first().cloned().unwrap_or_default());
    let shown = desk.program.expect(0, &desk.repo, &["capsules"]).stdout;
    let reason = listed["reason"].as_str().unwrap_or("may be shared").to_owned();
    assert!(shown.contains(&reason), "{reason}: {shown}");
    let sent = desk.program.run(&desk.repo, &["node", "publish", CAPSULE, "--hub", "http://127.0.0.1:9"]);
    let is_eligible = listed["eligible"] == true;
    assert_eq!(sent.code(), if is_eligible { "hub_unreachable" } else { "not_eligible" }, "{sent}");
    assert!(is_eligible || sent.stderr.contains(&reason), "{sent}");
    (is_eligible, reason)
}

fn write_with(desk: &ProgramRepo, more: &Value) {
    let mut capsule = store::proven_capsule(CAPSULE, "gene_repair", 2);
    capsule.extend(more.as_object().cloned().unwrap());
    store::write_list(&desk.repo, "capsules", &[store::stamped(capsule.into())]);
}

#[test]
fn capsid_capsules_and_node_publish_give_one_answer() {
    let (desk, _) = proven();
    assert_eq!(ask_both(&desk), (true, "may be shared".to_owned()));
    write_with(
        &desk,
        &json!({"source_type": "reference", "reused_asset_id": "sha256:aa", "a2a": {"source": "node_1"}}),
    );
    assert!(ask_both(&desk).0, "what was made after a reference is another solution");
    for (more, reason) in [
        (json!({"proof": null}), "It carries no proof; it is proven the next time it solves the problem."),
        (
            json!({"proof": {"grade": "passes", "command": "node check.js"}}),
            "not seen to fail before the change",
        ),
        (json!({"source_type": "reused"}), "somebody else's solution"),
        (json!({"blast_radius": {"files": 9, "lines": 2}}), "It changed 9 files; at most 5 are shared."),
        (json!({"success_streak": 7}), "It claims a streak of 7"),
    ] {
        write_with(&desk, &more);
        let (eligible, said) = ask_both(&desk);
        assert!(!eligible && said.contains(reason), "{said}");
    }
}

#[test]
fn the_commands_of_the_owner_or_of_the_proof_stand_for_those_of_the_gene() {
    let (desk, _) = proven();
    let gene = store::gene("gene_repair", "repair", &["log_error"], &[]);
    store::write_list(&desk.repo, "genes", &[gene]);
    assert!(ask_both(&desk).0);
    let sent = desk.program.expect(0, &desk.repo, &["node", "publish", "--dry-run", "--json"]).json();
    let assets = &sent["bundles"][0]["assets"];
    assert_eq!(
        assets[0]["validation"],
        json!(["node check.js"]),
        "the copy that leaves names what validated it"
    );
    assert_eq!(assets[1]["gene"], assets[0]["asset_id"]);
    for name in ["proof", "title", "explanation"] {
        assert!(!assets[1][name].is_null(), "{name}");
    }
    desk.repo.write("capsid.toml", "[hub]\nstrict = true\n");
    let sent = desk.program.expect(0, &desk.repo, &["node", "publish", "--dry-run", "--json"]).json();
    for name in ["proof", "title", "explanation", "problem"] {
        assert!(sent["bundles"][0]["assets"][1].get(name).is_none(), "{name}");
    }
    write_with(&desk, &json!({"proof": {"grade": "fail_to_pass"}}));
    assert!(ask_both(&desk).1.contains("No command can validate it"));
    desk.repo.write("capsid.toml", "[validation]\ncommands = [\"node check.js\"]\n");
    assert!(ask_both(&desk).0);
}

fn node(folder: &Path, name: &str, url: &str) -> NodeClient {
    let identity = Identity::open(&folder.join(name), &|_| None).unwrap();
    let settings = ClientConfig::new(url, false).unwrap();
    let node = NodeClient::new(&settings, identity, Arc::new(SystemClock)).unwrap();
    node.hello(Object::new()).unwrap();
    node
}

#[test]
fn a_real_reuse_by_another_node_reaches_the_authors_streak() {
    let (desk, id) = proven();
    let folder = desk.program.home().join("hub");
    let place = TestHubLocation { data: folder.clone(), database: None };
    let hub = HubProcess::start(&desk.program, &place);
    let url = format!("http://{}", hub.address);
    let answer = desk.program.expect(0, &desk.repo, &["node", "publish", "--json", "--hub", &url]).json();
    let assets = answer["published"][0]["answer"]["asset_ids"].as_array().unwrap().clone();
    let asset = assets[1].as_str().unwrap();
    let sync = || desk.program.expect(0, &desk.repo, &["node", "sync", "--json", "--hub", &url]).json();
    assert_eq!(sync()["reused_by_others"], json!([]));

    let reused = json!({"report_id": "vr_1", "overall_ok": true, "reproduction_score": 1.0, "reuse_mode": "reused",
        "commands": [{"command": "node check.js", "ok": true}]});
    let other = node(&folder, "other", &url);
    // A validator runs the commands alone, and a failure is no success.
    node(&folder, "tester", &url).report_tried(asset, &json!({"overall_ok": true})).unwrap();
    node(&folder, "unlucky", &url)
        .report_tried(asset, &json!({"overall_ok": false, "failure_class": "validation"}))
        .unwrap();
    assert_eq!(sync()["reused_by_others"], json!([]));
    other.report_tried(asset, &reused).unwrap();
    assert_eq!(sync()["reused_by_others"], json!([{"capsule_id": id, "streak": 3}]));
    assert_eq!(store::list(&desk.repo, "capsules")[0]["success_streak"], 3);
    assert_eq!(sync()["reused_by_others"], json!([]), "a report counts once");
    node(&folder, "third", &url).report_tried(asset, &reused).unwrap();
    assert_eq!(sync()["reused_by_others"], json!([{"capsule_id": id, "streak": 4}]));

    let capsule = store::list(&desk.repo, "capsules").remove(0);
    assert!(capsid_model::asset::verify(&capsule).holds());
    let listed = desk.program.expect(0, &desk.repo, &["capsules", "--json"]).json();
    assert_eq!(
        (&listed["sharing"][0]["streak"], &listed["sharing"][0]["eligible"]),
        (&json!(4), &json!(true))
    );
    let ledger = desk.repo.read("assets/gep/reuse_by_others.jsonl");
    assert_eq!(ledger.lines().count(), 2, "{ledger}");
    assert!(ledger.contains(other.id()) && ledger.contains(asset), "{ledger}");
}
