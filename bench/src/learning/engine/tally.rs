//! Counting over cycles.

use super::cycle::CycleRecord;
use crate::learning::metric::{Figure, FigureGoal, LearningMetric};

/// Problems that it takes to speak of a 95th percentile.
const MIN_TAIL: usize = 20;

/// What the cycles of all schedules add up to.
#[derive(Clone, Debug, Default)]
pub struct CycleTally {
    pub cycles: usize,
    pub hidden: usize,
    pub wrong_credits: usize,
    /// Capsules in the store at the start of a cycle, summed: each could have been credited.
    pub credit_chances: usize,
    pub recalled: (usize, usize),
    pub without_agent: (usize, usize),
    pub false_successes: (usize, usize),
    pub honest_refused: (usize, usize),
    pub recurring_calls: usize,
    pub recurring_problems: usize,
    pub cycles_to_fix: Vec<usize>,
    pub prompts: Vec<usize>,
    pub shared: (usize, usize),
    pub notes: TallyNotes,
}

/// What was wrong, by metric.
#[derive(Clone, Debug, Default)]
pub struct TallyNotes {
    pub hidden: Vec<String>,
    pub credits: Vec<String>,
    pub recalled: Vec<String>,
    pub without_agent: Vec<String>,
    pub false_successes: Vec<String>,
    pub honest: Vec<String>,
    pub shared: Vec<String>,
}

impl CycleTally {
    /// Counts what every cycle with a live problem shows.
    pub fn add_cycle(&mut self, name: &str, record: &CycleRecord) {
        self.cycles += 1;
        self.credit_chances += record.capsules_before;
        self.prompts.extend(record.prompt_chars);
        if record.is_error_hidden {
            self.hidden += 1;
            self.notes.hidden.push(format!("{name}: {}", shorten(&record.message)));
        }
        for credit in record.credits.iter().filter(|credit| !credit.was_applied) {
            self.wrong_credits += 1;
            self.notes.credits.push(format!("{name}: {}: {}", credit.capsule, shorten(&record.message)));
        }
    }

    pub fn merge(&mut self, other: Self) {
        let add = |sum: &mut (usize, usize), more: (usize, usize)| {
            sum.0 += more.0;
            sum.1 += more.1;
        };
        self.cycles += other.cycles;
        self.hidden += other.hidden;
        self.wrong_credits += other.wrong_credits;
        self.credit_chances += other.credit_chances;
        add(&mut self.recalled, other.recalled);
        add(&mut self.without_agent, other.without_agent);
        add(&mut self.false_successes, other.false_successes);
        add(&mut self.honest_refused, other.honest_refused);
        add(&mut self.shared, other.shared);
        self.recurring_calls += other.recurring_calls;
        self.recurring_problems += other.recurring_problems;
        self.cycles_to_fix.extend(other.cycles_to_fix);
        self.prompts.extend(other.prompts);
        self.notes.hidden.extend(other.notes.hidden);
        self.notes.credits.extend(other.notes.credits);
        self.notes.recalled.extend(other.notes.recalled);
        self.notes.without_agent.extend(other.notes.without_agent);
        self.notes.false_successes.extend(other.notes.false_successes);
        self.notes.honest.extend(other.notes.honest);
        self.notes.shared.extend(other.notes.shared);
    }

    /// Agent calls for a hundred problems that return.
    fn calls_per_hundred(&self) -> f64 {
        self.recurring_calls as f64 * 100.0 / self.recurring_problems.max(1) as f64
    }
}

/// The value below which a share of the values lies.
fn percentile(values: &[usize], share: f64) -> f64 {
    let mut values = values.to_vec();
    values.sort_unstable();
    let at = (share * values.len() as f64).ceil() as usize;
    values.get(at.saturating_sub(1)).copied().unwrap_or_default() as f64
}

pub fn shorten(message: &str) -> String {
    let line: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 300 { line } else { line.chars().take(300).collect::<String>() + " ..." }
}

/// The lines of the table.
pub fn to_metrics(ours: Option<&CycleTally>, reference: Option<&CycleTally>) -> Vec<LearningMetric> {
    let line = |name: &str, goal: FigureGoal, figure: &dyn Fn(&CycleTally) -> Figure| {
        LearningMetric::new(name, goal).with_ours(ours.map(figure)).with_reference(reference.map(figure))
    };
    let notes = |pick: &dyn Fn(&TallyNotes) -> &Vec<String>| {
        ours.map(|tally| pick(&tally.notes).clone()).unwrap_or_default()
    };
    let share = |(part, whole): (usize, usize)| Figure::Share(part, whole);
    let count = |(part, whole): (usize, usize)| Figure::Count(part, whole);
    let amount = |value: f64| Figure::Amount(value, "");
    // Of a few problems, the slowest one shows the luck of the simulated agent and not the engine.
    let has_tail = ours.is_some_and(|tally| tally.cycles_to_fix.len() >= MIN_TAIL);
    let tail_goal = if has_tail { FigureGoal::AtMost(3.0) } else { FigureGoal::Open };
    let mut metrics = vec![
        line("live error hidden", FigureGoal::AtMost(0.0), &|tally| {
            Figure::Count(tally.hidden, tally.cycles)
        })
        .with_notes(notes(&|notes| &notes.hidden)),
        line("wrong reuse: credit to a capsule that was not applied", FigureGoal::AtMost(0.0), &|tally| {
            Figure::Count(tally.wrong_credits, tally.credit_chances)
        })
        .with_notes(notes(&|notes| &notes.credits)),
        line("proven capsule found when its problem returns", FigureGoal::AtLeast(0.97), &|tally| {
            share(tally.recalled)
        })
        .with_notes(notes(&|notes| &notes.recalled)),
        line("solved without an agent where the patch fits", FigureGoal::AtLeast(0.95), &|tally| {
            share(tally.without_agent)
        })
        .with_notes(notes(&|notes| &notes.without_agent)),
        line("false success (cheat, claim_only, noop)", FigureGoal::AtMost(0.0), &|tally| {
            count(tally.false_successes)
        })
        .with_notes(notes(&|notes| &notes.false_successes)),
        line("honest fix refused", FigureGoal::AtMost(0.01), &|tally| share(tally.honest_refused))
            .with_notes(notes(&|notes| &notes.honest)),
        line("agent calls for 100 recurring problems, skill 0.6", FigureGoal::Open, &|tally| {
            amount(tally.calls_per_hundred())
        }),
        line("cycles to fix, skill 0.6, median", FigureGoal::AtMost(1.0), &|tally| {
            amount(percentile(&tally.cycles_to_fix, 0.5))
        }),
        line("cycles to fix, skill 0.6, p95", tail_goal, &|tally| {
            amount(percentile(&tally.cycles_to_fix, 0.95))
        }),
    ];
    if let (Some(ours), Some(reference)) = (ours, reference) {
        let part = ours.calls_per_hundred() / reference.calls_per_hundred().max(1.0);
        metrics.push(
            LearningMetric::new(
                "agent calls, as a share of those of the reference rules",
                FigureGoal::AtMost(0.35),
            )
            .with_ours(Some(amount(part))),
        );
    }
    let prompt = |tally: &CycleTally| Figure::Amount(percentile(&tally.prompts, 0.5), "characters");
    metrics
        .push(LearningMetric::new("prompt, median", FigureGoal::AtMost(4_500.0)).with_ours(ours.map(prompt)));
    if let Some(tally) = ours.filter(|tally| tally.shared.1 > 0) {
        metrics.push(
            LearningMetric::new("solved in another repository through a hub", FigureGoal::AtLeast(0.97))
                .with_ours(Some(share(tally.shared)))
                .with_notes(notes(&|notes| &notes.shared)),
        );
    }
    metrics
}
