//! `capsid node decide`.

use super::connection::HubConnectionArgs;
use super::print::{self, raw, sheet, text};
use super::redact_outbound::OutboundRedactor;
use super::report::tally;
use crate::output;
use capsid_model::{Result, Value};
use clap::Args;
use std::path::Path;

/// Say whether an asset should be accepted, rejected or held back.
///
/// The word of an admin's node is carried out. That of a validator, who has a stake or enough reputation, is one vote
/// beside the reports. Anybody else's is kept without weight.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node decide sha256:2f6c... accept
  capsid node decide sha256:2f6c... reject --reason 'breaks on Windows'
  capsid node decide sha256:2f6c... quarantine --reason 'reads ~/.ssh'")]
pub struct NodeDecideArgs {
    /// The asset.
    #[arg(value_name = "ASSET")]
    asset: String,
    /// What should become of it.
    #[arg(value_parser = ["accept", "reject", "quarantine"])]
    decision: String,
    /// Why; at most 2000 characters.
    #[arg(long)]
    reason: Option<String>,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// Runs the command.
pub fn run(arguments: &NodeDecideArgs, folder: &Path) -> Result<u8> {
    let node = arguments.hub.node(folder)?;
    let mut redactor = OutboundRedactor::default();
    let reason = redactor.text_or(arguments.reason.as_deref());
    redactor.print_removed();
    let answer = Value::Object(node.decide(&arguments.asset, &arguments.decision, reason.as_deref())?);
    if output::is_json() {
        output::document(&answer);
        return Ok(0);
    }
    let word = if raw(&answer, "status") == "applied" { "carried out" } else { "kept" };
    print::done(format_args!("{} was {word}", arguments.decision));
    sheet(&[
        ("asset", text(&answer, "target_asset_id")),
        ("status", print::state(raw(&answer, "asset_status"))),
        ("weight", print::number(&answer, "weight").map(print::amount).unwrap_or_default()),
        ("so far", tally(answer.get("consensus").unwrap_or(&Value::Null))),
        ("note", text(&answer, "note")),
    ]);
    Ok(0)
}
