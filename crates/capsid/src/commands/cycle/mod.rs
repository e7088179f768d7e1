//! Commands of an evolution cycle: evolve, solidify, review, apply, undo, signals, select, explain and distill.

pub mod apply;
pub(crate) mod cycle_problem;
pub mod distill;
pub mod evolve;
pub(crate) mod evolve_loop;
pub mod explain;
mod explain_problem;
pub(crate) mod hub_search;
pub mod inputs;
pub mod loop_resume;
mod problem_text;
pub mod review;
pub mod select;
pub mod signals;
pub mod solidify;
pub mod stop;
pub mod undo;

use capsid_model::Result;
use std::path::Path;

/// Runs `capsid evolve`: once, or again and again.
pub fn run_evolve(arguments: &evolve::EvolveArgs, folder: &Path) -> Result<u8> {
    let workspace = super::writable_workspace(folder)?;
    let request = evolve::request(arguments, &workspace)?;
    match arguments.looping {
        true => evolve_loop::run(arguments, folder, request),
        false => evolve::run(arguments, &workspace, &request),
    }
}
