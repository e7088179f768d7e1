//! The hub is told how its solution did, once a run, sooner or later.

use super::*;
use capsid_model::env;
use capsid_testkit::wait;
use std::time::Duration;

#[test]
fn the_hub_hears_of_a_success_and_of_a_failure() {
    let market = Market::open();
    let asset = market.offer(&bundle(5, "gauge"));
    let desk = desk(&market.url(), "trust = true\n");
    let ran = desk.evolve(&[], GOOD);
    assert_status(0, &ran);
    assert!(ran.stderr.contains("reported the result to http://"), "{ran}");
    let reports = market.reports(&asset);
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert_eq!(reports[0]["overall_ok"], true);
    let place = format!("{}_{}", env::platform(), env::arch());
    assert_eq!(reports[0]["env_fingerprint_key"], place, "a name that others share");
    assert_eq!(waiting(&desk), 0);
    // Uses are counted a moment later.
    wait::until("the use is counted", Duration::from_secs(60), || {
        market.get(&format!("/a2a/assets/{asset}"))["reuse_count"] == 1
    });

    assert_status(1, &desk.evolve(&["--force"], BAD));
    let reports = market.reports(&asset);
    assert_eq!(
        (reports.len(), &reports[0]["overall_ok"]),
        (1, &json!(false)),
        "a node has one report: {reports:?}"
    );
}

#[test]
fn a_change_that_was_not_the_solution_s_is_not_held_against_it() {
    let market = Market::open();
    let asset = market.offer(&bundle(5, "gauge"));
    let desk = desk(&market.url(), "trust = true\n");
    assert_status(1, &desk.evolve(&[], "exit 3"));
    assert_status(1, &desk.evolve(&["--force"], "true"));
    assert!(market.reports(&asset).is_empty(), "an agent that failed or did nothing says nothing");
    assert_eq!(waiting(&desk), 0);
}

#[test]
fn what_cannot_be_told_waits_and_is_told_later() {
    let market = Market::open();
    let asset = market.offer(&bundle(5, "gauge"));
    let desk = desk(&market.url(), "trust = true\n");
    desk.prepare(&[]);
    desk.repo.write("state.txt", "good\n");
    desk.program.expect(0, &desk.repo, &["solidify", "--offline"]);
    assert_eq!((waiting(&desk), market.reports(&asset).len()), (1, 0));
    assert_status(0, &desk.evolve(&["--force"], "echo better > state.txt"));
    assert_eq!((waiting(&desk), market.reports(&asset).len()), (0, 1));

    desk.prepare(&["--force"]);
    desk.repo.write("state.txt", "best\n");
    market.hub.kill();
    let ran = desk.program.expect(0, &desk.repo, &["solidify"]);
    assert!(ran.stderr.contains("report kept for later"), "{ran}");
    assert_eq!(waiting(&desk), 1);
    assert_eq!(last_event(&desk)["outcome"]["status"], "success");
}

#[test]
fn an_owner_who_does_not_report_does_not() {
    let market = Market::open();
    let asset = market.offer(&bundle(5, "gauge"));
    let desk = desk(&market.url(), "report = false\ntrust = true\n");
    assert_status(0, &desk.evolve(&[], GOOD));
    assert_eq!(last_event(&desk)["source_type"], "reused");
    assert_eq!((waiting(&desk), market.reports(&asset).len()), (0, 0));
}
