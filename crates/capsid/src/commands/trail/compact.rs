//! `capsid trail compact`: smaller files with the same records.

use super::chains::{all, named};
use crate::output::{self, DIM, GOOD, NAME, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, Value, json};
use capsid_seal::TrailHome;
use capsid_seal::chain::{CompactOutcome, compact};
use capsid_seal::sources::ChainSource;
use clap::Args;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Rewrite the files of your own chains so that they take less room. Every record stays as it is.
///
/// The new file is compared with the old one before it takes its place. A file that somebody writes is left alone.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail compact --all --dry-run     what would be gained
  capsid trail compact --all
  capsid trail compact codex/019e          one session")]
pub(super) struct TrailCompactArgs {
    /// The chains: sessions of the home, or tool/session.
    #[arg(value_name = "CHAIN", required_unless_present = "all")]
    chains: Vec<String>,
    /// Every chain of the home, and the meta-chain.
    #[arg(long, conflicts_with = "chains")]
    all: bool,
    /// Only say what would be gained.
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(arguments: &TrailCompactArgs, home: &TrailHome) -> Result<u8> {
    let chains = match arguments.all {
        true => all(home)?.into_iter().filter(|chain| is_own(home, chain.path())).collect(),
        false => arguments.chains.iter().map(|name| own_chain(home, name)).collect::<Result<Vec<_>>>()?,
    };
    // A shared database has many chains.
    let files: BTreeSet<PathBuf> = chains.iter().map(|chain| chain.path().to_owned()).collect();
    let mut entries = Vec::new();
    let (mut gained, mut failed) = (0, 0);
    for file in &files {
        let outcome = compact(file, arguments.dry_run);
        failed += u64::from(matches!(outcome, Err(_) | Ok(CompactOutcome::InUse)));
        if let Ok(CompactOutcome::Compacted { before, after }) = outcome {
            gained += before - after;
        }
        match output::is_json() {
            true => entries.push(entry(file, &outcome)),
            false => print(file, outcome, arguments.dry_run),
        }
    }
    if output::is_json() {
        output::document(&json!({"dry_run": arguments.dry_run, "gained": gained, "files": entries}));
    } else {
        let would = if arguments.dry_run { "would be " } else { "" };
        output::line(format_args!("{} {would}gained in {} file(s)", size(gained), files.len()));
    }
    Ok(u8::from(failed > 0))
}

/// Whether a file is one that this home writes. What was imported stays as it came.
fn is_own(home: &TrailHome, path: &Path) -> bool {
    path.starts_with(home.chains()) || path == home.meta() || home.shared() == Some(path)
}

fn own_chain(home: &TrailHome, name: &str) -> Result<ChainSource> {
    let chain = named(home, name)?;
    match is_own(home, chain.path()) {
        true => Ok(chain),
        false => Err(Problem::new(Code::InputInvalid, format!("`{name}` is no chain of your own trail."))
            .fix("`capsid trail list --all` shows your chains; files of others are left as they are.")),
    }
}

fn print(file: &Path, outcome: Result<CompactOutcome>, dry_run: bool) {
    let name = paint(NAME, inert_line(&file.to_string_lossy()));
    match outcome {
        Ok(CompactOutcome::Compacted { before, after }) => {
            let word = if dry_run { paint(DIM, "would compact") } else { paint(GOOD, "compacted") };
            output::line(format_args!("{word} {name}: {} -> {}", size(before), size(after)));
        }
        Ok(CompactOutcome::Unchanged) => {
            output::line(format_args!("{} {name}", paint(DIM, "nothing to gain")));
        }
        Ok(CompactOutcome::InUse) => {
            output::talk(format_args!("{} {name}: another process has it open", paint(WARN, "left alone:")));
        }
        Err(problem) => output::complain(&problem),
    }
}

fn entry(file: &Path, outcome: &Result<CompactOutcome>) -> Value {
    let mut entry = json!({"path": file});
    match outcome {
        Ok(CompactOutcome::Compacted { before, after }) => {
            entry["outcome"] = json!("compacted");
            entry["before"] = json!(before);
            entry["after"] = json!(after);
        }
        Ok(CompactOutcome::Unchanged) => entry["outcome"] = json!("unchanged"),
        Ok(CompactOutcome::InUse) => entry["outcome"] = json!("in_use"),
        Err(problem) => entry["error"] = json!({"code": problem.code.as_str(), "message": problem.message}),
    }
    entry
}

/// A number of bytes for a reader.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
