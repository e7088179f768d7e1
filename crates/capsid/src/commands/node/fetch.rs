//! `capsid node fetch`.

use super::connection::HubConnectionArgs;
use super::print::{self, credits, line, number, raw, text};
use super::redact_outbound::OutboundRedactor;
use crate::commands::workspace;
use crate::output::{self, DIM, paint};
use capsid_client::NodeClient;
use capsid_client::calls::FetchedAssets;
use capsid_engine::exchange::companions::add_gene_companions;
use capsid_engine::exchange::stage::{StageOutcome, stage_fetched};
use capsid_model::{Object, Problem, Result, Value, json};
use clap::Args;
use std::path::Path;

/// Fetch assets from a hub; the id of each is recomputed before it is shown.
///
/// By id, by signals, or the best there are. What is not the hash that it claims to be is refused. `--stage` keeps what
/// came as candidates of this repository, a capsule with its gene; they are never selected or run before
/// `capsid node promote`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node fetch sha256:2f6c...                        one asset, by its id
  capsid node fetch --signal TimeoutError --type Capsule what answers a signal
  capsid node fetch --limit 5                             the five best
  capsid node fetch sha256:2f6c... --stage                and keep it here, with its gene
  capsid node fetch sha256:2f6c... --trial                a candidate, to try it and report on it
  capsid node fetch sha256:2f6c... --format jsonl > it.jsonl    the asset to the byte, for other tools

Exit status: 1 when an asset was not to be had or was refused.")]
pub struct NodeFetchArgs {
    /// Ids of assets: `sha256:` and 64 hexadecimal digits.
    #[arg(value_name = "ID", conflicts_with_all = ["signals", "kind", "limit"])]
    ids: Vec<String>,
    /// What answers these signals, with commas between; may be given more than once.
    #[arg(long = "signal", alias = "signals", value_name = "SIGNAL", value_delimiter = ',')]
    signals: Vec<String>,
    /// Only this type.
    #[arg(long = "type", value_name = "TYPE", value_parser = KINDS)]
    kind: Option<String>,
    /// How many at most: 1 to 100.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    limit: Option<u16>,
    /// Take them on trial: candidates too, each with a nonce for a report. A trial is no use of the asset.
    #[arg(long, requires = "ids")]
    trial: bool,
    /// Keep them as candidates of this repository, and a capsule's gene with it.
    #[arg(long)]
    stage: bool,
    /// Print the assets alone, one a line, as JSON.
    #[arg(long, value_name = "FORMAT", value_parser = ["jsonl"], conflicts_with = "json")]
    format: Option<String>,
    /// The old name of `--format jsonl`.
    #[arg(long, hide = true, conflicts_with = "json")]
    lines: bool,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// The types of assets.
pub(super) const KINDS: [&str; 3] = ["Gene", "Capsule", "EvolutionEvent"];

/// Runs the command. Exits 1 when something was not to be had or was refused.
pub fn run(arguments: &NodeFetchArgs, folder: &Path) -> Result<u8> {
    // Where it cannot be stored nothing is fetched either.
    let store = arguments.stage.then(|| workspace(folder)).transpose()?;
    if let Some(store) = &store {
        store.require_store()?;
    }
    let node = arguments.hub.node(folder)?;
    print_price(&node);
    let mut fetched = fetch(arguments, &node)?;
    if let Some(store) = &store {
        add_gene_companions(store, &node, &mut fetched)?;
    }
    let staged = match &store {
        Some(workspace) if !fetched.assets.is_empty() => {
            Some(stage_fetched(workspace, &fetched, node.hub_url())?)
        }
        _ => None,
    };
    if output::is_json() {
        output::document(&document(&fetched, staged.as_ref()));
    } else if arguments.lines || arguments.format.is_some() {
        output::lines(&as_lines(&fetched.assets));
    } else {
        print(&fetched);
    }
    print_fetched(&fetched, staged.as_ref());
    let refused = staged.as_ref().is_some_and(|staged| !staged.refused.is_empty());
    Ok(u8::from(refused || !fetched.refused.is_empty() || !missing(&fetched).is_empty()))
}

fn fetch(arguments: &NodeFetchArgs, node: &NodeClient) -> Result<FetchedAssets> {
    if !arguments.ids.is_empty() {
        let ids: Vec<&str> = arguments.ids.iter().map(String::as_str).collect();
        return if arguments.trial { take_on_trial(node, &ids) } else { node.fetch(&ids) };
    }
    let mut payload = json!({"asset_type": arguments.kind, "limit": arguments.limit.unwrap_or(20)});
    if !arguments.signals.is_empty() {
        let mut redactor = OutboundRedactor::default();
        payload["signals"] = redactor.some_signals(&arguments.signals)?.into();
        redactor.print_removed();
    }
    node.fetch_as(payload)
}

/// Only a node that the hub knows gets a trial.
fn take_on_trial(node: &NodeClient, ids: &[&str]) -> Result<FetchedAssets> {
    if node.known()?.secret.is_none() {
        node.hello(Object::new())?;
    }
    node.fetch_trial(ids)
}

/// Most hubs charge nothing; one that does is announced before anything is paid.
fn print_price(node: &NodeClient) {
    let price = node.get("/a2a/credit/price", &[]).unwrap_or_default();
    let each = price.pointer("/prices/fetch").and_then(Value::as_f64).filter(|each| *each > 0.0);
    if let Some(each) = each {
        print::print_note(format_args!(
            "An asset of another owner costs {} here, once; what was bought before is free.",
            credits(each)
        ));
    }
}

fn as_lines(assets: &[Object]) -> String {
    assets.iter().map(|asset| format!("{}\n", serde_json::to_string(asset).unwrap_or_default())).collect()
}

/// Requested ids that the hub did not return.
fn missing(fetched: &FetchedAssets) -> Vec<&str> {
    let missing = fetched.payload.get("missing").and_then(Value::as_array).map(Vec::as_slice);
    missing.unwrap_or_default().iter().filter_map(Value::as_str).collect()
}

fn document(fetched: &FetchedAssets, staged: Option<&StageOutcome>) -> Value {
    let to_json = |problems: &[Problem]| -> Vec<Value> {
        let each = |problem: &Problem| json!({"code": problem.code.as_str(), "message": problem.message});
        problems.iter().map(each).collect()
    };
    json!({
        "assets": fetched.assets,
        "missing": missing(fetched),
        "refused": to_json(&fetched.refused),
        "credits_charged": fetched.payload.get("credits_charged"),
        "credit_balance": fetched.payload.get("credit_balance"),
        "trials": fetched.payload.get("trials"),
        "staged": staged.map(|staged| json!({
            "accepted": staged.accepted, "known": staged.known, "refused": to_json(&staged.refused),
        })),
    })
}

fn print(fetched: &FetchedAssets) {
    if fetched.assets.is_empty() {
        output::talk("Nothing came.");
        return;
    }
    let meta = fetched.payload.get("meta").cloned().unwrap_or_default();
    let (mut rows, mut ids) = (Vec::new(), Vec::new());
    for asset in &fetched.assets {
        let asset = Value::Object(asset.clone());
        let id = raw(&asset, "asset_id");
        let about = meta.get(id).cloned().unwrap_or_default();
        let summary = if raw(&asset, "summary").is_empty() {
            text(&asset, "id")
        } else {
            line(raw(&asset, "summary"), 100)
        };
        rows.push(vec![
            text(&asset, "type"),
            print::state(raw(&about, "status")),
            text(&about, "source_node_id"),
            summary,
        ]);
        ids.push(line(id, 100));
    }
    print::table(&["type", "status", "publisher", "summary"], rows, &ids);
}

fn print_fetched(fetched: &FetchedAssets, staged: Option<&StageOutcome>) {
    for id in missing(fetched) {
        print::print_note(format_args!(
            "{} is not to be had: the hub has no such asset, or does not give it out.",
            line(id, 100)
        ));
    }
    if fetched
        .payload
        .get("trials")
        .is_some_and(|trials| trials.as_array().is_some_and(|them| !them.is_empty()))
    {
        print::print_note(format_args!(
            "On trial for an hour. `capsid node report ID --ok` or `--failed` says how it did."
        ));
    }
    let at_stage = staged.map(|staged| staged.refused.as_slice()).unwrap_or_default();
    for problem in fetched.refused.iter().chain(at_stage) {
        output::caution("refused", problem);
    }
    if let Some(staged) = staged {
        let known =
            if staged.known > 0 { format!(", {} were here before", staged.known) } else { String::new() };
        output::talk(format_args!(
            "{} staged{known}; {}",
            staged.accepted.len(),
            paint(DIM, "`capsid node promote ID` takes one in after it was validated.")
        ));
    }
    let payload = Value::Object(fetched.payload.clone());
    if let Some(paid) = number(&payload, "credits_charged").filter(|paid| *paid > 0.0) {
        let left = number(&payload, "credit_balance")
            .map_or_else(String::new, |left| format!("; {} are left", credits(left)));
        output::talk(format_args!("{} were paid{left}.", credits(paid)));
    }
}
