//! The sections about what earlier cycles showed: attempts that failed, a solution that worked, the last cycles.

use super::budget::PromptBudget;
use super::clip::{clip_end, clip_lines_to_end, count_chars};
use super::hunks::select_hunks;
use super::input::{FailedAttempt, PromptInput, PromptSolution};
use super::marks::{clean_data, plain_word};
use super::{PromptWriter, room_between_marks};
use capsid_model::text::inert_line;
use capsid_rules::learning::capsule_text::first_sentence;
use capsid_rules::learning::match_level::{MatchLevel, ReferenceUse};

/// Lines of output that are shown of an attempt.
const OUTPUT_LINES: usize = 15;

/// The newest attempts, newest last.
pub(super) fn write_attempts(prompt: &mut PromptWriter<'_>, input: &PromptInput, budget: &PromptBudget) {
    let first = input.attempts.len().saturating_sub(budget.attempts);
    let shown = input.attempts.get(first..).unwrap_or_default();
    if shown.is_empty() {
        return;
    }
    prompt.heading(if input.problem.is_some() { "Tried before on this problem" } else { "Tried before" });
    prompt.line("Do not repeat what failed.");
    for attempt in shown {
        write_attempt(prompt, attempt, budget.attempt);
    }
}

fn write_attempt(prompt: &mut PromptWriter<'_>, attempt: &FailedAttempt, max_chars: usize) {
    let run = plain_word(&attempt.run_id).unwrap_or("A run");
    let clean_line = |text: &str| clean_data(&inert_line(text));
    let (title, reason) = (clean_line(&attempt.title), clean_line(&attempt.reason));
    let mut words = Vec::new();
    if !title.is_empty() {
        words.push(clip_end(&title, 80));
    }
    // A reason that the output repeats is said once.
    let output = drop_runtime_frames(&clean_data(&attempt.output));
    if !reason.is_empty() && !output.contains(&reason) {
        words.push(clip_end(&reason, if output.trim().is_empty() { max_chars / 2 } else { 160 }));
    }
    let intro = format!("{run} failed:");
    let mut left = max_chars.saturating_sub(count_chars(&intro) + 1);
    let words = words.join("\n");
    left = left.saturating_sub(count_chars(&words) + 1);
    let has_output = !output.trim().is_empty();
    let diff_room = room_between_marks(left, "its change") / if has_output { 2 } else { 1 };
    let diff = select_hunks(&drop_object_ids(&clean_data(&attempt.diff)), diff_room);
    let diff = match (diff.is_empty(), attempt.diff.trim().is_empty()) {
        (true, false) => "(its change is too long to be shown here)",
        // A context line that is blank is part of its hunk.
        _ => diff.trim_end_matches('\n'),
    };
    let change = [words.as_str(), diff].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    prompt.line(&intro);
    if !change.is_empty() {
        left = left.saturating_sub(52 + count_chars("its change") + count_chars(diff));
        prompt.data("its change", &change.join("\n"));
    }
    if has_output {
        let room = room_between_marks(left, "end of its output");
        let end = clip_lines_to_end(&output, OUTPUT_LINES, room);
        if !end.is_empty() {
            prompt.data("end of its output", &end);
        }
    }
}

/// A diff without the lines that name git objects: they say nothing to an agent and take room.
fn drop_object_ids(diff: &str) -> String {
    diff.split_inclusive('\n').filter(|line| !line.starts_with("index ")).collect()
}

/// An output without the stack frames of a runtime and without empty lines, which would push the error out.
fn drop_runtime_frames(output: &str) -> String {
    let is_frame = |line: &str| {
        let line = line.trim_start();
        line.starts_with("at ") && (line.contains("node:") || line.contains("node_modules"))
    };
    let lines = output.lines().filter(|line| !line.trim().is_empty() && !is_frame(line));
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) fn write_solution(prompt: &mut PromptWriter<'_>, input: &PromptInput, budget: &PromptBudget) {
    let Some(solution) = &input.solution else { return };
    if budget.solution == 0 {
        return;
    }
    let id = plain_word(&solution.capsule_id).unwrap_or("A capsule");
    let level = match solution.level {
        Some(MatchLevel::Exact) => "the same problem",
        Some(MatchLevel::Message) => "the same message",
        Some(MatchLevel::Site) => "the same place",
        Some(MatchLevel::Template) => "the same kind of problem",
        None => "similar signals",
    };
    let proven = match (solution.is_foreign, solution.streak) {
        (true, _) => "from another node, not proven here".to_owned(),
        (false, 0) => "not proven here".to_owned(),
        (false, 1) => "proven once here".to_owned(),
        (false, times) => format!("proven {times} times here"),
    };
    let mut intro = format!("{id}: {level}, {proven}. Use what fits.");
    if solution.trial.is_some() {
        intro.push_str(" Its patch alone did not solve this; the reason is below.");
    }
    let room = room_between_marks(budget.solution.saturating_sub(count_chars(&intro) + 27), id);
    let text = render_solution(solution, room);
    prompt.heading("A solution that worked");
    prompt.line(&intro);
    if !text.trim().is_empty() {
        prompt.data(id, &text);
    }
}

/// What fits of a solution: its title, why its patch failed, its explanation, and its diff in whole hunks.
fn render_solution(solution: &PromptSolution, max_chars: usize) -> String {
    let title = clean_data(&inert_line(&solution.title));
    let explanation = clean_data(&solution.explanation);
    let is_hint = solution.level.is_some_and(|level| level.reference_use() == ReferenceUse::Hint);
    let mut text = clip_end(&title, max_chars.min(160));
    let add = |text: &mut String, part: &str| {
        if !part.trim().is_empty() {
            text.push('\n');
            text.push_str(part.trim_end_matches('\n'));
        }
    };
    if let Some(trial) = &solution.trial {
        add(&mut text, &clip_end(&format!("Its patch: {}", clean_data(&inert_line(trial))), 200));
    }
    let left = max_chars.saturating_sub(count_chars(&text) + 1);
    if is_hint {
        let sentence = first_sentence(&explanation).filter(|sentence| *sentence != title).unwrap_or_default();
        add(&mut text, &clip_end(&sentence, left.min(300)));
        return text;
    }
    // The diff says exactly what was done, so the explanation leaves it most of the room.
    let diff = clean_data(&solution.diff);
    let whole = count_chars(&diff) + count_chars(&explanation) + 2 <= left;
    let words = if whole || diff.trim().is_empty() { left } else { left / 3 };
    let explanation = explanation.trim().strip_prefix(title.as_str()).unwrap_or(&explanation);
    add(&mut text, &clip_end(explanation.trim(), words));
    let left = max_chars.saturating_sub(count_chars(&text) + 1);
    let hunks = select_hunks(&diff, left);
    add(&mut text, &hunks);
    if hunks.is_empty() && !diff.trim().is_empty() {
        add(&mut text, "(its diff is too long to be shown here)");
    }
    text
}

/// The last cycles and what the engine wrote about them, where the prompt may be long.
pub(super) fn write_history(prompt: &mut PromptWriter<'_>, input: &PromptInput, budget: &PromptBudget) {
    let pieces = [("last cycles", input.history.join("\n")), ("notes on them", input.narrative.clone())];
    let mut is_open = false;
    for (source, text) in pieces {
        let room = room_between_marks(budget.history / 2, source);
        let text = clip_lines_to_end(&clean_data(&text), usize::MAX, room);
        if text.trim().is_empty() || room < 100 {
            continue;
        }
        if !is_open {
            prompt.heading("History");
            is_open = true;
        }
        prompt.data(source, &text);
    }
}
