//! Extraction as a whole: order, duplicates, thresholds of the base rules, hostile input.

use super::*;
use crate::store::events::EventLog;
use capsid_model::json;
use proptest::prelude::*;

fn signals_of(text: &str) -> Vec<String> {
    let corpus = SignalCorpus { transcript: text.to_owned(), ..SignalCorpus::default() };
    extract(&corpus, &[])
}

#[test]
fn every_pattern_of_the_reference_compiles() {
    for pattern in errors::patterns() {
        assert!(pattern.regex().is_some());
    }
}

#[test]
fn signals_come_in_their_order_and_once() {
    let text = "[USER.md MISSING] [MEMORY.md MISSING]\nTypeError :  x\tis null\nprompt: slow\n\
                key missing\nno jsonl files\npath.resolve(__dirname, '../../../x')\n\
                unsupported file type\nplease add tea\nerror: again\nTypeError: x is null";
    assert_eq!(
        signals_of(text),
        [
            "log_error",
            "errsig:TypeError : x is null",
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
fn errors_are_logged_in_two_languages() {
    for text in [
        "[ERROR] x",
        "error: x",
        "Exception: x",
        "{\"isError\":true}",
        "\"status\":   \"failed\"",
        "错误：文件",
        "失败 : x",
    ] {
        assert!(signals_of(text).contains(&"log_error".to_owned()), "{text}");
    }
    for text in ["an error here", "\"status\": \"ok\"", "没有错误", "no failures"] {
        assert!(!signals_of(text).contains(&"log_error".to_owned()), "{text}");
    }
}

#[test]
fn a_signature_is_cut_to_260_units() {
    let signals = signals_of(&format!("error: {}", "🧬".repeat(300)));
    assert_eq!(signals[1].encode_utf16().count(), "errsig:".len() + 259);
    assert!(signals_of("[error reading x]").contains(&"errsig:[error reading x]".to_owned()));
}

#[test]
fn improvements_wait_while_there_is_an_error() {
    let text = "the parser should be faster";
    assert_eq!(
        signals_of(text),
        ["user_improvement_suggestion", "user_improvement_suggestion:the parser should be faster"]
    );
    assert_eq!(signals_of(&format!("{text}\nerror: x")), ["log_error", "errsig:error: x"]);
}

#[test]
fn an_error_recurs_from_the_third_time_on() {
    let one = "{\"error\":  \"boom\"}\n";
    assert!(!signals_of(&one.repeat(2)).contains(&"recurring_error".to_owned()));
    let signals = signals_of(&one.repeat(3));
    assert!(signals.contains(&"recurring_error".to_owned()));
    assert!(signals.contains(&"recurring_errsig(3x):\"error\": \"boom\"".to_owned()));
}

#[test]
fn a_gap_is_no_gap_while_context_is_missing() {
    assert_eq!(signals_of("this doesn't support tea"), ["capability_gap"]);
    assert_eq!(signals_of("this cannot be\n[USER.md MISSING]"), ["user_missing"]);
    assert_eq!(signals_of("cannotation"), ["stable_success_plateau"]);
}

#[test]
fn tools_are_counted() {
    assert_eq!(signals_of(&"[TOOL: web-search]".repeat(9)), ["stable_success_plateau"]);
    assert_eq!(signals_of(&"[TOOL: web-search]".repeat(10)), ["high_tool_usage:web-search"]);
    assert_eq!(signals_of(&"[TOOL: exec] ".repeat(5)), ["repeated_tool_usage:exec"]);
    let ensured = "[TOOL: exec] exec: node skills/x/index.js ensure\n".repeat(6);
    assert_eq!(signals_of(&ensured), ["stable_success_plateau"]);
    assert_eq!(signals_of(&"[TOOL: exec] ".repeat(10)), ["high_tool_usage:exec", "repeated_tool_usage:exec"]);
}

#[test]
fn protocol_drift_ends_where_events_are_named() {
    assert_eq!(signals_of("the prompt"), ["protocol_drift"]);
    assert_eq!(signals_of("the prompt asks for an EvolutionEvent"), ["stable_success_plateau"]);
}

#[test]
fn three_failed_repairs_force_innovation_whatever_reports_lie_between() {
    let folder = tempfile::tempdir().unwrap();
    let log = EventLog::at(folder.path().join("events.jsonl"));
    let cycle = [
        json!({"type": "ValidationReport", "id": "vr"}),
        json!({"type": "EvolutionEvent", "id": "evt", "intent": "repair", "outcome": {"status": "failed"},
            "blast_radius": {"files": 1, "lines": 1}}),
    ];
    let cycle = cycle.map(|record| record.as_object().cloned().unwrap());
    let corpus = SignalCorpus { transcript: "error: x".to_owned(), ..SignalCorpus::default() };
    for _ in 0..3 {
        let found = extract(&corpus, &log.recent(10).unwrap());
        assert_eq!(found, ["log_error", "errsig:error: x"]);
        log.append(&cycle).unwrap();
    }
    let found = extract(&corpus, &log.recent(10).unwrap());
    assert!(found.contains(&"force_innovation_after_repair_loop".to_owned()), "{found:?}");
    assert!(!found.contains(&"log_error".to_owned()), "{found:?}");
}

fn named_in(text: &str) -> Vec<String> {
    let mut signals = Vec::new();
    add_named(text, &text.to_lowercase(), "linux", &mut signals);
    signals
}

#[test]
fn failures_in_other_words_give_an_error_and_its_signature() {
    for line in [
        "error[E0308]: mismatched types",
        "thread 'main' panicked at src/main.rs:3:5:",
        "panic: boom",
        "FAILED tests/test_a.py::test_b - assert 1 == 2",
        "AssertionError",
        "✕ adds two numbers (3 ms)",
        "npm ERR! code ELIFECYCLE",
        "npm error code ENOENT",
        "--- FAIL: TestSum (0.00s)",
        "test sum ... FAILED",
        "make: *** [Makefile:3: test] Error 1",
        "fatal: not a git repository",
        "Command exited with code 1",
        "[TOOL RESULT] error[E0425]: cannot find function `log`",
    ] {
        let signals = named_in(&format!("fine\n  {line}\nmore"));
        assert_eq!(signals[..2], ["log_error".to_owned(), format!("errsig:{line}")]);
    }
    for line in ["all 3 tests passed", "Command exited with code 0", "test sum ... ok"] {
        assert_eq!(named_in(line), Vec::<String>::new(), "{line}");
    }
}

#[test]
fn a_signature_that_is_there_is_not_given_twice() {
    let mut signals = vec!["errsig:error: x".to_owned()];
    add_named("panic: boom", "panic: boom", "linux", &mut signals);
    assert_eq!(signals, ["errsig:error: x", "crash"]);
}

#[test]
fn hostile_text_ends_soon_and_gives_short_signals() {
    let long_line = signals_of(&"x".repeat(1_000_000));
    assert_eq!(long_line, ["stable_success_plateau"]);
    for piece in [
        "{\"error\"",
        "add ",
        "我想",
        "[TOOL: x",
        "unsupported ",
        "enoent '\\",
        "}{",
        "a::b FAILED ",
        "uncaught ",
        "\u{0}\u{feff}\n",
    ] {
        let signals = signals_of(&piece.repeat(100_000 / piece.len()));
        assert!(signals.iter().all(|signal| signal.len() < 1_000), "{piece:?}");
    }
}

fn quick() -> ProptestConfig {
    ProptestConfig {
        cases: 64,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(quick())]

    #[test]
    fn any_text_gives_each_signal_once_and_the_same_again(
        text in proptest::collection::vec(
            prop_oneof![
                "\\PC{0,20}",
                Just("\n".to_owned()),
                Just("error: x".to_owned()),
                Just("add a tool".to_owned()),
                Just("我想".to_owned()),
                Just("[TOOL: exec]".to_owned()),
                Just("\"error\"".to_owned()),
            ],
            0..40,
        )
    ) {
        let text = text.concat();
        let signals = signals_of(&text);
        prop_assert!(!signals.is_empty());
        prop_assert_eq!(signals.iter().collect::<HashSet<_>>().len(), signals.len());
        prop_assert_eq!(signals_of(&text), signals);
    }
}
