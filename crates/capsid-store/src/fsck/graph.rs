//! The graph in the index follows from assets, reports, tasks and what was told.

use super::FsckReport;
use crate::db::tx::Tx;
use crate::graph;
use capsid_model::problem::{Code, Result};

/// What to do about it.
const REBUILD: &str = "Stop the hub and run `capsid hub fsck --rebuild-graph`; nothing else is changed.";

pub fn check(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    match graph::check(tx) {
        Ok(graph::GraphCheck::Compared(problems)) => {
            for problem in problems {
                report.add_finding("graph_differs", "graph".to_owned(), problem, REBUILD);
            }
        }
        Ok(graph::GraphCheck::Behind) => {
            report.not_compared.push("The graph was not compared: the hub still brings changes into it.");
        }
        Err(problem) if problem.code == Code::FileNotFound => {
            report.not_compared.push("The graph was not compared: there is no index in this data folder.");
        }
        Err(problem) => return Err(problem),
    }
    Ok(())
}
