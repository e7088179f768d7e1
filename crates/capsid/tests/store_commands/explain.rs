//! What `explain` says about the problem of a run.

use super::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const LOG: &str = "src/order.ts(7,3): error TS2322: Type 'string' is not assignable to type 'number'.\n\
                   src/cart.ts(9,3): error TS2304: Cannot find name 'x'.\n";

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.append(&mut files(&path)),
            path => {
                found.insert(path.clone(), std::fs::read(path).unwrap_or_default());
            }
        }
    }
    found
}

#[test]
fn explain_shows_the_problem_the_others_and_what_history_would_have_dropped_and_changes_nothing() {
    let desk = desk();
    desk.repo.write("app.log", LOG);
    let repair = |n| {
        store::event(&format!("evt_{n}"), "repair", "gene_repair", &["log_error", "errsig:error: y"], true)
    };
    store::append_events(&desk.repo, &[repair(1), repair(2), repair(3)]);
    desk.prepare(&[]);
    let before = (files(desk.repo.path()), files(desk.program.home()));
    let shown = good(&desk, &["explain"]).stdout;
    for part in [
        "problem  tsc TS2322  compile_error",
        "order.ts:7",
        "1 | src/order.ts(7,3): error TS2322",
        "also     tsc TS2304: Cannot find name `x` (cart.ts:9)",
        "not chosen: it comes later in the log",
        "history  repair_loop: The last 3 cycles were repairs.",
        "log_error  kept: live",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let told = good(&desk, &["explain", "--json"]).json();
    assert_eq!(told["problem"]["code"], "TS2322", "{told}");
    assert_eq!(told["also"][0]["not_chosen"], "it comes later in the log", "{told}");
    assert_eq!(told["history"][0]["would_drop"][0], json!(["log_error", "kept: live"]), "{told}");
    assert_eq!(told["offers"], json!([]));
    assert!(!told["windows"].as_array().unwrap().is_empty(), "{told}");
    assert_eq!((files(desk.repo.path()), files(desk.program.home())), before, "nothing is written");
}

#[test]
fn an_older_record_is_explained_as_far_as_it_goes() {
    let desk = desk();
    let run = desk.prepare(&["--json"]).json()["run_id"].as_str().unwrap().to_owned();
    let path = format!("memory/evolution/runs/{run}.json");
    let mut record: Value = desk.repo.read(&path).parse().unwrap();
    let members = record.as_object_mut().unwrap();
    for name in ["problem", "problem_source", "windows", "also", "history", "offers", "reproduction"] {
        assert!(members.remove(name).is_some(), "{name}");
    }
    desk.repo.write(&path, record.to_string());
    let shown = good(&desk, &["explain"]).stdout;
    assert!(shown.contains("The recorded inputs give the recorded choice."), "{shown}");
}
