//! `capsid hub backup`: everything a hub keeps, in one file.

use super::HubLocation;
use crate::output::progress::ProgressLine;
use crate::output::{self, GOOD, paint};
use capsid_model::text::inert_line;
use capsid_model::{Clock, Result, SystemClock, json};
use clap::Args;
use std::path::PathBuf;

/// Write everything a hub keeps to a new file, while the hub runs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub backup hub-2026-11-15.db
  capsid hub backup --database postgres://capsid@db/capsid hub.db

The file is an SQLite database whichever one the hub uses, and `capsid hub restore` brings it back into either. It
appears only when it is whole. Only you can read it: it holds the hashes of passwords and secrets, the key that the hub
signs with, and in plain text the claim codes. It never holds the secret of a node.")]
pub struct HubBackupArgs {
    /// The file to write. It must not be there yet.
    #[arg(value_name = "FILE", required_unless_present = "out")]
    file: Option<PathBuf>,

    /// The file to write.
    #[arg(long, value_name = "PATH", conflicts_with = "file")]
    out: Option<PathBuf>,

    #[command(flatten)]
    location: HubLocation,
}

/// Runs the command.
pub fn run(arguments: &HubBackupArgs) -> Result<u8> {
    let out = output::named_path(arguments.file.as_deref(), arguments.out.as_deref())?;
    let mut progress = ProgressLine::new("copying");
    let on_progress = Box::new(move |done, total| progress.update("the hub", done, total));
    capsid_store::backup::backup(&arguments.location.options()?, out, SystemClock.now(), on_progress)?;
    let bytes = out.metadata().map(|data| data.len()).unwrap_or_default();
    if output::is_json() {
        output::document(&json!({"ok": true, "file": out, "bytes": bytes}));
    } else {
        let file = inert_line(&out.to_string_lossy());
        output::line(format_args!("{} {file}, {bytes} bytes", paint(GOOD, "wrote")));
    }
    Ok(0)
}
