//! `capsid hub restore`: brings a backup back.

use super::{HubLocation, fsck};
use crate::output::progress::ProgressLine;
use capsid_model::{Clock, Result, SystemClock};
use capsid_store::Store;
use clap::Args;
use std::path::PathBuf;

/// Bring a backup back into an empty folder or an empty PostgreSQL database, then check it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub restore hub-2026-11-15.db --data new-hub
  capsid hub restore hub.db --database postgres://capsid@db/capsid    also moves a hub from SQLite to PostgreSQL

It refuses a target that holds a hub already. It exits with 1 when `fsck` finds something in what was restored.")]
pub struct HubRestoreArgs {
    /// A file that `capsid hub backup` wrote.
    #[arg(value_name = "FILE")]
    from: PathBuf,

    #[command(flatten)]
    location: HubLocation,
}

/// Runs the command.
pub fn run(arguments: &HubRestoreArgs) -> Result<u8> {
    let options = arguments.location.options()?;
    let mut progress = ProgressLine::new("restoring");
    let on_progress = Box::new(move |done, total| progress.update("the hub", done, total));
    capsid_store::backup::restore(&arguments.from, &options, SystemClock.now(), on_progress)?;
    let store = Store::open(&options, SystemClock.now())?;
    let report = fsck::check(&store)?;
    fsck::print_report(&report, fsck::FsckActions::default(), crate::output::is_json());
    Ok(u8::from(!report.is_clean()))
}
