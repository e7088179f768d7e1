use super::*;
use proptest::prelude::*;

const ID: &str = "00ff";

fn failed_repair(id: &'static str) -> PastCycle<'static> {
    PastCycle {
        message_id: Some(id),
        result: CycleResult::Failed,
        has_run: true,
        intent: "repair",
        gene: "gene_repair",
        ..PastCycle::default()
    }
}

fn success(id: &'static str) -> PastCycle<'static> {
    PastCycle { result: CycleResult::Success, ..failed_repair(id) }
}

fn empty() -> PastCycle<'static> {
    let result = CycleResult::Failed;
    PastCycle { is_empty: true, result, has_run: true, intent: "optimize", ..PastCycle::default() }
}

fn errors() -> Vec<String> {
    ["log_error", "errsig:x", "test_failure"].map(str::to_owned).to_vec()
}

fn decide(cycles: &[PastCycle<'_>], is_loop: bool) -> HistoryDecision {
    let signals = errors();
    apply_history(&HistoryInputs {
        cycles,
        message_id: Some(ID),
        is_live: true,
        is_loop,
        signals: &signals,
        ..HistoryInputs::default()
    })
}

fn rules(decision: &HistoryDecision) -> Vec<HistoryRule> {
    decision.findings.iter().map(|finding| finding.rule).collect()
}

#[test]
fn three_failed_repairs_of_one_problem_ask_for_another_cause() {
    let two = decide(&[failed_repair(ID), failed_repair(ID)], false);
    assert!(!two.should_ask_another_cause && two.findings.is_empty());
    let three = decide(&[failed_repair(ID); 3], false);
    assert!(three.should_ask_another_cause);
    assert_eq!(three.passed_over_genes, ["gene_repair"]);
    assert_eq!(three.signals[..3], errors());
    assert!(three.signals.contains(&"repair_loop_detected".to_owned()));
    assert!(!three.signals.iter().any(|signal| signal.starts_with("force_")));
    let kept = &three.findings[0].would_drop;
    assert_eq!(kept[0], ("log_error".to_owned(), SignalFate::KeptLive));
    assert_eq!(kept[0].1.describe(), "kept: live");
}

#[test]
fn repairs_that_succeeded_or_had_other_problems_are_no_loop() {
    let other = decide(&[failed_repair("other"); 6], false);
    assert!(!other.should_ask_another_cause && other.banned_genes.is_empty());
    assert_eq!(rules(&other), [HistoryRule::RepairLoop], "the finding says what was kept");
    assert!(other.findings[0].added.is_empty());
    let mixed = [failed_repair(ID), failed_repair(ID), success(ID), failed_repair(ID)];
    assert!(!decide(&mixed, false).should_ask_another_cause);
}

#[test]
fn five_failures_ban_the_gene_for_this_problem_alone() {
    let four = decide(&[failed_repair(ID); 4], false);
    assert!(four.banned_genes.is_empty());
    assert!(four.signals.contains(&"consecutive_failure_streak_4".to_owned()));
    let mut cycles = vec![failed_repair("other"); 3];
    cycles.extend([failed_repair(ID); 5]);
    let five = decide(&cycles, false);
    assert_eq!(five.banned_genes, ["gene_repair"]);
    assert!(five.signals.contains(&"ban_gene:gene_repair".to_owned()));
    assert!(five.signals.contains(&"high_failure_ratio".to_owned()));
}

#[test]
fn the_gene_that_failed_most_is_banned() {
    let with = |gene| PastCycle { gene, ..failed_repair(ID) };
    let cycles = [with("a"), with("b"), with("b"), with("c"), with("c")];
    assert_eq!(decide(&cycles, false).banned_genes, ["b"]);
}

#[test]
fn unknown_foreign_and_idle_cycles_count_for_nothing() {
    let unknown = PastCycle { result: CycleResult::Unknown, ..failed_repair(ID) };
    let foreign = PastCycle { is_foreign_failure: true, ..failed_repair(ID) };
    let idle = PastCycle { has_run: false, ..failed_repair(ID) };
    for cycle in [unknown, foreign, idle] {
        let decision = decide(&[cycle; 8], false);
        assert!(decision.banned_genes.is_empty() && !decision.should_ask_another_cause);
        assert_eq!(decision.signals, errors());
    }
    let broken_up = [failed_repair(ID), unknown, failed_repair(ID), foreign, failed_repair(ID)];
    assert_eq!(count_failures_in_a_row(&broken_up, ID), 3);
}

#[test]
fn empty_cycles_slow_a_loop_down_and_keep_errors() {
    let outside = decide(&[empty(); 4], false);
    assert_eq!((outside.signals.clone(), outside.pause), (errors(), LoopPause::Usual));
    assert_eq!(rules(&outside), [HistoryRule::EmptyCycles]);
    let inside = decide(&[empty(); 4], true);
    assert_eq!(inside.pause, LoopPause::Longer);
    assert_eq!(inside.signals[..3], errors());
    assert!(inside.signals.contains(&"empty_cycle_loop_detected".to_owned()));
    let long = decide(&[empty(); 5], true);
    assert_eq!(long.pause, LoopPause::Longest);
    assert!(long.signals.contains(&"force_steady_state".to_owned()));
}

fn request(text: &str) -> Vec<String> {
    vec![format!("user_feature_request:{text}")]
}

fn decide_request(now: &[String], before: &[String], result: CycleResult, is_loop: bool) -> HistoryDecision {
    let cycle =
        PastCycle { result, has_run: true, intent: "innovate", signals: before, ..PastCycle::default() };
    apply_history(&HistoryInputs { cycles: &[cycle; 3], is_loop, signals: now, ..HistoryInputs::default() })
}

#[test]
fn a_request_is_dropped_only_in_a_loop_and_only_if_a_success_answered_it() {
    let (dark, light) = (request("dark mode"), request("light mode"));
    let answered = decide_request(&dark, &dark, CycleResult::Success, true);
    assert_eq!(answered.findings[0].would_drop[0].1, SignalFate::Dropped);
    assert_eq!(answered.signals, ["stable_success_plateau"]);
    let other = decide_request(&dark, &light, CycleResult::Success, true);
    assert_eq!(
        (other.signals, other.findings[0].would_drop[0].1),
        (dark.clone(), SignalFate::KeptUnanswered)
    );
    assert_eq!(decide_request(&dark, &dark, CycleResult::Failed, true).signals, dark);
    let outside = decide_request(&dark, &dark, CycleResult::Success, false);
    assert_eq!((outside.signals, outside.findings[0].would_drop[0].1), (dark, SignalFate::KeptOutsideLoop));
}

#[test]
fn an_explicit_input_without_a_problem_is_no_plateau() {
    let inputs = HistoryInputs::default();
    assert_eq!(apply_history(&inputs).signals, ["stable_success_plateau"]);
    let explicit = apply_history(&HistoryInputs { is_explicit: true, ..inputs });
    assert!(explicit.is_problem_free && explicit.signals.is_empty());
}

#[test]
fn the_same_inputs_are_skipped_only_if_nothing_is_left_to_do() {
    assert!(should_skip_same_inputs(true, Some(true)));
    assert!(should_skip_same_inputs(true, None));
    assert!(!should_skip_same_inputs(true, Some(false)));
    assert!(!should_skip_same_inputs(false, Some(true)));
}

fn any_cycle() -> impl Strategy<Value = (usize, usize, [bool; 3], usize, Vec<String>)> {
    let signal = prop_oneof![
        Just("log_error".to_owned()),
        Just("errsig:x".to_owned()),
        Just("test_failure".to_owned()),
        Just("user_feature_request:a".to_owned()),
    ];
    (0_usize..3, 0_usize..3, any::<[bool; 3]>(), 0_usize..3, prop::collection::vec(signal, 0..4))
}

proptest! {
    #[test]
    fn no_history_hides_an_error(
        history in prop::collection::vec(any_cycle(), 0..20),
        flags in any::<[bool; 3]>(),
    ) {
        let cycles: Vec<PastCycle<'_>> = history
            .iter()
            .map(|(id, result, flags, intent, signals)| PastCycle {
                message_id: [None, Some(ID), Some("other")][*id],
                result: [CycleResult::Success, CycleResult::Failed, CycleResult::Unknown][*result],
                has_run: flags[0],
                is_foreign_failure: flags[1],
                is_empty: flags[2],
                intent: ["repair", "optimize", "innovate"][*intent],
                gene: "g",
                signals,
            })
            .collect();
        let signals = errors();
        let decision = apply_history(&HistoryInputs {
            cycles: &cycles,
            message_id: Some(ID),
            is_explicit: flags[0],
            is_live: flags[1],
            is_loop: flags[2],
            signals: &signals,
        });
        prop_assert_eq!(&decision.signals[..3], &signals[..]);
        prop_assert!(!decision.signals.iter().any(|signal| signal == "stable_success_plateau"));
        prop_assert!(!decision.is_problem_free);
    }
}
