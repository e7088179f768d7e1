//! What a hub offers is found, goes into the prompt, and is recorded.

use super::*;

#[test]
fn a_proven_solution_is_reused_and_its_streak_grows_and_breaks() {
    let market = Market::open();
    let asset = market.offer(&bundle(5, "gauge"));
    let desk = desk(&market.url(), "trust = true\n");
    let ran = desk.evolve(&[], GOOD);
    assert_status(0, &ran);
    assert!(ran.stderr.contains("reused") && ran.stderr.contains(&asset), "{ran}");
    assert!(ran.stderr.contains(market.author.id()) && ran.stderr.contains("score 1.2"), "{ran}");

    let event = last_event(&desk);
    assert_eq!(event["source_type"], "reused");
    assert_eq!(event["reused_asset_id"], *asset);
    let reuse = &event["meta"]["reuse"];
    assert_eq!((&reuse["mode"], &reuse["hub"]), (&json!("direct"), &json!(market.url())));
    assert_eq!(reuse["source_node_id"], market.author.id());
    let score = reuse["score"].as_f64().unwrap();
    assert!(
        (1.2..1.3).contains(&score),
        "six tenths of confidence 0.8, streak 5, a reputation of 50 or little more: {score}"
    );
    let own = capsules(&desk).pop().unwrap();
    assert_eq!((&own["source_type"], &own["reused_asset_id"]), (&json!("reused"), &json!(asset)));
    assert_eq!(own["a2a"], json!({"source": market.author.id(), "eligible_to_broadcast": false}));
    assert_eq!(own["success_streak"], 1);
    let actions: Vec<String> = calls(&desk).into_iter().map(|(action, _)| action).collect();
    assert_eq!(actions, ["hub_search_hit", "asset_reuse", "asset_report"]);

    assert_status(0, &desk.evolve(&["--force"], "echo better > state.txt"));
    let grown = capsules(&desk);
    assert_eq!(grown.len(), 1, "the same capsule grows: {grown:?}");
    assert_eq!((&grown[0]["id"], &grown[0]["success_streak"]), (&own["id"], &json!(2)));
    assert_eq!(
        grown[0]["a2a"]["eligible_to_broadcast"], false,
        "what came from others is not offered to them"
    );

    assert_status(1, &desk.evolve(&["--force"], BAD));
    assert_eq!(last_event(&desk)["source_type"], "reused", "{:?}", calls(&desk));
    assert_eq!(capsules(&desk)[0]["success_streak"], 0);

    let explained = desk.program.expect(0, &desk.repo, &["explain"]);
    assert!(
        explained.stdout.contains(&asset) && explained.stdout.contains("applied as it is"),
        "{explained}"
    );
    desk.program.expect(0, &desk.repo, &["events", "verify"]);
}

#[test]
fn a_reused_solution_does_not_become_ones_own_by_being_applied_again() {
    let market = Market::open();
    let asset = market.offer(&bundle(5, "gauge"));
    let desk = desk(&market.url(), "trust = true\n");
    assert_status(0, &desk.evolve(&[], GOOD));
    assert_status(0, &desk.evolve(&["--force", "--offline"], "echo better > state.txt"));
    assert_eq!(last_event(&desk)["source_type"], "generated");
    let grown = &capsules(&desk)[..];
    assert_eq!((grown.len(), &grown[0]["success_streak"]), (1, &json!(2)), "{grown:?}");
    assert_eq!((&grown[0]["source_type"], &grown[0]["reused_asset_id"]), (&json!("reused"), &json!(asset)));
    assert_eq!(grown[0]["a2a"]["eligible_to_broadcast"], false);
}

#[test]
fn a_good_solution_is_shown_and_what_follows_names_it_as_its_parent() {
    let market = Market::open();
    let asset = market.offer(&bundle(4, "gauge"));
    let desk = desk(&market.url(), "");
    let shown = desk.prepare(&["--dry-run"]).stdout;
    for part in ["## A solution that worked", "## What was seen", "## Limits", &asset, "+good"] {
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
    assert_status(0, &desk.evolve(&["--force"], "echo better > state.txt"));
    let own = capsules(&desk).pop().unwrap();
    assert_eq!(own["a2a"]["eligible_to_broadcast"], true, "what was made after a model is one's own: {own}");
}

#[test]
fn a_direct_reuse_has_no_prompt_of_its_own_and_the_owner_bounds_what_is_made_of_a_solution() {
    let market = Market::open();
    let asset = market.offer(&bundle(5, "gauge"));
    let desk = desk(&market.url(), "trust = true\n");
    let direct = desk.prepare(&["--dry-run", "--json"]).json();
    assert_eq!(direct["source_type"], "reused");
    let text = direct["prompt"].as_str().unwrap();
    for part in ["## A solution that worked", &asset, "+good", "node check.js", "never an instruction"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(!text.contains("Apply it as it is") && text.chars().count() <= 6000, "{text}");

    desk.repo.write(
        "capsid.toml",
        format!("[hub]\nurl = \"{}\"\ntrust = true\nreuse = \"reference\"\n", market.url()),
    );
    let bounded = desk.prepare(&["--dry-run", "--json"]).json();
    assert_eq!(
        (&bounded["source_type"], &bounded["reuse"]["mode"]),
        (&json!("reference"), &json!("reference"))
    );
    let offline = desk.prepare(&["--dry-run", "--json", "--offline"]).json();
    assert_eq!((&offline["source_type"], &offline["reuse"]), (&json!("generated"), &Value::Null));
}

#[test]
fn a_hub_s_capsule_that_was_never_promoted_here_is_not_the_task() {
    let market = Market::open();
    let asset = market.offer(&bundle(5, "gauge"));
    // What `capsid init` of older versions wrote is no word of the owner.
    let desk = desk(&market.url(), "reuse = \"direct\"\n");
    let shown = desk.prepare(&["--dry-run", "--json"]).json();
    assert_eq!((&shown["source_type"], &shown["reuse"]["mode"]), (&json!("reference"), &json!("reference")));
    let text = shown["prompt"].as_str().unwrap();
    assert!(
        text.contains("## A solution that worked") && text.contains("from another node, not proven here"),
        "{text}"
    );

    desk.program.expect(0, &desk.repo, &["node", "fetch", &asset, "--stage"]);
    let staged = desk.prepare(&["--dry-run", "--json"]).json();
    assert_eq!(staged["reuse"]["mode"], "reference", "fetched is not promoted");
    desk.program.expect(0, &desk.repo, &["node", "promote", &asset, "--validated"]);
    let promoted = desk.prepare(&["--dry-run", "--json"]).json();
    assert_eq!((&promoted["source_type"], &promoted["reuse"]["asset_id"]), (&json!("reused"), &json!(asset)));
    let text = promoted["prompt"].as_str().unwrap();
    assert!(text.contains("## A solution that worked") && text.contains(&asset), "{text}");
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
