use super::*;
use crate::files::inputs::NamedLog;
use crate::files::log_reading::read_log_text;
use crate::rules::problem_ids::find_message_id;
use crate::signals::SignalCorpus;
use capsid_model::event::{BlastRadius, EventOutcome};

const ERROR: &str = "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\n";

fn inputs(text: &str) -> Inputs {
    let log = read_log_text(text, &[]);
    let windows = log.diagnosis.windows.iter().flat_map(|window| window.lines.clone());
    Inputs {
        corpus: SignalCorpus {
            transcript: text.to_owned(),
            windows: Some(windows.collect::<Vec<_>>().join("\n")),
            ..SignalCorpus::default()
        },
        named_logs: vec![NamedLog {
            name: "build.log".to_owned(),
            lines: log.diagnosis.lines,
            warnings: log.diagnosis.warnings,
            has_problem: log.diagnosis.problem.is_some(),
        }],
        named_text: text.to_owned(),
        diagnosis: log.diagnosis,
        ..Inputs::default()
    }
}

fn named_log() -> Sources {
    Sources { logs: vec!["build.log".into()], ..Sources::default() }
}

fn repair(outcome: EventOutcome, text: &str) -> EvolutionEvent {
    let problem = read_log_text(text, &[]).diagnosis.problem.unwrap();
    EvolutionEvent {
        intent: "repair".to_owned(),
        signals: vec!["log_error".to_owned(), problem.errsig(), problem.class.as_str().to_owned()],
        genes_used: vec!["gene_repair".to_owned()],
        blast_radius: BlastRadius { files: 1, lines: 2 },
        outcome,
        problem_id: Some(problem.ids().message),
        has_run: true,
        ..EvolutionEvent::default()
    }
}

fn observe_log(text: &str, history: Vec<EvolutionEvent>) -> Observation {
    interpret(&named_log(), inputs(text), history)
}

#[test]
fn a_live_error_passed_by_log_after_three_successful_repairs_is_not_suppressed_and_no_feature_is_invented() {
    let seen = observe_log(ERROR, vec![repair(EventOutcome::success(), ERROR); 3]);
    assert_eq!(seen.signals[0], "log_error");
    assert!(
        seen.signals[1].starts_with("errsig:") && seen.signals[2] == "compile_error",
        "{:?}",
        seen.signals
    );
    for invented in ["stable_success_plateau", "force_", "user_feature_request", "evolution_stagnation"] {
        assert!(!seen.signals.iter().any(|signal| signal.starts_with(invented)), "{:?}", seen.signals);
    }
    assert!(!seen.decision.findings.is_empty(), "explain shows what would have been dropped");
    assert!(crate::rules::mutation::is_errorish(&seen.signals));
}

#[test]
fn printing_a_prompt_four_times_bans_no_gene() {
    let printed = EvolutionEvent {
        is_empty: true,
        has_run: false,
        blast_radius: BlastRadius::default(),
        ..repair(EventOutcome::failed(), ERROR)
    };
    let seen = observe_log(ERROR, vec![printed; 6]);
    assert!(seen.decision.banned_genes.is_empty() && seen.decision.passed_over_genes.is_empty());
    assert!(seen.decision.findings.is_empty(), "{:?}", seen.decision.findings);
}

#[test]
fn five_failures_ban_a_gene_for_this_problem_alone() {
    let failures = vec![repair(EventOutcome::failed(), ERROR); 5];
    let same = observe_log(ERROR, failures.clone());
    assert!(same.signals.contains(&"ban_gene:gene_repair".to_owned()));
    assert_eq!(same.choice_context().passed_over, ["gene_repair"]);
    let other = observe_log("ERROR:  relation \"orders\" does not exist\n", failures);
    assert!(!other.signals.iter().any(|signal| signal.starts_with("ban_gene:")), "{:?}", other.signals);
}

#[test]
fn an_older_event_names_its_problem_by_its_signature() {
    let line = "TypeError: x is null";
    let old = EvolutionEvent { problem_id: None, ..repair(EventOutcome::failed(), line) };
    assert!(find_message_id(old.signals.iter().map(String::as_str)).is_some());
    let seen = observe_log(line, vec![old; 5]);
    assert_eq!(seen.decision.banned_genes, ["gene_repair"]);
}

#[test]
fn a_log_without_a_problem_is_no_success_plateau() {
    let seen = observe_log("all 5 tests passed\nwarning: slow\n", Vec::new());
    assert!(seen.decision.is_problem_free && seen.signals.is_empty(), "{:?}", seen.signals);
    assert_eq!(
        seen.describe_problem_free().unwrap(),
        "No problem found in build.log (2 lines; 1 warning). Name a command with `--repro` or a signal with `--signal`."
    );
    let nothing = interpret(&Sources::default(), Inputs::default(), Vec::new());
    assert_eq!(nothing.signals, ["stable_success_plateau"]);
    assert!(!nothing.decision.is_problem_free);
}

#[test]
fn signals_that_the_user_names_come_first() {
    let sources = Sources { signals: vec!["perf_bottleneck".to_owned()], ..named_log() };
    let seen = interpret(&sources, inputs("fine\n"), Vec::new());
    assert_eq!(seen.signals, ["perf_bottleneck"]);
    assert!(!seen.decision.is_problem_free && seen.is_explicit);
    let request = observe_log("User instruction: fix the login page\n", Vec::new());
    assert!(!request.decision.is_problem_free);
    assert_eq!(request.signals[0], "user_feature_request");
}
