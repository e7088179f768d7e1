//! `capsid solidify` and `capsid review`: settle the run that waits.

use super::hub_search;
use crate::commands::store::listing::INTENTS;
use crate::commands::{key, workspace};
use crate::output::{self, BAD, DIM, GOOD, HEAD, NAME, WARN, paint};
use capsid_engine::solidify::{self, Settlement, SolidifyRequest};
use capsid_engine::workspace::Workspace;
use capsid_model::text::{cut, inert, inert_line};
use capsid_model::{Code, Problem, Result};
use clap::Args;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

/// Settle the run that waits: validate the change, check its limits, keep and record it or take it back exactly.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid solidify                          keep the change if it validates, else take it back
  capsid solidify --dry-run                only see what would become of it
  capsid solidify --commit --summary 'Retry the upload once'")]
pub struct SolidifyArgs {
    /// Decide and print, but write nothing and take nothing back.
    #[arg(long)]
    dry_run: bool,

    /// Leave the change in the work tree even if it failed.
    #[arg(long)]
    no_rollback: bool,

    /// The intent to record.
    #[arg(long, value_parser = INTENTS)]
    intent: Option<String>,

    /// A summary for the capsule.
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,

    /// Commit exactly the cycle's files when it succeeded.
    #[arg(long)]
    commit: bool,

    /// Go on although capsid.toml changed since the run began.
    #[arg(long)]
    accept_config: bool,

    /// Tell no hub how a reused solution did; it is told by the next command that may.
    #[arg(long, visible_alias = "no-hub")]
    offline: bool,
}

/// Runs the command.
pub fn run(arguments: &SolidifyArgs, folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    let request = SolidifyRequest {
        dry_run: arguments.dry_run,
        keep_on_failure: arguments.no_rollback,
        intent: arguments.intent.clone(),
        summary: arguments.summary.clone(),
        commit: arguments.commit,
        accept_config: arguments.accept_config,
        ..SolidifyRequest::default()
    };
    let settled = solidify::solidify(&workspace, &request)?;
    let status = conclude(&settled, output::is_json());
    if !arguments.dry_run {
        hub_search::deliver(&workspace, arguments.offline);
    }
    Ok(status)
}

/// Look at the run that waits, and keep or reject it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid review                show the run that waits and its diff
  capsid review --approve      keep it if it validates
  capsid review --reject       take it back, every file as it was")]
pub struct ReviewArgs {
    /// Settle it: the same as `capsid solidify`.
    #[arg(long, conflicts_with = "reject")]
    approve: bool,

    /// Take its change back exactly; the patch is kept.
    #[arg(long)]
    reject: bool,
}

/// Runs `capsid review`.
pub fn review(arguments: &ReviewArgs, folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    let as_json = output::is_json();
    if arguments.approve {
        let settled = solidify::solidify(&workspace, &SolidifyRequest::default())?;
        let status = conclude(&settled, as_json);
        hub_search::deliver(&workspace, false);
        return Ok(status);
    }
    if arguments.reject {
        let rejected = solidify::review::reject(&workspace)?;
        if as_json {
            output::document(&rejected.to_json());
        } else {
            print_rejection(&rejected);
        }
        return Ok(0);
    }
    let waiting = solidify::review::waiting(&workspace)?;
    if as_json {
        output::document(&waiting.to_json());
    } else {
        show_waiting(&waiting);
    }
    Ok(0)
}

fn show_waiting(waiting: &solidify::review::Waiting) {
    let run = &waiting.run;
    output::line(format_args!("{}  {}", paint(HEAD, "run"), inert_line(&run.run_id)));
    let gene = run.selected_gene_id.as_deref().unwrap_or("none yet");
    output::line(format_args!("gene     {}", paint(NAME, inert_line(gene))));
    if let Some(capsule) = &run.selected_capsule_id {
        output::line(format_args!("capsule  {}", paint(NAME, inert_line(capsule))));
    }
    output::line(format_args!("signals  {}", inert_line(&run.signals.join(", "))));
    output::line(format_args!("change   {}", waiting.blast));
    output::line("");
    output::print(&coloured_diff(&waiting.patch));
}

fn print_rejection(rejected: &solidify::review::Rejected) {
    output::line(format_args!("{}  {}", paint(GOOD, "rejected"), inert_line(&rejected.run_id)));
    output::line(format_args!("  {} file(s) are as they were before the run", rejected.restored));
    for path in &rejected.left {
        output::line(format_args!(
            "  {} {}: changed since, left as it is",
            paint(WARN, "kept"),
            inert_line(path)
        ));
    }
    if let Some(patch) = &rejected.patch {
        output::line(format_args!("  the change is kept in {}", paint(DIM, patch.display())));
    }
}

/// Shows the diff and asks. Says no where nobody can answer.
pub(crate) fn reviewed(workspace: &Workspace, failed: bool) -> Result<bool> {
    if failed {
        return Ok(true);
    }
    let waiting = solidify::review::waiting(workspace)?;
    show_waiting(&waiting);
    if !std::io::stdin().is_terminal() {
        output::talk(format_args!(
            "{} nobody can answer here; run {} or {}.",
            paint(WARN, "review:"),
            paint(HEAD, "capsid review --approve"),
            paint(HEAD, "capsid review --reject")
        ));
        return Ok(false);
    }
    output::talk("Keep this change if it validates? [y/N] (n takes it back) ");
    let mut answer = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Problem::new(Code::IoError, format!("The answer could not be read: {error}.")))?;
    if answer.trim().eq_ignore_ascii_case("y") {
        return Ok(true);
    }
    print_rejection(&solidify::review::reject(workspace)?);
    Ok(false)
}

/// A diff with its lines coloured and nothing in it able to act on the terminal.
fn coloured_diff(patch: &str) -> String {
    let mut out = String::new();
    for line in cut(patch, 60_000).lines() {
        let safe = inert(line);
        let painted = match line.as_bytes().first() {
            Some(b'+') if !line.starts_with("+++") => paint(GOOD, safe),
            Some(b'-') if !line.starts_with("---") => paint(BAD, safe),
            Some(b'@') => paint(NAME, safe),
            _ => safe,
        };
        out.push_str(&painted);
        out.push('\n');
    }
    out
}

/// Prints what became of a cycle and gives the exit status: 1 when it failed, or could not be committed as asked.
pub(crate) fn conclude(settled: &Settlement, as_json: bool) -> u8 {
    print_settled(settled, as_json);
    if let Some(fingerprint) = &settled.new_key {
        output::talk(format_args!("{} {}", paint(NAME, "key:"), key::new_key(fingerprint)));
    }
    if let Some(problem) = &settled.seal_problem {
        output::caution("not sealed", problem);
    }
    if let Some(problem) = &settled.commit_problem {
        output::complain(problem);
    }
    u8::from(!settled.ok || settled.commit_problem.is_some())
}

/// What became of a cycle.
pub(crate) fn print_settled(settled: &Settlement, as_json: bool) {
    if as_json {
        output::document(&settled.to_json());
        return;
    }
    let mark = if settled.ok { paint(GOOD.bold(), "success") } else { paint(BAD.bold(), "failed") };
    let verdict = &settled.verdict;
    output::line(format_args!(
        "{mark}  {}  {}",
        paint(NAME, inert_line(settled.event_id())),
        inert_line(settled.gene_id())
    ));
    output::line(format_args!("  change      {} ({})", settled.blast, settled.blast.size().as_str()));
    for command in &verdict.commands {
        let mark = if command.ok { paint(GOOD, "passed") } else { paint(BAD, "failed") };
        output::line(format_args!(
            "  validation  {mark}  {}  {}",
            inert_line(&command.command),
            paint(DIM, &verdict.isolation)
        ));
    }
    if verdict.commands.is_empty() {
        output::line(format_args!("  validation  {}", paint(WARN, "none: nothing was proved")));
    }
    for warning in &verdict.warnings {
        output::line(format_args!("  {}     {}", paint(WARN, "warning"), inert_line(warning)));
    }
    if !settled.ok {
        for error in verdict.errors() {
            output::line(format_args!("  {}      {}", paint(BAD, "reason"), inert_line(&error)));
        }
    }
    if let Some((id, streak, confidence)) = settled.capsule_line() {
        output::line(format_args!(
            "  capsule     {}  streak {streak}, confidence {confidence}",
            paint(NAME, inert_line(id))
        ));
    }
    print_ending(settled);
}

fn print_ending(settled: &Settlement) {
    if let Some(report) = &settled.rollback {
        output::line(format_args!(
            "  taken back  {} file(s) are as they were before the cycle",
            report.restored.len() + report.removed.len()
        ));
        for path in &report.kept {
            output::line(format_args!(
                "  {}        {}: changed since, left as it is",
                paint(WARN, "kept"),
                inert_line(path)
            ));
        }
        for path in &report.lost {
            output::line(format_args!(
                "  {}        {}: ignored by git and deleted by the cycle, cannot be brought back",
                paint(BAD, "lost"),
                inert_line(path)
            ));
        }
        for path in &report.moved_heads {
            output::line(format_args!(
                "  {}        HEAD of {} moved during the cycle and was left where it is",
                paint(WARN, "note"),
                inert_line(path)
            ));
        }
    }
    if !settled.ok
        && let Some(patch) = &settled.patch
    {
        output::line(format_args!("  patch       {}", paint(DIM, patch.display())));
    }
    if let Some(commit) = &settled.commit {
        output::line(format_args!("  commit      {commit}"));
    }
    if settled.dry_run {
        output::line(paint(DIM, "  dry run: nothing was written"));
    }
}
