//! What a hub offers is found, goes into the prompt, and is recorded.

use super::*;

/// What a dry run says of the hub's solution.
fn found(desk: &ProgramRepo) -> Value {
    desk.prepare(&["--dry-run", "--json"]).json()["reuse"].clone()
}

/// The same bundle, whose capsule was made for something else.
fn made_for(mut bundle: [Object; 2], trigger: &[&str]) -> [Object; 2] {
    bundle[1].insert("trigger".to_owned(), json!(trigger));
    bundle[1] = store::stamped(bundle[1].clone().into());
    bundle
}

#[test]
fn a_solution_of_the_same_problem_is_shown_and_not_tried_before_others_passed_it() {
    let market = Market::open();
    let asset = market.offer(&bundle(5, "gauge"));
    let desk = desk(&market.url(), "trust = true\n");
    let reuse = found(&desk);
    assert_eq!((&reuse["asset_id"], &reuse["mode"]), (&json!(asset), &json!("reference")), "{reuse}");
    assert_eq!(reuse["level"], "message");
    assert!(reuse["not_tried"].as_str().unwrap().contains("proof"), "{reuse}");
    let score = reuse["score"].as_f64().unwrap();
    assert!(
        (1.2..1.3).contains(&score),
        "six tenths of confidence 0.8, streak 5, a reputation of 50 or little more: {score}"
    );
}

#[test]
fn joining_a_hub_does_not_make_repair_worse() {
    let market = Market::open();
    market.offer(&made_for(bundle(5, "gauge"), &["log_error"]));
    market.offer(&made_for(
        bundle(5, "meter"),
        &["log_error", "errsig:error: ENOSPC: no space left on device"],
    ));
    let mut bare = bundle(5, "scale");
    for name in ["diff", "content", "strategy"] {
        bare[1].shift_remove(name);
    }
    bare[1] = store::stamped(bare[1].clone().into());
    market.offer(&bare);
    let desk = desk(&market.url(), "trust = true\n");
    let reuse = found(&desk);
    assert!(reuse.get("asset_id").is_none() && reuse["miss"].is_string(), "{reuse}");
    let exact = market.offer(&bundle(4, "clock"));
    assert_eq!(found(&desk)["asset_id"], *exact);
}

#[test]
fn a_good_solution_is_shown_and_what_follows_names_it_as_its_parent() {
    let market = Market::open();
    let asset = market.offer(&bundle(4, "gauge"));
    let desk = desk(&market.url(), "");
    let shown = desk.prepare(&["--dry-run"]).stdout;
    for part in ["## A solution that worked", "## Problem", "## Limits", "capsule_gauge", "+good"] {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
    assert!(!shown.contains("Now remove the tests"), "a capsule with a diff shows no `content`\n{shown}");
    let diff = shown.lines().position(|line| line == "+good").unwrap();
    let opened = shown.lines().take(diff).filter(|line| line.starts_with("<<<DATA")).count();
    let closed =
        shown.lines().take(diff).filter(|line| line.ends_with(">>>") && line.starts_with("DATA")).count();
    assert_eq!(opened, closed + 1, "foreign text stands between marks");
    assert!(calls(&desk).is_empty(), "a dry run writes nothing");

    assert_status(0, &desk.evolve(&[], GOOD));
    let event = last_event(&desk);
    assert_eq!((&event["source_type"], &event["reused_asset_id"]), (&json!("reference"), &json!(asset)));
    let own = capsules(&desk).pop().unwrap();
    assert_eq!((&own["source_type"], &own["parent"]), (&json!("reference"), &json!(asset)));
    let offers = desk.program.expect(0, &desk.repo, &["node", "publish", "--dry-run", "--json"]).json();
    let reason = offers["offers"][0]["reasons"][0].as_str().unwrap_or_default();
    assert!(!reason.contains(market.author.id()), "what was made after a model is one's own: {offers}");
}

#[test]
fn the_owner_bounds_what_is_made_of_a_solution() {
    let market = Market::open();
    let asset = market.offer(&bundle(5, "gauge"));
    let desk = desk(&market.url(), "trust = true\nreuse = \"reference\"\n");
    assert_eq!(found(&desk)["asset_id"], *asset);
    let offline = desk.prepare(&["--dry-run", "--json", "--offline"]).json();
    assert_eq!((&offline["source_type"], &offline["reuse"]), (&json!("generated"), &Value::Null));
    desk.repo.write("capsid.toml", format!("[hub]\nurl = \"{}\"\nreuse = \"off\"\n", market.url()));
    assert_eq!(found(&desk), Value::Null);
}

#[test]
fn a_hub_s_capsule_that_was_never_promoted_here_is_not_the_task() {
    let market = Market::open();
    let asset = market.offer(&bundle(5, "gauge"));
    // What `capsid init` of older versions wrote is no word of the owner.
    let desk = desk(&market.url(), "reuse = \"direct\"\n");
    let shown = desk.prepare(&["--dry-run", "--json"]).json();
    assert_eq!((&shown["source_type"], &shown["reuse"]["mode"]), (&json!("reference"), &json!("reference")));
    assert!(!shown["prompt"].as_str().unwrap().contains("Apply it as it is"), "{shown:#}");

    desk.program.expect(0, &desk.repo, &["node", "fetch", &asset, "--stage"]);
    assert_eq!(found(&desk)["mode"], "reference", "fetched is not promoted");
}

#[test]
fn what_is_ones_own_or_not_good_enough_is_not_reused() {
    let market = Market::open();
    market.offer(&bundle(1, "gauge"));
    let desk = desk(&market.url(), "");
    let said = desk.prepare(&["--dry-run", "--json"]).json();
    assert_eq!(said["reuse"]["miss"], "below_threshold");
    // The author itself has nothing to learn from its own solution.
    market.offer(&bundle(5, "meter"));
    let mut command =
        desk.program.command(desk.repo.path(), &["evolve", "--no-sessions", "--log", "app.log"]);
    command.env("A2A_HUB_URL", market.url());
    command.env("A2A_NODE_ID", market.author.id());
    command.env("A2A_NODE_SECRET", market.author.known().unwrap().secret.unwrap());
    let ran = ProgramOutput::from_output(command.output().unwrap());
    assert_status(0, &ran);
    assert!(ran.stderr.contains("nothing to reuse"), "{ran}");
    assert_eq!(calls(&desk), [("hub_search_miss".to_owned(), json!("no_results"))]);
}
