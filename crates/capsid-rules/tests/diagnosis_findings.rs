//! Findings about the diagnosis, one test each.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use capsid_rules::diagnosis::{Diagnostic, diagnose};

fn problem(log: &str) -> Diagnostic {
    diagnose(log).problem.unwrap_or_else(|| panic!("no problem in {log:?}"))
}

fn describe(log: &str) -> (String, Option<String>, &'static str) {
    let found = problem(log);
    (found.tool, found.code, found.class.as_str())
}

#[test]
fn build_failed_is_a_problem() {
    assert_eq!(describe("Build failed\n").2, "build_error");
}

#[test]
fn tests_1_failed_2_passed_is_a_problem() {
    assert_eq!(describe("Tests: 1 failed, 2 passed\n").2, "test_failure");
}

#[test]
fn failed_to_connect_to_server_is_a_problem() {
    assert_eq!(problem("Failed to connect to server\n").text, "Failed to connect to server");
}

#[test]
fn a_dated_line_of_level_error_is_a_problem() {
    assert_eq!(problem("2026-01-01 ERROR [main] db down\n").text, "db down");
}

#[test]
fn error_ts2322_is_recognized() {
    let log = "src/order.ts(7,26): error TS2322: Type 'string' is not assignable to type 'number'.\n";
    assert_eq!(describe(log), ("tsc".to_owned(), Some("TS2322".to_owned()), "compile_error"));
}

#[test]
fn eslint_errors_are_recognized() {
    let log = "/srv/shop/a.js\n  1:7  error  'x' is assigned a value but never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)\n";
    assert_eq!(describe(log), ("eslint".to_owned(), Some("no-unused-vars".to_owned()), "lint_error"));
}

#[test]
fn sql_errors_are_recognized() {
    for (log, tool, code) in [
        ("ERROR:  relation \"orders\" does not exist\n", "postgresql", "42P01"),
        ("ERROR 1146 (42S02) at line 1: Table 'shop.orders' doesn't exist\n", "mysql", "1146"),
        ("Error: stepping, UNIQUE constraint failed: t.a (19)\n", "sqlite", "constraint_unique"),
    ] {
        assert_eq!(describe(log), (tool.to_owned(), Some(code.to_owned()), "database_error"));
    }
}

#[test]
fn permission_errors_are_recognized() {
    let found = problem("bash: ./deploy.sh: Permission denied\n");
    assert_eq!((found.class.as_str(), found.text.as_str()), ("permission_denied", "EACCES deploy.sh"));
}

#[test]
fn dns_errors_are_recognized() {
    let found = problem("curl: (6) Could not resolve host: api.shop.invalid\n");
    assert_eq!((found.class.as_str(), found.text.as_str()), ("network_error", "ENOTFOUND api.shop.invalid"));
}

#[test]
fn a_signature_is_not_generic() {
    let log = "error[E0425]: cannot find value `totl` in this scope\n --> src/cart.rs:4:9\n\nerror: aborting due to 1 previous error\n";
    assert_eq!(problem(log).errsig(), "errsig:rust E0425: cannot find value `totl` in this scope");
}

#[test]
fn a_signature_has_no_time_of_day() {
    let at = |time: &str| problem(&format!("{time} ERROR [main] sync failed at {time}\n")).errsig();
    assert_eq!(at("10:02:11"), at("23:59:58"));
    assert!(!at("10:02:11").contains("10:02"), "{}", at("10:02:11"));
}

#[test]
fn the_whole_log_is_seen_not_only_its_end() {
    let error = "src/a.c:1:2: error: 'totl' undeclared (first use in this function)\n";
    let tail: String = (0..20_000).map(|n| format!("step {n} of the nightly job is done\n")).collect();
    assert_eq!(problem(&format!("{error}{tail}")).ids(), problem(error).ids());
}

#[test]
fn a_time_stamp_or_a_compose_prefix_changes_no_id() {
    let log = "TypeError: Cannot read properties of undefined (reading 'name')\n    at greet (/srv/shop/user.js:7:24)\n";
    let prefixed = |prefix: &str| log.lines().map(|line| format!("{prefix}{line}\n")).collect::<String>();
    for prefix in
        ["2026-11-03T08:15:22.0370001Z ", "[10:02:11] ", "web-1  | ", "Nov  3 08:15:22 host shop[12]: "]
    {
        assert_eq!(problem(&prefixed(prefix)).ids(), problem(log).ids(), "{prefix}");
    }
}

#[test]
fn failures_of_different_tests_of_node_test_differ() {
    let failure = |test: &str| {
        let log = format!(
            "TAP version 13\nnot ok 1 - {test}\n  ---\n  location: '/srv/shop/a.test.js:3:1'\n  error: 'Expected values to be strictly equal'\n  code: 'ERR_ASSERTION'\n  name: 'AssertionError'\n  ...\n# fail 1\n"
        );
        problem(&log)
    };
    let (one, two) = (failure("adds the prices"), failure("is empty at first"));
    assert_eq!(
        (one.test.as_deref(), two.test.as_deref()),
        (Some("adds the prices"), Some("is empty at first"))
    );
    assert_ne!(one.ids().exact, two.ids().exact);
    assert_eq!(one.ids().exact, failure("adds the prices").ids().exact);
}
