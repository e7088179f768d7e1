//! A hub that is wrong, slow or gone: the cycle goes on as if there were none, and nothing of what it said is kept.

use super::fake::{Fake, answer, results};
use super::*;
use capsid_model::asset::stamp;
use capsid_testkit::wait;
use std::time::{Duration, Instant};

/// A row that promises the best there can be.
fn row(capsule: &Object) -> Value {
    json!({"asset_id": capsule["asset_id"], "type": "Capsule", "status": "promoted", "confidence": 1.0,
        "success_streak": 1_000_000_000_u64, "reputation_score": 100, "source_node_id": "node_eve"})
}

/// A cycle with such a hub, which must succeed by itself; gives what it said, and why nothing was reused.
#[track_caller]
fn goes_on(url: &str) -> (String, Value) {
    let desk = desk(url, "");
    let ran = desk.evolve(&[], GOOD);
    assert_status(0, &ran);
    let event = last_event(&desk);
    assert_eq!(event["source_type"], "generated", "{ran}");
    assert!(event.get("reused_asset_id").is_none());
    let kept = std::fs::read_dir(desk.repo.file("assets/gep")).unwrap();
    for entry in kept.chain(std::fs::read_dir(desk.repo.file("memory/evolution")).unwrap()) {
        let text = std::fs::read(entry.unwrap().path()).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&text).contains("gauge"), "nothing of it is stored");
    }
    assert_eq!(waiting(&desk), 0);
    let [(action, reason)] = &calls(&desk)[..] else { panic!("{:?}", calls(&desk)) };
    assert_eq!(action, "hub_search_miss");
    (ran.stderr, reason.clone())
}

#[test]
fn a_hub_that_is_down_is_told_and_passed_over() {
    let (said, reason) = goes_on("http://127.0.0.1:9");
    assert_eq!(reason, "fetch_error");
    assert!(said.contains("cannot be reached"), "{said}");
}

#[test]
fn a_page_instead_of_an_answer_is_passed_over() {
    let fake = Fake::new(|_| answer(200, "text/html", "<html>gauge: please log in</html>"));
    let (said, reason) = goes_on(&fake.url);
    assert_eq!(reason, "hub_answer_invalid");
    assert!(said.contains("text/html instead of JSON"), "{said}");
}

#[test]
fn a_refusal_is_told_in_a_word() {
    let fake = Fake::new(|_| answer(500, "application/json", r#"{"error": "internal_error"}"#));
    assert_eq!(goes_on(&fake.url).1, "hub_http_500");
}

#[test]
fn shapes_that_nobody_expects_find_nothing() {
    for body in ["[]", "7", "null", r#"{"payload":{"results":{}}}"#, r#"{"payload":{"results":[null,7,{}]}}"#]
    {
        let fake = Fake::new(move |_| answer(200, "application/json", body));
        let reason = goes_on(&fake.url).1;
        assert!(reason == "no_results" || reason == "hub_answer_invalid", "{body}: {reason}");
    }
}

#[test]
fn a_tampered_solution_is_refused() {
    let [_, good] = bundle(5, "gauge");
    let mut bad = good.clone();
    bad.insert("diff".to_owned(), "--- a/x\n+++ b/x\n+rm -rf gauge\n".into());
    let fake = Fake::new(move |payload| match payload.get("asset_ids") {
        Some(_) => results(&json!([bad])),
        None => results(&json!([row(&good)])),
    });
    let (said, reason) = goes_on(&fake.url);
    assert_eq!(reason, "asset_id_mismatch");
    assert!(said.contains("is not the hash of the asset"), "{said}");
}

#[test]
fn another_solution_than_the_one_that_was_promised_is_not_taken() {
    let ([_, promised], [_, other]) = (bundle(5, "gauge"), bundle(5, "other_gauge"));
    let fake = Fake::new(move |payload| match payload.get("asset_ids") {
        Some(_) => results(&json!([other])),
        None => results(&json!([row(&promised)])),
    });
    let reason = goes_on(&fake.url).1;
    assert!(reason == "below_threshold" || reason == "hub_answer_invalid", "{reason}");
}

#[test]
fn a_row_that_lies_gains_nothing() {
    let [_, weak] = bundle(1, "gauge");
    let mut weak = weak;
    weak.insert("confidence".to_owned(), 0.5.into());
    stamp(&mut weak);
    let fake = Fake::new(move |payload| match payload.get("asset_ids") {
        Some(_) => results(&json!([weak])),
        None => results(&json!([row(&weak)])),
    });
    assert_eq!(goes_on(&fake.url).1, "below_threshold");
}

#[test]
fn where_the_best_is_bad_the_next_is_taken() {
    let ([_, best], [_, next]) = (bundle(5, "gauge"), bundle(4, "meter"));
    let (wanted, name) = (next.clone(), next["asset_id"].clone());
    let fake = Fake::new(move |payload| match payload.pointer("/asset_ids/0") {
        Some(id) if *id == wanted["asset_id"] => results(&json!([wanted])),
        Some(_) => results(&json!([])),
        None => results(&json!([row(&wanted), row(&best)])),
    });
    let said = desk(&fake.url, "").prepare(&["--dry-run", "--json"]).json();
    assert_eq!((&said["reuse"]["asset_id"], &said["reuse"]["mode"]), (&name, &json!("reference")));
    assert_eq!(said["reuse"]["score"], 1.92, "streak 4 of the body, not what the row says");
}

#[test]
fn a_hub_that_stalls_costs_a_bounded_time() {
    let [_, good] = bundle(5, "gauge");
    let (_open, stalled) = std::sync::mpsc::channel::<()>();
    let stalled = std::sync::Mutex::new(stalled);
    let fake = Fake::new(move |payload| match payload.get("asset_ids") {
        Some(_) => Vec::new(),
        None => {
            // Until the test is over.
            let _ends = stalled.lock().unwrap().recv();
            results(&json!([row(&good)]))
        }
    });
    let start = Instant::now();
    let (said, reason) = goes_on(&fake.url);
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    assert_eq!(reason, "timeout");
    assert!(said.contains("took too long"), "{said}");
}

#[test]
fn an_answer_without_end_is_not_read_to_its_end() {
    let fake = Fake::new(|_| answer(200, "application/json", &format!("[\"{}\"]", "gauge".repeat(2 << 20))));
    let (said, reason) = goes_on(&fake.url);
    assert_eq!(reason, "hub_answer_invalid");
    assert!(said.contains("larger than"), "{said}");
}

#[test]
fn a_hub_that_changes_its_name_is_not_believed() {
    let [_, good] = bundle(5, "gauge");
    let fake = Fake::new(move |payload| match (payload.get("asset_ids"), payload.get("signals")) {
        (Some(_), _) => results(&json!([good])),
        (_, Some(_)) => results(&json!([row(&good)])),
        _ => {
            let known = json!({"status": "acknowledged", "hub_node_id": "hub_honest"});
            answer(200, "application/json", &known.to_string())
        }
    });
    let (said, reason) = goes_on(&fake.url);
    assert_eq!(reason, "hub_answer_invalid");
    assert!(said.contains("hub_fake") && said.contains("hub_honest"), "{said}");
}

#[test]
fn a_slow_hub_does_not_keep_the_store_from_others() {
    let fake = Fake::new(|_| Vec::new());
    let desk = desk(&fake.url, "");
    let mut waiting = desk.program.start(&desk.repo, &["evolve", "--no-sessions", "--log", "app.log"]);
    wait::until("the hub is asked", Duration::from_secs(60), || fake.asked() > 0);
    desk.prepare(&["--offline"]);
    assert!(waiting.try_wait().unwrap().is_none(), "the other one still waits for its hub");
    assert!(waiting.wait().unwrap().success());
}

#[test]
fn whoever_stays_offline_is_not_connected() {
    let fake = Fake::new(|_| results(&json!([])));
    let desk = desk(&fake.url, "");
    assert_status(0, &desk.evolve(&["--offline"], GOOD));
    assert_status(0, &desk.evolve(&["--no-hub", "--force"], "echo better > state.txt"));
    desk.repo.write("capsid.toml", format!("[hub]\nurl = \"{}\"\nreuse = \"off\"\n", fake.url));
    assert_status(0, &desk.evolve(&["--force"], "echo best > state.txt"));
    assert_eq!(fake.asked(), 0);
    desk.repo.write("capsid.toml", "[hub]\nurl = \"nowhere\"\n");
    let ran = desk.evolve(&["--force"], "echo last > state.txt");
    assert_status(0, &ran);
    assert!(ran.stderr.contains("cannot be used as a hub's address"), "{ran}");
}
