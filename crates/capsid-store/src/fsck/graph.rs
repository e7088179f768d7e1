//! The graph: the hub's part of it follows from assets, bundles, reports and tasks.

use super::FsckReport;
use crate::db::tx::Tx;
use crate::graph;
use capsid_model::problem::Result;

/// What to do about it.
const REBUILD: &str = "Run `capsid hub fsck --rebuild-graph`; what was ingested stays.";

pub fn check(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    for problem in graph::check(tx)? {
        report.add_finding("graph_differs", "graph".to_owned(), problem, REBUILD);
    }
    Ok(())
}
