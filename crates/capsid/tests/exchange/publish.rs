//! Sending a proven capsule to a hub.

use super::capture::Capture;
use super::*;
use capsid_model::asset::verify;
use capsid_testkit::hub::{HubProcess, TestHubLocation, ask};

#[test]
fn a_dry_run_shows_what_would_be_sent_and_needs_no_hub() {
    let (desk, id) = proven();
    let ran = desk.program.expect(0, &desk.repo, &["node", "publish", "--dry-run"]);
    let assets: Value = ran.stdout.trim().parse().unwrap();
    let kinds: Vec<&str> = assets.as_array().unwrap().iter().map(|a| a["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["Gene", "Capsule", "EvolutionEvent"]);
    for asset in assets.as_array().unwrap() {
        assert!(verify(asset.as_object().unwrap()).holds());
    }
    assert!(ran.stderr.contains("nothing was"), "{ran}");
    let told = desk.program.expect(0, &desk.repo, &["node", "publish", "--dry-run", "--json"]).json();
    assert_eq!(told["bundles"][0]["assets"], assets);
    assert_eq!(
        (told["offers"][0]["capsule_id"].as_str(), &told["offers"][0]["eligible"]),
        (Some(&*id), &true.into())
    );
    let ran = desk.program.run(&desk.repo, &["node", "publish"]);
    assert_eq!((ran.status, ran.code()), (2, "no_hub"), "{ran}");
}

#[test]
fn a_capsule_that_is_not_proven_is_listed_with_its_reasons_and_not_sent() {
    let desk = desk();
    write_capsule(&desk, 1);
    let hub = Capture::start();
    let ran = desk.program.run(&desk.repo, &["node", "publish", "--hub", &hub.url]);
    assert_eq!((ran.status, ran.code()), (1, "not_eligible"), "{ran}");
    assert!(ran.stdout.contains("1 times in a row"), "{ran}");
    assert_eq!(hub.text(), "");
    let id = store::list(&desk.repo, "capsules")[0]["id"].as_str().unwrap().to_owned();
    let named = desk.program.run(&desk.repo, &["node", "publish", &id, "--hub", &hub.url]);
    assert_eq!(named.code(), "not_eligible");
    desk.program.expect(0, &desk.repo, &["node", "publish", &id, "--anyway", "--hub", &hub.url]);
    assert!(hub.text().contains("POST /a2a/publish"));
}

#[test]
fn nothing_is_sent_by_a_log_that_was_changed() {
    let (desk, id) = proven();
    // A cycle seals the log.
    assert_status(0, &desk.evolve(&["--force"], "echo good >> state.txt"));
    let log = desk.repo.file("assets/gep/events.jsonl");
    let changed = std::fs::read_to_string(&log).unwrap().replacen("evt_", "evt_9", 1);
    std::fs::write(&log, changed).unwrap();
    let hub = Capture::start();
    let ran = desk.program.run(&desk.repo, &["node", "publish", &id, "--hub", &hub.url]);
    assert_eq!((ran.status, ran.code()), (1, "not_eligible"), "{ran}");
    assert!(ran.stderr.contains("not as it was sealed"), "{ran}");
    assert_eq!(hub.text(), "");
}

#[test]
fn the_same_content_is_sent_once_to_each_hub() {
    let (desk, id) = proven();
    let (first, second) = (Capture::start(), Capture::start());
    let ran = desk.program.expect(0, &desk.repo, &["node", "publish", "--hub", &first.url]);
    assert!(ran.stdout.contains("accepted") && ran.stdout.contains("bundle_1"), "{ran}");
    assert!(ran.stdout.contains("31.5") && ran.stderr.contains("Mind the gap."), "{ran}");
    let again = desk.program.run(&desk.repo, &["node", "publish", "--hub", &first.url]);
    assert_eq!((again.status, again.code()), (1, "not_eligible"), "{again}");
    let named = desk.program.run(&desk.repo, &["node", "publish", &id, "--hub", &first.url]);
    assert_eq!(named.code(), "change_refused", "{named}");
    assert_eq!(first.text().matches("POST /a2a/publish").count(), 1);
    desk.program.expect(0, &desk.repo, &["node", "publish", "--all-eligible", "--hub", &second.url]);
    assert_eq!(second.text().matches("POST /a2a/publish").count(), 1);
}

#[test]
fn a_hub_that_is_away_leaves_the_capsule_to_be_sent_later() {
    let (desk, id) = proven();
    let ran = desk.program.run(&desk.repo, &["node", "publish", "--hub", "http://127.0.0.1:9"]);
    assert_eq!((ran.status, ran.code()), (1, "hub_unreachable"), "{ran}");
    assert!(ran.stderr.contains(&format!("capsid node publish {id}")), "{ran}");
    let hub = Capture::start();
    desk.program.expect(0, &desk.repo, &["node", "publish", "--hub", &hub.url]);
}

#[test]
fn a_real_hub_takes_the_bundle() {
    let (desk, id) = proven();
    let folder = desk.program.home().join("hub");
    let hub = HubProcess::start(&desk.program, &TestHubLocation { data: folder, database: None });
    let url = format!("http://{}", hub.address);
    let ran = desk.program.expect(0, &desk.repo, &["node", "publish", "--json", "--hub", &url]).json();
    let answer = &ran["published"][0]["answer"];
    assert_eq!(
        (answer["decision"].as_str(), answer["status"].as_str()),
        (Some("accept"), Some("accepted")),
        "{ran}"
    );
    let asset = answer["asset_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap());
    for id in asset {
        let (status, _) = ask(&hub.address, "GET", &format!("/a2a/assets/{id}"), None).unwrap();
        assert_eq!(status, 200);
    }
    assert!(ran["published"][0]["capsule_id"] == id.as_str());
}
