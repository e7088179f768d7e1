//! `capsid hub migrate`: brings a database up to date.

use super::HubLocation;
use crate::output::{self, GOOD, paint};
use capsid_model::{Clock, Result, SystemClock, json};
use capsid_store::Store;
use clap::Args;

/// Bring a hub's database up to date. A hub does so itself when it starts, unless it is told --no-migrate.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub migrate
  capsid hub migrate --database postgres://capsid@db/capsid    before several hubs start with --no-migrate")]
pub struct HubMigrateArgs {
    #[command(flatten)]
    location: HubLocation,
}

/// Runs the command.
pub fn run(arguments: &HubMigrateArgs) -> Result<u8> {
    // Opening brings it up to date, and closing leaves the file in one piece.
    drop(Store::open(&arguments.location.options()?, SystemClock.now())?);
    if output::is_json() {
        output::document(&json!({"ok": true}));
    } else {
        output::line(format_args!("{} the database is up to date", paint(GOOD, "ok")));
    }
    Ok(0)
}
