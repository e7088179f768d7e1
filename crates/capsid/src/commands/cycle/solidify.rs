//! `capsid solidify`: finishes the pending cycle.

use super::cycle_problem;
use super::hub_search;
use crate::commands::store::listing::INTENTS;
use crate::commands::{key, writable_workspace};
use crate::output::progress::ElapsedLine;
use crate::output::{self, BAD, DIM, GOOD, HEAD, NAME, WARN, paint};
use capsid_engine::run::ViewLevel;
use capsid_engine::solidify::{self, CycleOutcome, SolidifyRequest};
use capsid_model::Result;
use capsid_model::report::CommandResult;
use capsid_model::text::{cut, inert_line};
use clap::Args;
use std::path::Path;

/// Finish the pending cycle: validate the change, check its limits, and record the outcome.
///
/// A change that you or your own agent made in the tree stays there, whatever the outcome. A change that an agent made in
/// a private view is applied if it is proven, and dropped otherwise.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid solidify                          validate the change and record what became of it
  capsid solidify --dry-run                only see what would become of it
  capsid solidify --commit --summary 'Retry the upload once'")]
pub struct SolidifyArgs {
    /// Decide and print, but write nothing.
    #[arg(long)]
    dry_run: bool,

    /// Has no effect any more: a failed change in the tree is always left there.
    #[arg(long, hide = true)]
    no_rollback: bool,

    /// The intent to record.
    #[arg(long, value_parser = INTENTS)]
    intent: Option<String>,

    /// A title for the change, in at most 72 characters.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// A summary for the capsule.
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,

    /// Commit exactly the cycle's files when it succeeded.
    #[arg(long)]
    commit: bool,

    /// Go on although capsid.toml changed since the run began.
    #[arg(long)]
    accept_config: bool,

    /// Report the result of a reused solution to no hub; the next command that may reports it.
    #[arg(long, visible_alias = "no-hub")]
    offline: bool,
}

/// How much of the output of a failed command is shown; its event has all of it.
const OUTPUT_LINES: usize = 6;
/// The longest line of it.
const MAX_OUTPUT_LINE: usize = 160;

/// Runs the command.
pub fn run(arguments: &SolidifyArgs, folder: &Path) -> Result<u8> {
    let workspace = writable_workspace(folder)?;
    if arguments.no_rollback {
        output::talk(format_args!(
            "{} --no-rollback has no effect: a failed change in the tree is always left there.",
            paint(WARN, "note:")
        ));
    }
    let request = SolidifyRequest {
        dry_run: arguments.dry_run,
        intent: arguments.intent.clone(),
        title: arguments.title.clone(),
        summary: arguments.summary.clone(),
        commit: arguments.commit,
        accept_config: arguments.accept_config,
        ..SolidifyRequest::default()
    };
    let progress = if output::is_json() { None } else { ElapsedLine::start("validating") };
    let settled = solidify::solidify(&workspace, &request);
    drop(progress);
    let settled = settled?;
    let status = conclude(&settled, output::is_json());
    if !arguments.dry_run {
        hub_search::deliver(&workspace, arguments.offline);
    }
    Ok(status)
}

/// Files that stay in the tree, and how to restore them.
pub(super) fn print_left_files<'a>(run_id: &str, files: impl Iterator<Item = &'a str>) {
    let files: Vec<&str> = files.collect();
    let shown: Vec<String> = files.iter().take(5).map(|path| inert_line(path)).collect();
    let more = if files.len() > 5 { ", ..." } else { "" };
    output::line(format_args!(
        "  {} {} file(s) changed since {} began: {}{more}",
        paint(WARN, "not rolled back:"),
        files.len(),
        inert_line(run_id),
        shown.join(", "),
    ));
    output::line(format_args!(
        "              {} restores a file, {} all of them",
        paint(HEAD, "capsid review --rollback FILE"),
        paint(HEAD, "capsid review --rollback --all"),
    ));
    output::line("              the list may include files that you edited yourself");
}

/// Prints what became of a cycle and gives the exit status: 1 when it failed, or could not be committed as requested.
pub(crate) fn conclude(settled: &CycleOutcome, as_json: bool) -> u8 {
    print_settled(settled, as_json);
    if let Some(fingerprint) = &settled.new_key {
        output::talk(format_args!("{} {}", paint(NAME, "key:"), key::new_key(fingerprint)));
    }
    if let Some(problem) = &settled.seal_problem {
        output::caution("not sealed", problem);
    }
    for problem in settled.apply_problem.iter().chain(&settled.commit_problem) {
        output::complain(problem);
    }
    u8::from(!settled.ok || settled.apply_problem.is_some() || settled.commit_problem.is_some())
}

/// What became of a cycle.
pub(crate) fn print_settled(settled: &CycleOutcome, as_json: bool) {
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
        if !command.ok {
            print_output_end(command);
        }
    }
    if verdict.commands.is_empty() {
        output::line(format_args!("  validation  {}", paint(WARN, "none: nothing was proved")));
    }
    cycle_problem::print_proof(settled);
    for warning in &verdict.warnings {
        output::line(format_args!("  {}     {}", paint(WARN, "warning"), inert_line(warning)));
    }
    if !settled.ok {
        for error in verdict.errors() {
            output::line(format_args!("  {}      {}", paint(BAD, "reason"), inert_line(&error)));
        }
        if !settled.dry_run && verdict.commands.iter().any(|command| !command.ok) {
            let id = inert_line(settled.event_id());
            output::line(format_args!(
                "  more        {}",
                paint(HEAD, format_args!("capsid events show {id}"))
            ));
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

/// A path in the current folder without that folder.
fn shown_path(path: &Path) -> &Path {
    let folder = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&folder).unwrap_or(path)
}

/// The end of what a failed command printed, which cannot act on the terminal.
fn print_output_end(command: &CommandResult) {
    let complaint = if command.stderr.trim().is_empty() { &command.stdout } else { &command.stderr };
    let lines: Vec<&str> = complaint.lines().filter(|line| !line.trim().is_empty()).collect();
    for line in &lines[lines.len().saturating_sub(OUTPUT_LINES)..] {
        output::line(format_args!("    {}", paint(DIM, inert_line(cut(line, MAX_OUTPUT_LINE)))));
    }
}

fn print_ending(settled: &CycleOutcome) {
    let facts = &settled.facts;
    match (settled.ok, facts.view.level) {
        (true, ViewLevel::InPlace) | (false, ViewLevel::InPlace) if !settled.is_left_in_tree() => {}
        (false, ViewLevel::InPlace) => {
            print_left_files(&settled.run_id, settled.changed_files.iter().map(|file| file.path.as_str()));
        }
        (true, _) if settled.is_applied() => output::line(format_args!(
            "  applied     {} file(s); {} undoes it",
            settled.changed_files.len(),
            paint(HEAD, format_args!("capsid undo {}", settled.run_id))
        )),
        (true, _) => output::line(format_args!("  applied     {}", paint(WARN, "nothing; see below"))),
        (false, _) => output::line("  dropped     your tree was not touched"),
    }
    for path in &facts.merged {
        output::line(format_args!("  merged      {} with your edits", inert_line(path)));
    }
    for path in settled.applied.iter().flat_map(|applied| applied.left_messages()) {
        output::line(format_args!("  {}        {}", paint(WARN, "left"), inert_line(&path)));
    }
    if facts.dropped.outside > 0 {
        output::line(format_args!(
            "  {}        {} file(s) outside of the repository were written and discarded",
            paint(DIM, "note"),
            facts.dropped.outside
        ));
    }
    if !facts.agent_commits.is_empty() {
        output::line(format_args!(
            "  {}        the agent made {} commit(s) in its view; they were not adopted",
            paint(DIM, "note"),
            facts.agent_commits.len()
        ));
    }
    if (!settled.ok || settled.apply_problem.is_some())
        && let Some(patch) = &settled.patch
    {
        output::line(format_args!("  patch       {}", paint(DIM, shown_path(patch).display())));
    }
    if let Some(commit) = &settled.commit {
        output::line(format_args!("  commit      {commit}"));
    }
    if settled.dry_run {
        output::line(paint(DIM, "  dry run: nothing was written"));
    }
}
