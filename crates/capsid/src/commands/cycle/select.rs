//! `capsid select`: what the engine would choose, and why.

use super::inputs::InputArgs;
use crate::commands::workspace;
use crate::output::{self, DIM, HEAD, NAME, paint};
use capsid_engine::cycle::choice::{self, ChoiceContext};
use capsid_engine::cycle::observation;
use capsid_engine::rules::select::Selection;
use capsid_model::Result;
use capsid_model::text::inert_line;
use clap::Args;
use std::path::Path;

/// Show which gene or capsule would be chosen, and why. Nothing is written.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid select                                        for what is in the logs now
  capsid select --signal log_error --signal timeout    for these signals")]
pub struct SelectArgs {
    /// Let chance take part in the selection.
    #[arg(long, value_name = "SEED", num_args = 0..=1)]
    drift: Option<Option<u64>>,

    /// The seed of chance, to repeat a drift.
    #[arg(long, value_name = "N", requires = "drift")]
    seed: Option<u64>,

    #[command(flatten)]
    inputs: InputArgs,
}

/// Runs the command.
pub fn run(arguments: &SelectArgs, folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    workspace.require_store()?;
    // Signals that are named are the whole question, unless an input is named beside them.
    let (signals, context) = match arguments.inputs.is_signals_only() {
        true => {
            let signals = arguments.inputs.signals.clone();
            let context = ChoiceContext { learning: signals.clone(), ..ChoiceContext::default() };
            (signals, context)
        }
        false => {
            let seen = observation::observe(&workspace, &arguments.inputs.sources()?)?;
            let context = seen.choice_context();
            (seen.signals, context)
        }
    };
    let statistics = workspace.graph().statistics_as_is()?;
    let chance = arguments.drift.map(|seed| arguments.seed.or(seed).unwrap_or_else(|| fastrand::u64(..)));
    let choice = choice::choose(&workspace, &signals, &context, &statistics, None, chance)?;
    if output::is_json() {
        output::document(&choice.selection.to_json());
    } else {
        print_selection(&choice.selection);
    }
    Ok(0)
}

/// The choice, its reasons and every score.
pub(crate) fn print_selection(selection: &Selection) {
    let selected = selection.selected.as_deref().unwrap_or("none");
    output::line(format_args!("{}  {}", paint(HEAD, "selected"), paint(NAME, inert_line(selected))));
    for reason in &selection.reason {
        output::line(format_args!("  {}", inert_line(reason)));
    }
    if !selection.alternatives.is_empty() {
        output::line(format_args!(
            "{}  {}",
            paint(HEAD, "alternatives"),
            inert_line(&selection.alternatives.join(", "))
        ));
    }
    output::print(&score_table(selection));
    for ban in &selection.banned {
        output::line(format_args!(
            "  banned   {}  {}",
            inert_line(&ban.gene),
            paint(DIM, format_args!("by {}", ban.by))
        ));
    }
    for skipped in &selection.skipped_capsules {
        let why = inert_line(&skipped.reason());
        output::line(format_args!("  skipped  {}  {}", inert_line(&skipped.id), paint(DIM, why)));
    }
}

fn score_table(selection: &Selection) -> String {
    let mut rows = Vec::new();
    if !selection.scores.is_empty() {
        let head = ["gene", "score", "hits", "memory", "environment", ""];
        rows.push(head.map(|text| paint(DIM, text)).to_vec());
    }
    for scored in selection.scores.iter().take(20) {
        rows.push(vec![
            inert_line(&scored.gene),
            format!("{:.3}", scored.score),
            scored.hits.to_string(),
            format!("{:+.3}", scored.memory),
            format!("{:+.2}", scored.epigenetic),
            if scored.banned { "banned".to_owned() } else { String::new() },
        ]);
    }
    let mut text = output::table(&rows);
    if selection.scores.len() > 20 {
        text.push_str(&format!("  and {} more\n", selection.scores.len() - 20));
    }
    if let Some(capsule) = &selection.capsule {
        let rows = [
            ["capsule", "score", "matched", "confidence", "streak"].map(|text| paint(DIM, text)).to_vec(),
            vec![
                inert_line(&capsule.id),
                format!("{:.3}", capsule.score),
                format!("{} of {}", capsule.matched, capsule.considered),
                format!("{:.3}", capsule.confidence),
                capsule.streak.to_string(),
            ],
        ];
        text.push_str(&output::table(&rows));
    }
    text
}
