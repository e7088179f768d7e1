//! Landlock is a part of Linux; elsewhere there is none.

use crate::isolation::{Confinement, Isolation, Probe};
use crate::program::Program;
use capsid_model::{Code, Problem, Result};
use std::path::Path;
use std::process::Command;

/// Always a problem.
pub fn command(
    _program: &Program,
    _args: &[String],
    _place: &Confinement,
    _home: &Path,
) -> Result<Command> {
    Err(Problem::new(
        Code::SandboxUnavailable,
        "Landlock is a part of Linux, and this system is another.",
    )
    .fix("Run validation on Linux."))
}

/// Never works.
pub fn probe() -> Probe {
    Probe::of(Isolation::Landlock, Err("it is a part of Linux".to_owned()))
}
