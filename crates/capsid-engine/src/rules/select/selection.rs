//! A selection: what was weighed, what follows from it, and the reasons in the protocol's words.

use super::bans::GeneBan;
use super::capsule::{ScoredCapsule, SkippedCapsule};
use super::drift::DriftRecord;
use super::score::ScoredGene;
use capsid_model::{Value, json};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// How many other genes a selection names.
const ALTERNATIVES: usize = 4;

/// The choice of a cycle, with everything it was made from, so that it can be made again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Selection {
    /// The winner: a gene or a capsule.
    pub selected: Option<String>,
    /// The gene to follow: the winner, or the one the winning capsule came from.
    pub gene_id: Option<String>,
    /// The winner when it is a capsule.
    pub capsule_id: Option<String>,
    pub reason: Vec<String>,
    /// The next genes, best first.
    pub alternatives: Vec<String>,
    /// `selector`, or `memory_graph+selector` when memory preferred a gene.
    pub selected_by: String,
    pub signals: Vec<String>,
    /// The candidates with every part of their scores, best first.
    pub scores: Vec<ScoredGene>,
    /// The best capsule, whether it won or not.
    pub capsule: Option<ScoredCapsule>,
    /// Capsules that fit but come from another platform.
    pub skipped_capsules: Vec<SkippedCapsule>,
    /// Genes that may not be chosen.
    pub banned: Vec<GeneBan>,
    pub memory: MemoryNote,
    /// A gene that fits no signal and is left where the only one that does is of no help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_resort: Option<String>,
    /// How randomness took part, if requested.
    pub drift: Option<DriftRecord>,
}

/// The influence of memory, as far as the reasons show it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryNote {
    pub preferred: Option<String>,
    /// That gene's value over all signals.
    pub prior: f64,
    pub banned: Vec<String>,
}

impl Selection {
    /// The protocol's form: `{selected, reason, alternatives}`.
    pub fn to_json(&self) -> Value {
        json!({
            "selected": self.selected,
            "reason": self.reason,
            "alternatives": self.alternatives,
        })
    }

    /// The complete record, for a later replay.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Reads a complete record; `None` if a part has another shape.
    pub fn read(value: &Value) -> Option<Self> {
        Self::deserialize(value).ok()
    }

    /// Makes the choice again from the recorded parts. It equals the record, or the record was changed.
    #[must_use]
    pub fn replay(&self) -> Self {
        self.clone().finish()
    }

    /// Computes everything that follows from the recorded parts.
    pub(super) fn finish(mut self) -> Self {
        let banned: HashSet<&str> = self.banned.iter().map(|ban| ban.gene.as_str()).collect();
        for scored in &mut self.scores {
            scored.banned = banned.contains(scored.gene.as_str());
            scored.score = scored.from_parts();
        }
        self.scores.sort_by(ScoredGene::best_first);
        if let Some(capsule) = &mut self.capsule {
            let own = self.scores.iter().find(|scored| scored.gene == capsule.gene);
            capsule.gene_score = own.map_or(0.0, |scored| scored.score);
            capsule.score = capsule.from_parts();
        }
        self.choose();
        self.reason = self.reasons();
        let by_memory = self.memory.preferred.is_some();
        self.selected_by = if by_memory { "memory_graph+selector" } else { "selector" }.to_owned();
        self
    }

    fn choose(&mut self) {
        let open: Vec<&ScoredGene> = self.scores.iter().filter(|scored| !scored.banned).collect();
        let index = self.drift.as_mut().map_or(0, |drift| drift.draw(open.len()));
        let gene = open.get(index).copied();
        // A gene that chance drew is tried, whatever the capsule promises.
        let capsule = self.capsule.as_ref().filter(|_| index == 0);
        let capsule = capsule.filter(|capsule| gene.is_none_or(|gene| capsule.score >= gene.score));

        let ids =
            |list: Vec<&ScoredGene>| list.into_iter().take(ALTERNATIVES).map(|s| s.gene.clone()).collect();
        self.alternatives = match (capsule, gene) {
            (None, None) => ids(self.scores.iter().collect()),
            (Some(_), _) => ids(open),
            (None, Some(gene)) => ids(open.into_iter().filter(|s| s.order != gene.order).collect()),
        };
        if self.alternatives.is_empty() {
            self.alternatives.extend(self.last_resort.clone());
        }
        self.capsule_id = capsule.map(|capsule| capsule.id.clone());
        self.gene_id = match capsule {
            Some(capsule) => Some(capsule.gene.clone()).filter(|gene| !gene.is_empty()),
            None => gene.map(|gene| gene.gene.clone()),
        };
        self.selected = self.capsule_id.clone().or_else(|| self.gene_id.clone());
    }

    fn reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        if self.scores.iter().any(|scored| !scored.banned) {
            reasons.push("signals match gene.signals_match".to_owned());
        }
        if self.capsule.is_some() {
            reasons.push("capsule trigger matches signals".to_owned());
        }
        if self.selected.is_none() {
            reasons.push("no matching gene found; new gene may be required".to_owned());
        }
        if !self.signals.is_empty() {
            reasons.push(format!("signals: {}", self.signals.join(", ")));
        }
        let memory = self.memory_parts();
        if !memory.is_empty() {
            reasons.push(format!("memory_graph: {}", memory.join(" | ")));
        }
        if let Some(drift) = &self.drift {
            reasons.push("random_drift_override: true".to_owned());
            reasons.push(format!("drift_intensity: {:.3}", drift.intensity));
        }
        reasons
    }

    fn memory_parts(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if let Some(gene) = &self.memory.preferred {
            parts.push(format!("memory_prefer:{gene}"));
        }
        if !self.memory.banned.is_empty() {
            let first: Vec<&str> = self.memory.banned.iter().take(6).map(String::as_str).collect();
            parts.push(format!("memory_ban:{}", first.join(",")));
        }
        if self.memory.prior > 0.0 {
            parts.push(format!("gene_prior:{:.3}", self.memory.prior));
        }
        if self.drift.is_some() {
            parts.push("random_drift:enabled".to_owned());
        }
        parts
    }
}
