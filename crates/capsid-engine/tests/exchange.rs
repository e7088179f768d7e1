//! What leaves a store and what comes into it, on real repositories.
#![cfg(unix)]

use capsid_client::{ClientConfig, Identity, NodeClient};
use capsid_engine::exchange::consent::CommandConsent;
use capsid_engine::exchange::outgoing::{offers, outgoing};
use capsid_engine::exchange::promote::{PromoteRequest, promote};
use capsid_engine::exchange::publication_log::record_publication;
use capsid_engine::exchange::publish::publish;
use capsid_engine::exchange::stage::{stage, staged};
use capsid_engine::exchange::{export, publication_log};
use capsid_engine::network::publishing;
use capsid_engine::workspace::Workspace;
use capsid_model::asset::{stamp, verify};
use capsid_model::{Code, Object, Time, Value, json};
use capsid_testkit::secrets;
use capsid_testkit::store::{self, append_events, gene, stamped, write_list, write_store};
use capsid_testkit::test_repo::TestRepo;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const NOW: Time = Time(1_790_000_000_000);
const HUB: &str = "http://127.0.0.1:4000";

fn workspace(repo: &TestRepo) -> Workspace {
    Workspace::open(repo.path(), Arc::new(NOW), Arc::new(repo.env())).unwrap()
}

fn capsule(id: &str, mut more: Value) -> Object {
    let mut capsule = json!({
        "type": "Capsule", "schema_version": "1.6.0", "id": id, "trigger": ["log_error", "ab", "ban_gene:x"],
        "gene": "gene_a", "summary": "Short", "confidence": 0.8, "blast_radius": {"files": 1, "lines": 2},
        "outcome": {"status": "success", "score": 0.85}, "success_streak": 2,
        "env_fingerprint": {"platform": "linux", "arch": "x64", "cwd": ".", "hostname": "box7", "device_id": "d"},
        "source_type": "generated", "a2a": {"eligible_to_broadcast": true},
        "content": "Intent: repair", "diff": "+ask ada@corp.io at /home/ada/x", "strategy": ["One."],
        "trigger_context": {"prompt": "my private plan"}, "proof": store::proof("node check.js"),
    });
    capsule.as_object_mut().unwrap().append(more.as_object_mut().unwrap());
    stamped(capsule)
}

fn success(id: &str, capsule: &str) -> Object {
    let mut event = store::event(id, "repair", "gene_a", &["log_error"], true);
    event.insert("capsule_id".to_owned(), capsule.into());
    event.insert("env_fingerprint".to_owned(), json!({"platform": "linux", "arch": "x64"}));
    event.insert("validation_report_id".to_owned(), format!("vr_{id}").into());
    event.insert(
        "meta".to_owned(),
        json!({"validation_vacuous": false, "validation_ok": true, "run_id": "run_7",
        "git": {"files": ["src/private.rs"]}, "validation": [{"cmd": "node check.js", "ok": true}]}),
    );
    stamp(&mut event);
    event
}

/// A repository with one capsule that worked twice, and one that worked once.
fn proven() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("check.js", "process.exit(require('fs').existsSync('bad') ? 1 : 0)\n");
    repo.commit("Begin");
    let commands = ["node check.js", "cargo test", "node ../x.js", "node /srv/x.js"];
    write_store(&repo, &[gene("gene_a", "repair", &["log_error"], &commands)]);
    write_list(
        &repo,
        "capsules",
        &[capsule("capsule_1", json!({})), capsule("capsule_2", json!({"success_streak": 1}))],
    );
    append_events(
        &repo,
        &[success("evt_1", "capsule_1"), success("evt_2", "capsule_2"), success("evt_3", "capsule_1")],
    );
    repo
}

fn kinds(assets: &[Object]) -> Vec<&str> {
    assets.iter().map(|asset| asset["type"].as_str().unwrap()).collect()
}

#[test]
fn a_bundle_is_redacted_linked_and_verifies() {
    let repo = proven();
    let sent = outgoing(&workspace(&repo), "capsule_1", false).unwrap();
    assert_eq!(kinds(&sent.assets), ["Gene", "Capsule", "EvolutionEvent"]);
    let [gene, capsule, event] = <[Object; 3]>::try_from(sent.assets.clone()).unwrap();
    for asset in [&gene, &capsule, &event] {
        assert!(verify(asset).holds());
    }
    assert_eq!(capsule["gene"], gene["asset_id"]);
    assert_eq!(event["capsule_id"], capsule["asset_id"]);
    assert_eq!(event["genes_used"], json!([gene["asset_id"]]));
    assert_eq!(gene["validation"], json!(["node check.js"]));
    assert_eq!(capsule["trigger"], json!(["log_error"]));
    assert_eq!(capsule["diff"], "+ask [REDACTED] at [REDACTED]");
    assert!(capsule["summary"].as_str().unwrap().chars().count() >= 20);
    assert_eq!(capsule["env_fingerprint"], json!({"platform": "linux", "arch": "x64", "cwd": "."}));
    assert_eq!(event["meta"]["validation"], json!([{"cmd": "node check.js", "ok": true}]));
    let text = format!("{:?}", sent.assets);
    for local in ["ada", "box7", "private", "run_7", "cargo", "eligible", "ban_gene"] {
        assert!(!text.contains(local), "{local} in {text}");
    }
    let notes = sent.notes.join("\n");
    for expected in ["capsule.diff: 2 places redacted", "cargo test", "trigger_context"] {
        assert!(notes.contains(expected), "{expected} in {notes}");
    }
}

#[test]
fn a_published_trigger_holds_the_raw_line_redacted_for_engines_that_compare_lines() {
    let repo = proven();
    let line = "TypeError: x is not a function at /home/ada/private/a.js";
    let problem = capsid_rules::diagnosis::diagnose(line).to_record().unwrap();
    let problem = serde_json::to_value(&problem).unwrap();
    write_list(&repo, "capsules", &[capsule("capsule_1", json!({"problem": problem}))]);
    let sent = outgoing(&workspace(&repo), "capsule_1", false).unwrap();
    let raw = "errsig:TypeError: x is not a function at [REDACTED]";
    assert_eq!(sent.assets[1]["trigger"], json!(["log_error", raw]));
    assert!(!format!("{:?}", sent.assets).contains("ada"));
}

#[test]
fn a_text_that_was_cut_leaves_no_half_of_a_name() {
    let repo = proven();
    let output: String =
        format!("errsig:{}", "Error: at ".repeat(30) + "alice.wonderful").chars().take(267).collect();
    let diff = format!("+{}\n+mail alice.wonder\n... [TRUNCATED]", "x".repeat(40));
    let half = capsule(
        "capsule_1",
        json!({"trigger": [output], "summary": format!("Answered {output}, log_error, and so on"), "diff": diff,
            "content": "é".repeat(9000)}),
    );
    write_list(&repo, "capsules", &[half]);
    let sent = outgoing(&workspace(&repo), "capsule_1", false).unwrap();
    let text = Value::from(sent.assets[1].clone()).to_string();
    assert!(!text.contains("alice"), "{text}");
    for member in ["content", "diff"] {
        assert!(sent.assets[1][member].as_str().unwrap().chars().count() <= 8000, "{member}");
    }
}

#[test]
fn what_is_not_eligible_is_refused_unless_asked_for_and_a_strangers_always() {
    let repo = proven();
    let workspace = workspace(&repo);
    let problem = outgoing(&workspace, "capsule_2", false).unwrap_err();
    assert_eq!(problem.code, Code::NotEligible);
    assert!(problem.message.contains("1 times in a row"), "{}", problem.message);
    outgoing(&workspace, "capsule_2", true).unwrap();
    assert_eq!(outgoing(&workspace, "capsule_9", true).unwrap_err().code, Code::NotFound);
    write_list(&repo, "capsules", &[capsule("capsule_1", json!({"a2a": {"source": "node_1"}}))]);
    assert_eq!(outgoing(&workspace, "capsule_1", true).unwrap_err().code, Code::NotEligible);
}

#[test]
fn a_solution_made_after_another_names_it() {
    let repo = proven();
    let parent = format!("sha256:{}", "a".repeat(64));
    let made = json!({"source_type": "reference", "reused_asset_id": parent});
    write_list(&repo, "capsules", &[capsule("capsule_1", made)]);
    let sent = outgoing(&workspace(&repo), "capsule_1", false).unwrap();
    assert_eq!(sent.assets[1]["parent"], parent);
}

#[test]
fn what_was_published_is_known_until_its_content_changes() {
    let repo = proven();
    let workspace = workspace(&repo);
    let listed = offers(&workspace).unwrap();
    assert_eq!(
        (listed[0].id(), listed[0].eligibility.eligible, listed[1].eligibility.eligible),
        ("capsule_1", true, false)
    );
    assert_eq!(listed[0].published_as, None);
    let sent = outgoing(&workspace, "capsule_1", false).unwrap();
    record_publication(&workspace, &sent, HUB, &Object::new()).unwrap();
    let id = sent.assets[1]["asset_id"].as_str().unwrap();
    let offer = offers(&workspace).unwrap().remove(0);
    assert_eq!((offer.published_as.as_deref(), offer.published_to), (Some(id), vec![HUB.to_owned()]));
    assert_eq!(publication_log::read(&workspace).unwrap().len(), 1);
    append_events(&repo, &[success("evt_4", "capsule_1")]);
    write_list(&repo, "capsules", &[capsule("capsule_1", json!({"success_streak": 3, "confidence": 0.9}))]);
    assert!(offers(&workspace).unwrap()[0].published_as.is_some(), "only its numbers grew");
    write_list(&repo, "capsules", &[capsule("capsule_1", json!({"diff": "+another"}))]);
    assert!(offers(&workspace).unwrap()[0].published_as.is_none());
}

/// A hub that says the same to everything; gives its node, and how often it was asked.
fn hub_that_says(body: &'static str) -> (NodeClient, Arc<AtomicUsize>, tempfile::TempDir) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut bytes, mut chunk) = (Vec::new(), [0; 65536]);
            // A request is whole when its JSON is.
            while !bytes.ends_with(b"}") {
                match stream.read(&mut chunk) {
                    Ok(0) | Err(_) => break,
                    Ok(count) => bytes.extend_from_slice(&chunk[..count]),
                }
            }
            counted.fetch_add(1, Ordering::SeqCst);
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length:";
            let _gone = stream.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes());
        }
    });
    let home = tempfile::tempdir().unwrap();
    let identity = Identity::open(home.path(), &|_| None).unwrap();
    let node = NodeClient::new(&ClientConfig::new(&url, false).unwrap(), identity, Arc::new(NOW)).unwrap();
    (node, calls, home)
}

#[test]
fn a_rejected_bundle_is_no_published_one_and_waits_for_its_content_to_change() {
    let repo = proven();
    let workspace = workspace(&repo);
    let (node, calls, _home) = hub_that_says(
        r#"{"status":"rejected","decision":"reject","reason":"quality_gate_failed","problems":["too small"]}"#,
    );
    let mut refused = Object::new();
    let round = |refused: &mut Object| publishing::publish(&workspace, &node, refused).unwrap();
    let first = round(&mut refused);
    assert!(first.sent.is_empty() && first.waiting[0].1.contains("too small"), "{first:?}");
    let offer = offers(&workspace).unwrap().remove(0);
    assert_eq!((offer.published_as.as_deref(), offer.published_to.len()), (None, 0));
    assert!(offer.rejection_by(node.hub_url()).unwrap().contains("quality_gate_failed"));
    assert!(!offer.is_new_for(node.hub_url()) && offer.is_new_for(HUB), "another hub may want it");
    let before = calls.load(Ordering::SeqCst);
    assert!(round(&mut refused).waiting.is_empty() && refused.is_empty());
    assert_eq!(calls.load(Ordering::SeqCst), before, "the hub is not asked again");
    let sent = outgoing(&workspace, "capsule_1", false).unwrap();
    assert_eq!(
        publish(&workspace, &node, &sent).unwrap_err().hub_code.as_deref(),
        Some("quality_gate_failed")
    );
    write_list(&repo, "capsules", &[capsule("capsule_1", json!({"diff": "+another"}))]);
    assert_eq!(round(&mut refused).waiting.len(), 1, "what changed is offered anew");
}

#[test]
fn what_one_hub_has_is_still_new_for_the_next() {
    let repo = proven();
    let workspace = workspace(&repo);
    for _ in 0..2 {
        let (node, _, _home) = hub_that_says(r#"{"status":"accepted","decision":"accept"}"#);
        let sent = || publishing::publish(&workspace, &node, &mut Object::new()).unwrap().sent.len();
        assert_eq!((sent(), sent()), (1, 0));
    }
    assert_eq!(offers(&workspace).unwrap()[0].published_to.len(), 2);
}

#[test]
fn a_note_of_before_that_says_rejected_counts_as_a_rejection() {
    let repo = proven();
    let workspace = workspace(&repo);
    let sent = outgoing(&workspace, "capsule_1", false).unwrap();
    let answer = json!({"status": "rejected", "decision": "reject"});
    record_publication(&workspace, &sent, HUB, answer.as_object().unwrap()).unwrap();
    let offer = offers(&workspace).unwrap().remove(0);
    assert!(offer.published_as.is_none() && !offer.is_new_for(HUB));
}

#[test]
fn an_export_holds_every_asset_once_and_nothing_foreign() {
    let repo = proven();
    let mut foreign = gene("gene_b", "repair", &["log_error"], &["node check.js"]);
    foreign.insert("a2a".to_owned(), json!({"source": "node_1"}));
    let own = gene("gene_a", "repair", &["log_error"], &["node check.js"]);
    write_list(&repo, "genes", &[own, foreign]);
    let export = export::export(&workspace(&repo), true).unwrap();
    let assets: Vec<Object> = export.assets().into_iter().cloned().collect();
    assert_eq!(kinds(&assets), ["Capsule", "Gene", "EvolutionEvent", "EvolutionEvent", "EvolutionEvent"]);
    assert!(assets.iter().all(|asset| verify(asset).holds()));
    assert_eq!(assets[0]["gene"], assets[1]["asset_id"]);
    assert_eq!(assets[2]["capsule_id"], assets[0]["asset_id"]);
    assert_eq!(assets[3]["capsule_id"], "capsule_2", "it stays here, and so does nothing but its name");
}

fn received(from: &TestRepo) -> String {
    Value::from(outgoing(&workspace(from), "capsule_1", false).unwrap().assets).to_string()
}

/// A change that makes `check.js` of [`receiving`] pass.
const FIX: &str = "diff --git a/fix.js b/fix.js\nnew file mode 100644\n--- /dev/null\n+++ b/fix.js\n@@ -0,0 +1 @@\n+module.exports = 1\n";

/// The bundle of a capsule with a change.
fn bundle_with(diff: &str) -> String {
    let repo = proven();
    write_list(&repo, "capsules", &[capsule("capsule_1", json!({"diff": diff}))]);
    received(&repo)
}

/// A store that staged a bundle; its check passes where there is a `fix.js` and nothing `bad`, and leaves something.
fn receiving_with(diff: &str) -> (TestRepo, Vec<Object>) {
    let repo = TestRepo::new();
    repo.write(
        "check.js",
        "const fs = require('fs'); fs.writeFileSync('left.txt', 'x')\n\
         process.exit(fs.existsSync('fix.js') && !fs.existsSync('bad') ? 0 : 1)\n",
    );
    repo.commit("Begin");
    write_store(&repo, &[gene("gene_own", "repair", &["log_error"], &["node check.js"])]);
    let outcome = stage(&workspace(&repo), &bundle_with(diff), Some("node_a")).unwrap();
    assert!(outcome.refused.is_empty(), "{:?}", outcome.refused);
    (repo, outcome.accepted)
}

fn receiving() -> (TestRepo, Vec<Object>) {
    receiving_with(FIX)
}

fn request(id: &Value, validated: bool) -> PromoteRequest {
    PromoteRequest { id: id.as_str().unwrap().to_owned(), validated, consent: CommandConsent::All }
}

#[test]
fn a_bundle_is_staged_once_and_changes_nothing_else() {
    let (repo, accepted) = receiving();
    assert_eq!(kinds(&accepted), ["Gene", "Capsule", "EvolutionEvent"]);
    assert_eq!(accepted[1]["confidence"], 0.48);
    assert_eq!(accepted[1]["a2a"]["source"], "node_a");
    assert!(accepted.iter().all(|asset| verify(asset).holds()));
    let again = stage(&workspace(&repo), &bundle_with(FIX), None).unwrap();
    assert_eq!((again.accepted.len(), again.known), (0, 3));
    assert_eq!(staged(&workspace(&repo)).unwrap().len(), 3);
    assert_eq!(store::list(&repo, "genes").len(), 1);
    assert!(store::list(&repo, "capsules").is_empty() && store::events(&repo).is_empty());
    let graph = repo.read("memory/evolution/memory_graph.jsonl");
    assert_eq!(graph.matches("external_candidate").count(), 3, "{graph}");
}

#[test]
fn a_tampered_asset_is_refused_and_the_rest_is_staged() {
    let text = received(&proven()).replace("Intent: repair", "Intent: destroy");
    let repo = TestRepo::new();
    write_store(&repo, &[]);
    let outcome = stage(&workspace(&repo), &text, None).unwrap();
    assert_eq!(kinds(&outcome.accepted), ["Gene", "EvolutionEvent"]);
    assert_eq!(outcome.refused[0].code, Code::AssetIdMismatch);
}

#[test]
fn our_sandbox_validates_a_gene_and_a_capsule_and_takes_back_what_the_commands_left() {
    let (repo, accepted) = receiving();
    repo.write("fix.js", "");
    let workspace = workspace(&repo);
    let gene = promote(&workspace, &request(&accepted[0]["a2a"]["received_asset_id"], false)).unwrap();
    assert_eq!(gene.report.unwrap()["overall_ok"], true);
    assert!(!repo.file("left.txt").exists());
    let capsule = promote(&workspace, &request(&accepted[1]["id"], false)).unwrap();
    assert_eq!(capsule.asset["a2a"]["status"], "promoted");
    assert_eq!((&capsule.asset["gene"], &capsule.asset["confidence"]), (&json!("gene_a"), &json!(0.48)));
    let (shown, claimed) = (&capsule.asset["success_streak"], &capsule.asset["a2a"]["claimed_streak"]);
    assert_eq!((shown, claimed), (&json!(1), &json!(2)), "it worked here once");
    assert_eq!(capsule.asset["a2a"]["received_asset_id"], accepted[1]["a2a"]["received_asset_id"]);
    let capsules = store::list(&repo, "capsules");
    assert_eq!(capsules.len(), 1);
    store::assert_verifies(&capsules[0]);
    let again = promote(&workspace, &request(&accepted[1]["id"], false)).unwrap();
    assert_eq!(again.asset, capsules[0], "the second time nothing is added");
    assert_eq!(store::list(&repo, "capsules").len(), 1);
    assert_eq!(kinds(&staged(&workspace).unwrap()), ["EvolutionEvent"]);
    let back = stage(&workspace, &bundle_with(FIX), None).unwrap();
    assert_eq!(back.known, 3, "what was taken in is not staged again");
    assert!(!offers(&workspace).unwrap()[0].eligibility.eligible, "and never offered as ours");
}

#[test]
fn what_fails_here_or_proves_nothing_is_not_taken_in() {
    let (repo, accepted) = receiving();
    let workspace = workspace(&repo);
    repo.write("bad", "");
    repo.commit("It goes bad");
    for asset in &accepted {
        let problem = promote(&workspace, &request(&asset["id"], false)).unwrap_err();
        assert_eq!(problem.code, Code::NotValidated, "{problem}");
    }
    assert!(store::list(&repo, "capsules").is_empty());
    assert_eq!(store::list(&repo, "genes").len(), 1);
    let missing = promote(&workspace, &request(&json!("nothing"), true)).unwrap_err();
    assert_eq!(missing.code, Code::NotFound);
}

#[test]
fn a_capsule_is_judged_with_its_change_made_and_no_file_of_ours_is_touched() {
    let (repo, accepted) = receiving();
    // What lies about uncommitted neither helps nor harms it.
    repo.write("bad", "");
    let before = repo.user_files();
    let promoted = promote(&workspace(&repo), &request(&accepted[1]["id"], false)).unwrap();
    let report = promoted.report.unwrap();
    assert_eq!(
        (&report["overall_ok"], &report["commands"][0]["command"]),
        (&json!(true), &json!("node check.js"))
    );
    assert_eq!(
        (&promoted.asset["gene"], promoted.gene.unwrap()["id"].as_str()),
        (&json!("gene_a"), Some("gene_a"))
    );
    assert_eq!(repo.user_files(), before);

    // It passes on the files as they are, and not with its change.
    let (repo, accepted) = receiving_with(&FIX.replace("fix.js", "other.js"));
    repo.write("fix.js", "");
    let before = repo.user_files();
    let problem = promote(&workspace(&repo), &request(&accepted[1]["id"], false)).unwrap_err();
    assert_eq!(problem.code, Code::NotValidated);
    assert!(problem.message.contains("`node check.js` failed here"), "{problem}");
    assert_eq!(repo.user_files(), before);
    assert!(store::list(&repo, "capsules").is_empty() && store::list(&repo, "genes").len() == 1);
}

#[test]
fn a_change_that_cannot_be_made_here_is_left_to_a_person() {
    let foreign = "diff --git a/x.js b/x.js\n--- a/x.js\n+++ b/x.js\n@@ -1 +1 @@\n-a\n+b\n";
    for (diff, expected) in [
        (foreign.to_owned(), "does not apply"),
        (format!("{FIX}... [TRUNCATED]"), "cut off"),
        (format!("{FIX}diff --git a/k b/k\n[content left out: protected]\n"), "cut off"),
        (String::new(), "does not hold its change"),
        (FIX.replace("b/fix.js", "b/../fix.js"), "reaches outside"),
    ] {
        let (repo, accepted) = receiving_with(&diff);
        let there = workspace(&repo);
        let problem = promote(&there, &request(&accepted[1]["id"], false)).unwrap_err();
        assert_eq!(problem.code, Code::NotValidated);
        assert!(problem.message.contains(expected), "{expected}: {problem}");
        assert!(problem.fix.unwrap().contains("--validated"));
        let promoted = promote(&there, &request(&accepted[1]["id"], true)).unwrap();
        assert_eq!((&promoted.asset["success_streak"], promoted.report), (&json!(0), None));
    }
}

#[test]
fn a_gene_without_commands_or_with_refused_ones_stays_outside() {
    let repo = TestRepo::new();
    write_store(&repo, &[]);
    let workspace = workspace(&repo);
    let empty = gene("gene_empty", "repair", &["log_error"], &[]);
    let evil = gene("gene_evil", "repair", &["log_error"], &["rm -rf /"]);
    let hollow = gene("gene_hollow", "repair", &["log_error"], &["node --version"]);
    stage(&workspace, &json!([empty, evil, hollow]).to_string(), None).unwrap();
    let code = |id: &str, validated| promote(&workspace, &request(&json!(id), validated)).unwrap_err().code;
    assert_eq!(code("gene_empty", false), Code::NotValidated);
    assert_eq!(code("gene_hollow", false), Code::NotValidated, "it passes everywhere and proves nothing");
    assert_eq!(code("gene_evil", false), Code::CommandRefused);
    assert_eq!(code("gene_evil", true), Code::CommandRefused);
    promote(&workspace, &request(&json!("gene_empty"), true)).unwrap();
}

#[test]
fn a_local_gene_is_never_replaced() {
    let repo = TestRepo::new();
    let own = gene("gene_a", "optimize", &["perf_bottleneck"], &["node own.js"]);
    write_store(&repo, std::slice::from_ref(&own));
    let workspace = workspace(&repo);
    stage(&workspace, &received(&proven()), None).unwrap();
    let problem = promote(&workspace, &request(&json!("gene_a"), true)).unwrap_err();
    assert_eq!(problem.code, Code::ChangeRefused);
    assert_eq!(store::list(&repo, "genes"), std::slice::from_ref(&own));
    assert!(problem.fix.unwrap().contains("under a name of its own"));
    let received = staged(&workspace).unwrap().into_iter().find(|asset| asset["type"] == "Gene").unwrap();
    let hex = received["a2a"]["received_asset_id"].as_str().unwrap()[7..15].to_owned();
    let capsule = promote(&workspace, &request(&json!("capsule_1"), true)).unwrap();
    assert_eq!(capsule.asset["gene"], format!("gene_a_{hex}"), "and no capsule is put under it");
    let genes = store::list(&repo, "genes");
    assert_eq!((genes.len(), &genes[0], &genes[1]["id"]), (2, &own, &capsule.asset["gene"]));
    assert_eq!(
        (&genes[1]["validation"], &genes[1]["a2a"]["status"]),
        (&json!(["node check.js"]), &json!("promoted"))
    );
    store::assert_verifies(&genes[1]);
    assert_eq!(kinds(&staged(&workspace).unwrap()), ["EvolutionEvent"], "the gene is off the stage as well");
    let id = &received["a2a"]["received_asset_id"];
    assert_eq!(
        promote(&workspace, &request(id, true)).unwrap().asset,
        genes[1],
        "it is known under its new name"
    );
}

#[test]
fn a_capsule_never_points_to_a_gene_that_is_nowhere() {
    let assets = outgoing(&workspace(&proven()), "capsule_1", false).unwrap().assets;
    let repo = TestRepo::new();
    write_store(&repo, &[]);
    let there = workspace(&repo);
    stage(&there, &Value::from(assets[1].clone()).to_string(), None).unwrap();
    for validated in [false, true] {
        let problem = promote(&there, &request(&json!("capsule_1"), validated)).unwrap_err();
        assert_eq!(problem.code, Code::NotValidated);
        let gene = assets[0]["asset_id"].as_str().unwrap();
        assert!(problem.fix.unwrap().contains(&format!("capsid node fetch {gene} --stage")));
    }
    assert!(store::list(&repo, "capsules").is_empty());
    stage(&there, &Value::from(assets[0].clone()).to_string(), None).unwrap();
    let promoted = promote(&there, &request(&json!("capsule_1"), true)).unwrap();
    let genes = store::list(&repo, "genes");
    assert_eq!((&promoted.asset["gene"], promoted.gene.as_ref()), (&json!("gene_a"), genes.first()));
    assert!(staged(&there).unwrap().is_empty());
}

#[test]
fn a_capsule_whose_gene_is_here_with_the_same_content_points_to_it() {
    let assets = outgoing(&workspace(&proven()), "capsule_1", false).unwrap().assets;
    let repo = TestRepo::new();
    write_store(&repo, &assets[..1]);
    let there = workspace(&repo);
    let outcome = stage(&there, &Value::from(assets.clone()).to_string(), None).unwrap();
    assert_eq!((outcome.accepted.len(), outcome.known), (2, 1));
    let promoted = promote(&there, &request(&json!("capsule_1"), true)).unwrap();
    assert_eq!((&promoted.asset["gene"], promoted.gene), (&json!("gene_a"), None));
    let (shown, claimed) = (&promoted.asset["success_streak"], &promoted.asset["a2a"]["claimed_streak"]);
    assert_eq!((shown, claimed), (&json!(0), &json!(2)), "nothing was shown here yet");
    assert_eq!(store::list(&repo, "genes"), &assets[..1]);
}

#[test]
fn a_strangers_event_is_logged_and_counts_for_no_capsule_of_ours() {
    let repo = proven();
    let workspace = workspace(&repo);
    let mut forged = success("evt_lie", "capsule_2");
    forged["meta"]["reused_capsule_id"] = "capsule_1".into();
    forged["outcome"]["status"] = "failed".into();
    let mut boast = success("evt_boast", "capsule_2");
    stamp(&mut forged);
    stamp(&mut boast);
    stage(&workspace, &json!([forged, boast]).to_string(), Some("node_x")).unwrap();
    for id in ["evt_lie", "evt_boast"] {
        promote(&workspace, &request(&json!(id), true)).unwrap();
        promote(&workspace, &request(&json!(id), true)).unwrap_err();
    }
    let back = stage(&workspace, &json!([forged, boast]).to_string(), None).unwrap();
    assert_eq!(back.known, 2);
    let log = &workspace.store.events;
    assert_eq!(log.success_streak("capsule_1").unwrap(), 2);
    assert_eq!(log.success_streak("capsule_2").unwrap(), 1);
    let last = store::events(&repo).pop().unwrap();
    assert_eq!((&last["a2a"]["source"], &last["a2a"]["capsule_id"]), (&json!("node_x"), &json!("capsule_2")));
    store::assert_verifies(&last);
}

#[test]
fn two_staged_assets_of_one_name_are_told_apart_by_their_ids() {
    let repo = TestRepo::new();
    write_store(&repo, &[]);
    let workspace = workspace(&repo);
    let first = gene("gene_a", "repair", &["log_error"], &["node a.js"]);
    let second = gene("gene_a", "repair", &["log_error"], &["node b.js"]);
    stage(&workspace, &json!([first, second]).to_string(), None).unwrap();
    assert_eq!(promote(&workspace, &request(&json!("gene_a"), true)).unwrap_err().code, Code::InputInvalid);
    let outcome = promote(&workspace, &request(&second["asset_id"], true)).unwrap();
    assert_eq!(outcome.asset["validation"], json!(["node b.js"]));
}

/// Every shape in every place that a bundle is made of, one at a time, and nothing of it in what leaves.
#[test]
fn no_shape_of_a_secret_leaves_from_any_place() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut chance = fastrand::Rng::with_seed(seed);
    let mut shapes = secrets::planted(secrets::CREDENTIALS, &mut chance);
    shapes.extend(secrets::planted(secrets::PERSONAL, &mut chance));
    assert!(shapes.len() > 100);
    let repo = proven();
    let workspace = workspace(&repo);
    let mut seen = Vec::new();
    for shape in &shapes {
        let line = &shape.line;
        let in_diff: String = line.lines().map(|line| format!("+{line}\n")).collect();
        let mut gene = gene("gene_a", "repair", &["log_error"], &["node check.js", "node check.js --x"]);
        gene["strategy"] = json!(["Look.", format!("Then use {line} and go on.")]);
        gene["summary"] = format!("Uses {line}").into();
        gene.insert("preconditions".to_owned(), json!([line]));
        write_list(&repo, "genes", &[gene]);
        let signal = format!("errsig:Error: {line}");
        let response = json!({
            "trigger": ["log_error", signal], "summary": format!("Fixed it: {line}"),
            "content": format!("Signals:\n- {signal}\nmore"), "diff": format!("--- a/x\n+++ b/x\n@@ -1 +1 @@\n{in_diff}"),
            "success_reason": format!("g (repair) answered {signal}, log_error. Steps: {line}"),
            "strategy": [line],
        });
        write_list(&repo, "capsules", &[capsule("capsule_1", response)]);
        let mut event = success("evt_1", "capsule_1");
        event["signals"] = json!([signal, line]);
        event["meta"]["validation"] = json!([{"cmd": line, "ok": true}]);
        stamp(&mut event);
        repo.write("assets/gep/events.jsonl", "");
        append_events(&repo, &[success("evt_0", "capsule_1"), event]);
        let sent = Value::from(outgoing(&workspace, "capsule_1", false).unwrap().assets).to_string();
        let exported: Vec<Object> =
            export::export(&workspace, true).unwrap().assets().into_iter().cloned().collect();
        let all = sent + &Value::from(exported).to_string();
        // As text inside JSON a backslash is doubled.
        let is_present = |trace: &str| all.contains(&trace.replace('\\', "\\\\"));
        if let Some(trace) = shape.traces().into_iter().find(|trace| is_present(trace)) {
            seen.push(format!("{line:?} shows {trace:?}"));
        }
    }
    assert!(seen.is_empty(), "{} of {} came out:\n{}", seen.len(), shapes.len(), seen.join("\n"));
}
