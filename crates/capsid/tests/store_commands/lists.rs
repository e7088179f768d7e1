//! Genes, capsules and events: lists, filters and values that are checked.

use super::*;

fn capsule(id: &str, gene: &str, platform: &str, captured_at: &str) -> Object {
    store::stamped(json!({
        "type": "Capsule", "schema_version": "1.6.0", "id": id, "gene": gene, "trigger": ["log_error"],
        "summary": "It worked.", "confidence": 0.8, "blast_radius": {"files": 1, "lines": 2},
        "outcome": {"status": "success", "score": 0.85},
        "env_fingerprint": {"platform": platform, "captured_at": captured_at},
    }))
}

fn filled() -> ProgramRepo {
    let desk = desk();
    store::append_events(
        &desk.repo,
        &[
            store::event("evt_1", "repair", "gene_repair", &["log_error"], true),
            store::event("evt_2", "repair", "gene_repair", &["log_error"], false),
            store::event("evt_3", "innovate", "gene_innovate", &["plateau"], true),
        ],
    );
    store::write_list(
        &desk.repo,
        "capsules",
        &[
            capsule("capsule_1767225600000", "gene_repair", "linux", "2026-03-01T00:00:00.000Z"),
            capsule("capsule_2", "gene_repair", "darwin", "2026-02-01T00:00:00.000Z"),
            capsule("capsule_named", "gene_innovate", "linux", "2026-02-03T00:00:00.000Z"),
        ],
    );
    let failed = store::failed_capsule("failed_named", "gene_repair", &["log_error"]);
    store::write_list(&desk.repo, "failed_capsules", &[failed]);
    desk
}

#[test]
fn a_streak_is_what_the_events_show() {
    let desk = filled();
    let mut boasting = capsule("capsule_boasting", "gene_repair", "linux", "2026-02-03T00:00:00.000Z");
    boasting.insert("success_streak".to_owned(), 9.into());
    store::write_list(&desk.repo, "capsules", &[store::stamped(boasting.into())]);
    let mut event = store::event("evt_4", "repair", "gene_repair", &["log_error"], true);
    event.insert("capsule_id".to_owned(), "capsule_boasting".into());
    store::append_events(&desk.repo, &[event]);
    let listed = good(&desk, &["capsules"]);
    assert!(listed.stdout.contains("1 (says 9)"), "{listed}");
}

#[test]
fn list_is_the_same_as_the_bare_command() {
    let desk = filled();
    for command in [
        &["genes"][..],
        &["genes", "--category", "repair"],
        &["genes", "--json"],
        &["capsules"],
        &["capsules", "--gene", "gene_repair", "--json"],
        &["capsules", "--failed"],
        &["events"],
        &["events", "--tree"],
        &["events", "--limit", "1", "--status", "failed", "--json"],
    ] {
        let bare = good(&desk, command);
        let mut listed = command.to_vec();
        listed.insert(1, "list");
        assert_eq!(good(&desk, &listed).stdout, bare.stdout, "{command:?}");
        assert!(!bare.stdout.is_empty(), "{command:?}");
    }
}

#[test]
fn capsules_are_filtered_by_gene_platform_and_time() {
    let desk = filled();
    let expect = |options: &[&str], expected: &[&str]| {
        let mut args = vec!["capsules", "--json"];
        args.extend(options);
        assert_eq!(ids(&good(&desk, &args).json()["capsules"]), expected, "{options:?}");
    };
    expect(&[], &["capsule_1767225600000", "capsule_2", "capsule_named"]);
    expect(&["--gene", "gene_innovate"], &["capsule_named"]);
    expect(&["--platform", "darwin"], &["capsule_2"]);
    // The stamp of an id tells when it was made; a small number in a name is no stamp.
    expect(&["--until", "2026-01-02"], &["capsule_1767225600000"]);
    expect(&["--since", "2026-01-02"], &["capsule_2", "capsule_named"]);
    expect(&["--since", "2026-02-01T00:00:01Z", "--platform", "linux"], &["capsule_named"]);
    expect(&["--failed"], &["failed_named"]);
    expect(&["--failed", "--until", "2026-02-01"], &[]);
    let ran = good(&desk, &["capsules", "--platform", "plan9"]);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("No capsule matches."), "{ran}");
}

#[test]
fn genes_come_with_how_they_did() {
    let desk = filled();
    let listed = good(&desk, &["genes", "--json", "--category", "repair"]).json();
    assert_eq!(ids(&listed["genes"]), ["gene_repair"]);
    let counted = good(&desk, &["events", "stats", "--json"]).json();
    assert_eq!(listed["stats"], json!({"gene_repair": counted["genes"]["gene_repair"]}));
    assert_eq!(listed["stats"]["gene_repair"]["success_rate"], 0.5);
    let text = good(&desk, &["genes"]).stdout;
    assert!(text.lines().next().unwrap().contains("mean files  mean lines"), "{text}");
    assert!(text.lines().nth(1).unwrap().contains("2       50 %     1.0         1.0"), "{text}");
    desk.repo.write("assets/gep/events.jsonl", "");
    assert_eq!(good(&desk, &["genes", "--json"]).json()["stats"]["gene_repair"]["cycles"], 0);
}

#[test]
fn a_value_that_cannot_be_is_wrong_usage_and_the_possible_ones_are_named() {
    let desk = filled();
    for (args, possible) in [
        (&["events", "--status", "good"][..], "success, failed"),
        (&["events", "list", "--intent", "fix"], "repair, optimize, innovate, explore"),
        (&["events", "stats", "--intent", "fix"], "repair, optimize, innovate, explore"),
        (&["genes", "--category", "fix"], "repair, optimize, innovate, explore"),
        (&["solidify", "--intent", "fix"], "repair, optimize, innovate, explore"),
        (&["evolve", "--strategy", "wild"], "balanced, innovate, harden"),
        (&["capsules", "--since", "yesterday"], "2026-02-07"),
        (&["events", "--until", "yesterday"], "2026-02-07"),
    ] {
        let ran = run(&desk, args);
        assert_status(2, &ran);
        assert!(ran.stderr.contains(possible), "{ran}");
    }
    let failure = good(&desk, &["events", "--status", "failure", "--json"]).json();
    assert_eq!(ids(&failure["events"]), ["evt_2"]);
    for name in capsid_engine::rules::strategy::names() {
        good(&desk, &["evolve", "--dry-run", "--no-sessions", "--log", "app.log", "--strategy", name]);
    }
}

#[test]
fn an_id_that_nothing_has_is_named_with_the_command_that_lists() {
    let desk = filled();
    for (kind, lister) in
        [("genes", "capsid genes"), ("capsules", "capsid capsules"), ("events", "capsid events --limit 0")]
    {
        let ran = run(&desk, &[kind, "show", "nobody", "--json"]);
        assert_eq!(ran.code(), "not_found", "{ran}");
        assert!(ran.stderr.contains(&format!("`{lister}` lists them")), "{ran}");
        assert_eq!(ran.json()["error"]["code"], "not_found");
    }
    assert_eq!(good(&desk, &["capsules", "show", "failed_named", "--json"]).json()["id"], "failed_named");
}

#[test]
fn genes_that_their_owner_wrote_are_added_once_with_their_content_ids() {
    let desk = desk();
    let gene = |id: &str| {
        json!({"id": id, "category": "repair", "signals_match": ["timeout"], "strategy": ["Raise the limit."],
            "validation": ["node check.js"], "constraints": {"max_files": 3, "forbidden_paths": [".git"]}})
    };
    desk.repo.write("gene.json", gene("gene_one").to_string());
    desk.repo.write("genes.json", json!({"genes": [gene("gene_two"), gene("gene_three")]}).to_string());
    let toml = "id = \"gene_four\"\ncategory = \"repair\"\nsignals_match = [\"timeout\"]\nstrategy = [\"Wait.\"]\n\
                validation = [\"rm -rf /\"]\nconstraints = { max_files = 3, forbidden_paths = [\".git\"] }\n";
    desk.repo.write("gene.toml", toml);
    let added = good(&desk, &["genes", "add", "gene.json", "--json"]).json();
    assert_eq!(added["added"][0]["id"], "gene_one");
    good(&desk, &["genes", "add", "genes.json"]);
    let noted = good(&desk, &["genes", "add", "gene.toml", "--json"]).json();
    assert!(noted["notes"][0].as_str().unwrap().contains("rm -rf /"), "{noted}");
    let all = good(&desk, &["genes", "--json"]).json();
    assert_eq!(ids(&all["genes"])[2..], ["gene_one", "gene_two", "gene_three", "gene_four"]);
    good(&desk, &["asset", "verify", "assets/gep/genes.json"]);

    let before = desk.repo.read("assets/gep/genes.json");
    desk.repo.write("mixed.json", json!([gene("gene_five"), gene("gene_one")]).to_string());
    desk.repo.write("broken.json", json!({"id": "gene_six", "category": "mend"}).to_string());
    for (file, status, code) in [
        ("gene.json", 1, "gene_exists"),
        ("mixed.json", 1, "gene_exists"),
        ("broken.json", 1, "schema_violation"),
        ("missing.json", 2, "file_not_found"),
    ] {
        let ran = run(&desk, &["genes", "add", file]);
        assert_status(status, &ran);
        assert_eq!(ran.code(), code, "{file}: {ran}");
    }
    assert_eq!(desk.repo.read("assets/gep/genes.json"), before);
}
