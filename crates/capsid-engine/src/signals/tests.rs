//! Extraction as a whole: the signals of a problem, their order, and what is no problem.

use super::*;
use capsid_rules::diagnosis::ProblemClass;

#[test]
fn every_pattern_compiles() {
    let all = base::patterns()
        .into_iter()
        .chain(problem::patterns())
        .chain(named::patterns())
        .chain(requests::patterns())
        .chain(stability::patterns());
    for pattern in all {
        assert!(pattern.regex().is_some());
    }
}

#[test]
fn the_parts_are_joined_in_their_order() {
    let corpus = SignalCorpus {
        transcript: "a".into(),
        today: "b".into(),
        memory: "c".into(),
        user: "d".into(),
        windows: None,
    };
    assert_eq!(corpus.joined(), "a\nb\nc\nd");
}

#[test]
fn a_problem_begins_the_signals_and_each_comes_once() {
    let text = "[USER.md MISSING] [MEMORY.md MISSING]\nprompt: slow\nkey missing\nno jsonl files\n\
                path.resolve(__dirname, '../../../x')\nunsupported file type\nplease add tea\n\
                src/order.ts(7,3): error TS2322: Type 'string' is not assignable to type 'number'.";
    assert_eq!(
        extract_text(text),
        [
            "log_error",
            "errsig:tsc TS2322: Type `string` is not assignable to type `number`",
            "compile_error",
            "memory_missing",
            "user_missing",
            "integration_key_missing",
            "session_logs_missing",
            "path_outside_workspace",
            "protocol_drift",
            "unsupported_input_type",
            "user_feature_request",
            "user_feature_request:please add tea",
            "perf_bottleneck",
        ]
    );
}

#[test]
fn errors_of_tsc_eslint_sql_permissions_and_dns_are_no_success_plateau() {
    for (text, class) in [
        (
            "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.",
            ProblemClass::CompileError,
        ),
        (
            "/srv/app/src/a.js\n  3:7  error  'x' is assigned a value but never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)",
            ProblemClass::LintError,
        ),
        ("ERROR:  relation \"orders\" does not exist", ProblemClass::DatabaseError),
        ("bash: ./deploy.sh: Permission denied", ProblemClass::PermissionDenied),
        (
            "Error: getaddrinfo ENOTFOUND db.internal\n    at GetAddrInfoReqWrap.onlookup (node:dns:71:26)",
            ProblemClass::NetworkError,
        ),
    ] {
        let signals = extract_text(text);
        assert_eq!(signals[0], "log_error", "{text}: {signals:?}");
        assert!(signals[1].starts_with("errsig:"), "{text}: {signals:?}");
        assert!(signals.iter().any(|signal| signal == class.as_str()), "{text}: {signals:?}");
    }
}

#[test]
fn failures_in_plain_words_are_not_read_as_success() {
    for text in [
        "Build failed",
        "Tests: 1 failed, 2 passed",
        "Failed to connect to server",
        "2026-01-01 ERROR [main] db down",
    ] {
        let signals = extract_text(text);
        assert!(signals.contains(&"log_error".to_owned()), "{text}: {signals:?}");
        let is_told_as_failed = signals.contains(&"failed".to_owned());
        assert_eq!(is_told_as_failed, text.to_lowercase().contains("failed"), "{text}: {signals:?}");
    }
}

#[test]
fn the_keywords_of_the_protocol_are_emitted() {
    for (text, keyword) in [
        ("Error: request timeout", "timeout"),
        ("Build failed", "failed"),
        ("Error: worker crashed", "crash"),
        ("java.io.IOException: closed\n\tat com.shop.Main.main(Main.java:3)", "exception"),
    ] {
        assert!(extract_text(text).contains(&keyword.to_owned()), "{text}: {:?}", extract_text(text));
    }
}

#[test]
fn a_user_instruction_to_fix_the_login_page_is_a_request() {
    assert_eq!(
        extract_text("User instruction: fix the login page"),
        ["user_feature_request", "user_feature_request:fix the login page"]
    );
}

#[test]
fn the_signatures_of_existing_stores_stay() {
    let signals = extract_text("ReferenceError: foo is not defined at /srv/app/index.js:120:7");
    assert_eq!(capsid_model::signal::normalise_errsig(&signals[1]).as_deref(), Some("errsig_norm:768c651a"));
}

#[test]
fn one_exact_problem_three_times_recurs() {
    let line = "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\n";
    assert!(!extract_text(&line.repeat(2)).contains(&"recurring_error".to_owned()));
    assert!(extract_text(&line.repeat(3)).contains(&"recurring_error".to_owned()));
}

#[test]
fn a_named_log_gives_named_signals_from_its_windows_only() {
    let text = "the first run timed out\nit is slow\n".to_owned() + &"fine\n".repeat(200) + "Build failed\n";
    let diagnosis = diagnose(&text);
    let windows = diagnosis.windows.iter().flat_map(|window| window.lines.iter().map(String::as_str));
    let windows = Some(windows.collect::<Vec<_>>().join("\n"));
    let corpus = SignalCorpus { transcript: text, windows, ..SignalCorpus::default() };
    let signals = extract(&corpus, &diagnosis);
    assert!(!signals.contains(&"timeout".to_owned()) && !signals.contains(&"perf_bottleneck".to_owned()));
    assert!(signals.contains(&"failed".to_owned()), "{signals:?}");
}

#[test]
fn what_a_compiler_cannot_find_is_no_capability_gap() {
    let signals = extract_text("src/b.ts(2,7): error TS2304: Cannot find name 'x'.");
    assert_eq!(signals.len(), 3, "{signals:?}");
    assert_eq!(extract_text("this doesn't support tea"), ["capability_gap"]);
}

#[test]
fn improvements_wait_while_there_is_a_problem() {
    let text = "the parser should be faster";
    assert_eq!(
        extract_text(text),
        ["user_improvement_suggestion", "user_improvement_suggestion:the parser should be faster"]
    );
    assert_eq!(extract_text(&format!("{text}\nerror: x")), ["log_error", "errsig:error: x"]);
}

#[test]
fn hostile_text_ends_soon_and_gives_short_signals() {
    assert!(extract_text(&"x".repeat(1_000_000)).is_empty());
    for piece in [
        "{\"error\"",
        "add ",
        "我想",
        "[TOOL: x",
        "unsupported ",
        "enoent '\\",
        "}{",
        "a::b FAILED ",
        "\u{0}\u{feff}\n",
    ] {
        let signals = extract_text(&piece.repeat(100_000 / piece.len()));
        assert!(signals.iter().all(|signal| signal.len() < 1_100), "{piece:?}");
    }
}

#[test]
fn the_documentation_names_every_signal() {
    let page = include_str!("../../../../docs/reference/signals.md");
    let source = [
        include_str!("base.rs"),
        include_str!("named.rs"),
        include_str!("problem.rs"),
        include_str!("../../../capsid-rules/src/learning/history/rules.rs"),
        include_str!("../../../capsid-rules/src/diagnosis/diagnostic.rs"),
    ]
    .concat();
    // Signals are the only lowercase words with an underscore that stand in quotes by themselves.
    let quoted = regex::Regex::new(r#""([a-z]+(?:_[a-z]+)+)""#).unwrap();
    let names: HashSet<&str> =
        quoted.captures_iter(&source).filter_map(|found| found.get(1)).map(|name| name.as_str()).collect();
    assert!(names.len() > 40, "{names:?}");
    for name in names.into_iter().filter(|name| *name != "snake_case") {
        assert!(page.contains(&format!("`{name}")), "{name}");
    }
}
