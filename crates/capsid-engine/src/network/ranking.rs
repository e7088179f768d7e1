//! Which task is worth taking. Pure.

use capsid_model::Time;
use capsid_rules::memory::graph::{GraphStats, signal_set};
use std::collections::BTreeSet;
use std::time::Duration;

/// A task that this node is less able to do than this is left to others.
pub const LEAST_CAPABILITY: f64 = 0.1;
/// Outcomes on signals that resemble a task's less than this say nothing about it.
const LEAST_LIKENESS: f64 = 0.15;
/// What is assumed where nothing is known.
const UNKNOWN: f64 = 0.5;
/// A promise ends at least so long before the task does.
const MARGIN_MS: i64 = 60_000;
/// A hub takes no promise that is shorter.
const SHORTEST_PROMISE_MS: i64 = 5 * 60_000;

/// What counts how much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskWeights {
    /// What it pays for the effort.
    pub roi: f64,
    /// How well similar work went.
    pub capability: f64,
    /// How often such tasks are completed at all.
    pub completion: f64,
    pub bounty: f64,
}

impl TaskWeights {
    /// The weights of a strategy: `balanced`, `greedy` or `conservative`; a word that is none of them means the first.
    pub fn for_strategy(strategy: &str) -> Self {
        let [roi, capability, completion, bounty] = match strategy.trim().to_ascii_lowercase().as_str() {
            "greedy" => [0.10, 0.05, 0.05, 0.80],
            "conservative" => [0.25, 0.45, 0.25, 0.05],
            _ => [0.35, 0.30, 0.20, 0.15],
        };
        Self { roi, capability, completion, bounty }
    }
}

/// A task as far as it is weighed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankedTask {
    pub task_id: String,
    pub title: String,
    pub signals: Vec<String>,
    pub bounty: f64,
    /// How hard the hub takes it to be, from 0 to 1.
    pub complexity: Option<f64>,
    /// How often such tasks are completed, from 0 to 1.
    pub completion: Option<f64>,
    pub expires_at: Option<Time>,
    /// Whether this node has it already.
    pub is_own: bool,
}

impl RankedTask {
    /// The difficulty from 0 to 1: from the hub, or estimated from signals and words.
    pub fn difficulty(&self) -> f64 {
        let guess = || {
            let words = self.title.split_whitespace().count() as f64;
            0.6 * (self.signals.len() as f64 / 8.0).min(1.0) + 0.4 * (words / 15.0).min(1.0)
        };
        self.complexity.filter(|score| score.is_finite()).map_or_else(guess, |score| score.clamp(0.0, 1.0))
    }

    /// When this node promises to be done; none where the time left is too short for a promise.
    pub fn promise(&self, now: Time) -> Option<Time> {
        let wanted = now.0.saturating_add(commitment(self.difficulty()).as_millis() as i64);
        let end = self.expires_at.map_or(wanted, |end| wanted.min(end.0.saturating_sub(MARGIN_MS)));
        (end.saturating_sub(now.0) >= SHORTEST_PROMISE_MS).then_some(Time(end))
    }
}

/// How long work of a difficulty may take.
pub fn commitment(difficulty: f64) -> Duration {
    let minutes = match difficulty {
        d if d <= 0.3 => 15,
        d if d <= 0.5 => 30,
        d if d <= 0.7 => 60,
        _ => 120,
    };
    Duration::from_secs(minutes * 60)
}

/// How able this node is to do a task, from 0 to 1, by how it did on similar signals.
pub fn capability(signals: &[String], seen: &GraphStats) -> f64 {
    let wanted = signal_set(signals);
    if seen.edges.is_empty() || wanted.is_empty() {
        return UNKNOWN;
    }
    let all: BTreeSet<String> = seen.edges.values().flat_map(|edge| edge.signals.iter().cloned()).collect();
    let (mut sum, mut weight) = (0.0, 0.0);
    for edge in seen.edges.values() {
        let likeness = jaccard(&wanted, &edge.signals);
        if likeness >= LEAST_LIKENESS {
            sum += likeness * edge.tally.chance();
            weight += likeness;
        }
    }
    let success = if weight > 0.0 { sum / weight } else { UNKNOWN };
    (0.4 * jaccard(&wanted, &all) + 0.6 * success).clamp(0.0, 1.0)
}

/// How much two sets share, from 0 to 1.
fn jaccard(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let both = one.intersection(other).count() as f64;
    let all = one.union(other).count() as f64;
    if all > 0.0 { both / all } else { 0.0 }
}

/// What a task is worth, from 0 to 1.
pub fn worth(task: &RankedTask, capability: f64, weights: TaskWeights) -> f64 {
    let pays = task.bounty.max(0.0);
    let roi = (pays / (task.difficulty() + 0.1) / 200.0).min(1.0);
    let completion = task.completion.filter(|rate| rate.is_finite()).unwrap_or(UNKNOWN).clamp(0.0, 1.0);
    weights.roi * roi
        + weights.capability * capability
        + weights.completion * completion
        + weights.bounty * (pays / 100.0).min(1.0)
}

/// The tasks that are worth taking, best first: what this node has already, then by worth.
pub fn ranked(
    tasks: Vec<RankedTask>,
    seen: &GraphStats,
    strategy: &str,
    now: Time,
) -> Vec<(RankedTask, f64)> {
    let weights = TaskWeights::for_strategy(strategy);
    let mut ranked: Vec<(RankedTask, f64)> = tasks
        .into_iter()
        .filter_map(|task| {
            let able = capability(&task.signals, seen);
            let takes = task.is_own || (able >= LEAST_CAPABILITY && task.promise(now).is_some());
            let value = worth(&task, able, weights);
            takes.then_some((task, value))
        })
        .collect();
    ranked.sort_by(|(one, a), (other, b)| {
        other.is_own.cmp(&one.is_own).then(b.total_cmp(a)).then_with(|| one.task_id.cmp(&other.task_id))
    });
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_rules::memory::graph::{GeneTally, MemoryEdge};

    const NOW: Time = Time(1_770_000_000_000);

    fn task(id: &str, signals: &[&str], bounty: f64) -> RankedTask {
        RankedTask {
            task_id: id.into(),
            title: "Mend it".into(),
            signals: signals.iter().map(|s| (*s).to_owned()).collect(),
            bounty,
            complexity: Some(0.4),
            ..RankedTask::default()
        }
    }

    fn seen(signals: &[&str], success: u64, fail: u64) -> GraphStats {
        let signals: Vec<String> = signals.iter().map(|s| (*s).to_owned()).collect();
        let tally = GeneTally { success, fail, last: None };
        let edge = MemoryEdge { signals: signal_set(&signals), tally };
        let mut stats = GraphStats::default();
        stats.add_edge(("key".into(), "gene".into()), edge);
        stats
    }

    #[test]
    fn the_parts_are_those_in_the_books() {
        let weights = TaskWeights::for_strategy("balanced");
        // roi 20/0.5/200 = 0.2, bounty 0.2, completion 0.5, capability 0.5
        let value = worth(&task("a", &["x"], 20.0), 0.5, weights);
        assert!((value - (0.35 * 0.2 + 0.30 * 0.5 + 0.20 * 0.5 + 0.15 * 0.2)).abs() < 1e-12, "{value}");
        for strategy in ["balanced", "greedy", "conservative", "else"] {
            let weights = TaskWeights::for_strategy(strategy);
            assert!(
                (weights.roi + weights.capability + weights.completion + weights.bounty - 1.0).abs() < 1e-12
            );
        }
        assert_eq!(TaskWeights::for_strategy("Greedy").bounty, 0.80);
        let guessed =
            RankedTask { complexity: None, title: "one two three".into(), ..task("b", &["x", "y"], 0.0) };
        assert!((guessed.difficulty() - (0.6 * 0.25 + 0.4 * 0.2)).abs() < 1e-12);
    }

    #[test]
    fn ability_follows_what_happened() {
        let wanted = ["timeout".to_owned()];
        assert_eq!(capability(&wanted, &GraphStats::default()), 0.5);
        assert_eq!(capability(&[], &seen(&["timeout"], 1, 0)), 0.5);
        let good = capability(&wanted, &seen(&["timeout"], 8, 0));
        assert!((good - (0.4 + 0.6 * 0.9)).abs() < 1e-12, "{good}");
        let unknown = capability(&wanted, &seen(&["other"], 8, 0));
        assert!((unknown - 0.3).abs() < 1e-12, "{unknown}");
        assert!(capability(&wanted, &seen(&["timeout", "a", "b", "c", "d"], 0, 98)) < LEAST_CAPABILITY);
    }

    #[test]
    fn what_is_begun_comes_first_and_what_is_beyond_reach_not_at_all() {
        let own = RankedTask { is_own: true, ..task("own", &["x"], 0.0) };
        let short = RankedTask { expires_at: Some(Time(NOW.0 + 300_000)), ..task("short", &["x"], 900.0) };
        let all = vec![task("poor", &["x"], 1.0), task("rich", &["x"], 90.0), short, own];
        let order: Vec<String> = ranked(all, &GraphStats::default(), "greedy", NOW)
            .into_iter()
            .map(|(task, _)| task.task_id)
            .collect();
        assert_eq!(order, ["own", "rich", "poor"]);
    }

    #[test]
    fn a_promise_fits_the_work_and_the_time_left() {
        for (difficulty, minutes) in
            [(0.0, 15), (0.3, 15), (0.31, 30), (0.6, 60), (1.0, 120), (f64::NAN, 120)]
        {
            assert_eq!(commitment(difficulty).as_secs(), minutes * 60, "{difficulty}");
        }
        let mut one = task("a", &[], 0.0);
        assert_eq!(one.promise(NOW), Some(Time(NOW.0 + 30 * 60_000)));
        one.expires_at = Some(Time(NOW.0 + 10 * 60_000));
        assert_eq!(one.promise(NOW), Some(Time(NOW.0 + 9 * 60_000)));
        one.expires_at = Some(Time(i64::MIN));
        assert_eq!(one.promise(NOW), None);
    }

    #[test]
    fn numbers_that_are_none_rank_without_a_panic() {
        let odd = |bounty: f64| RankedTask {
            complexity: Some(f64::NAN),
            completion: Some(f64::NAN),
            ..task("x", &[], bounty)
        };
        let tasks = vec![odd(f64::NAN), odd(f64::INFINITY), odd(-1.0)];
        assert_eq!(ranked(tasks, &GraphStats::default(), "balanced", NOW).len(), 3);
    }
}
