//! The graph: the hub's part of it follows from assets, bundles, reports and tasks.

use super::Report;
use crate::db::tx::Tx;
use crate::graph;
use capsid_model::problem::Result;

/// What to do about it.
const REBUILD: &str = "Run `capsid hub fsck --rebuild-graph`; what was ingested stays.";

pub fn check(tx: &mut dyn Tx, report: &mut Report) -> Result<()> {
    for problem in graph::check(tx)? {
        report.note("graph_differs", "graph".to_owned(), problem, REBUILD);
    }
    Ok(())
}
