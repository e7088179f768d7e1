//! The rules of the reference engine, simulated: its extraction and history rules as they were; a capsule is selected by
//! the overlap of its triggers, grows with every success of a cycle that selected it, and passing checks are a success.

use super::cycle::{CapsuleCredit, CycleRecord, CycleTask, LearningEngine};
use crate::Result;
use crate::learning::corpus::FileTree;
use crate::learning::rules::read_reference_signals;
use capsid_model::event::{BlastRadius, EventOutcome, EvolutionEvent};
use capsid_model::signal::{folded, is_cosmetic};

struct ReferenceCapsule {
    id: String,
    trigger: Vec<String>,
    /// What its change solves.
    solution: String,
}

/// Its state of one repository.
#[derive(Default)]
pub struct ReferenceEngine {
    history: Vec<EvolutionEvent>,
    capsules: Vec<ReferenceCapsule>,
}

impl ReferenceEngine {
    /// The capsule that shares most signals; the newest on ties.
    fn select(&self, signals: &[String]) -> Option<usize> {
        let current = folded(signals);
        let shared = |capsule: &ReferenceCapsule| {
            capsule.trigger.iter().filter(|signal| current.contains(signal)).count()
        };
        let best = (0..self.capsules.len()).max_by_key(|at| shared(&self.capsules[*at]))?;
        (shared(&self.capsules[best]) > 0).then_some(best)
    }
}

impl LearningEngine for ReferenceEngine {
    fn commit_tree(&mut self, _tree: &FileTree) -> Result<()> {
        Ok(())
    }

    fn run_cycle(&mut self, task: &CycleTask<'_>) -> Result<CycleRecord> {
        let signals = read_reference_signals(task.log, &self.history);
        let is_error_hidden =
            !signals.iter().any(|signal| signal == "log_error" || signal.starts_with("errsig:"));
        let intent = if is_error_hidden { "innovate" } else { "repair" };
        let selected = self.select(&signals);
        let capsules_before = self.capsules.len();
        // An agent that does not hear of the problem builds something else, and the check goes on failing.
        let has_change = task.plan.tree.is_some() || is_error_hidden;
        let is_cheat = task.plan.tree.is_some() && !task.plan.is_right && is_passing_cheat(task);
        let passes = !is_error_hidden && (task.plan.is_right || is_cheat) && task.plan.exit_code == 0;
        let is_success = passes && has_change;
        let mut record = CycleRecord {
            is_success,
            is_fixed: is_success && task.plan.is_right,
            was_agent_called: true,
            is_error_hidden,
            capsules_before,
            fitting: self
                .capsules
                .iter()
                .filter(|known| known.solution == task.solution)
                .map(|known| known.id.clone())
                .collect(),
            offered: selected.map(|at| self.capsules[at].id.clone()).into_iter().collect(),
            ..CycleRecord::default()
        };
        if is_success {
            let folded: Vec<String> =
                folded(&signals).into_iter().filter(|signal| !is_cosmetic(signal)).collect();
            match selected {
                Some(at) => {
                    let capsule = &mut self.capsules[at];
                    record.credits.push(CapsuleCredit {
                        capsule: capsule.id.clone(),
                        was_applied: capsule.solution == task.solution && !is_cheat,
                    });
                    // The change of this cycle takes the place of the one before.
                    capsule.solution = task.solution.to_owned();
                }
                None => {
                    let id = format!("capsule_{}", self.capsules.len());
                    record.new_capsule = Some(id.clone());
                    self.capsules.push(ReferenceCapsule {
                        id,
                        trigger: folded,
                        solution: task.solution.to_owned(),
                    });
                }
            }
        }
        self.history.push(EvolutionEvent {
            intent: intent.to_owned(),
            outcome: if is_success { EventOutcome::success() } else { EventOutcome::failed() },
            signals,
            genes_used: vec!["gene_gep_repair_from_errors".to_owned()],
            blast_radius: BlastRadius { files: u64::from(has_change), lines: u64::from(has_change) },
            is_empty: !has_change,
            ..EvolutionEvent::default()
        });
        Ok(record)
    }

    fn add_decoy(&mut self) -> Result<()> {
        self.capsules.push(ReferenceCapsule {
            id: "capsule_decoy".to_owned(),
            trigger: vec!["log_error".to_owned()],
            solution: "nothing of this repository".to_owned(),
        });
        Ok(())
    }
}

/// Whether the change is one of the cheats, after which the check passes.
fn is_passing_cheat(task: &CycleTask<'_>) -> bool {
    task.case.cheats.iter().any(|cheat| Some(&cheat.tree) == task.plan.tree.as_ref())
}
