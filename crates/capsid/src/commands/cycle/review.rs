//! `capsid review`: shows the run that waits, and approves it, rejects it or restores files.

use super::hub_search;
use super::solidify::{conclude, print_left_files};
use crate::commands::writable_workspace;
use crate::output::{self, BAD, DIM, GOOD, HEAD, NAME, WARN, paint};
use capsid_engine::solidify::restore::{self, RestoreFiles};
use capsid_engine::solidify::review::{self, RejectedRun, WaitingRun};
use capsid_engine::solidify::{self, SolidifyRequest};
use capsid_engine::workspace::Workspace;
use capsid_model::text::{cut, inert, inert_line};
use capsid_model::{Code, Problem, Result, json};
use clap::Args;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

/// Show the run that waits, and approve it, reject it, or restore files that it changed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid review                          show the run that waits and its diff
  capsid review --approve                validate and apply it
  capsid review --reject                 drop it; files in your tree stay as they are
  capsid review --rollback src/a.js      restore a file that the last run changed in your tree
  capsid review --rollback --all         restore all of them")]
pub struct ReviewArgs {
    /// Finish the run, or apply its change if it is proven already.
    #[arg(long, conflicts_with_all = ["reject", "rollback"])]
    approve: bool,

    /// Reject the run. A private view is dropped, files in your tree stay as they are, and the patch is stored.
    #[arg(long, conflicts_with = "rollback")]
    reject: bool,

    /// Restore files as they were when the run began. Files that changed since the run ended are left alone.
    #[arg(long)]
    rollback: bool,

    /// With --rollback: restore every file that the run changed.
    #[arg(long, requires = "rollback", conflicts_with = "files")]
    all: bool,

    /// With --rollback: the run; the newest that changed your tree otherwise.
    #[arg(long, value_name = "RUN", requires = "rollback")]
    run: Option<String>,

    /// With --rollback: the files to restore, relative to the top of the repository.
    #[arg(value_name = "FILE", requires = "rollback")]
    files: Vec<String>,
}

/// Runs `capsid review`.
pub fn run(arguments: &ReviewArgs, folder: &Path) -> Result<u8> {
    let workspace = writable_workspace(folder)?;
    if arguments.approve {
        return approve(&workspace);
    }
    if arguments.reject {
        let rejected = review::reject(&workspace)?;
        match output::is_json() {
            true => output::document(&rejected.to_json()),
            false => print_rejection(&rejected),
        }
        return Ok(0);
    }
    if arguments.rollback {
        return restore(arguments, &workspace);
    }
    let waiting = review::show_waiting(&workspace)?;
    match output::is_json() {
        true => output::document(&waiting.to_json()),
        false => print_waiting(&waiting),
    }
    Ok(0)
}

/// A change that is proven is applied; any other run is finished first.
fn approve(workspace: &Workspace) -> Result<u8> {
    let request = SolidifyRequest { approved: true, ..SolidifyRequest::default() };
    match solidify::solidify(workspace, &request) {
        Ok(outcome) => {
            let status = conclude(&outcome, output::is_json());
            hub_search::deliver(workspace, false);
            Ok(status)
        }
        Err(problem) if problem.code == Code::NothingPending => match review::unapplied(workspace)? {
            Some((run, _)) => super::apply::apply(workspace, &run.run_id, true),
            None => Err(problem),
        },
        Err(problem) => Err(problem),
    }
}

fn restore(arguments: &ReviewArgs, workspace: &Workspace) -> Result<u8> {
    let wanted = match (arguments.all, arguments.files.is_empty()) {
        (true, _) => RestoreFiles::All,
        (false, false) => RestoreFiles::Named(arguments.files.clone()),
        (false, true) => {
            return Err(Problem::new(
                Code::InputInvalid,
                "`--rollback` needs to know which files to restore.",
            )
            .fix("Name them, or restore all that the run changed with `--all`."));
        }
    };
    let restored = restore::restore(workspace, arguments.run.as_deref(), &wanted)?;
    if output::is_json() {
        let (restored_paths, left) = (restored.restored_paths(), restored.left_messages());
        output::document(&json!({"ok": left.is_empty(), "restored": restored_paths, "left": left}));
    } else {
        for path in &restored.restored_paths() {
            output::line(format_args!("{}  {}", paint(GOOD, "restored"), inert_line(path)));
        }
        for left in &restored.left_messages() {
            output::line(format_args!("{}      {}", paint(WARN, "left"), inert_line(left)));
        }
    }
    Ok(u8::from(!restored.left.is_empty()))
}

fn print_waiting(waiting: &WaitingRun) {
    let run = &waiting.run;
    output::line(format_args!("{}  {}", paint(HEAD, "run"), inert_line(&run.run_id)));
    let gene = run.selected_gene_id.as_deref().unwrap_or("none yet");
    output::line(format_args!("gene     {}", paint(NAME, inert_line(gene))));
    if let Some(capsule) = &run.selected_capsule_id {
        output::line(format_args!("capsule  {}", paint(NAME, inert_line(capsule))));
    }
    output::line(format_args!("signals  {}", inert_line(&run.signals.join(", "))));
    output::line(format_args!("change   {}", waiting.blast));
    if waiting.is_proven {
        output::line(format_args!("state    {}", paint(GOOD, "proven here, not applied")));
    }
    output::line("");
    output::print(&coloured_diff(&waiting.patch));
}

fn print_rejection(rejected: &RejectedRun) {
    output::line(format_args!("{}  {}", paint(GOOD, "rejected"), inert_line(&rejected.run_id)));
    if rejected.left.is_empty() {
        output::line("  your tree was not touched");
    } else {
        print_left_files(&rejected.run_id, rejected.left.iter().map(String::as_str));
    }
    if let Some(patch) = &rejected.patch {
        output::line(format_args!("  patch       {}", paint(DIM, patch.display())));
    }
}

/// Shows the diff and asks. Says no where nobody can answer.
pub(crate) fn reviewed(workspace: &Workspace, failed: bool) -> Result<bool> {
    if failed {
        return Ok(true);
    }
    let waiting = review::show_waiting(workspace)?;
    print_waiting(&waiting);
    if !std::io::stdin().is_terminal() {
        output::talk(format_args!(
            "{} nobody can answer here; run {} or {}.",
            paint(WARN, "review:"),
            paint(HEAD, "capsid review --approve"),
            paint(HEAD, "capsid review --reject")
        ));
        return Ok(false);
    }
    output::talk("Apply this change if it validates? [y/N] (n drops it) ");
    let mut answer = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Problem::new(Code::IoError, format!("The answer could not be read: {error}.")))?;
    if answer.trim().eq_ignore_ascii_case("y") {
        return Ok(true);
    }
    print_rejection(&review::reject(workspace)?);
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
