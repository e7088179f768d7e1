//! `capsid genes`: the strategies in the store.

use super::documents::{AssetDocument, at, read_all, read_bytes};
use super::listing::{INTENTS, ShowArgs, TALLY_HEAD, tally_cells, tally_json};
use crate::commands::{workspace, writable_workspace};
use crate::output::{self, BAD, DIM, GOOD, NAME, WARN, paint};
use capsid_engine::store::new_genes;
use capsid_engine::view::stats::EventStats;
use capsid_engine::workspace::Workspace;
use capsid_model::gene::Gene;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result, Value, asset, canonical, gate, json};
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
  capsid genes show gene_gep_repair_from_errors     one of them in full
  capsid genes add gene.json                        add a gene that you wrote (JSON or TOML)"
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
    /// Add the genes of a file to the store, all or none.
    ///
    /// The file is JSON (one gene, an array, a list such as genes.json, or JSON lines) or TOML (one gene, or several under
    /// `[[genes]]`). Each gene is checked against the schema and gets its content id. An id that is taken is refused.
    Add(AddGenesArgs),
}

#[derive(Debug, Args)]
struct AddGenesArgs {
    /// The file; `-` reads JSON from stdin.
    file: String,
}

#[derive(Debug, Args)]
struct ListGenesArgs {
    /// Only this category.
    #[arg(long, value_parser = INTENTS)]
    category: Option<String>,
}

impl GenesArgs {
    /// Whether it changes the store.
    pub(crate) fn is_change(&self) -> bool {
        matches!(self.action, Some(GenesCommand::Add(_)))
    }
}

/// Runs the command.
pub fn run(arguments: &GenesArgs, folder: &Path) -> Result<u8> {
    let workspace = if arguments.is_change() { writable_workspace(folder)? } else { workspace(folder)? };
    workspace.require_store()?;
    match &arguments.action {
        Some(GenesCommand::Show(show)) => {
            show.print(workspace.store.genes.find(&show.id)?, "gene", "capsid genes")
        }
        Some(GenesCommand::Add(add)) => add_genes(&workspace, &add.file),
        Some(GenesCommand::List(list)) => print_list(&workspace, list),
        None => print_list(&workspace, &arguments.list),
    }
}

fn add_genes(workspace: &Workspace, file: &str) -> Result<u8> {
    let genes = read_genes(file)?;
    {
        let _lock = workspace.lock()?;
        new_genes::add(&workspace.store, &genes)?;
    }
    let policy = workspace.config.gate();
    let mut notes = Vec::new();
    for gene in genes.iter().map(Gene::read) {
        for command in &gene.validation {
            if let Err(refusal) = gate::check(command, &policy) {
                notes.push(format!("{}: `{command}` will not run: {}", gene.id, refusal.message));
            }
        }
    }
    if output::is_json() {
        let added: Vec<Value> = genes
            .iter()
            .map(|gene| json!({"id": gene.get("id"), "asset_id": gene.get("asset_id")}))
            .collect();
        output::document(&json!({"ok": true, "added": added, "notes": notes}));
        return Ok(0);
    }
    for gene in &genes {
        let text = |name: &str| inert_line(gene.get(name).and_then(Value::as_str).unwrap_or_default());
        output::line(format_args!(
            "{}  {}  {}",
            paint(GOOD, "added"),
            paint(NAME, text("id")),
            paint(DIM, text("asset_id"))
        ));
    }
    for note in &notes {
        output::talk(format_args!("{} {}", paint(WARN, "note:"), inert_line(note)));
    }
    Ok(0)
}

/// The genes of a file, ready for the store.
fn read_genes(file: &str) -> Result<Vec<Object>> {
    let is_toml = Path::new(file).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
    let documents: Vec<(String, Value)> = if is_toml {
        let bytes = read_bytes(file)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| {
            Problem::new(Code::InputInvalid, "It is not UTF-8 text.").fix("Save the file as UTF-8.")
        });
        let genes = text.and_then(new_genes::parse_toml).map_err(|problem| at(file, problem))?;
        (1..).zip(genes).map(|(number, gene)| (format!("{file}:{number}"), gene)).collect()
    } else {
        let parse = |document: &AssetDocument| {
            let read = document.text().and_then(canonical::read);
            read.map(|gene| (document.location.clone(), gene))
                .map_err(|problem| at(&document.location, problem))
        };
        read_all(&[file.to_owned()])?.iter().map(parse).collect::<Result<_>>()?
    };
    if documents.is_empty() {
        return Err(Problem::new(Code::InputInvalid, format!("`{}` holds no gene.", inert_line(file)))
            .fix("Write one gene, or several under `genes`."));
    }
    documents.into_iter().map(|(location, gene)| new_genes::prepare(gene, &location)).collect()
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
