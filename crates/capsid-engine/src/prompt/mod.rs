//! The prompt: what the agent is asked to do, and the data it may look at. Pure.
//!
//! Instructions come from this program and from the owner only. Everything else stands between marks that name its
//! source and carry a tag which the text cannot know, so that an instruction inside a log stays what it is: text in a log.

mod budget;
mod clip;
mod evidence;
mod experience;
mod hunks;
mod input;
pub mod marks;
mod prepare;
mod sections;
#[cfg(test)]
mod tests;

pub use budget::{MAX_CHARS, MAX_VERBOSE_CHARS, MIN_CHARS};
pub use input::{
    CycleTask, FailedAttempt, PromptCommand, PromptEvidence, PromptInput, PromptProblem, PromptReproduction,
    PromptSolution, PromptSteps, SourceExcerpt,
};

use budget::{PromptBudget, PromptCut};
use clip::count_chars;

/// Renders the prompt within its limit.
pub fn render_prompt(input: &PromptInput) -> String {
    let limit = input.max_chars.max(MIN_CHARS);
    let input = &prepare::shorten_input(input, limit);
    let mut budget = PromptBudget::from_limit(limit);
    let mut text = render(input, &budget);
    if let Some(wide) = widen_solution(input, &budget, limit.saturating_sub(count_chars(&text))) {
        let longer = render(input, &wide);
        if count_chars(&longer) <= limit {
            return longer;
        }
    }
    for part in PromptCut::ORDER {
        // A part may use less than its budget, so it is cut until that shows.
        loop {
            let excess = count_chars(&text).saturating_sub(limit);
            if excess == 0 {
                return text;
            }
            if !budget.cut(part, excess) {
                break;
            }
            text = render(input, &budget);
        }
    }
    text
}

/// A hunk is shown whole or not at all, so a solution whose hunks need more than their share gets what is left.
fn widen_solution(input: &PromptInput, budget: &PromptBudget, spare: usize) -> Option<PromptBudget> {
    let solution = input.solution.as_ref()?;
    let needed = count_chars(&solution.diff) + count_chars(&solution.explanation);
    let is_cut = needed + 200 > budget.solution && spare > 0;
    is_cut.then(|| PromptBudget { solution: budget.solution + spare, ..*budget })
}

fn render(input: &PromptInput, budget: &PromptBudget) -> String {
    let mut prompt = PromptWriter { text: String::new(), seed: &input.run_id };
    sections::write_title(&mut prompt, input);
    sections::write_problem(&mut prompt, input, budget);
    sections::write_checks(&mut prompt, input, budget);
    sections::write_steps(&mut prompt, input, budget);
    sections::write_limits(&mut prompt, input, budget);
    experience::write_attempts(&mut prompt, input, budget);
    experience::write_solution(&mut prompt, input, budget);
    experience::write_history(&mut prompt, input, budget);
    sections::write_end(&mut prompt, input);
    prompt.text
}

/// The text so far.
struct PromptWriter<'a> {
    text: String,
    seed: &'a str,
}

impl PromptWriter<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn heading(&mut self, heading: &str) {
        self.line(&format!("## {heading}"));
    }

    /// Foreign text between marks, without secrets.
    fn data(&mut self, source: &str, text: &str) {
        self.text.push_str(&marks::mark_data(self.seed, source, &marks::clean_data(text)));
    }
}

/// The room for a text between marks of this source, if the marks count too.
fn room_between_marks(max_chars: usize, source: &str) -> usize {
    max_chars.saturating_sub(52 + count_chars(source))
}
