//! What is recognised in a log.

use super::*;

fn read_signals(desk: &ProgramRepo, log: &str) -> (ProgramOutput, Vec<String>) {
    desk.repo.write("app.log", log);
    let ran = desk.program.run(&desk.repo, &["signals", "--no-sessions", "--log", "app.log", "--json"]);
    let signals = ran.json()["signals"].as_array().cloned().unwrap_or_default();
    let signals = signals.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    (ran, signals)
}

/// Lines that were read as success.
const FAILURES: [(&str, &str); 10] = [
    ("src/order.ts(7,3): error TS2322: Type 'string' is not assignable to type 'number'.\n", "compile_error"),
    (
        "/srv/app/a.js\n  3:7  error  'x' is assigned a value but never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)\n",
        "lint_error",
    ),
    ("psql:a.sql:3: ERROR:  relation \"users\" does not exist\n", "database_error"),
    ("bash: ./run.sh: Permission denied\n", "permission_denied"),
    ("curl: (6) Could not resolve host: api.example.com\n", "network_error"),
    ("Build failed\n", "log_error"),
    ("Tests: 1 failed, 2 passed\n", "log_error"),
    ("Failed to connect to server\n", "log_error"),
    ("2026-01-01 ERROR [main] db down\n", "log_error"),
    ("Error: request timeout\n", "timeout"),
];

#[test]
fn failures_that_read_as_success_are_recognised() {
    let desk = desk();
    for (log, expected) in FAILURES {
        let (ran, signals) = read_signals(&desk, log);
        assert!(signals.iter().any(|signal| signal == "log_error"), "{log}{ran}");
        assert!(signals.iter().any(|signal| signal == expected), "{log}{signals:?}");
        assert!(!signals.iter().any(|signal| signal == "stable_success_plateau"), "{log}{signals:?}");
    }
}

#[test]
fn the_keyword_failed_of_the_seeds_is_emitted() {
    let desk = desk();
    for log in ["Build failed\n", "Tests: 1 failed, 2 passed\n", "Failed to connect to server\n"] {
        let (_, signals) = read_signals(&desk, log);
        assert!(signals.iter().any(|signal| signal == "failed"), "{log}{signals:?}");
    }
}

#[test]
fn a_user_instruction_to_fix_the_login_page_is_a_request() {
    let desk = desk();
    let (_, signals) = read_signals(&desk, "User instruction: fix the login page\n");
    assert!(signals.iter().any(|signal| signal.contains("fix the login page")), "{signals:?}");
}

#[test]
fn not_only_the_end_of_a_log_is_seen() {
    let desk = desk();
    let noise = "compiled another module without trouble\n".repeat(10_000);
    let log = format!("src/order.ts(7,3): error TS2322: Type 'a' is not assignable to type 'b'.\n{noise}");
    let (_, signals) = read_signals(&desk, &log);
    assert!(signals.iter().any(|signal| signal.starts_with("errsig:ts")), "{signals:?}");
}

#[test]
fn signatures_are_not_generic_and_carry_no_time_of_day() {
    let desk = desk();
    let rust = "error[E0308]: mismatched types\n --> src/a.rs:3:5\n  |\n3 |     port\n  |     ^^^^ expected `u16`, found `&str`\n\n\
                error: aborting due to 1 previous error\n";
    let (_, signals) = read_signals(&desk, rust);
    assert!(signals[1].contains("E0308") && !signals[1].contains("aborting"), "{signals:?}");
    let at = |time: &str| {
        let stamped: String = rust.lines().map(|line| format!("2026-01-01T{time}Z {line}\n")).collect();
        read_signals(&desk, &stamped).1[1].clone()
    };
    assert_eq!(at("10:00:00"), at("23:59:59"));
    assert_eq!(at("10:00:00"), signals[1]);
    let composed: String = rust.lines().map(|line| format!("web-1  | {line}\n")).collect();
    assert_eq!(read_signals(&desk, &composed).1[1], signals[1]);
}
