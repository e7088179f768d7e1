//! `reuse_by_others.jsonl`: the reports of other nodes that applied a capsule of this store and proved it, one line each.
//!
//! The event log holds what happened here. What happened elsewhere stands beside it, so that a streak can be counted
//! from both, and each report counts once.

use super::lines;
use capsid_disk::files;
use capsid_model::event::EvolutionEvent;
use capsid_model::{Result, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The name of the file, beside the event log.
pub const FILE: &str = "reuse_by_others.jsonl";

/// One report of another node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReuseByOthers {
    /// The hub that has the report.
    pub hub: String,
    pub report_id: String,
    /// The node that applied the capsule.
    pub node_id: String,
    /// The capsule in this store.
    pub capsule_id: String,
    /// The id that it was published under.
    pub asset_id: String,
    /// When it was reported, in ISO form.
    pub at: String,
}

/// The ledger of one store.
#[derive(Debug, Clone)]
pub struct ReuseLedger {
    path: PathBuf,
}

impl ReuseLedger {
    /// The ledger beside an event log; it need not exist.
    pub fn beside(events: &Path) -> Self {
        Self { path: events.with_file_name(FILE) }
    }

    /// Every report, once, oldest first. A line that is no report is passed over, as in the event log.
    pub fn read(&self) -> Result<Vec<ReuseByOthers>> {
        let (mut reuses, mut seen) = (Vec::new(), BTreeSet::new());
        lines::scan(&self.path, |line| {
            if let Ok(reuse) = serde_json::from_slice::<ReuseByOthers>(line)
                && seen.insert((reuse.hub.clone(), reuse.report_id.clone()))
            {
                reuses.push(reuse);
            }
            ControlFlow::Continue(())
        })?;
        Ok(reuses)
    }

    /// Adds the reports that are not in the ledger yet, and gives them back. The caller holds the store's lock.
    pub fn add(&self, reports: Vec<ReuseByOthers>) -> Result<Vec<ReuseByOthers>> {
        let mut seen: BTreeSet<(String, String)> =
            self.read()?.into_iter().map(|reuse| (reuse.hub, reuse.report_id)).collect();
        let is_new = |reuse: &ReuseByOthers| seen.insert((reuse.hub.clone(), reuse.report_id.clone()));
        let new: Vec<ReuseByOthers> = reports.into_iter().filter(is_new).collect();
        let text: String = new
            .iter()
            .filter_map(|reuse| serde_json::to_string(reuse).ok())
            .map(|line| line + "\n")
            .collect();
        if !text.is_empty() {
            files::append(&self.path, &text)?;
        }
        Ok(new)
    }

    /// How often each capsule was reused by others since its last failure here.
    pub fn count_reuses(&self, failures: &FailureTimes) -> Result<BTreeMap<String, u64>> {
        let mut counts = BTreeMap::new();
        for reuse in self.read()? {
            let is_later = failures.0.get(&reuse.capsule_id).is_none_or(|failed| {
                Time::parse(&reuse.at).zip(*failed).is_some_and(|(reported, failed)| reported > failed)
            });
            if is_later {
                *counts.entry(reuse.capsule_id).or_default() += 1;
            }
        }
        Ok(counts)
    }
}

/// When each capsule failed last; none where the event does not say when.
#[derive(Debug, Clone, Default)]
pub struct FailureTimes(HashMap<String, Option<Time>>);

impl FailureTimes {
    /// Takes one more event of this store into account; they come oldest first.
    pub fn add_event(&mut self, event: &EvolutionEvent) {
        let named = event.capsule_id.iter().chain(&event.reused_capsule_id).chain(&event.failed_capsules);
        for id in named.filter(|id| event.streak_step(id) == Some(false)) {
            self.add_failure(id, event.at);
        }
    }

    /// Takes one more failure of a capsule into account.
    pub fn add_failure(&mut self, capsule_id: &str, at: Option<Time>) {
        self.0.insert(capsule_id.to_owned(), at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reuse(report: &str, at: &str) -> ReuseByOthers {
        ReuseByOthers {
            hub: "http://hub".to_owned(),
            report_id: report.to_owned(),
            node_id: "node_b".to_owned(),
            capsule_id: "capsule_1".to_owned(),
            asset_id: "sha256:aa".to_owned(),
            at: at.to_owned(),
        }
    }

    #[test]
    fn a_report_counts_once_and_not_before_a_later_failure() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ReuseLedger::beside(&folder.path().join("events.jsonl"));
        assert_eq!(ledger.read().unwrap(), []);
        let (early, late) =
            (reuse("r1", "2026-01-01T00:00:00.000Z"), reuse("r2", "2026-01-03T00:00:00.000Z"));
        assert_eq!(ledger.add(vec![early.clone(), early.clone()]).unwrap(), std::slice::from_ref(&early));
        assert_eq!(ledger.add(vec![early, late.clone()]).unwrap(), [late]);
        assert_eq!(ledger.add(Vec::new()).unwrap(), []);
        let mut failures = FailureTimes::default();
        assert_eq!(ledger.count_reuses(&failures).unwrap()["capsule_1"], 2);
        failures.add_failure("capsule_1", Time::parse("2026-01-02T00:00:00.000Z"));
        assert_eq!(ledger.count_reuses(&failures).unwrap()["capsule_1"], 1);
        failures.add_failure("capsule_1", None);
        assert!(ledger.count_reuses(&failures).unwrap().is_empty());
    }
}
