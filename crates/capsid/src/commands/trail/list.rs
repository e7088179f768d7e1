//! `capsid trail list`: every chain of the home.

use super::repository::SelectedChains;
use crate::output::{self, NAME, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::{Result, Value, json};
use capsid_seal::TrailHome;
use capsid_seal::chain::ChainReader;
use capsid_seal::sources::ChainSource;
use clap::Args;
use std::path::Path;

/// List the chains: one for each session of each tool.
///
/// Inside a repository only those of agents that worked in it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail list                      those of this repository
  capsid trail list --all
  capsid trail list --json | jq '.chains[] | select(.tool == \"codex\")'")]
pub(super) struct TrailListArgs {
    /// The chains of all repositories.
    #[arg(long)]
    all: bool,
}

struct ChainLine {
    tool: String,
    session: String,
    chain: ChainSource,
    content: Result<ChainSize>,
}

/// How many records there are, how many wait for a signature, and the hash of the last one.
struct ChainSize {
    count: u64,
    pending: u64,
    head: Option<String>,
}

pub(super) fn run(arguments: &TrailListArgs, home: &TrailHome, folder: &Path) -> Result<u8> {
    let mut selected = SelectedChains::select(home, folder, arguments.all)?;
    let chains = listed(std::mem::take(&mut selected.chains));
    selected.print_left_out();
    if output::is_json() {
        let entries: Vec<Value> = chains.iter().map(entry).collect();
        output::document(&json!({
            "home": home.root(), "repository": selected.repository, "left_out": selected.left_out(), "chains": entries,
        }));
        return Ok(0);
    }
    if let (true, Some(repository), 1..) = (chains.is_empty(), &selected.repository, selected.left_out()) {
        let display = inert_line(&repository.to_string_lossy());
        output::line(format_args!("no chains of this repository yet ({display})"));
        return Ok(0);
    }
    if chains.is_empty() {
        let folder = home.chains();
        let display = inert_line(&folder.to_string_lossy());
        output::line(match folder.is_dir() {
            true => format!("no chains yet (looked in {display})"),
            false => format!("no chains yet ({display} does not exist)"),
        });
        output::talk(
            "`capsid trail install TOOL` seals from now on, `capsid trail seal --all` what is there already.",
        );
        return Ok(0);
    }
    let mut tool = None;
    for listed in &chains {
        if tool != Some(&listed.tool) {
            output::line(format_args!("{}/", paint(NAME, inert_line(&listed.tool))));
            tool = Some(&listed.tool);
        }
        let count = match &listed.content {
            Ok(ChainSize { count, pending: 0, .. }) => format!("{count:>4} records"),
            Ok(ChainSize { count, pending, .. }) => {
                format!("{count:>4} records, {} not signed yet", paint(WARN, pending))
            }
            Err(problem) => inert_line(&problem.message),
        };
        output::line(format_args!("  {:<40} {count}", inert_line(&listed.session)));
    }
    Ok(0)
}

fn listed(chains: Vec<ChainSource>) -> Vec<ChainLine> {
    let mut listed: Vec<ChainLine> = chains
        .into_iter()
        .filter(|chain| !chain.is_meta)
        .map(|chain| ChainLine {
            tool: chain.tool.clone().unwrap_or_else(|| "shared".to_owned()),
            session: chain.session.clone().unwrap_or_else(|| chain.label.clone()),
            content: content(&chain),
            chain,
        })
        .collect();
    listed.sort_by(|a, b| (&a.tool, &a.session).cmp(&(&b.tool, &b.session)));
    listed
}

fn content(chain: &ChainSource) -> Result<ChainSize> {
    let reader = ChainReader::open(chain.path())?;
    let tenant = chain.tenant.as_deref();
    let head = reader.head(tenant)?.map(|stored| stored.seal.hash);
    Ok(ChainSize { count: reader.count(tenant)?, pending: reader.pending(tenant)?, head })
}

fn entry(listed: &ChainLine) -> Value {
    let mut entry = json!({"tool": listed.tool, "session": listed.session, "path": listed.chain.path(), "tenant": listed.chain.tenant});
    match &listed.content {
        Ok(ChainSize { count, pending, head }) => {
            entry["capsules"] = json!(count);
            entry["pending"] = json!(pending);
            entry["head"] = json!(head);
        }
        Err(problem) => entry["error"] = json!({"code": problem.code.as_str(), "message": problem.message}),
    }
    entry
}
