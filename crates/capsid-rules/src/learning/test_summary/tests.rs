use super::*;
use proptest::prelude::*;

/// Runner, output, then passed, failed, skipped and the number of names, if the output lists them all.
type SummaryCase = (TestRunner, &'static str, [u64; 3], Option<usize>);

fn check(cases: &[SummaryCase]) {
    for (runner, output, [passed, failed, skipped], names) in cases {
        let summary = parse_test_summary(output).unwrap_or_else(|| panic!("no summary: {output}"));
        assert_eq!(summary.runner, *runner, "{output}");
        assert_eq!(
            (summary.passed, summary.failed, summary.skipped),
            (*passed, *failed, *skipped),
            "{output}"
        );
        assert_eq!(summary.ran, passed + failed, "{output}");
        assert_eq!(summary.names.as_ref().map(BTreeMap::len), *names, "{output}: {:?}", summary.names);
        let colored: String = output.lines().map(|line| format!("\u{1b}[1m{line}\u{1b}[0m\r\n")).collect();
        let from_terminal = parse_test_summary(&colored).unwrap();
        assert_eq!(from_terminal, summary, "colors and CRLF change nothing");
    }
}

const CARGO: &str = "\
     Running unittests src/lib.rs (target/debug/deps/shop-04c7)

running 4 tests
test tests::boom - should panic ... ok
test tests::later ... ignored, slow
test tests::ok ... ok
test tests::bad ... FAILED

failures:

---- tests::bad stdout ----
test result of nothing

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.05s

   Doc-tests shop

running 1 test
test src/lib.rs - f (line 1) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.15s
";

const NEXTEST: &str = "\
    Starting 3 tests across 1 binary (1 test skipped)
        FAIL [   0.145s] (1/3) shop tests::bad
  stdout ───

running 1 test
test tests::bad ... FAILED

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.14s

        PASS [   0.059s] (2/3) shop tests::boom
     SIGSEGV [   0.004s] (3/3) shop tests::ok
────────────
     Summary [   0.209s] 3 tests run: 1 passed (1 slow), 2 failed, 1 skipped
        FAIL [   0.145s] (1/3) shop tests::bad
error: test run failed
";

#[test]
fn summaries_of_rust_runners_are_read() {
    check(&[
        (TestRunner::CargoTest, CARGO, [3, 1, 1], Some(5)),
        (TestRunner::CargoTest, "test result: FAILED. 10 passed; 1 failed; 0 ignored\n", [10, 1, 0], None),
        (
            TestRunner::CargoTest,
            "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured\n",
            [0, 0, 0],
            Some(0),
        ),
        (TestRunner::Nextest, NEXTEST, [1, 2, 1], Some(3)),
        (
            TestRunner::Nextest,
            "     Summary [   0.2s] 1/5 tests run: 0 passed, 1 failed, 0 skipped",
            [0, 1, 0],
            None,
        ),
    ]);
    let names = parse_test_summary(CARGO).unwrap().names.unwrap();
    assert_eq!(names["tests::boom"], TestResult::Passed);
    assert_eq!(names["tests::later"], TestResult::Skipped);
    assert_eq!(names["tests::bad"], TestResult::Failed);
}

#[test]
fn equal_names_of_two_binaries_are_told_apart() {
    let binary = "test a ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored\n";
    let names = parse_test_summary(&binary.repeat(2)).unwrap().names.unwrap();
    assert_eq!(names.keys().collect::<Vec<_>>(), ["a", "a (2)"]);
}

const PYTEST_VERBOSE: &str = "\
collecting ... collected 4 items

tests/test_a.py::test_b PASSED                                  [ 25%]
tests/test_a.py::test_c[x y] FAILED                             [ 50%]
tests/test_a.py::test_d SKIPPED (needs a database)              [ 75%]
tests/test_a.py::test_e XFAIL                                   [100%]

=========================== short test summary info ============================
FAILED tests/test_a.py::test_c - assert 1 == 2
=========== 1 failed, 1 passed, 1 skipped, 1 xfailed, 2 warnings in 61.02s (0:01:01) ===========
";

const UNITTEST: &str = "\
test_doc (test_a.A.test_doc)
A doc string. ... ok
test_fail (test_a.A.test_fail) ... FAIL
test_ok (test_a.A.test_ok) ... ok
test_skip (test_a.A.test_skip) ... skipped 'later'
test_x (test_a.A.test_x) ... expected failure

======================================================================
FAIL: test_fail (test_a.A.test_fail)
----------------------------------------------------------------------
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 5 tests in 0.004s

FAILED (failures=1, skipped=1, expected failures=1)
";

#[test]
fn summaries_of_python_runners_are_read() {
    let workers = "[gw0] [ 50%] PASSED tests/test_a.py::test_b \n[gw1] [100%] FAILED tests/test_a.py::test_c \n=== 1 failed, 1 passed in 0.50s ===\n";
    check(&[
        (TestRunner::Pytest, PYTEST_VERBOSE, [1, 1, 2], Some(4)),
        (TestRunner::Pytest, "F.   [100%]\n1 failed, 1 passed in 0.04s\n", [1, 1, 0], None),
        (TestRunner::Pytest, "======= 2 passed, 3 deselected in 0.01s =======\n", [2, 0, 0], None),
        (TestRunner::Pytest, "1 error in 0.28s\n", [0, 1, 0], None),
        (TestRunner::Pytest, "no tests ran in 0.01s\n", [0, 0, 0], Some(0)),
        (TestRunner::Pytest, workers, [1, 1, 0], Some(2)),
        (TestRunner::Unittest, UNITTEST, [2, 1, 2], Some(5)),
        (TestRunner::Unittest, "..\n-----\nRan 2 tests in 0.005s\n\nOK (skipped=1)\n", [1, 0, 1], None),
        (TestRunner::Unittest, "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n", [0, 0, 0], Some(0)),
    ]);
    let names = parse_test_summary(UNITTEST).unwrap().names.unwrap();
    assert_eq!(names["test_doc (test_a.A.test_doc)"], TestResult::Passed);
}

const JEST: &str = "\
FAIL ./cart.test.js
  cart
    ✕ adds the prices (8 ms)
    ✓ is empty at first (5 ms)
    ○ skipped rounds
    ✎ todo prints

  ● cart › adds the prices

Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 skipped, 1 todo, 1 passed, 4 total
Snapshots:   0 total
";

const VITEST: &str = "\
 ✓ a.test.js > cart > adds 2ms
 × a.test.js > cart > rounds 5ms
   → expected 'A' to be 'AL'
 ↓ a.test.js > later

 Test Files  1 failed (1)
      Tests  1 failed | 1 passed | 1 skipped (3)
   Duration  386ms
";

const MOCHA: &str = "\
  hours
listening on port 43211
    ✔ counts the day (12ms)
    1) counts the pause
    - counts the night


  1 passing (5ms)
  1 pending
  1 failing

  1) hours
       counts the pause:
";

const NODE_SPEC: &str = "\
▶ cart
  ✔ adds (4.877539ms)
  ✖ fails (0.784641ms)
    AssertionError [ERR_ASSERTION]: 1 == 2
  ﹣ later (0.113159ms) # SKIP
  ✔ open (0.146909ms) # TODO
  ▶ inner
    ✔ deep (2.952726ms)
  ✔ inner (3.165343ms)
✖ cart (10.098078ms)
✔ plain (0.202532ms)
ℹ tests 6
ℹ suites 2
ℹ pass 3
ℹ fail 1
ℹ cancelled 0
ℹ skipped 1
ℹ todo 1
ℹ duration_ms 163.8

✖ failing tests:

✖ fails (0.784641ms)
";

const NODE_TAP: &str = "\
TAP version 13
# Subtest: cart
    # Subtest: adds
    ok 1 - adds
    # Subtest: fails
    not ok 2 - fails
      error: '1 == 2'
    ok 3 - later # SKIP
    1..3
not ok 1 - cart
# Subtest: plain
ok 2 - plain
1..2
# tests 4
# suites 1
# pass 2
# fail 1
# cancelled 0
# skipped 1
# todo 0
";

#[test]
fn summaries_of_javascript_runners_are_read() {
    check(&[
        (TestRunner::Jest, JEST, [1, 1, 2], Some(4)),
        (TestRunner::Jest, "PASS a.test.js\n\nTests:       2 passed, 2 total\n", [2, 0, 0], None),
        (TestRunner::Vitest, VITEST, [1, 1, 1], Some(3)),
        (TestRunner::Vitest, " ✓ a.test.js (2 tests) 3ms\n      Tests  2 passed (2)\n", [2, 0, 0], None),
        (TestRunner::Mocha, MOCHA, [1, 1, 1], Some(3)),
        (TestRunner::NodeTest, NODE_SPEC, [3, 1, 2], Some(6)),
        (TestRunner::NodeTest, NODE_TAP, [2, 1, 1], Some(4)),
    ]);
    let spec = parse_test_summary(NODE_SPEC).unwrap().names.unwrap();
    assert_eq!((spec["deep"], spec["open"]), (TestResult::Passed, TestResult::Skipped));
    assert!(!spec.contains_key("cart") && !spec.contains_key("inner"));
}

const GO_VERBOSE: &str = "\
=== RUN   TestLeft
=== RUN   TestLeft/sub_1
    s_test.go:5: error: none expected
--- FAIL: TestLeft (0.00s)
    --- PASS: TestLeft/sub_1 (0.00s)
=== RUN   TestSlow
--- SKIP: TestSlow (0.00s)
FAIL
FAIL\texample.org/depot\t0.003s
=== RUN   TestOther
--- PASS: TestOther (0.00s)
PASS
ok  \texample.org/other\t(cached)
?   \texample.org/none\t[no test files]
FAIL
";

#[test]
fn summaries_of_go_are_read() {
    let plain = "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\ta.org/x\t0.1s\nok  \ta.org/y\t0.2s\n?   \ta.org/z\t[no test files]\nFAIL\n";
    let panic = "=== RUN   TestA\npanic: boom\n\ngoroutine 7 [running]:\nFAIL\ta.org/x\t0.006s\nFAIL\n";
    check(&[
        (TestRunner::GoTest, GO_VERBOSE, [2, 1, 1], Some(4)),
        (TestRunner::GoTest, plain, [1, 1, 1], Some(3)),
        (TestRunner::GoTest, panic, [0, 1, 0], Some(1)),
    ]);
    assert_eq!(parse_test_summary(plain).unwrap().unit, TestUnit::Package);
    let names = parse_test_summary(GO_VERBOSE).unwrap().names.unwrap();
    assert_eq!(names["example.org/depot.TestLeft/sub_1"], TestResult::Passed);
}

const SUREFIRE: &str = "\
[INFO] Running org.example.InvoiceTest
[ERROR] Tests run: 6, Failures: 1, Errors: 0, Skipped: 1, Time elapsed: 0.061 s <<< FAILURE! - in org.example.InvoiceTest
[INFO] Results:
[ERROR] Tests run: 6, Failures: 1, Errors: 0, Skipped: 1
[INFO] BUILD FAILURE
";

const GRADLE: &str = "\
> Task :test FAILED

InvoiceTest > rounds() FAILED
    org.opentest4j.AssertionFailedError at InvoiceTest.java:27

InvoiceTest > adds() PASSED
InvoiceTest > later() SKIPPED

3 tests completed, 1 failed, 1 skipped
";

#[test]
fn summaries_of_java_and_dotnet_are_read() {
    let junit5 = "[         3 tests successful      ]\n[         1 tests failed          ]\n[         2 tests skipped         ]\n[ 5 containers found ]\n";
    let xml = "<testsuite name=\"A\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\" time=\"0.1\">\n";
    let dotnet = "  Passed Shop.A [3 ms]\n  Failed Shop.B [4 ms]\n  Error Message:\n   x\nFailed!  - Failed:     1, Passed:     1, Skipped:     0, Total:     2, Duration: 84 ms - Shop.Tests.dll (net8.0)\n";
    let block = "Total tests: 3\n     Passed: 1\n     Failed: 1\n    Skipped: 1\n Total time: 1.2 Seconds\n";
    let terminal = "Test summary: total: 12, failed: 1, succeeded: 10, skipped: 1, duration: 1.2s\n";
    check(&[
        (TestRunner::Junit, SUREFIRE, [4, 1, 1], None),
        (TestRunner::Junit, "OK (5 tests)\n", [5, 0, 0], None),
        (TestRunner::Junit, "Tests run: 5,  Failures: 1\n", [4, 1, 0], None),
        (TestRunner::Junit, junit5, [3, 1, 2], None),
        (TestRunner::Junit, xml, [1, 1, 1], None),
        (TestRunner::Gradle, GRADLE, [1, 1, 1], Some(3)),
        (TestRunner::Gradle, "A > b() PASSED\n\nBUILD SUCCESSFUL in 2s\n", [1, 0, 0], Some(1)),
        (TestRunner::Dotnet, dotnet, [1, 1, 0], Some(2)),
        (TestRunner::Dotnet, block, [1, 1, 1], None),
        (TestRunner::Dotnet, terminal, [10, 1, 1], None),
    ]);
}

#[test]
fn summaries_of_ruby_php_and_elixir_are_read() {
    let minitest = "CartTest#test_total = 0.00 s = .\nCartTest#test_b = 0.01 s = F\nCartTest#test_c = 0.00 s = S\n\n3 runs, 5 assertions, 1 failures, 0 errors, 1 skips\n";
    check(&[
        (TestRunner::Rspec, "..F*\n\n4 examples, 1 failure, 1 pending\n", [2, 1, 1], None),
        (TestRunner::Rspec, "1 example, 0 failures\n", [1, 0, 0], None),
        (TestRunner::Minitest, minitest, [1, 1, 1], Some(3)),
        (
            TestRunner::Minitest,
            "3 tests, 5 assertions, 1 failures, 1 errors, 0 pendings, 1 omissions, 0 notifications\n",
            [0, 2, 1],
            None,
        ),
        (TestRunner::Phpunit, "OK (4 tests, 9 assertions)\n", [4, 0, 0], None),
        (
            TestRunner::Phpunit,
            "FAILURES!\nTests: 5, Assertions: 9, Failures: 1, Errors: 1, Skipped: 1.\n",
            [2, 2, 1],
            None,
        ),
        (TestRunner::Phpunit, "  Tests:    1 failed, 2 passed (5 assertions)\n", [2, 1, 0], None),
        (
            TestRunner::Exunit,
            "Finished in 0.03 seconds\n1 doctest, 5 tests, 1 failure, 1 skipped, 1 excluded\n",
            [3, 1, 1],
            None,
        ),
    ]);
}

#[test]
fn summaries_of_tap_and_bats_are_read() {
    let bats = "cart.bats\n ✓ adds\n ✗ rounds\n   (in test file cart.bats, line 5)\n - later (skipped: slow)\n\n3 tests, 1 failure, 1 skipped\n";
    let bats_tap = "1..3\nok 1 adds the prices\nnot ok 2 rounds in 12ms\nok 3 later # skip slow\n";
    let tap = "TAP version 14\n1..3\nok 1 - a\nnot ok 2 - b # TODO later\n    ok 1 - nested\nnot ok 3 - c\n# a comment\n";
    check(&[
        (TestRunner::Bats, bats, [1, 1, 1], Some(3)),
        (TestRunner::Bats, bats_tap, [1, 1, 1], Some(3)),
        (TestRunner::Tap, tap, [1, 1, 1], Some(3)),
    ]);
}

#[test]
fn two_runners_in_one_output_add_up() {
    let summary = parse_test_summary(&format!("{CARGO}\n{JEST}")).unwrap();
    assert_eq!((summary.runner, summary.ran, summary.skipped), (TestRunner::Mixed, 6, 3));
}

#[test]
fn output_without_a_summary_has_none() {
    for output in [
        "",
        "error[E0308]: mismatched types",
        "ok",
        "ok then",
        "2 passed in review",
        "I ran 3 tests in my head",
        "Tests: see README",
        "test result: unknown",
        "commit 3 tests, more later",
        "FAIL",
    ] {
        assert_eq!(parse_test_summary(output), None, "{output}");
    }
}

#[test]
fn a_summary_survives_being_stored() {
    let summary = parse_test_summary(CARGO).unwrap();
    let text = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<TestSummary>(&text).unwrap(), summary);
    assert_eq!(summary.counts(), TestCounts { ran: 4, failed: 1, skipped: 1 });
}

fn odd_line() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("test "),
        Just("result: "),
        Just("Tests:"),
        Just("Tests run:"),
        Just(" passed"),
        Just("✓ "),
        Just("ok "),
        Just("not ok "),
        Just("\tpkg\t"),
        Just(" ... "),
        Just("Ran "),
        Just(" in 0.1s"),
        Just("18446744073709551615 "),
        Just(" (5 ms)"),
        Just(", "),
        Just(": "),
        Just("▶ "),
        Just("# tests 1"),
        Just("Summary [ "),
        Just("] 1 tests run: "),
        Just("é"),
        Just("\u{1b}["),
        Just("µs"),
    ];
    prop::collection::vec(word, 0..8).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn no_output_panics_the_parsers(
        lines in prop::collection::vec(odd_line(), 0..10),
        text in "(?s).{0,200}",
    ) {
        parse_test_summary(&text);
        if let Some(summary) = parse_test_summary(&lines.join("\n")) {
            prop_assert!(summary.ran >= summary.failed);
        }
    }
}
