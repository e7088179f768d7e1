//! `capsid node promote`: a staged asset becomes one of ours.

use crate::commands::store::record_id::complete_id;
use crate::commands::workspace;
use crate::output::{self, DIM, GOOD, NAME, paint};
use capsid_engine::exchange::consent::CommandConsent;
use capsid_engine::exchange::promote::{PromoteOutcome, PromoteRequest, commands_to_confirm, promote};
use capsid_engine::exchange::stage::staged;
use capsid_engine::workspace::Workspace;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result, Value, json};
use clap::Args;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

/// Take a staged asset in, after our sandbox validated it.
///
/// A gene's validation commands are run here, in the sandbox, on the files as they are. A capsule's change is made in a
/// copy of what is committed here, and its gene's commands are run on that; your files are not touched. Commands that
/// prove nothing do not count, and a change that does not apply here, or came cut off, cannot be tried. With
/// `--validated` you vouch for it instead.
///
/// A command that neither a gene of yours nor `capsid.toml` names is shown, and you are asked whether it may run here: now,
/// and in later cycles.
///
/// A capsule brings its gene; where a local gene has the same name and other content, under a name of its own. Confidence
/// stays lowered, a streak that was claimed elsewhere starts anew, the origin is kept, and nothing local is replaced.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node promote gene_retry_with_backoff                 run its commands, then take it in
  capsid node promote sha256:2f6c...                          try a capsule's change, then take it and its gene in
  capsid node promote --validated capsule_1770477654236       you looked at it yourself
  capsid node promote --yes gene_retry_with_backoff           you know its commands")]
pub struct NodePromoteArgs {
    /// The id of the staged asset, as `capsid node ingest` and `capsid node fetch` print it: the first 8 digits, or `last`, are
    /// enough.
    id: String,
    /// You validated it yourself: nothing is run.
    #[arg(long)]
    validated: bool,
    /// Agree to its commands without being asked.
    #[arg(long)]
    yes: bool,
}

/// Runs the command.
pub fn run(arguments: &NodePromoteArgs, folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    let consent = if arguments.yes { CommandConsent::All } else { CommandConsent::Known };
    let id = complete(&workspace, &arguments.id)?;
    let mut request = PromoteRequest { id: id.clone(), validated: arguments.validated, consent };
    let promoted = match promote(&workspace, &request) {
        Err(problem) if problem.code == Code::ConfirmationRequired => {
            request.consent = ask_consent(&workspace, &id, problem)?;
            promote(&workspace, &request)?
        }
        ended => ended?,
    };
    if output::is_json() {
        output::document(
            &json!({"ok": true, "asset": promoted.asset, "gene": promoted.gene, "report": promoted.report}),
        );
        return Ok(0);
    }
    print_promoted(&promoted);
    Ok(0)
}

/// The whole id of the staged asset that was meant.
fn complete(workspace: &Workspace, given: &str) -> Result<String> {
    let mut assets = staged(workspace)?;
    assets.reverse();
    let member = |asset: &Object, name: &str| asset.get(name).and_then(Value::as_str).map(str::to_owned);
    let ids: Vec<String> =
        assets.iter().flat_map(|asset| [member(asset, "id"), member(asset, "asset_id")]).flatten().collect();
    complete_id(given, &ids)
}

/// Shows the commands and asks. Where nobody can answer, the problem stands.
fn ask_consent(workspace: &Workspace, id: &str, problem: Problem) -> Result<CommandConsent> {
    if output::is_json() || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(problem);
    }
    let commands = commands_to_confirm(workspace, id)?;
    output::talk("It brings these commands, which neither your genes nor capsid.toml name:");
    for command in &commands {
        output::talk(format_args!("  {}", paint(NAME, inert_line(command))));
    }
    output::talk("May they run here, now and in later cycles? [y/N]");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer).is_ok();
    if read && matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(CommandConsent::Listed(commands));
    }
    Err(problem)
}

fn print_promoted(promoted: &PromoteOutcome) {
    let display =
        |value: Option<&Value>| inert_line(cut(value.and_then(Value::as_str).unwrap_or_default(), 100));
    for asset in std::iter::once(&promoted.asset).chain(&promoted.gene) {
        output::line(format_args!(
            "{}  {} {}  from {}",
            paint(GOOD, "promoted"),
            display(asset.get("type")),
            paint(NAME, display(asset.get("id"))),
            display(asset.get("a2a").and_then(|a2a| a2a.get("source")))
        ));
    }
    let commands =
        promoted.report.as_ref().and_then(|report| report.get("commands")).and_then(Value::as_array);
    for command in commands.into_iter().flatten() {
        output::line(format_args!("  {}  {}", paint(GOOD, "passed"), display(command.get("command"))));
    }
    if promoted.gene.is_none() && promoted.asset.contains_key("gene") {
        let gene = display(promoted.asset.get("gene"));
        output::talk(paint(DIM, format_args!("Its gene is {gene}, which was here before.")));
    }
}
