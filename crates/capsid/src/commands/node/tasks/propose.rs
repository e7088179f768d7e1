//! `capsid node propose`.

use crate::commands::node::connection::HubConnectionArgs;
use crate::commands::node::print;
use crate::commands::node::print::{list, raw, text};
use crate::commands::node::redact_outbound::OutboundRedactor;
use crate::commands::store::documents::{at, read_bytes};
use crate::output;
use capsid_model::{Code, Problem, Result, Value, json};
use clap::Args;
use std::path::Path;

/// The fewest and the most parts.
const PARTS: std::ops::RangeInclusive<usize> = 2..=10;
/// What all parts together may weigh: the rest is for who proposes and who merges.
const HEAVIEST: f64 = 0.85;
/// The longest title of a part.
const TITLE: usize = 300;

/// Cut a task that this node took into parts, which others take.
///
/// 2 to 10 parts, whose weights together are at most 0.85: 5 % of the bounty are for who proposes them, and 10 % for who
/// merges the results. Everything is checked before anything is sent.
#[derive(Debug, Args)]
#[command(after_help = "\
The first --weight is that of the first --part, the second of the second, and so on; the same for --signal and --body,
of which there are as many as parts, or none. A file holds a list of objects with title, weight, signals and body.

Examples:
  capsid node propose task_1a2b --part 'Find the cause' --weight 0.4 --part 'Write the test' --weight 0.45
  capsid node propose task_1a2b --file parts.json        [{\"title\": \"Find the cause\", \"weight\": 0.4}, ...]
  capsid node swarm task_1a2b                            see how the parts stand")]
pub struct NodeProposeArgs {
    /// The task.
    #[arg(value_name = "TASK")]
    task: String,
    /// What a part is called; once for each part.
    #[arg(long = "part", value_name = "TITLE", required_unless_present = "file", conflicts_with = "file")]
    parts: Vec<String>,
    /// What a part weighs, above 0.
    #[arg(long = "weight", value_name = "W", conflicts_with = "file")]
    weights: Vec<f64>,
    /// What a part is about, with commas between.
    #[arg(long = "signal", alias = "signals", value_name = "SIGNAL", conflicts_with = "file")]
    signals: Vec<String>,
    /// What is to be done in a part.
    #[arg(long = "body", value_name = "TEXT", conflicts_with = "file")]
    bodies: Vec<String>,
    /// Read the parts from a JSON file; `-` reads stdin.
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// Runs the command.
pub fn run(arguments: &NodeProposeArgs, folder: &Path) -> Result<u8> {
    let parts = match &arguments.file {
        Some(file) => from_file(file)?,
        None => from_options(arguments)?,
    };
    check(&parts)?;
    let mut redactor = OutboundRedactor::default();
    let parts = redactor.document(&parts.into());
    let node = arguments.hub.node(folder)?;
    redactor.print_removed();
    let answer = node.propose(&arguments.task, &parts)?;
    if output::is_json() {
        output::document(&answer);
        return Ok(0);
    }
    let rows: Vec<Vec<String>> = list(&answer, "subtasks")
        .iter()
        .map(|part| {
            let weight = print::number(part, "contribution_weight").map(print::amount).unwrap_or_default();
            vec![text(part, "task_id"), weight, print::line(raw(part, "title"), 80)]
        })
        .collect();
    print::done(format_args!("{} is cut into {} parts", text(&answer, "parent_task_id"), rows.len()));
    print::table(&["part", "weight", "title"], rows, &[]);
    print::next(format_args!("capsid node swarm {}", text(&answer, "parent_task_id")));
    Ok(0)
}

fn wrong(what: impl Into<String>, fix: &str) -> Problem {
    Problem::new(Code::InputInvalid, what).fix(fix)
}

fn from_options(arguments: &NodeProposeArgs) -> Result<Vec<Value>> {
    let count = arguments.parts.len();
    if arguments.weights.len() != count {
        let what = format!("There are {count} parts and {} weights.", arguments.weights.len());
        return Err(wrong(what, "Give one --weight for each --part, in the same order."));
    }
    for (name, listed) in [("--signal", arguments.signals.len()), ("--body", arguments.bodies.len())] {
        if listed != 0 && listed != count {
            let what = format!("There are {count} parts, and {name} was given {listed} times.");
            return Err(wrong(what, "Give it once for each part, in the same order, or not at all."));
        }
    }
    let part = |(at, title): (usize, &String)| {
        let mut part = json!({"title": title, "weight": arguments.weights.get(at)});
        for (name, values) in [("signals", &arguments.signals), ("body", &arguments.bodies)] {
            if let Some(value) = values.get(at) {
                part[name] = value.as_str().into();
            }
        }
        part
    };
    Ok(arguments.parts.iter().enumerate().map(part).collect())
}

fn from_file(file: &str) -> Result<Vec<Value>> {
    let odd = |what: String| {
        let fix = "Write a list such as [{\"title\": \"Find the cause\", \"weight\": 0.4}, ...].";
        at(file, Problem::new(Code::JsonInvalid, what).fix(fix))
    };
    let parts = serde_json::from_slice(&read_bytes(file)?)
        .map_err(|error| odd(format!("It is no JSON: {error}.")))?;
    match parts {
        Value::Array(parts) => Ok(parts),
        Value::Object(mut all) => match all.shift_remove("subtasks").or_else(|| all.shift_remove("parts")) {
            Some(Value::Array(parts)) => Ok(parts),
            _ => Err(odd("It holds no list of parts.".to_owned())),
        },
        _ => Err(odd("It holds no list of parts.".to_owned())),
    }
}

/// What a hub would refuse is reported before anything is sent.
fn check(parts: &[Value]) -> Result<()> {
    if !PARTS.contains(&parts.len()) {
        let what = format!(
            "A task is cut into {} to {} parts, not into {}.",
            PARTS.start(),
            PARTS.end(),
            parts.len()
        );
        return Err(wrong(what, "Join some parts, or cut the task further."));
    }
    let mut total = 0.0;
    for (at, part) in (1..).zip(parts) {
        let title = raw(part, "title").trim();
        if title.is_empty() || title.chars().count() > TITLE || title.contains(char::is_control) {
            return Err(wrong(
                format!("Part {at} has no title of one line and at most {TITLE} characters."),
                "Say in a few words what is to be done in it.",
            ));
        }
        let weight = print::number(part, "weight").filter(|weight| *weight > 0.0 && *weight <= 1.0);
        total += weight.ok_or_else(|| {
            wrong(
                format!("Part {at} (`{}`) has no weight above 0 and at most 1.", print::line(title, 60)),
                "Give each part the share of the bounty that it is worth, such as 0.4.",
            )
        })?;
    }
    // The sum of decimal fractions is seldom exact.
    if total > HEAVIEST + 1e-9 {
        return Err(wrong(
            format!("All parts together weigh {}, and may weigh {HEAVIEST} at most.", print::amount(total)),
            "Make them lighter: the rest is for who proposes the parts and who merges the results.",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(weights: &[f64]) -> Vec<Value> {
        weights.iter().map(|weight| json!({"title": "A part of it", "weight": weight})).collect()
    }

    #[test]
    fn what_a_hub_would_refuse_is_told_before_it_is_sent() {
        assert!(check(&parts(&[0.4, 0.45])).is_ok());
        assert!(check(&parts(&[0.1, 0.2, 0.3, 0.25])).is_ok());
        let problem = |parts: &[Value]| check(parts).unwrap_err().message;
        assert!(problem(&parts(&[0.4])).contains("2 to 10 parts, not into 1"));
        assert!(problem(&parts(&[0.05; 11])).contains("not into 11"));
        assert!(problem(&parts(&[0.4, 0.46])).contains("weigh 0.86, and may weigh 0.85"));
        for bad in [0.0, -0.1, 1.5, f64::NAN] {
            assert!(problem(&parts(&[0.4, bad])).contains("Part 2 (`A part of it`) has no weight"), "{bad}");
        }
        for title in [json!(""), json!("two\nlines"), json!("x".repeat(301)), json!(7), Value::Null] {
            let odd = [json!({"title": title, "weight": 0.1}), json!({"title": "b", "weight": 0.1})];
            assert!(problem(&odd).contains("Part 1 has no title"), "{title}");
        }
        assert!(problem(&[json!(1), json!([])]).contains("Part 1"));
    }
}
