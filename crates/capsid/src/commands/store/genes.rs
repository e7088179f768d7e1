//! `capsid genes`: the strategies in the store.

use super::listing::{INTENTS, ShowArgs, TALLY_HEAD, tally_cells, tally_json};
use crate::commands::workspace;
use crate::output::{self, BAD, DIM, NAME, paint};
use capsid_engine::view::stats::EventStats;
use capsid_engine::workspace::Workspace;
use capsid_model::asset;
use capsid_model::gene::Gene;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Object, Result, Value, json};
use clap::{Args, Subcommand};
use std::ops::ControlFlow;
use std::path::Path;

/// List and show genes: reusable strategies, with how they did here.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  capsid genes                                      all, with their success rates
  capsid genes --category repair                    those that repair
  capsid genes show gene_gep_repair_from_errors     one of them in full"
)]
pub struct GenesArgs {
    #[command(subcommand)]
    action: Option<GenesCommand>,
    #[command(flatten)]
    list: ListGenesArgs,
}

#[derive(Debug, Subcommand)]
enum GenesCommand {
    /// List genes: the same as `capsid genes`.
    List(ListGenesArgs),
    /// Show one gene as it is stored.
    Show(ShowArgs),
}

#[derive(Debug, Args)]
struct ListGenesArgs {
    /// Only this category.
    #[arg(long, value_parser = INTENTS)]
    category: Option<String>,
}

/// Runs the command.
pub fn run(arguments: &GenesArgs, folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    workspace.require_store()?;
    match &arguments.action {
        Some(GenesCommand::Show(show)) => {
            show.print(workspace.store.genes.find(&show.id)?, "gene", "capsid genes")
        }
        Some(GenesCommand::List(list)) => print_list(&workspace, list),
        None => print_list(&workspace, &arguments.list),
    }
}

fn print_list(workspace: &Workspace, list: &ListGenesArgs) -> Result<u8> {
    let mut genes = workspace.store.genes.documents()?;
    if let Some(category) = &list.category {
        genes.retain(|gene| gene.get("category").and_then(Value::as_str) == Some(category));
    }
    let mut stats = EventStats::default();
    workspace.store.events.each(|event, _| {
        stats.add_event(&event);
        ControlFlow::Continue(())
    })?;
    if output::is_json() {
        let tallies: Object = genes
            .iter()
            .map(|gene| Gene::read(gene).id)
            .map(|id| (id.clone(), tally_json(&stats.genes.remove(&id).unwrap_or_default())))
            .collect();
        output::document(&json!({"genes": genes, "stats": tallies}));
        return Ok(0);
    }
    if genes.is_empty() {
        output::talk("No gene matches.");
        return Ok(0);
    }
    let mut head = vec!["gene", "category"];
    head.extend(TALLY_HEAD);
    head.push("matches");
    let mut rows = vec![head.into_iter().map(|text| paint(DIM, text)).collect()];
    rows.extend(genes.iter().map(|gene| row(gene, &stats)));
    output::print(&output::table(&rows));
    Ok(0)
}

fn row(document: &Object, stats: &EventStats) -> Vec<String> {
    let gene = Gene::read(document);
    let mut row = vec![paint(NAME, inert_line(&gene.id)), inert_line(&gene.category)];
    match stats.genes.get(&gene.id) {
        Some(tally) => row.extend(tally_cells(tally)),
        None => row.extend(["0", "-", "-", "-"].map(str::to_owned)),
    }
    row.push(cut(&inert_line(&gene.signals_match.join(", ")), 60).to_owned());
    if !asset::verify(document).holds() {
        row.push(paint(BAD, "id does not verify"));
    }
    row
}
