//! `capsid genes`: the strategies in the store.

use super::workspace;
use crate::cli::Json;
use crate::output::{self, BAD, DIM, NAME, paint};
use capsid_engine::view::stats::Stats;
use capsid_model::asset;
use capsid_model::gene::Gene;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Problem, Result, Value, json};
use clap::{Args, Subcommand};
use std::ops::ControlFlow;
use std::path::Path;

/// List and show genes: reusable strategies, with how they did here.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// Only this category: repair, optimize, innovate, explore.
    #[arg(long)]
    category: Option<String>,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show one gene as it is stored.
    Show {
        /// Its id.
        id: String,
        #[command(flatten)]
        json: Json,
    },
}

impl Arguments {
    /// Whether JSON was asked for.
    pub fn json(&self) -> bool {
        match &self.action {
            Some(Action::Show { json, .. }) => json.json,
            None => self.json.json,
        }
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments, folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    workspace.require_store()?;
    if let Some(Action::Show { id, json }) = &arguments.action {
        let gene = workspace.store.genes.find(id)?.ok_or_else(|| {
            Problem::new(Code::NotFound, format!("No gene is named `{}`.", inert_line(id)))
                .fix("`capsid genes` lists them.")
        })?;
        return Ok(show(&gene.into(), json.json));
    }
    let mut stats = Stats::default();
    workspace.store.events.each(|event, _| {
        stats.take(&event);
        ControlFlow::Continue(())
    })?;
    let mut genes = workspace.store.genes.documents()?;
    if let Some(category) = &arguments.category {
        genes.retain(|gene| gene.get("category").and_then(Value::as_str) == Some(category));
    }
    if arguments.json.json {
        output::document(&json!({"genes": genes}));
        return Ok(0);
    }
    let head = ["gene", "category", "cycles", "success", "matches", ""].map(|text| paint(DIM, text));
    let mut rows = vec![head.to_vec()];
    for document in &genes {
        let gene = Gene::read(document);
        let tally = stats.genes.get(&gene.id);
        let mark =
            if asset::verify(document).holds() { String::new() } else { paint(BAD, "id does not verify") };
        rows.push(vec![
            paint(NAME, inert_line(&gene.id)),
            inert_line(&gene.category),
            tally.map_or(0, |tally| tally.cycles).to_string(),
            tally.map_or_else(|| "-".to_owned(), |tally| format!("{:.0} %", tally.success_rate() * 100.0)),
            cut(&inert_line(&gene.signals_match.join(", ")), 60).to_owned(),
            mark,
        ]);
    }
    output::print(&output::table(&rows));
    Ok(0)
}

/// Shows a document: indented for people, on one line for programs.
pub(crate) fn show(document: &Value, as_json: bool) -> u8 {
    if as_json {
        output::document(document);
    } else {
        output::line(serde_json::to_string_pretty(document).unwrap_or_default());
    }
    0
}
