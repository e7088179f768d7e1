use super::*;
use capsid_rules::assets::reproduction::ReproductionFile;

const LONG: Duration = Duration::from_secs(30);

fn diff(path: &str, lines: &[&str]) -> String {
    let body: String = lines.iter().map(|line| format!("+{line}\n")).collect();
    format!(
        "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{} @@\n{body}",
        lines.len()
    )
}

fn commands(list: &[&str]) -> Vec<String> {
    list.iter().map(|command| (*command).to_owned()).collect()
}

#[test]
fn a_test_that_imports_the_change_fails_without_it() {
    let change = format!(
        "{}{}",
        diff("a.js", &["module.exports = 1"]),
        diff("a.test.js", &["if (require('./a') !== 1) process.exit(1)"])
    );
    let control = run_control(&change, &commands(&["node a.test.js"]), LONG).unwrap();
    assert_eq!(control, ControlRuns { bare: Some(false), base: Some(false) });
}

#[test]
fn commands_that_pass_without_the_change_are_found() {
    let change =
        format!("{}{}", diff("a.js", &["module.exports = 1"]), diff("a.test.js", &["process.exit(0)"]));
    let passes = run_control(&change, &commands(&["node a.test.js"]), LONG).unwrap();
    assert_eq!(passes, ControlRuns { bare: Some(false), base: Some(true) });
    let idle = run_control(&change, &commands(&["node --version"]), LONG).unwrap();
    assert_eq!(idle.bare, Some(true));
    let refused = run_control(&change, &commands(&["rm -rf /"]), LONG).unwrap();
    assert_eq!(refused, ControlRuns::default(), "what was not run says nothing");
}

fn reproduction(source: &str) -> CapsuleReproduction {
    let file = |path: &str, text: &str| ReproductionFile { path: path.to_owned(), text: text.to_owned() };
    let test = "if (require('./a') !== 2) process.exit(1)\n";
    CapsuleReproduction::new(vec![file("a.js", source), file("a.test.js", test)], "node a.test.js").unwrap()
}

#[test]
fn a_patch_of_existing_files_is_tried_in_its_reproduction() {
    let patch = "--- a/a.js\n+++ b/a.js\n@@ -1 +1 @@\n-module.exports = 1\n+module.exports = 2\n";
    let asked = commands(&["node a.test.js"]);
    let (trial, control) = run_on_reproduction(
        &CommandPolicy::default(),
        patch,
        &asked,
        &reproduction("module.exports = 1\n"),
        LONG,
    )
    .unwrap();
    assert!(trial.ok, "{trial:?}");
    assert_eq!(control, ControlRuns { bare: Some(false), base: Some(false) });
    let (trial, _) = run_on_reproduction(
        &CommandPolicy::default(),
        patch,
        &asked,
        &reproduction("module.exports = 9\n"),
        LONG,
    )
    .unwrap();
    assert_eq!(trial.class, "env_files_missing", "the patch does not apply");
    let add = diff("b.js", &["module.exports = 1"]);
    let (trial, control) = run_on_reproduction(
        &CommandPolicy::default(),
        &add,
        &asked,
        &reproduction("module.exports = 2\n"),
        LONG,
    )
    .unwrap();
    assert!(trial.ok);
    assert_eq!(control.base, Some(true), "the reproduction passes without the patch");
}

#[test]
fn a_control_keeps_tests_and_what_says_how_they_run_and_empties_the_rest() {
    let paths = ["package.json", "web/package.json", "Cargo.toml", "py/pyproject.toml", "a.js", "a.test.js"];
    let change: String = paths.iter().map(|path| diff(path, &["text"])).collect();
    let made = scratch::created(&change).unwrap();
    let emptied = empty_sources(&made, &commands(&["node a.test.js"]));
    let empty: Vec<_> = emptied.files.iter().filter(|file| file.content.is_empty()).collect();
    assert_eq!(empty.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["a.js"]);
}
