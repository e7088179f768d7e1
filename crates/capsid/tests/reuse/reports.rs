//! The hub is told how a solution of it did that was applied, once a run, sooner or later.

use super::*;

/// Puts a report into the queue, as a run leaves it that applied the asset.
fn queue_report(desk: &ProgramRepo, hub: &str, asset: &str) {
    let report = json!({"report_id": "vr_1", "overall_ok": true, "reproduction_score": 1.0, "reuse_mode": "reused",
        "commands": [{"command": "node check.js", "ok": true}]});
    let entry = json!({"kind": "report", "run_id": "run_1", "hub": hub, "asset_id": asset,
        "queued_at": "2026-01-01T00:00:00.000Z", "report": report});
    std::fs::write(desk.state_file("hub_outbox.jsonl"), format!("{entry}\n")).unwrap();
}

#[test]
fn a_solution_that_was_only_shown_is_not_reported() {
    let market = Market::open();
    let asset = market.offer(&bundle(5, "gauge"));
    let desk = desk(&market.url(), "trust = true\n");
    desk.evolve(&[], "echo something else altogether > other.txt");
    desk.evolve(&["--force"], BAD);
    assert!(market.reports(&asset).is_empty());
    assert_eq!(waiting(&desk), 0);
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
    let desk = desk(&market.url(), "");
    desk.prepare(&["--offline"]);
    queue_report(&desk, &market.url(), &asset);
    let sync = || desk.program.run(&desk.repo, &["node", "sync", "--json"]);
    assert_eq!(sync().json()["reports_sent"], 1);
    let reports = market.reports(&asset);
    assert_eq!((reports.len(), &reports[0]["reproduction_score"]), (1, &json!(1.0)), "{reports:?}");
    assert_eq!(waiting(&desk), 0);

    queue_report(&desk, &market.url(), &asset);
    market.hub.kill();
    assert_eq!(sync().code(), "hub_unreachable");
    assert_eq!(waiting(&desk), 1);
}

#[test]
fn an_owner_who_does_not_report_does_not() {
    let market = Market::open();
    let asset = market.offer(&bundle(5, "gauge"));
    let desk = desk(&market.url(), "report = false\n");
    desk.prepare(&["--offline"]);
    queue_report(&desk, &market.url(), &asset);
    desk.program.expect(0, &desk.repo, &["node", "sync"]);
    assert_eq!((waiting(&desk), market.reports(&asset).len()), (1, 0));
}
