//! Looks whether everything in the database is what it should be.
//!
//! Ids, cards and traits are worked out again from the bodies, counters are counted again, scores and balances are added
//! up again. It reads one snapshot, page by page, so it runs beside a live hub and needs no more memory for more assets.
//!
//! What follows from something else can be mended (`mend`): counters, traits, scores and the search index. What does not
//! (bodies, the ledger, the audit) is only told, and is for a backup to bring back.

mod assets;
mod bounties;
mod bundles;
mod counters;
mod file;
mod graph;
mod ledger;
mod owners;
mod repair;
mod scores;
mod search;
mod secrets;
mod statuses;

use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::{Code, Result};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

pub use repair::{RepairSummary, repair};
pub use secrets::check_issued;

/// The most findings that are listed; more are only counted.
const LISTED: usize = 1000;

/// What to do about something that follows from something else.
const MEND: &str = "Run `capsid hub fsck --repair`.";
/// What to do about something that does not.
const RESTORE: &str = "Restore a backup with `capsid hub restore`; nothing was changed.";

/// Something that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FsckFinding {
    /// A stable word for its kind.
    pub code: &'static str,
    /// What it is about: an asset, a node, an account, …
    pub subject: String,
    /// What is wrong, in a sentence.
    pub problem: String,
    /// What to do about it.
    pub fix: &'static str,
}

/// What was looked at and what was found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FsckReport {
    pub findings: Vec<FsckFinding>,
    /// How many findings of each code there are in all.
    pub counts: BTreeMap<&'static str, u64>,
    /// What could not be looked at, in sentences.
    pub not_compared: Vec<&'static str>,
    /// How many assets were looked at.
    pub assets: u64,
    pub bundles: u64,
    pub nodes: u64,
    pub transfers: u64,
    /// Assets whose derived values can be mended.
    #[serde(skip)]
    mendable_assets: BTreeSet<AssetId>,
    #[serde(skip)]
    mendable_nodes: BTreeSet<String>,
    #[serde(skip)]
    mendable_owners: BTreeSet<String>,
}

impl FsckReport {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.counts.is_empty()
    }

    /// How many things are wrong.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// How many assets, nodes and owners have something that can be mended.
    pub fn repairable(&self) -> usize {
        self.mendable_assets.len() + self.mendable_nodes.len() + self.mendable_owners.len()
    }

    fn lost(&mut self, code: &'static str, subject: impl Into<String>, problem: impl Into<String>) {
        self.add_finding(code, subject.into(), problem.into(), RESTORE);
    }

    /// A row that cannot be read is a finding, not the end of the check.
    fn accept(&mut self, what: &'static str, outcome: Result<()>) -> Result<()> {
        match outcome {
            Err(problem) if problem.code == Code::StoreDamaged => {
                self.lost("row_unreadable", what, problem.message);
                Ok(())
            }
            outcome => outcome,
        }
    }

    fn asset_differs(&mut self, code: &'static str, id: AssetId, problem: impl Into<String>) {
        self.mendable_assets.insert(id);
        self.add_finding(code, id.to_string(), problem.into(), MEND);
    }

    fn node_differs(&mut self, code: &'static str, node_id: &str, problem: impl Into<String>) {
        self.mendable_nodes.insert(node_id.to_owned());
        self.add_finding(code, node_id.to_owned(), problem.into(), MEND);
    }

    fn owner_differs(&mut self, code: &'static str, owner: &str, problem: impl Into<String>) {
        self.mendable_owners.insert(owner.to_owned());
        self.add_finding(code, owner.to_owned(), problem.into(), MEND);
    }

    fn add_finding(&mut self, code: &'static str, subject: String, problem: String, fix: &'static str) {
        *self.counts.entry(code).or_default() += 1;
        if self.findings.len() < LISTED {
            self.findings.push(FsckFinding { code, subject, problem, fix });
        }
    }
}

/// Is told what is being looked at, how much of it was done, and how much there is.
pub type FsckProgress<'a> = &'a mut dyn FnMut(&'static str, u64, u64);

type FsckStep = fn(&mut dyn Tx, &mut FsckReport) -> Result<()>;

/// Looks at everything in a snapshot.
pub fn check(tx: &mut dyn Tx, progress: FsckProgress<'_>) -> Result<FsckReport> {
    // Both snapshots begin here, so that the index is not ahead of the database.
    let bundles = count(tx, "SELECT COUNT(*) FROM bundles")?;
    if let Err(problem) = tx.index()
        && problem.code != Code::FileNotFound
    {
        return Err(problem);
    }
    let mut report = FsckReport {
        bundles,
        nodes: count(tx, "SELECT COUNT(*) FROM nodes")?,
        transfers: count(tx, "SELECT COUNT(*) FROM transfers")?,
        ..FsckReport::default()
    };
    let steps: [(&'static str, FsckStep); 11] = [
        ("file", file::check),
        ("ledger", ledger::check),
        ("bounties", bounties::check),
        ("bundles", bundles::check),
        ("counters", counters::check),
        ("statuses", statuses::check),
        ("secrets", secrets::check),
        ("levels", owners::check_levels),
        ("grades", owners::check_grades),
        ("search index", search::check),
        ("graph", graph::check),
    ];
    for (done, (what, step)) in steps.into_iter().enumerate() {
        progress(what, done as u64, steps.len() as u64);
        let outcome = step(tx, &mut report);
        report.accept(what, outcome)?;
    }
    let outcome = assets::check(tx, &mut report, progress);
    report.accept("assets", outcome)?;
    Ok(report)
}

fn count(tx: &mut dyn Tx, sql: &'static str) -> Result<u64> {
    Ok(tx.count(sql, params![])?.unsigned_abs())
}
