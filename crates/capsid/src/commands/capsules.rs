//! `capsid capsules`: the solutions in the store.

use super::genes::show;
use super::workspace;
use crate::cli::Json;
use crate::output::{self, BAD, DIM, GOOD, NAME, paint};
use capsid_model::asset;
use capsid_model::capsule::Capsule;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Problem, Result, Value, json};
use clap::{Args, Subcommand};
use std::path::Path;

/// List and show capsules: solutions that worked, with their streaks.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// List the attempts that failed instead.
    #[arg(long)]
    failed: bool,
    /// Only capsules of this gene.
    #[arg(long, value_name = "ID")]
    gene: Option<String>,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show one capsule, or failed capsule, as it is stored.
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
    let store = &workspace.store;
    if let Some(Action::Show { id, json }) = &arguments.action {
        let found = match store.capsules.find(id)? {
            Some(capsule) => Some(capsule),
            None => store.failed.find(id)?,
        };
        let capsule = found.ok_or_else(|| {
            Problem::new(Code::NotFound, format!("No capsule is named `{}`.", inert_line(id)))
                .fix("`capsid capsules` lists them.")
        })?;
        return Ok(show(&capsule.into(), json.json));
    }
    let mut capsules =
        if arguments.failed { store.failed.documents()? } else { store.capsules.documents()? };
    if let Some(gene) = &arguments.gene {
        capsules.retain(|capsule| capsule.get("gene").and_then(Value::as_str) == Some(gene));
    }
    if arguments.json.json {
        output::document(&json!({"capsules": capsules}));
        return Ok(0);
    }
    if capsules.is_empty() {
        output::talk("No capsule yet: a cycle that succeeds makes one.");
        return Ok(0);
    }
    let head = ["capsule", "streak", "confidence", "change", "gene", ""].map(|text| paint(DIM, text));
    let mut rows = vec![head.to_vec()];
    for document in &capsules {
        let capsule = Capsule::read(document);
        let reason = document.get("failure_reason").and_then(Value::as_str).unwrap_or_default();
        let mark = if !asset::verify(document).holds() {
            paint(BAD, "id does not verify")
        } else if capsule.eligible_to_broadcast {
            paint(GOOD, "may be shared")
        } else {
            paint(DIM, cut(&inert_line(reason), 80))
        };
        rows.push(vec![
            paint(NAME, inert_line(&capsule.id)),
            capsule.success_streak.to_string(),
            format!("{:.3}", capsule.confidence),
            capsule.blast_radius.to_string(),
            inert_line(&capsule.gene),
            mark,
        ]);
    }
    output::print(&output::table(&rows));
    Ok(0)
}
