//! A candidate that nobody has tried yet: the second agent proves it, and thereby promotes it.

use super::*;
use std::time::{Duration, Instant};

const CHECK: &str = "const state = require('fs').readFileSync('cart.txt', 'utf8')\n\
    if (!state.includes('good')) {\n  throw new TypeError('cart is not a function')\n}\n";
const LOG: &str =
    "$ node cart.js\nTypeError: cart is not a function\n    at Object.<anonymous> (/srv/app/cart.js:3:9)\n";

/// A desk with a bug, whose check fails with the problem of its log.
fn broken_desk(hub: &str, more: &str) -> ProgramRepo {
    let desk = desk(hub, more);
    desk.repo.write("cart.js", CHECK);
    desk.repo.write("cart.txt", "start\n");
    desk.repo.commit("Break the cart");
    desk.repo.write("app.log", LOG);
    desk
}

/// Opens a hub that looks at its candidates every second.
fn market() -> Market {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("hub");
    std::fs::create_dir_all(&data).unwrap();
    std::fs::write(data.join("hub.toml"), "[promotion]\ninterval_seconds = 1\n").unwrap();
    Market::open_in(folder)
}

/// Solves the bug on a desk and publishes the solution; gives the id of its capsule at the hub.
fn publish_solution(market: &Market) -> String {
    let first = broken_desk(&market.url(), "");
    assert_status(0, &first.evolve(&["--json"], "echo good > cart.txt"));
    let capsule = capsules(&first).remove(0)["id"].as_str().unwrap().to_owned();
    let args = ["node", "publish", &capsule, "--anyway", "--yes", "--json"];
    let published = first.program.expect(0, &first.repo, &args).json();
    let answer = &published["published"][0]["answer"];
    let id = answer["asset_ids"][1].as_str().unwrap_or_else(|| panic!("{published}")).to_owned();
    assert_eq!(market.get(&format!("/a2a/assets/{id}"))["status"], "candidate");
    id
}

#[test]
fn the_second_agent_proves_and_thereby_promotes_the_first_ones_capsule() {
    let market = market();
    let asset = publish_solution(&market);
    let second = broken_desk(&market.url(), "trial = \"auto\"\napply = \"auto\"\n");
    let ran = second.evolve(&["--json"], "touch the-agent-was-called; exit 1");
    assert_status(0, &ran);
    assert!(!second.repo.file("the-agent-was-called").exists(), "{ran}");
    assert_eq!(second.repo.read("cart.txt"), "good\n");
    second.program.run(&second.repo, &["node", "sync", "--json"]);
    let reports = market.reports(&asset);
    assert_eq!((reports.len(), &reports[0]["grade"]), (1, &json!("applied")), "{reports:?}");
    assert_eq!((&reports[0]["overall_ok"], &reports[0]["weight"]), (&json!(true), &json!(1.0)));
    let end = Instant::now() + Duration::from_secs(30);
    while market.get(&format!("/a2a/assets/{asset}"))["status"] != "promoted" {
        assert!(Instant::now() < end, "{}", market.get(&format!("/a2a/assets/{asset}")));
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn candidates_are_not_tried_unless_the_owner_lets_them() {
    let market = market();
    let asset = publish_solution(&market);
    let second = broken_desk(&market.url(), "");
    assert_status(1, &second.evolve(&["--json"], "touch the-agent-was-called; exit 1"));
    assert_eq!(second.repo.read("cart.txt"), "start\n");
    assert!(market.reports(&asset).is_empty());
}

#[test]
fn a_candidate_is_taken_on_trial_and_reported_on_by_hand() {
    let market = market();
    let asset = publish_solution(&market);
    let second = broken_desk(&market.url(), "");
    let node = |args: &[&str]| second.program.run(&second.repo, &[&["node"], args].concat());
    assert_status(1, &node(&["fetch", &asset, "--json"]));
    let taken = node(&["fetch", &asset, "--trial", "--json"]);
    assert_status(0, &taken);
    assert_eq!(taken.json()["assets"][0]["asset_id"], asset.as_str());
    assert_eq!(taken.json()["trials"][0]["asset_id"], asset.as_str());
    let told = node(&["report", &asset, "--ok", "--json"]);
    assert_status(0, &told);
    assert_eq!((&told.json()["grade"], &told.json()["weight"]), (&json!("fetched"), &json!(0.5)));
}

#[test]
fn a_reproduction_is_sent_along_and_checked_by_the_hub() {
    let market = market();
    let first = broken_desk(&market.url(), "");
    assert_status(0, &first.evolve(&["--json"], "echo good > cart.txt"));
    let capsule = capsules(&first).remove(0)["id"].as_str().unwrap().to_owned();
    let repro = first.repo.path().join("repro");
    std::fs::create_dir(&repro).unwrap();
    std::fs::write(repro.join("cart.js"), CHECK).unwrap();
    std::fs::write(repro.join("cart.txt"), "start\n").unwrap();
    let args = ["node", "publish", &capsule, "--anyway", "--yes", "--json", "--with-reproduction", "repro"];
    let published = first.program.expect(0, &first.repo, &args).json();
    let id = published["published"][0]["answer"]["asset_ids"][1].as_str().unwrap().to_owned();
    let taken = first.program.run(&first.repo, &["node", "fetch", &id, "--json"]).json();
    let sent = &taken["assets"][0]["reproduction"];
    assert_eq!(
        (&sent["command"], &sent["files"][1]["text"]),
        (&json!("node cart.js"), &json!("start\n")),
        "{taken}"
    );
    std::fs::write(repro.join("large.txt"), "x".repeat(70_000)).unwrap();
    let refused = first.program.run(&first.repo, &args);
    assert_eq!(refused.code(), "input_invalid");
}
