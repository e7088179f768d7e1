//! `capsid capsules`: the solutions in the store.

use super::listing::{ShowArgs, TimeSpanArgs};
use super::record_id::complete_id;
use crate::commands::workspace;
use crate::output::{self, BAD, DIM, GOOD, NAME, paint};
use capsid_engine::exchange::eligibility::Eligibility;
use capsid_engine::exchange::outgoing::offers;
use capsid_engine::store::AssetStore;
use capsid_engine::store::collection::Collection;
use capsid_engine::workspace::Workspace;
use capsid_model::asset;
use capsid_model::capsule::Capsule;
use capsid_model::id::stamp_of;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Object, Result, Time, Value, json};
use capsid_rules::learning::capsule_text::old_asset::find_old_title;
use clap::{Args, Subcommand};
use std::collections::HashMap;
use std::path::Path;

/// List and show capsules: solutions that worked, with their streaks.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  capsid capsules                                   what worked, and how often in a row
  capsid capsules --failed --since 2026-02-01       what was tried in vain since then
  capsid capsules show capsule_1770477654236        one of them in full, with its change"
)]
pub struct CapsulesArgs {
    #[command(subcommand)]
    action: Option<CapsulesCommand>,
    #[command(flatten)]
    list: ListCapsulesArgs,
}

#[derive(Debug, Subcommand)]
enum CapsulesCommand {
    /// List capsules: the same as `capsid capsules`.
    List(ListCapsulesArgs),
    /// Show one capsule, or failed capsule, as it is stored.
    Show(ShowArgs),
}

#[derive(Debug, Args)]
struct ListCapsulesArgs {
    /// List the attempts that failed instead.
    #[arg(long)]
    failed: bool,
    /// Only capsules of this gene.
    #[arg(long, value_name = "ID")]
    gene: Option<String>,
    /// Only capsules proven on this platform: linux, darwin, win32.
    #[arg(long)]
    platform: Option<String>,
    #[command(flatten)]
    span: TimeSpanArgs,
}

impl ListCapsulesArgs {
    fn matches(&self, capsule: &Object) -> bool {
        let is = |wanted: &Option<String>, actual: Option<&Value>| {
            wanted.as_deref().is_none_or(|wanted| actual.and_then(Value::as_str) == Some(wanted))
        };
        is(&self.gene, capsule.get("gene"))
            && is(&self.platform, capsule.get("env_fingerprint").and_then(|env| env.get("platform")))
            && self.span.holds(created_at(capsule))
    }
}

/// When a capsule was made: the stamp of its id, or what it says itself.
fn created_at(capsule: &Object) -> Option<Time> {
    // A number as small as in `capsule_2` counts capsules, not milliseconds.
    const FIRST_STAMP: i64 = 1_000_000_000_000;
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let stamp = text(capsule.get("id")).and_then(|id| stamp_of(&id)).filter(|stamp| *stamp >= FIRST_STAMP);
    stamp.map(Time).or_else(|| {
        let captured = capsule.get("env_fingerprint").and_then(|env| env.get("captured_at"));
        [capsule.get("created_at"), captured].into_iter().find_map(|at| Time::parse(&text(at)?))
    })
}

/// Runs the command.
pub fn run(arguments: &CapsulesArgs, folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    workspace.require_store()?;
    let store = &workspace.store;
    match &arguments.action {
        Some(CapsulesCommand::Show(show)) => show.print(find(store, &show.id)?, "capsule", "capsid capsules"),
        Some(CapsulesCommand::List(list)) => print_list(&workspace, list),
        None => print_list(&workspace, &arguments.list),
    }
}

fn find(store: &AssetStore, given: &str) -> Result<Option<Object>> {
    let ids = |list: &Collection| -> Result<Vec<String>> {
        let documents = list.documents()?;
        Ok(documents.iter().filter_map(|one| Some(one.get("id")?.as_str()?.to_owned())).collect())
    };
    let id = &complete_id(given, &[ids(&store.failed)?, ids(&store.capsules)?].concat())?;
    match store.capsules.find(id)? {
        Some(capsule) => Ok(Some(capsule)),
        None => store.failed.find(id),
    }
}

fn print_list(workspace: &Workspace, list: &ListCapsulesArgs) -> Result<u8> {
    let store = &workspace.store;
    let mut capsules = if list.failed { store.failed.documents()? } else { store.capsules.documents()? };
    let none_yet = capsules.is_empty();
    capsules.retain(|capsule| list.matches(capsule));
    // What failed is offered to nobody, so nothing has to be asked about it.
    let sharing: HashMap<String, Eligibility> = match list.failed {
        true => HashMap::new(),
        false => {
            offers(workspace)?.into_iter().map(|offer| (offer.id().to_owned(), offer.eligibility)).collect()
        }
    };
    if output::is_json() {
        let sharing: Vec<Value> =
            capsules.iter().filter_map(|capsule| sharing_json(capsule, &sharing)).collect();
        output::document(&json!({"capsules": capsules, "sharing": sharing}));
        return Ok(0);
    }
    if capsules.is_empty() {
        output::talk(match (none_yet, list.failed) {
            (true, false) => "No capsule yet: a cycle that succeeds makes one.",
            (true, true) => "No attempt failed yet.",
            (false, _) => "No capsule matches.",
        });
        return Ok(0);
    }
    let reason = if list.failed { "reason" } else { "sharing" };
    let head =
        ["capsule", "streak", "confidence", "change", "gene", reason, "title"].map(|text| paint(DIM, text));
    let mut rows = vec![head.to_vec()];
    rows.extend(capsules.iter().map(|capsule| row(capsule, sharing.get(&Capsule::read(capsule).id))));
    output::print(&output::table(&rows));
    Ok(0)
}

fn sharing_json(capsule: &Object, sharing: &HashMap<String, Eligibility>) -> Option<Value> {
    let id = capsule.get("id").and_then(Value::as_str)?;
    let eligibility = sharing.get(id)?;
    let reason = eligibility.reasons.first();
    Some(json!({
        "capsule_id": id, "eligible": eligibility.eligible, "reason": reason, "streak": eligibility.streak,
    }))
}

/// What a capsule says that it fixed.
fn title(document: &Object) -> String {
    let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
    let triggers = document.get("trigger").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let triggers: Vec<&str> = triggers.iter().filter_map(Value::as_str).collect();
    match text("title") {
        "" => find_old_title(text("summary"), &triggers),
        title => title.to_owned(),
    }
}

/// One line of the list. `sharing` is the answer that `node publish` gives too.
fn row(document: &Object, sharing: Option<&Eligibility>) -> Vec<String> {
    let capsule = Capsule::read(document);
    let failure = document.get("failure_reason").and_then(Value::as_str).unwrap_or_default();
    let counted = sharing.map_or(0, |sharing| sharing.streak);
    let streak = match capsule.success_streak {
        stated if stated == counted => counted.to_string(),
        stated => format!("{counted} (says {stated})"),
    };
    let mark = match sharing {
        _ if !asset::verify(document).holds() => paint(BAD, "id does not verify"),
        Some(Eligibility { eligible: true, .. }) => paint(GOOD, "may be shared"),
        Some(eligibility) => paint(DIM, inert_line(eligibility.reason())),
        None => paint(DIM, cut(&inert_line(failure), 80)),
    };
    vec![
        paint(NAME, inert_line(&capsule.id)),
        streak,
        format!("{:.3}", capsule.confidence),
        capsule.blast_radius.to_string(),
        inert_line(&capsule.gene),
        mark,
        cut(&inert_line(&title(document)), 72).to_owned(),
    ]
}
