//! Whatever a transcript holds is in a record, in a note, or named by a reason: a sample of each agent is changed at
//! random, and every string of 12 or more characters is looked for.

mod check;
mod mutate;
mod samples;

use capsid_testkit::rounds;
use check::Reading;
use mutate::Mutator;

/// Changed samples for each agent.
fn seeds() -> std::ops::Range<u64> {
    0..rounds::rounds(40, 3000) as u64
}

fn holds(name: &str, round: &dyn Fn(&mut Mutator) -> Reading) {
    for seed in seeds() {
        let reading = round(&mut Mutator::new(seed));
        let lost = reading.lost();
        assert!(
            lost.is_empty(),
            "{name}, seed {seed}: {lost:#?}\n{}{:#?}",
            reading.written(),
            reading.report
        );
        let reasons: u64 = reading.report.dropped.values().sum();
        assert!(reading.report.kept + reasons > 0, "{name}, seed {seed}: nothing was counted");
    }
}

#[test]
fn every_string_of_a_changed_claude_code_transcript_is_in_a_record_or_named_by_a_reason() {
    holds("claude-code", &|mutator| {
        check::lines(capsid_transcript::Tool::ClaudeCode, samples::claude_code(), mutator)
    });
}

#[test]
fn every_string_of_a_changed_codex_transcript_is_in_a_record_or_named_by_a_reason() {
    holds("codex", &|mutator| check::lines(capsid_transcript::Tool::Codex, samples::codex(), mutator));
}

#[test]
fn every_string_of_a_changed_cursor_conversation_is_in_a_record_or_named_by_a_reason() {
    holds("cursor", &|mutator| check::bubbles(samples::cursor(), mutator));
}

#[test]
fn every_string_of_a_changed_cursor_text_is_in_a_record_or_named_by_a_reason() {
    holds("cursor text", &|mutator| check::text(samples::cursor_text(), mutator));
}

#[test]
fn every_string_of_a_changed_cline_task_is_in_a_record_or_named_by_a_reason() {
    holds("cline", &|mutator| check::task(samples::cline(), samples::cline_history(), mutator));
}

/// The check itself can fail.
#[test]
fn a_string_that_no_record_holds_is_found_missing() {
    let mut reading = check::lines(capsid_transcript::Tool::Codex, samples::codex(), &mut Mutator::still());
    assert_eq!(reading.lost(), Vec::<String>::new());
    reading.actions.retain(|action| action.key != "call_patch");
    assert!(!reading.lost().is_empty());
}
