//! `capsid node claim`.

use crate::commands::node::connection::HubConnectionArgs;
use crate::commands::node::print;
use crate::commands::node::print::{credits, moment, number, raw, sheet, text};
use crate::output::{self, NAME, paint};
use capsid_model::{Clock, Result, SystemClock, Time, Value};
use clap::Args;
use std::path::Path;

/// Take a task: from then on this node works on it, and nobody else.
///
/// With `--minutes` it promises to be done by then; a promise that is not kept opens the task to others. Without one the
/// hub waits for a day.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node claim task_1a2b                  take it
  capsid node claim task_1a2b --minutes 90     and promise to be done in an hour and a half
  capsid node complete task_1a2b sha256:2f6c.. hand in what solves it")]
pub struct NodeClaimArgs {
    /// The task.
    #[arg(value_name = "TASK")]
    task: String,
    /// In how many minutes it will be done: 5 to 1440.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(5..=1440))]
    minutes: Option<i64>,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// Runs the command.
pub fn run(arguments: &NodeClaimArgs, folder: &Path) -> Result<u8> {
    let node = arguments.hub.node(folder)?;
    let deadline = arguments.minutes.map(|minutes| commitment_deadline(SystemClock.now(), minutes).iso());
    let answer = node.task_claim(&arguments.task, deadline.as_deref())?;
    if output::is_json() {
        output::document(&answer);
        return Ok(0);
    }
    let task = answer.get("task").cloned().unwrap_or_default();
    print::done(format_args!("{} works on {}", paint(NAME, node.id()), text(&answer, "task_id")));
    sheet(&[
        ("title", text(&task, "title")),
        ("signals", text(&task, "signals")),
        ("pays", number(&task, "bounty_amount").map(credits).unwrap_or_default()),
        ("promised", moment(&answer, "commitment_deadline")),
        ("ends", moment(&task, "expires_at")),
        ("part of", text(&task, "parent_task_id")),
    ]);
    for name in ["parent_instruction", "body"] {
        if !raw(&task, name).is_empty() {
            output::line("");
            print::paragraph(raw(&task, name), 4000);
        }
    }
    print::next(format_args!("capsid node complete {} ASSET_ID", text(&answer, "task_id")));
    Ok(0)
}

/// A moment so many minutes ahead. The hub counts from when the request arrives, and takes neither less than five minutes
/// nor more than a day.
fn commitment_deadline(now: Time, minutes: i64) -> Time {
    let slack = match minutes {
        5 => 5_000,
        1440 => -5_000,
        _ => 0,
    };
    Time(now.0 + minutes * 60_000 + slack)
}

/// A task of an answer, whatever it is called there.
pub(crate) fn task_of(answer: &Value) -> String {
    let task = answer.get("task").unwrap_or(&Value::Null);
    let title = text(task, "title");
    if title.is_empty() { text(answer, "task_id") } else { format!("{}: {title}", text(answer, "task_id")) }
}
