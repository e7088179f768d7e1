//! `capsid node revoke`.

use super::connection::HubConnectionArgs;
use super::print::{self, raw, sheet, text};
use super::redact_outbound::OutboundRedactor;
use crate::output;
use capsid_model::{Code, Problem, Result, Value};
use clap::Args;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

/// Withdraw an asset that this node published, and its bundle.
///
/// The hub gives it out no more, for good: what was revoked cannot be published again under the same id. Copies that
/// others have fetched stay with them. On a terminal it asks first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node revoke sha256:2f6c... --reason 'wrong on ARM'
  capsid node revoke sha256:2f6c... --yes                     without asking, for scripts")]
pub struct NodeRevokeArgs {
    /// The asset.
    #[arg(value_name = "ASSET")]
    asset: String,
    /// Why; everybody can read it.
    #[arg(long)]
    reason: Option<String>,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// Runs the command.
pub fn run(arguments: &NodeRevokeArgs, folder: &Path) -> Result<u8> {
    let node = arguments.hub.node(folder)?;
    if !arguments.yes && !is_meant(&arguments.asset, node.hub_url())? {
        output::talk("Nothing was withdrawn.");
        return Ok(1);
    }
    let mut redactor = OutboundRedactor::default();
    let reason = redactor.text_or(arguments.reason.as_deref());
    redactor.print_removed();
    let answer = Value::Object(node.revoke(&arguments.asset, reason.as_deref())?);
    if output::is_json() {
        output::document(&answer);
        return Ok(0);
    }
    let again = if raw(&answer, "status") == "already_revoked" { " before" } else { "" };
    print::done(format_args!("It was withdrawn{again}, with everything in its bundle"));
    sheet(&[
        ("asset", text(&answer, "target_asset_id")),
        ("bundle", text(&answer, "bundle_id")),
        ("status", print::state(raw(&answer, "asset_status"))),
    ]);
    Ok(0)
}

/// Asks. Where nobody can answer it is not done.
fn is_meant(asset: &str, hub: &str) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(Problem::new(Code::UsageError, "Withdrawing is for good, and nobody can be asked here.")
            .fix("Add `--yes` if it is meant."));
    }
    output::talk(format_args!(
        "Withdraw {} and its bundle from {hub} for good? [y/N] ",
        print::line(asset, 100)
    ));
    let mut answer = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Problem::new(Code::IoError, format!("The answer could not be read: {error}.")))?;
    Ok(answer.trim().eq_ignore_ascii_case("y"))
}
