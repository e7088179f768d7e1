//! Carrying assets in files: export here, ingest there, promote.

use super::*;
use capsid_model::json;
use capsid_testkit::hub::{HubProcess, TestHubLocation, ask_as};

fn staged(desk: &ProgramRepo) -> Vec<String> {
    let text =
        std::fs::read_to_string(desk.repo.file("assets/gep/external_candidates.jsonl")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn every_form_of_an_export_is_staged_elsewhere() {
    let (desk, _) = proven();
    for form in ["--jsonl", "--bundles", "--protocol", "--json"] {
        let export = desk.program.expect(0, &desk.repo, &["node", "export", "--include-events", form]);
        let other = super::desk();
        let ran =
            other.program.run_with_input(&other.repo, &["node", "ingest", "-", "--json"], &export.stdout);
        assert_eq!(ran.status, 0, "{form}: {ran}");
        let accepted = ran.json()["accepted"].as_array().unwrap().len();
        // The other desk has the same gene already.
        assert!(accepted >= 2 && ran.json()["known"].as_u64() >= Some(1), "{form}: {ran}");
        assert_eq!(staged(&other).len(), accepted);
        let again =
            other.program.run_with_input(&other.repo, &["node", "ingest", "-", "--json"], &export.stdout);
        assert_eq!((again.json()["accepted"].as_array().unwrap().len(), again.status), (0, 0), "{again}");
    }
}

#[test]
fn an_export_goes_into_a_file_and_the_outbox() {
    let (desk, _) = proven();
    let out = desk.program.home().join("shared.jsonl");
    let words = ["node", "export", "--protocol", "--persist", "--out", out.to_str().unwrap()];
    let ran = desk.program.expect(0, &desk.repo, &words);
    assert_eq!(ran.stdout, "");
    let lines: Vec<Value> =
        std::fs::read_to_string(&out).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(lines[0]["message_type"], "hello");
    assert!(lines[1..].iter().all(|line| line["message_type"] == "publish"));
    assert!(lines[1..].iter().all(|line| line["payload"]["assets"].as_array().unwrap().len() >= 2));
    let outbox = desk.repo.read("assets/gep/a2a/outbox/publish.jsonl");
    assert_eq!(outbox.lines().count(), lines.len() - 1);
}

#[test]
fn one_bad_asset_is_refused_and_the_rest_is_staged() {
    let desk = desk();
    let good = store::gene("gene_x", "repair", &["log_error"], &["node check.js"]);
    let mut lying = store::gene("gene_y", "repair", &["log_error"], &["node check.js"]);
    lying["strategy"] = json!(["Something else."]);
    let file =
        desk.repo.write("shared.json", json!([good, lying, {"type": "Gene", "strategy": 7}]).to_string());
    let ran = desk
        .program
        .run(&desk.repo, &["node", "ingest", file.to_str().unwrap(), "--source", "node_9", "--json"]);
    assert_status(1, &ran);
    let told: Value = ran.stdout.trim().parse().unwrap();
    assert_eq!(
        (&told["accepted"][0]["id"], &told["accepted"][0]["a2a"]["source"]),
        (&json!("gene_x"), &json!("node_9"))
    );
    assert_eq!(
        (&told["refused"][0]["code"], &told["refused"][1]["code"]),
        (&json!("asset_id_mismatch"), &json!("schema_violation"))
    );
    assert!(told["refused"][1]["message"].as_str().unwrap().starts_with("Asset 3 of the input "), "{ran}");
    assert!(!ran.stderr.contains("hub") && !ran.stderr.contains("Fetch"), "a file is no hub: {ran}");
    let hollow = json!({"type": "Gene", "id": "g"}).to_string();
    let ran = desk.program.run_with_input(&desk.repo, &["node", "ingest", "-"], &hollow);
    assert_eq!((ran.status, ran.code()), (1, "schema_violation"), "{ran}");
    assert!(ran.stderr.contains("no category, no signals_match"), "{ran}");
}

#[test]
fn hostile_text_is_inert_and_names_no_file() {
    let desk = desk();
    let gene = store::stamped(json!({"type": "Gene", "id": "../../evil", "category": "repair",
        "signals_match": ["log_error"], "strategy": ["\u{1b}]0;owned\u{7}"], "validation": ["node check.js"],
        "summary": "\u{1b}[2Jgone", "constraints": {"max_files": 2, "forbidden_paths": [".git"]}}));
    let before = desk.repo.user_files();
    let ran = desk.program.run_with_input(
        &desk.repo,
        &["node", "ingest", "-", "--source", "\u{1b}[31mred"],
        &Value::from(gene).to_string(),
    );
    assert_status(0, &ran);
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{ran}");
    let ran = desk.program.expect(0, &desk.repo, &["node", "promote", "../../evil"]);
    assert!(!ran.stdout.contains('\u{1b}'), "{ran}");
    assert_eq!(desk.repo.user_files(), before);
}

#[test]
fn what_is_staged_is_not_selected_before_it_is_promoted() {
    let desk = desk();
    // It fits better than any gene on the desk, and would be chosen at once.
    let signals = ["log_error", "TypeError", "error", "x is not a function"];
    let gene = store::gene("gene_better", "repair", &signals, &["node check.js"]);
    let capsule = store::stamped(json!({
        "type": "Capsule", "schema_version": "1.6.0", "id": "capsule_better", "trigger": signals, "gene": "gene_better",
        "summary": "A better way to mend it all.", "confidence": 1.0, "blast_radius": {"files": 1, "lines": 1},
        "outcome": {"status": "success", "score": 1.0}, "success_streak": 9,
        "env_fingerprint": {"platform": "linux", "arch": "x64", "node_version": "v22", "evolver_version": "1.7.0", "cwd": "."},
    }));
    let text = json!([gene, capsule]).to_string();
    assert_status(0, &desk.program.run_with_input(&desk.repo, &["node", "ingest", "-"], &text));
    let chosen = |desk: &ProgramRepo| {
        desk.program.expect(0, &desk.repo, &["select", "--signal", "log_error", "--json"]).stdout
    };
    assert!(!chosen(&desk).contains("better"), "{}", chosen(&desk));
    assert_status(0, &desk.evolve(&[], "echo good >> state.txt"));
    let event = store::events(&desk.repo).pop().unwrap();
    assert_eq!(event["genes_used"], json!(["gene_repair"]));
    assert!(!event["capsule_id"].as_str().unwrap().contains("better"));
    desk.program.expect(0, &desk.repo, &["node", "promote", "gene_better"]);
    assert!(chosen(&desk).contains("gene_better"), "{}", chosen(&desk));
}

#[test]
fn a_validation_that_proves_nothing_promotes_nothing() {
    let desk = desk();
    let gene = store::gene("gene_vain", "repair", &["log_error"], &["node --version"]);
    assert_status(
        0,
        &desk.program.run_with_input(&desk.repo, &["node", "ingest", "-"], &Value::from(gene).to_string()),
    );
    let ran = desk.program.run(&desk.repo, &["node", "promote", "gene_vain"]);
    assert_eq!((ran.status, ran.code()), (1, "not_validated"), "{ran}");
    let ran = desk
        .program
        .expect(0, &desk.repo, &["node", "promote", "gene_vain", "--validated", "--yes", "--json"])
        .json();
    assert_eq!((&ran["asset"]["a2a"]["status"], &ran["report"]), (&json!("promoted"), &Value::Null));
}

#[test]
fn the_inbox_is_read() {
    let desk = desk();
    let gene = store::gene("gene_in", "repair", &["log_error"], &["node check.js"]);
    let message = json!({"protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "publish", "message_id": "m",
        "sender_id": "node_far", "timestamp": "2026-01-01T00:00:00.000Z", "payload": {"asset": gene}});
    desk.repo.write("assets/gep/a2a/inbox/publish.jsonl", format!("{message}\n"));
    let ran = desk.program.expect(0, &desk.repo, &["node", "ingest", "--inbox", "--json"]).json();
    assert_eq!(ran["accepted"][0]["a2a"]["source"], "node_far");
    let again = desk.program.expect(0, &desk.repo, &["node", "ingest", "--inbox", "--json"]).json();
    assert_eq!((&again["accepted"], &again["known"]), (&json!([]), &json!(0)), "a message is consumed once");
    let file = desk.repo.file("assets/gep/a2a/inbox/publish.jsonl");
    let once_more = ["node", "ingest", file.to_str().unwrap(), "--json"];
    assert_eq!(desk.program.expect(0, &desk.repo, &once_more).json()["known"], 1, "and an asset staged once");
}

/// Only bundles are taken by a hub, so messages hold bundles.
#[test]
fn exported_messages_are_taken_by_a_hub() {
    let (desk, _) = proven();
    let folder = tempfile::tempdir().unwrap();
    let place = TestHubLocation { data: folder.path().join("hub"), database: None };
    std::fs::create_dir_all(&place.data).unwrap();
    let program = crate::common::program();
    let hub = HubProcess::start(&program, &place);
    let ran = desk.program.expect(0, &desk.repo, &["node", "export", "--protocol", "--include-events"]);
    let messages: Vec<Value> = ran.stdout.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(messages.len(), 2, "{ran}");
    for message in &messages {
        let path = format!("/a2a/{}", message["message_type"].as_str().unwrap());
        let (status, answer) = ask_as(&hub.address, "", "POST", &path, Some(&message.to_string())).unwrap();
        assert_eq!(status, 200, "{path}: {answer}");
    }
    let event = messages[1]["payload"]["assets"]
        .as_array()
        .unwrap()
        .iter()
        .find(|asset| asset["type"] == "EvolutionEvent");
    let event = event.expect("the bundle has its event");
    assert_eq!((&event["mutations_tried"], &event["total_cycles"]), (&json!(1), &json!(2)), "{event}");
}

#[test]
fn messages_in_the_inbox_take_effect_or_are_named_as_ignored() {
    let desk = desk();
    let count = std::cell::Cell::new(0);
    let message = |kind: &str, sender: &str, payload: Value| {
        count.set(count.get() + 1);
        json!({"protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": kind,
            "message_id": format!("m_{}", count.get()),
            "sender_id": sender, "timestamp": "2026-01-01T00:00:00Z", "payload": payload})
        .to_string()
    };
    let gene = store::gene("gene_x", "repair", &["log_error"], &["node check.js"]);
    let id = gene["asset_id"].clone();
    let target = json!({"target_asset_id": id});
    let inbox = |lines: &[String]| {
        desk.repo.write("assets/gep/a2a/inbox/messages.jsonl", format!("{}\n", lines.join("\n")));
        desk.program.expect(0, &desk.repo, &["node", "ingest", "--inbox", "--json"]).json()
    };
    let told = inbox(&[
        message("publish", "node_a", json!({"assets": [gene]})),
        message(
            "report",
            "node_b",
            json!({"target_asset_id": id, "validation_report": {"overall_ok": true}}),
        ),
        message("decision", "node_b", json!({"target_asset_id": id, "decision": "accept"})),
        message("revoke", "node_b", target.clone()),
        message("hello", "node_b", json!({})),
    ]);
    assert_eq!(told["accepted"].as_array().unwrap().len(), 1, "{told}");
    let notes: Vec<&str> = told["notes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(notes.len(), 3, "{told}");
    for (note, kind) in notes.iter().zip(["report", "decision", "revoke"]) {
        assert!(note.starts_with(&format!("ignored: the {kind} of node_b on sha256:")), "{note}");
    }
    assert!(notes[2].contains("only its sender"), "{}", notes[2]);
    assert_eq!(staged(&desk).len(), 1);
    let told = inbox(&[message("revoke", "node_a", target.clone())]);
    assert!(told["notes"][0].as_str().unwrap().starts_with("done: the revoke of node_a"), "{told}");
    assert_eq!(staged(&desk), [""; 0]);
    let told = inbox(&[message("revoke", "node_a", target)]);
    assert!(told["notes"][0].as_str().unwrap().contains("Nothing with this id is staged"), "{told}");
}
