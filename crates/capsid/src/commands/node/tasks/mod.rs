//! `capsid node tasks`.

pub(crate) mod ask;
pub(crate) mod bounty;
pub(crate) mod claim;
pub(crate) mod complete;
pub(crate) mod propose;
pub(crate) mod release;
pub(crate) mod swarm;

use super::connection::HubConnectionArgs;
use super::print::{self, amount, away, list, number, raw, text};
use crate::output::{self, DIM, GOOD, WARN, paint};
use capsid_client::NodeClient;
use capsid_client::node::encoded;
use capsid_model::{Clock, Result, SystemClock, Time, Value, json};
use clap::Args;
use std::path::Path;

/// See what there is to do, and what this node may take.
///
/// What pays most comes first. A task that this node may not take says why: it asks for more reputation, or it is your own
/// or kept for somebody else.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node tasks                        what is open
  capsid node tasks --mine                 what this node took, and what became of it
  capsid node tasks --json | jq -r '.tasks[] | select(.may_take) | .task_id'")]
pub struct NodeTasksArgs {
    /// Only what this node took.
    #[arg(long)]
    mine: bool,
    /// How many at most: 1 to 100.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=100))]
    limit: u16,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// Runs the command.
pub fn run(arguments: &NodeTasksArgs, folder: &Path) -> Result<u8> {
    let node = arguments.hub.node(folder)?;
    let answer = match arguments.mine {
        true => node.task_my(usize::from(arguments.limit))?,
        false => open(&node, arguments.limit)?,
    };
    if output::is_json() {
        output::document(&answer);
    } else if arguments.mine {
        print_mine(&answer);
    } else {
        print_open(&answer);
    }
    Ok(0)
}

/// All open tasks, each with whether this node may take it: the hub lists apart what that is.
fn open(node: &NodeClient, limit: u16) -> Result<Value> {
    let limit = limit.to_string();
    let mut answer = node.get("/a2a/task/list", &[("limit", limit.as_str())])?;
    let ours = node.task_list(100)?;
    let public = node.get(&format!("/a2a/nodes/{}", encoded(node.id())), &[]).unwrap_or_default();
    let mut tasks: Vec<Value> = list(&answer, "tasks").to_vec();
    // A task reserved for this node is shown to it alone.
    let is_listed = |tasks: &[Value], id: &str| tasks.iter().any(|task| raw(task, "task_id") == id);
    let held: Vec<Value> = list(&ours, "tasks")
        .iter()
        .filter(|task| task.get("reserved_for").is_some_and(Value::is_string))
        .cloned()
        .collect();
    tasks.extend(held.into_iter().filter(|task| !is_listed(list(&answer, "tasks"), raw(task, "task_id"))));
    for task in &mut tasks {
        let may = is_listed(list(&ours, "tasks"), raw(task, "task_id"));
        if let Some(task) = task.as_object_mut() {
            task.insert("may_take".to_owned(), may.into());
        }
    }
    answer["tasks"] = tasks.into();
    answer["reputation"] = public.get("reputation_score").cloned().unwrap_or_default();
    Ok(answer)
}

fn print_open(answer: &Value) {
    let tasks = list(answer, "tasks");
    if tasks.is_empty() {
        output::talk("Nobody asks for anything just now.");
        return;
    }
    let have = number(answer, "reputation");
    let rows = tasks.iter().map(|task| {
        vec![
            text(task, "task_id"),
            bounty(task),
            print::state(raw(task, "status")),
            may(task, have),
            until(task, "expires_at"),
            print::line(raw(task, "title"), 80),
        ]
    });
    print::table(&["task", "credits", "state", "for this node", "ends", "title"], rows.collect(), &[]);
    if let Some(task) = tasks.iter().find(|task| task["may_take"] == json!(true)) {
        print::next(format_args!("capsid node claim {}", text(task, "task_id")));
    }
}

/// Whether this node may take a task, and if not what stands in the way.
fn may(task: &Value, have: Option<f64>) -> String {
    let need = number(task, "min_reputation").unwrap_or_default();
    if task["may_take"] == json!(true) {
        return paint(GOOD, "may take it");
    }
    if have.is_none_or(|have| have < need) && need > 0.0 {
        return paint(WARN, format_args!("needs reputation {}", amount(need)));
    }
    paint(DIM, "not for it")
}

fn print_mine(answer: &Value) {
    let tasks = list(answer, "tasks");
    if tasks.is_empty() {
        output::talk("This node has taken no task.");
        return;
    }
    let rows = tasks.iter().map(|task| {
        let promised =
            if raw(task, "status") == "claimed" { until(task, "commitment_deadline") } else { String::new() };
        vec![
            text(task, "task_id"),
            bounty(task),
            print::state(raw(task, "status")),
            print::state(raw(task, "my_submission_status")),
            promised,
            print::line(raw(task, "title"), 80),
        ]
    });
    print::table(&["task", "credits", "state", "ours", "promised", "title"], rows.collect(), &[]);
}

fn bounty(task: &Value) -> String {
    number(task, "bounty_amount").map_or_else(|| "-".to_owned(), amount)
}

fn until(task: &Value, name: &str) -> String {
    Time::parse(raw(task, name)).map_or_else(|| "-".to_owned(), |at| away(at, SystemClock.now()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_way_is_told() {
        let of = |may_take: bool, need: f64, have: Option<f64>| {
            let task = json!({"may_take": may_take, "min_reputation": need});
            anstream::adapter::strip_str(&may(&task, have)).to_string()
        };
        assert_eq!(of(true, 60.0, Some(10.0)), "may take it");
        assert_eq!(of(false, 60.0, Some(50.0)), "needs reputation 60");
        assert_eq!(of(false, 60.0, None), "needs reputation 60");
        assert_eq!(of(false, 10.0, Some(50.0)), "not for it");
    }
}
