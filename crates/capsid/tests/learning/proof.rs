//! What counts as a success.

use super::*;

/// A package whose one test fails because `add` subtracts.
fn package() -> ProgramRepo {
    let desk = desk();
    desk.repo.write("package.json", PACKAGE);
    desk.repo.write("add.js", "module.exports = (a, b) => a - b\n");
    desk.repo.write("test/add.test.js", TEST);
    desk.repo.commit("A package");
    let ran = std::process::Command::new("node")
        .args(["--test", "--test-reporter=tap", "test/add.test.js"])
        .env_remove("NODE_TEST_CONTEXT")
        .current_dir(desk.repo.path())
        .output()
        .unwrap();
    assert!(!ran.status.success());
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    desk.repo.write("app.log", format!("$ {COMMAND}\n{printed}"));
    desk
}

const COMMAND: &str = "npm test";
const PACKAGE: &str = r#"{"name": "add", "version": "1.0.0", "scripts": {"test": "node --test --test-reporter=tap test/add.test.js"}}
"#;
const TEST: &str = "const test = require('node:test')
const assert = require('node:assert')
const add = require('../add.js')
test('zero is neutral', () => assert.strictEqual(add(2, 0), 2))
test('adds', () => assert.strictEqual(add(2, 3), 5))
";

/// What an agent does instead of repairing `add`, each as the body of a shell script.
const CHEATS: [(&str, &str); 6] = [
    ("delete it", "rm test/add.test.js"),
    ("skip it", "sed -i \"s/test('adds'/test.skip('adds'/\" test/add.test.js"),
    ("empty it", "sed -i \"s/assert.strictEqual(add(2, 3), 5)/{}/\" test/add.test.js"),
    (
        "weaken its assertion",
        "sed -i 's/assert.strictEqual(add(2, 3), 5)/assert.ok(add(2, 3))/' test/add.test.js",
    ),
    ("run no test", r#"sed -i 's/"test": "[^"]*"/"test": "true"/' package.json"#),
    (
        "exclude it in settings",
        r#"sed -i 's/--test-reporter=tap/--test-reporter=tap --test-name-pattern=zero/' package.json"#,
    ),
];

#[track_caller]
fn assert_refused(how: &str, body: &str) {
    let desk = package();
    let before = desk.repo.user_files();
    let ran = desk.evolve(&["--json", "--repro", COMMAND], body);
    assert_status(1, &ran);
    assert_eq!(desk.repo.user_files(), before, "{how}: nothing was applied");
    assert!(capsules(&desk).is_empty(), "{how}: {ran}");
    for event in store::events(&desk.repo) {
        assert_eq!(event["outcome"]["status"], "failed", "{how}: {ran}");
    }
}

#[test]
fn deleting_the_failing_test_is_not_a_success() {
    assert_refused(CHEATS[0].0, CHEATS[0].1);
}

#[test]
fn skipping_or_emptying_the_failing_test_is_not_a_success() {
    for (how, body) in &CHEATS[1..3] {
        assert_refused(how, body);
    }
}

#[test]
fn weakening_its_assertion_is_not_a_success() {
    assert_refused(CHEATS[3].0, CHEATS[3].1);
}

#[test]
fn settings_that_run_fewer_tests_are_not_a_success() {
    for (how, body) in &CHEATS[4..] {
        assert_refused(how, body);
    }
}

#[test]
fn an_honest_fix_of_the_same_package_is_proven() {
    let desk = package();
    let ran = desk.evolve(&["--json", "--repro", COMMAND], "sed -i 's/a - b/a + b/' add.js");
    assert_status(0, &ran);
    assert_eq!(capsules(&desk)[0]["proof"]["grade"], "fail_to_pass_reverts", "{ran}");
}

#[test]
fn a_check_that_passed_before_the_change_is_no_proof() {
    let desk = desk();
    let ran = desk.evolve(&["--json"], GOOD);
    assert_status(0, &ran);
    let capsule = capsules(&desk).remove(0);
    assert_eq!(capsule["proof"]["grade"], "passes", "{ran}");
    assert_eq!(capsule["success_streak"], 0);
    assert_eq!(capsule["a2a"]["eligible_to_broadcast"], false);
    // Where the user named the command, there is nothing to do at all.
    let desk = self::desk();
    let ran = desk.evolve(&["--repro", "node check.js"], GOOD);
    assert_status(1, &ran);
    assert!(ran.stderr.contains("passes here"), "{ran}");
    assert!(store::events(&desk.repo).is_empty());
    assert_eq!(desk.repo.read("state.txt"), "start\n", "the agent did not run");
}
