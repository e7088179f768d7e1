//! How genes, intents and capsules did, over a stream of events. Memory grows with their number alone.

use capsid_model::Time;
use capsid_model::event::EvolutionEvent;
use std::collections::BTreeMap;

/// The record of one gene or one intent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OutcomeTally {
    /// Cycles it took part in.
    pub cycles: u64,
    pub successes: u64,
    /// Successes in a row up to now. A failure of the host, the network or the sandbox does not break it.
    pub streak: u64,
    /// When it took part last.
    pub last_used: Option<Time>,
    files: u64,
    lines: u64,
}

impl OutcomeTally {
    fn add(&mut self, event: &EvolutionEvent) {
        self.cycles += 1;
        self.files = self.files.saturating_add(event.blast_radius.files);
        self.lines = self.lines.saturating_add(event.blast_radius.lines);
        self.last_used = self.last_used.max(event.at);
        if event.outcome.is_success() {
            self.successes += 1;
            self.streak += 1;
        } else if event.is_own_failure() {
            self.streak = 0;
        }
    }

    /// The share of cycles that went well, from 0 to 1.
    pub fn success_rate(&self) -> f64 {
        self.mean(self.successes)
    }

    /// Changed files per cycle.
    pub fn mean_files(&self) -> f64 {
        self.mean(self.files)
    }

    /// Changed lines per cycle.
    pub fn mean_lines(&self) -> f64 {
        self.mean(self.lines)
    }

    fn mean(&self, sum: u64) -> f64 {
        if self.cycles == 0 { 0.0 } else { sum as f64 / self.cycles as f64 }
    }
}

/// Everything counted so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventStats {
    pub all: OutcomeTally,
    pub genes: BTreeMap<String, OutcomeTally>,
    pub intents: BTreeMap<String, OutcomeTally>,
    /// Successes in a row of each capsule.
    pub capsule_streaks: BTreeMap<String, u64>,
}

impl EventStats {
    /// Counts one more event; they come oldest first.
    pub fn add_event(&mut self, event: &EvolutionEvent) {
        self.all.add(event);
        self.intents.entry(event.intent.clone()).or_default().add(event);
        for (index, gene) in event.genes_used.iter().enumerate() {
            if !event.genes_used[..index].contains(gene) {
                self.genes.entry(gene.clone()).or_default().add(event);
            }
        }
        let capsules = [&event.capsule_id, &event.reused_capsule_id];
        let mut last = None;
        for capsule in capsules.into_iter().flatten() {
            if last != Some(capsule) && event.concerns_capsule(capsule) {
                let streak = self.capsule_streaks.entry(capsule.clone()).or_default();
                *streak = if event.outcome.is_success() { *streak + 1 } else { 0 };
            }
            last = Some(capsule);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::event::{BlastRadius, EventOutcome, success_streak};

    fn event(gene: &str, ok: bool, files: u64, at: i64) -> EvolutionEvent {
        let outcome = if ok { EventOutcome::success() } else { EventOutcome::failed() };
        EvolutionEvent {
            intent: "repair".to_owned(),
            genes_used: vec![gene.to_owned(), gene.to_owned()],
            blast_radius: BlastRadius { files, lines: files * 10 },
            capsule_id: ok.then(|| "c".to_owned()),
            reused_capsule_id: Some("c".to_owned()),
            outcome,
            at: Some(Time(at)),
            ..EvolutionEvent::default()
        }
    }

    #[test]
    fn rates_means_and_streaks_are_counted_in_one_pass() {
        let mut sandboxed = event("a", false, 0, 5);
        sandboxed.failure_class = Some("sandbox".to_owned());
        let events = [
            event("a", true, 1, 1),
            event("a", false, 2, 2),
            event("b", true, 3, 3),
            event("a", true, 3, 4),
            sandboxed,
        ];
        let mut stats = EventStats::default();
        events.iter().for_each(|event| stats.add_event(event));
        let a = &stats.genes["a"];
        assert_eq!((a.cycles, a.successes, a.streak, a.last_used), (4, 2, 1, Some(Time(5))));
        assert_eq!((a.success_rate(), a.mean_files(), a.mean_lines()), (0.5, 1.5, 15.0));
        assert_eq!(stats.intents["repair"].cycles, 5);
        assert_eq!(stats.capsule_streaks["c"], success_streak("c", events.iter().rev()));
        assert_eq!(OutcomeTally::default().success_rate(), 0.0);
    }
}
