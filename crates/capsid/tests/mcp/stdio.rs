//! Lines as no library would write them.

use super::stdio_client::{Talk, desk, hello};
use capsid_model::{Value, json};
use rustix::process::{Pid, Signal, kill_process};
use std::net::TcpListener;
use std::time::{Duration, Instant};

#[test]
fn a_client_that_says_nothing_is_no_error() {
    let desk = desk();
    let talk = Talk::start(&desk.program, desk.repo.path(), &[], &[]);
    assert_eq!(talk.end(), (Some(0), Vec::new(), String::new()));
}

#[test]
fn every_version_of_the_protocol_is_spoken() {
    let desk = desk();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut talk = Talk::start(&desk.program, desk.repo.path(), &[], &[]);
        assert_eq!(talk.ask("initialize", hello(version))["result"]["protocolVersion"], version);
        assert_eq!(talk.ask("tools/list", json!({}))["result"]["tools"].as_array().unwrap().len(), 8);
    }
    // The newest has no greeting: each request says what it needs.
    let mut talk = Talk::start(&desk.program, desk.repo.path(), &[], &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "lines", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let answer = talk.ask("tools/list", json!({"_meta": meta}));
    assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 8, "{answer}");
}

#[test]
fn what_is_no_message_is_answered_and_nothing_else_suffers() {
    let desk = desk();
    let mut talk = Talk::begin(&desk.program, desk.repo.path(), &[], &[]);
    let error = |talk: &mut Talk, line: &str| {
        talk.say(line);
        let heard = talk.hear();
        (heard["error"]["code"].as_i64().unwrap(), heard["id"].clone())
    };
    assert_eq!(error(&mut talk, "garbage"), (-32700, Value::Null));
    assert_eq!(error(&mut talk, "{\"jsonrpc\": \"2.0\", \"id\": 1"), (-32700, Value::Null));
    assert_eq!(error(&mut talk, "\u{1}\u{2}"), (-32700, Value::Null));
    assert_eq!(error(&mut talk, "[]"), (-32600, Value::Null));
    assert_eq!(error(&mut talk, "17"), (-32600, Value::Null));
    assert_eq!(error(&mut talk, r#"{"id": "a"}"#), (-32600, json!("a")));
    assert_eq!(
        error(&mut talk, r#"{"jsonrpc":"2.0","id":71,"method":"tools/call","params":5}"#),
        (-32602, json!(71))
    );
    assert_eq!(error(&mut talk, r#"{"jsonrpc":"2.0","id":72,"method":"no/such"}"#), (-32601, json!(72)));
    assert_eq!(error(&mut talk, &format!("[{}]", vec!["1"; 101].join(","))), (-32600, Value::Null));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(error(&mut talk, &deep), (-32700, Value::Null));
    let huge =
        format!(r#"{{"jsonrpc":"2.0","id":73,"method":"ping","params":{{"x":"{}"}}}}"#, "x".repeat(2 << 20));
    assert_eq!(error(&mut talk, &huge), (-32600, Value::Null));
    // A notification is never answered, whatever it is.
    talk.say(r#"{"jsonrpc":"2.0","method":"no/such/notice","params":5}"#);
    talk.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}"#);
    // Several at once, as one version of the protocol allows; empty lines are nothing.
    talk.say("\n\r\n");
    talk.say(r#"[{"jsonrpc":"2.0","id":81,"method":"ping"},{"jsonrpc":"2.0","id":82,"method":"ping"}]"#);
    let mut both = [talk.hear()["id"].as_i64().unwrap(), talk.hear()["id"].as_i64().unwrap()];
    both.sort_unstable();
    assert_eq!(both, [81, 82]);
    assert_eq!(talk.end(), (Some(0), Vec::new(), String::new()));
}

#[test]
fn what_was_asked_before_the_end_is_answered() {
    let desk = desk();
    let mut talk = Talk::begin(&desk.program, desk.repo.path(), &[], &[]);
    let asked: Vec<u64> = (0..20).map(|_| talk.send("tools/call", json!({"name": "status"}))).collect();
    let (status, left, _) = talk.end();
    let mut answered: Vec<u64> = left.iter().filter_map(|line| line["id"].as_u64()).collect();
    answered.sort_unstable();
    assert_eq!((status, answered), (Some(0), asked));
}

/// Every tool, well and badly called: whatever happens below, stdout stays JSON-RPC. `Talk` looks at each line.
#[test]
fn nothing_but_messages_is_ever_written_to_stdout() {
    let desk = desk();
    desk.repo.write("capsid.toml", "[validation]\ncommands = [\"node check.js\"]\n");
    let mut talk = Talk::begin(&desk.program, desk.repo.path(), &[], &["--compat"]);
    let begun = talk.well("evolve", json!({"logs": ["app.log"]}));
    assert_eq!(begun["gene"], "gene_repair");
    desk.repo.write("state.txt", "good\n");
    let settled = talk.well("evolve", json!({"action": "solidify", "summary": "Say good"}));
    assert_eq!(settled["ok"], true, "{settled}");
    assert!(!settled["validation"].as_array().unwrap().is_empty());
    let found = talk.well("recall", json!({"query": "error: TypeError: x is not a function"}));
    assert_eq!(found["solutions"][0]["source"], "own", "{found}");
    assert_eq!(found["solutions"][0]["id"], settled["capsule"]["id"]);
    for tool in ["recall", "gep_recall"] {
        let found = talk.well(tool, json!({"query": "why: \"typeerror, x is not a function\"?"}));
        assert_eq!(found["solutions"][0]["id"], settled["capsule"]["id"], "{tool}: {found}");
        let other = talk.well(tool, json!({"query": "RangeError: invalid array length"}));
        assert_eq!(other["solutions"], json!([]), "{tool}");
    }
    assert_eq!(talk.well("verify", json!({"what": "events"}))["valid"], true);
    assert_eq!(talk.well("verify", json!({"what": "trail"}))["valid"], true);
    assert_eq!(talk.well("status", json!({"what": "events"}))["events"][0]["id"], settled["event_id"]);
    assert_eq!(talk.well("status", json!({"what": "explain"}))["ok"], true);
    talk.well("evolve", json!({"text": "error: another one", "force": true}));
    desk.repo.write("state.txt", "bad\n");
    let failed = talk.well("evolve", json!({"action": "solidify"}));
    assert_eq!((&failed["ok"], desk.repo.read("state.txt").as_str()), (&false.into(), "bad\n"), "{failed}");
    assert_eq!(failed["changed_files"], json!([{"path": "state.txt", "kind": "modified"}]));
    let tools = talk.ask("tools/list", json!({}))["result"]["tools"].clone();
    for tool in tools.as_array().unwrap() {
        for arguments in
            [json!({}), json!({"x": 1}), json!({"signals": [1], "query": 5, "id": {}, "gene": []})]
        {
            talk.ask("tools/call", json!({"name": tool["name"], "arguments": arguments}));
        }
    }
    let (status, left, told) = talk.end();
    assert_eq!((status, left, told.as_str()), (Some(0), Vec::new(), ""));
}

#[test]
fn a_cancelled_call_is_left_behind_and_a_signal_ends_the_server_at_once() {
    let desk = desk();
    // It accepts and never answers: whoever calls waits until the time-out.
    let stalled = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", stalled.local_addr().unwrap());
    let mut talk = Talk::begin(&desk.program, desk.repo.path(), &[("A2A_HUB_URL", &url)], &[]);
    let since = Instant::now();
    let id = talk.send("tools/call", json!({"name": "search", "arguments": {"query": "anything"}}));
    let _under_way = stalled.accept().unwrap();
    talk.say(
        &json!({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":id}}).to_string(),
    );
    talk.well("help", json!({}));
    kill_process(Pid::from_raw(talk.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    let (status, left, _) = talk.end();
    assert_eq!((status, left), (Some(0), Vec::new()), "a cancelled request is not answered");
    assert!(since.elapsed() < Duration::from_secs(60), "{:?}", since.elapsed());
}

#[test]
fn outside_of_a_repository_the_server_still_explains() {
    let desk = desk();
    let mut talk = Talk::begin(&desk.program, desk.program.home(), &[], &[]);
    assert_eq!(talk.fails("status", json!({})), "not_a_git_repository");
    assert_eq!(talk.fails("search", json!({"query": "x"})), "no_hub");
    assert!(talk.well("help", json!({"topic": "not_a_git_repository"}))["text"].is_string());
    assert!(talk.well("status", json!({"what": "signals", "text": "Error: boom"}))["signals"].is_array());
    assert_eq!(talk.ask("resources/list", json!({}))["result"]["resources"].as_array().unwrap().len(), 4);
}

#[test]
fn the_names_of_the_other_server_work_with_its_arguments() {
    let desk = desk();
    let mut talk = Talk::begin(&desk.program, desk.repo.path(), &[], &["--compat"]);
    let tools = talk.ask("tools/list", json!({}))["result"]["tools"].clone();
    let mut names: Vec<&str> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .filter(|name| name.starts_with("gep_"))
        .collect();
    names.sort_unstable();
    let expected = "gep_audit gep_evolve gep_export gep_identity gep_install_gene gep_list_genes gep_protocol_info gep_publish_bundle gep_publish_skill gep_recall gep_record_outcome gep_revoke gep_search_community gep_status gep_submit_validation_report";
    assert_eq!(names.join(" "), expected);
    assert!(
        talk.well("gep_evolve", json!({"context": "error: boom", "intent": "repair"}))["prompt"].is_string()
    );
    assert!(
        talk.well("gep_recall", json!({"query": "error: boom", "max_cost_usd": 1}))["solutions"].is_array()
    );
    let recorded = json!({"geneId": "gene_repair", "signals": ["log_error"], "status": "failed", "score": 0.1, "summary": "No"});
    assert_eq!(talk.well("gep_record_outcome", recorded)["gene"], "gene_repair");
    assert_eq!(talk.well("gep_list_genes", json!({"category": "innovate"}))["total"], 1);
    let gene = json!({"type": "Gene", "id": "gene_new", "category": "repair", "signals_match": ["x"], "strategy": ["Do it"],
        "summary": "A gene that was given", "constraints": {"max_files": 2, "forbidden_paths": [".git"]}, "validation": ["node check.js"]});
    assert!(
        talk.well("gep_install_gene", json!({"gene": gene}))["asset_id"]
            .as_str()
            .unwrap()
            .starts_with("sha256:")
    );
    assert_eq!(talk.fails("gep_install_gene", json!({"gene": gene})), "change_refused");
    let mut hostile = gene;
    hostile["id"] = "gene_hostile".into();
    hostile["validation"] = json!(["rm -rf /"]);
    assert_eq!(talk.fails("gep_install_gene", json!({"gene": hostile})), "command_refused");
    hostile["validation"] = json!(["node new.js"]);
    assert_eq!(
        talk.well("gep_install_gene", json!({"gene": hostile}))["staged"],
        true,
        "nobody here named it"
    );
    hostile["id"] = "gene_foreign".into();
    hostile["validation"] = json!(["node check.js"]);
    hostile["a2a"] = json!({"source": "node_1"});
    assert_eq!(
        talk.well("gep_install_gene", json!({"gene": hostile}))["staged"],
        true,
        "it is somebody else's"
    );
    assert_eq!(talk.well("gep_status", json!({}))["genes"], 3);
    assert!(talk.well("gep_export", json!({"outputPath": "out.gepx"}))["files"].is_array());
    assert!(desk.repo.file("out.gepx").exists());
    assert_eq!(talk.well("gep_protocol_info", json!({}))["protocol"], "gep-a2a");
    for name in ["gep_search_community", "gep_publish_bundle", "gep_publish_skill"] {
        let asset = json!({"id": "x", "signals_match": ["log_error"]});
        let mut arguments = json!({"query": "retry"});
        if name != "gep_search_community" {
            arguments = json!({"gene": asset, "capsule": asset});
        }
        if name == "gep_publish_skill" {
            arguments = json!({"gene": asset});
        }
        assert_eq!(talk.fails(name, arguments), "no_hub", "{name}");
    }
    assert_eq!(talk.fails("gep_revoke", json!({})), "input_invalid");
    assert_eq!(talk.fails("gep_identity", json!({})), "no_hub");
    assert_eq!(talk.fails("gep_audit", json!({})), "no_hub");
    let report = json!({"commands": ["npm test"], "results": [{"ok": true}], "targetAssetId": "sha256:0"});
    assert_eq!(talk.fails("gep_submit_validation_report", report), "no_hub");
}
