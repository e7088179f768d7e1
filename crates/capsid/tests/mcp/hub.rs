//! The tools that ask a hub, with a real one.

use super::stdio_client::{Talk, desk};
use capsid_model::{Value, json};
use capsid_testkit::hub::{HubProcess, TestHubLocation};

#[test]
fn a_node_registers_looks_around_and_remembers() {
    let desk = desk();
    let data = tempfile::tempdir().unwrap();
    let hub =
        HubProcess::start(&desk.program, &TestHubLocation { data: data.path().to_owned(), database: None });
    let url = format!("http://{}", hub.address);
    let mut talk = Talk::begin(&desk.program, desk.repo.path(), &[("A2A_HUB_URL", &url)], &["--compat"]);

    let shown = talk.well("publish", json!({"action": "hello"}));
    assert_eq!(shown["would_send"]["path"], "/a2a/hello", "{shown}");
    assert_eq!(talk.well("status", json!({"what": "node"}))["registered"], false, "a dry run sends nothing");
    let greeted = talk.well("publish", json!({"action": "hello", "dry_run": false, "confirm": true}));
    assert!(
        greeted["claim_url"].is_string() && !greeted.to_string().contains("node_secret\":\""),
        "{greeted}"
    );
    assert_eq!(talk.well("status", json!({"what": "node"}))["registered"], true);

    for what in ["assets", "ranked", "tasks", "my_tasks", "bounties", "node", "skills", "audit", "hub"] {
        talk.well("search", json!({"what": what, "limit": 5}));
    }
    assert!(talk.well("search", json!({"signals": ["log_error"]}))["assets"].as_array().unwrap().is_empty());
    talk.well("search", json!({"query": "retry a fetch"}));
    assert_eq!(talk.fails("search", json!({"what": "asset"})), "input_invalid");
    assert_eq!(talk.fails("search", json!({"what": "task", "id": "none"})), "hub_refused");
    let recalled = talk.well("recall", json!({"signals": ["log_error"], "hub": true}));
    assert!(recalled["hub"]["solutions"].is_array(), "{recalled}");

    let told = json!({"signals": ["log_error"], "status": "success", "summary": "mail jane.doe@acme-works.io", "hub": true});
    assert_eq!(talk.well("record_outcome", told)["hub"]["recorded"], true);
    let asked = json!({"action": "ask", "params": {"question": "Why at jane.doe@acme-works.io?"}});
    let shown = talk.well("publish", asked);
    assert!(!shown.to_string().contains("jane.doe@acme-works.io"), "{shown}");

    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let gene = json!({"type": "Gene", "id": "gene_x", "category": "repair", "signals_match": ["log_error"], "summary": secret});
    let capsule = json!({"type": "Capsule", "id": "capsule_x", "trigger": ["log_error"], "gene": "gene_x", "summary": "s"});
    let shown = talk.well("gep_publish_bundle", json!({"gene": gene, "capsule": capsule, "dry_run": true}));
    assert!(!shown.to_string().contains(secret) && shown["would_send"][1]["asset_id"].is_string(), "{shown}");
    let gene = json!({"type": "Gene", "id": "gene_low", "category": "repair", "signals_match": ["log_error"],
        "summary": "Repairs what the reader complains about", "strategy": ["Look"], "validation": ["node check.js"]});
    let capsule = json!({"type": "Capsule", "id": "capsule_low", "trigger": ["log_error"], "gene": "gene_low",
        "summary": "Wrote what the reader expects into the file", "confidence": 0.8, "env_fingerprint": {"platform": "linux"},
        "blast_radius": {"files": 1, "lines": 1}, "outcome": {"status": "success", "score": 0.5}});
    let unasked = talk.well("gep_publish_bundle", json!({"gene": gene, "capsule": capsule}));
    assert_eq!(unasked["dry_run"], true, "the owner did not allow to publish: {unasked}");
    let rejected = json!({"gene": gene, "capsule": capsule, "dry_run": false});
    assert_eq!(talk.fails("gep_publish_bundle", rejected), "hub_refused", "a rejection is no publication");
    let skill = json!({"gene": {"id": "gene_x", "summary": "Retry", "strategy": ["Retry once"], "signals_match": ["timeout"]}, "dry_run": false});
    let published = talk.well("gep_publish_skill", skill);
    assert_eq!(published["answer"]["skill_id"], "skill_x", "{published}");
    talk.well("gep_revoke", json!({"localId": "skill_x"}));
    assert!(talk.well("gep_identity", json!({})).is_object());
    talk.well("gep_audit", json!({"limit": 5}));
    talk.well("gep_search_community", json!({"query": "retry", "type": "Capsule"}));

    hub.kill();
    let code = talk.fails("search", json!({"what": "hub"}));
    assert_eq!(code, "hub_unreachable");
    let still: Value = talk.well("recall", json!({"signals": ["log_error"], "hub": true}));
    assert_eq!(still["hub"]["problem"]["code"], "hub_unreachable", "a hub that is away fails nothing here");
}
