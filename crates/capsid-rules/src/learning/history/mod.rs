//! What earlier cycles mean for the signals of this one.
//!
//! An error that was named or that still exists is never hidden: no rule drops it, and its intent stays repair. Rules
//! that only slow a loop down apply in a loop only. Every rule that fired says what it would have dropped.

mod rules;

use rules::RuleContext;
use serde::Serialize;

/// Events that the rules look at.
const RECENT_EVENTS: usize = 8;

/// How a cycle ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CycleResult {
    Success,
    Failed,
    /// A prompt was printed and nobody finished the cycle. It counts for nothing.
    #[default]
    Unknown,
}

/// What the rules need of an earlier cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PastCycle<'a> {
    /// The message id of its problem; none for a cycle without one.
    pub message_id: Option<&'a str>,
    pub result: CycleResult,
    /// Whether it ran an agent or a patch. Others say nothing about a gene.
    pub has_run: bool,
    /// Whether the host, the network or the sandbox broke it.
    pub is_foreign_failure: bool,
    /// Whether it changed nothing.
    pub is_empty: bool,
    /// `repair`, `optimize` or `innovate`.
    pub intent: &'a str,
    pub gene: &'a str,
    pub signals: &'a [String],
}

impl PastCycle<'_> {
    /// Whether the cycle says anything about the work.
    fn counts(&self) -> bool {
        self.has_run && self.result != CycleResult::Unknown && !self.is_foreign_failure
    }
}

/// All that the history rules depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HistoryInputs<'a> {
    /// Earlier cycles, oldest first.
    pub cycles: &'a [PastCycle<'a>],
    /// The message id of the present problem.
    pub message_id: Option<&'a str>,
    /// Whether the user named the input: `--log`, stdin, `--repro` or a task.
    pub is_explicit: bool,
    /// Whether the problem was reproduced, or no command could decide.
    pub is_live: bool,
    /// Whether the cycle belongs to `--loop`.
    pub is_loop: bool,
    pub signals: &'a [String],
}

/// A rule about earlier cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryRule {
    /// A signal was in three of the last eight cycles.
    Suppression,
    /// Three repairs of the same problem failed.
    RepairLoop,
    /// Four of the last eight cycles changed nothing.
    EmptyCycles,
    /// The last cycles changed nothing.
    Saturation,
    /// Repairs of the same problem failed in a row.
    FailureStreak,
    /// Most repairs of the same problem failed.
    FailureRatio,
    /// Nothing was seen.
    Plateau,
}

/// What happened to the signals that a rule of the reference engine would have dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SignalFate {
    KeptLive,
    KeptError,
    KeptOutsideLoop,
    KeptUnanswered,
    Dropped,
}

impl SignalFate {
    /// How `capsid explain` says it.
    pub fn describe(self) -> &'static str {
        match self {
            Self::KeptLive => "kept: live",
            Self::KeptError => "kept: an error is never dropped",
            Self::KeptOutsideLoop => "kept: not in a loop",
            Self::KeptUnanswered => "kept: no success answered it",
            Self::Dropped => "dropped: already answered",
        }
    }
}

/// A rule that fired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleFinding {
    pub rule: HistoryRule,
    /// Why, in one sentence.
    pub reason: String,
    /// Signals that the rule added.
    pub added: Vec<String>,
    /// Signals that the reference engine would have dropped, and what became of them.
    pub would_drop: Vec<(String, SignalFate)>,
}

/// How much longer than usual a loop pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopPause {
    #[default]
    Usual,
    Longer,
    Longest,
}

/// What the rules decided.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct HistoryDecision {
    pub signals: Vec<String>,
    /// Genes that may not be chosen for the present problem. Other problems are free to use them.
    pub banned_genes: Vec<String>,
    /// Genes that failed three times on the problem: another one is chosen if there is one.
    pub passed_over_genes: Vec<String>,
    /// Whether the prompt asks for another cause.
    pub should_ask_another_cause: bool,
    pub pause: LoopPause,
    /// Whether an explicit input shows no problem, so that no cycle runs.
    pub is_problem_free: bool,
    pub findings: Vec<RuleFinding>,
}

/// Applies the history rules to the signals of this cycle.
pub fn apply_history(inputs: &HistoryInputs<'_>) -> HistoryDecision {
    let context = RuleContext::new(inputs);
    let mut decision = HistoryDecision { signals: inputs.signals.to_vec(), ..HistoryDecision::default() };
    rules::suppress_answered(&context, &mut decision);
    rules::detect_repair_loop(&context, &mut decision);
    rules::detect_empty_cycles(&context, &mut decision);
    rules::count_failures(&context, &mut decision);
    if decision.signals.is_empty() && inputs.message_id.is_none() {
        if inputs.is_explicit {
            decision.is_problem_free = true;
        } else {
            let reason = "Nothing was seen.".to_owned();
            decision.add(HistoryRule::Plateau, reason, &["stable_success_plateau"], Vec::new());
        }
    }
    decision
}

/// Whether a run with the same inputs as the last one is skipped: only on the tree that the last run left, and only if
/// the command passes or cannot run. A fix that was reverted runs again.
pub fn should_skip_same_inputs(is_tree_unchanged: bool, before_passes: Option<bool>) -> bool {
    is_tree_unchanged && before_passes != Some(false)
}

/// The failed repairs of one problem since its last success.
pub fn count_failures_in_a_row(cycles: &[PastCycle<'_>], message_id: &str) -> usize {
    let same = cycles.iter().rev().filter(|cycle| cycle.message_id == Some(message_id) && cycle.counts());
    same.take_while(|cycle| cycle.result == CycleResult::Failed).count()
}

impl HistoryDecision {
    fn add(
        &mut self,
        rule: HistoryRule,
        reason: String,
        added: &[&str],
        would_drop: Vec<(String, SignalFate)>,
    ) {
        let added: Vec<String> = added.iter().map(|signal| (*signal).to_owned()).collect();
        for signal in &added {
            if !self.signals.contains(signal) {
                self.signals.push(signal.clone());
            }
        }
        self.findings.push(RuleFinding { rule, reason, added, would_drop });
    }
}

#[cfg(test)]
mod tests;
