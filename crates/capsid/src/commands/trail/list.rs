//! `capsid trail list`: every chain of the home.

use super::Json;
use crate::output::{self, NAME, paint};
use capsid_model::text::inert_line;
use capsid_model::{Result, Value, json};
use capsid_seal::Home;
use capsid_trail::chains::{Listed, list};
use clap::Args;

/// List the chains: one for each session of each tool.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail list
  capsid trail list --json | jq '.chains[] | select(.tool == \"codex\")'")]
pub(super) struct Arguments {
    #[command(flatten)]
    pub json: Json,
}

pub(super) fn run(arguments: &Arguments, home: &Home) -> Result<u8> {
    let chains = list(home)?;
    if arguments.json.json {
        let entries: Vec<Value> = chains.iter().map(entry).collect();
        output::document(&json!({"home": home.root(), "chains": entries}));
        return Ok(0);
    }
    if chains.is_empty() {
        let folder = home.chains();
        let shown = inert_line(&folder.to_string_lossy());
        output::line(match folder.is_dir() {
            true => format!("no chains yet (looked in {shown})"),
            false => format!("no chains yet ({shown} does not exist)"),
        });
        output::talk("`capsid trail install TOOL` seals from now on, `capsid trail seal --all` what is there already.");
        return Ok(0);
    }
    let mut tool = None;
    for chain in &chains {
        if tool != Some(&chain.tool) {
            output::line(format_args!("{}/", paint(NAME, inert_line(&chain.tool))));
            tool = Some(&chain.tool);
        }
        let count = chain.count.as_ref().map_or_else(|problem| inert_line(&problem.message), |n| format!("{n:>4} capsules"));
        output::line(format_args!("  {:<40} {count}", inert_line(&chain.session)));
    }
    Ok(0)
}

fn entry(chain: &Listed) -> Value {
    let mut entry = json!({"tool": chain.tool, "session": chain.session, "path": chain.path, "head": chain.head});
    match &chain.count {
        Ok(count) => entry["capsules"] = json!(count),
        Err(problem) => entry["error"] = json!(problem.message),
    }
    entry
}
