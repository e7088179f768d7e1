//! Words that are looked for in a repository's past: its events, its memory, and what agents did in it.

use super::*;
use capsid_model::json;
use capsid_testkit::trail_user::SESSION;
use capsid_testkit::transcript::claude_code_turn;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A desk on which the total of a cart was repaired, after an attempt that failed.
fn shop() -> ProgramRepo {
    let desk = desk("gene_repair", "gene_other");
    desk.repo.write("app.log", "error: TypeError: cart.items is undefined\n");
    assert_status(1, &cycle(&desk, &[], &[], "echo bad > state.txt"));
    run(&desk.program, &desk.repo, &[], &["evolve", "--force", "--no-sessions", "--log", "app.log"]);
    desk.repo.write("state.txt", "good\n");
    let summary = "Guard the cart total against an empty list of items";
    desk.program.expect(0, &desk.repo, &["solidify", "--summary", summary]);
    desk
}

fn recalled(desk: &ProgramRepo, args: &[&str]) -> Value {
    let args = [&["recall", "--json"], args].concat();
    desk.program.expect(0, &desk.repo, &args).json()
}

fn places(told: &Value) -> Vec<String> {
    let found = told["found"].as_array().unwrap_or_else(|| panic!("{told}"));
    found.iter().map(|one| one["place"].as_str().unwrap().to_owned()).collect()
}

/// Puts a session of an agent into the user's home and seals it.
fn seal(desk: &ProgramRepo, session: &str, folder: &Path, request: &str) {
    let text = claude_code_turn(session, 0)
        .replace("/home/ada/shop", folder.to_str().unwrap())
        .replace("Count the pears, try 0", request);
    let path = desk.program.home().join(".claude/projects/-shop").join(format!("{session}.jsonl"));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    let args = ["trail", "seal", "--tool", "claude-code", "--session", session, "--finalize"];
    desk.program.expect(0, &desk.repo, &args);
}

/// Every file below a folder with its bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.append(&mut files(&path)),
            path => {
                found.insert(path.clone(), std::fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn words_find_what_was_proven_and_what_was_tried() {
    let desk = shop();
    let told = recalled(&desk, &["cart total wrong for an empty list"]);
    assert!(told["proven"][0]["summary"].as_str().unwrap().starts_with("Guard the cart"), "{told}");
    let best = &told["found"][0];
    assert_eq!((&best["place"], &best["ended"]), (&json!("event"), &json!("success")), "{told}");
    assert!(best["words"].as_array().unwrap().len() >= 3, "{told}");
    // What is shown can be looked at by the command beside it.
    let show = best["show"].as_str().unwrap().strip_prefix("capsid ").unwrap();
    let shown = desk.program.expect(0, &desk.repo, &show.split(' ').collect::<Vec<_>>());
    assert!(shown.stdout.contains(best["id"].as_str().unwrap()), "{shown}");
    let apart = recalled(&desk, &["cart", "total", "empty"]);
    assert_eq!(apart["found"][0]["id"], best["id"]);

    let failed = recalled(&desk, &["cart items undefined", "--in", "events"]);
    let ended: Vec<&str> =
        failed["found"].as_array().unwrap().iter().filter_map(|one| one["ended"].as_str()).collect();
    assert!(ended.iter().any(|ended| ended.starts_with("failed")), "{failed}");
    let says_both =
        |text: &str| text.contains("cart.items is undefined") && text.contains("→ validation_failed");
    assert!(
        failed["found"].as_array().unwrap().iter().any(|one| says_both(one["text"].as_str().unwrap())),
        "{failed}"
    );
    assert_eq!(failed["proven"], json!([]), "only where it was told to look");
    let memory = recalled(&desk, &["gene_repair", "repair", "--in", "memory"]);
    assert!(places(&memory).iter().all(|place| place == "memory") && !places(&memory).is_empty(), "{memory}");
    assert!(memory["found"][0]["text"].as_str().unwrap().contains("went well"), "{memory}");

    assert_eq!(recalled(&desk, &["cart", "total", "--limit", "1"])["found"].as_array().unwrap().len(), 1);
    assert_eq!(recalled(&desk, &["zebra crossing"])["found"], json!([]));
    let text = desk.program.expect(0, &desk.repo, &["recall", "cart", "total"]);
    assert!(
        text.stdout.contains("Guard the cart") && text.stdout.contains("capsid events show evt_"),
        "{text}"
    );
    assert!(text.stdout.starts_with("proven  ") && text.stdout.contains("\nevent   "), "{text}");
    for (words, says) in [
        (&["zebra", "crossing"][..], "Nothing in this repository's past matches.\n"),
        (&["zebra", "--where", "trail"], "Nothing there matches; without `--where`"),
        (&["the", "of"], "These words say nothing that could be looked for.\n"),
        (&["odd_signal"], "`--where events,memory` shows what was tried"),
    ] {
        let nothing = desk.program.expect(0, &desk.repo, &[&["recall"], words].concat());
        assert!(
            nothing.stdout.is_empty() && nothing.stderr.starts_with("Nothing") || words[0] == "the",
            "{nothing}"
        );
        assert!(nothing.stderr.contains(says) && !nothing.stderr.contains("signals: \n"), "{nothing}");
    }
    assert_eq!(desk.program.run(&desk.repo, &["recall", "x", "--in", "elsewhere"]).status, 2);
}

#[test]
fn what_happened_again_and_again_is_told_once() {
    let desk = desk("gene_repair", "gene_other");
    let event = |id: &str| {
        let event = store::event(id, "repair", "gene_repair", &["errsig:cart.items is undefined"], false);
        format!("{}\n", Value::Object(event))
    };
    desk.repo.write("assets/gep/events.jsonl", event("evt_1") + &event("evt_2"));
    let told = recalled(&desk, &["cart items undefined", "--in", "events"]);
    assert_eq!(
        (told["found"].as_array().unwrap().len(), &told["found"][0]["more"]),
        (1, &json!(1)),
        "{told}"
    );
    let text = desk.program.expect(0, &desk.repo, &["recall", "cart", "items", "--in", "events"]);
    assert!(text.stdout.contains("; 1 more like it)\n"), "{text}");
}

#[test]
fn signals_alone_ask_for_what_is_proven_as_before() {
    let desk = shop();
    let told = recalled(&desk, &["log_error", "exception"]);
    assert_eq!(told["proven"].as_array().unwrap().len(), 1, "{told}");
    assert_eq!((told.get("found"), &told["signals"]), (None, &json!(["log_error", "exception"])));
    let generic = recalled(&desk, &["log_error"]);
    assert_eq!(generic["proven"], json!([]), "sharing nothing but `log_error` is no match");
    let there = recalled(&desk, &["log_error", "--in", "events,memory"]);
    assert!(places(&there).contains(&"event".to_owned()), "{there}");
}

#[test]
fn sealed_records_of_this_repository_are_found_and_those_of_others_not() {
    let desk = shop();
    let root = desk.repo.path().canonicalize().unwrap();
    seal(&desk, SESSION, &root, "Why does the parser drop trailing commas?");
    let other = SESSION.replace("5f0c", "6f0c");
    seal(&desk, &other, Path::new("/home/ada/elsewhere"), "Why does the other parser drop trailing commas?");
    let before = (files(desk.repo.path()), files(desk.program.home()));
    let told = recalled(&desk, &["trailing commas in the parser", "--in", "trail"]);
    let found = told["found"].as_array().unwrap();
    assert!(!found.is_empty() && found.len() <= 2, "one conversation does not fill the list: {told}");
    for one in found {
        assert_eq!(
            &one["at"].as_str().unwrap()[..10],
            "2026-06-01",
            "when it was done, not when it was sealed"
        );
        assert!(one["id"].as_str().unwrap().starts_with(&format!("claude-code/{SESSION}#")), "{told}");
        let show = one["show"].as_str().unwrap().strip_prefix("capsid ").unwrap();
        let shown = desk.program.expect(0, &desk.repo, &show.split(' ').collect::<Vec<_>>());
        assert!(shown.stdout.contains("trailing commas"), "{shown}");
    }
    assert!(places(&recalled(&desk, &["trailing commas"])).contains(&"trail".to_owned()));
    assert_eq!((files(desk.repo.path()), files(desk.program.home())), before, "nothing is written");
    // A chain that cannot be read hides nothing else.
    let broken = desk.program.home().join(".local/share/capsid/trail/chains/claude-code/broken.db");
    std::fs::write(broken, "no database").unwrap();
    assert!(!places(&recalled(&desk, &["trailing commas", "--in", "trail"])).is_empty());
}

#[test]
fn chinese_words_are_found_and_secrets_are_not_shown() {
    let desk = shop();
    let root = desk.repo.path().canonicalize().unwrap();
    seal(&desk, SESSION, &root, "购物车总价计算错误，请修复");
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let outcome = json!({
        "type": "MemoryGraphEvent", "kind": "outcome", "id": "mge_9", "ts": "2026-02-07T15:20:54.155Z",
        "signal": {"signals": ["log_error"]}, "gene": {"id": "ad_hoc"},
        "outcome": {"status": "success", "summary": format!("购物车总价：空列表时返回零 {token} \u{1b}[2J")},
    });
    let graph = desk.repo.file("memory/evolution/memory_graph.jsonl");
    let lines = std::fs::read_to_string(&graph).unwrap();
    std::fs::write(&graph, format!("{lines}{outcome}\n")).unwrap();
    let told = recalled(&desk, &["购物车", "总价"]);
    let found = places(&told);
    assert!(found.contains(&"trail".to_owned()) && found.contains(&"memory".to_owned()), "{told}");
    assert!(!told.to_string().contains("ghp_a1"), "{told}");
    let text = desk.program.expect(0, &desk.repo, &["recall", "购物车", "总价", "--in", "memory"]);
    assert!(text.stdout.contains("空列表时返回零"), "{text}");
    assert!(!text.stdout.contains("ghp_a1") && !text.stdout.contains('\u{1b}'), "{text}");
}
