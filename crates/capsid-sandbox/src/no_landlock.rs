//! Landlock is a part of Linux; elsewhere there is none.

use crate::isolation::{Confinement, Isolation, Probe, unavailable};
use crate::program::Program;
use capsid_model::Result;
use std::path::Path;
use std::process::Command;

/// Always a problem.
pub fn command(_program: &Program, _args: &[String], _place: &Confinement, _home: &Path) -> Result<Command> {
    Err(unavailable(Isolation::Landlock, "it is a part of Linux"))
}

/// Never works.
pub fn probe() -> Probe {
    Probe::by_trying(Isolation::Landlock, "it is a part of Linux")
}
