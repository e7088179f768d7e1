//! `help`: explains without any network.

use super::publish;
use crate::arguments::ToolArguments;
use crate::context::ServerContext;
use crate::tool_entry::ToolEntry;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Problem, Result, Value, json};

/// The protocol in short.
pub const SPEC: &str = include_str!("../spec.md");
const OVERVIEW: &str = include_str!("overview.md");
const SIGNALS: &str = include_str!("../../../../docs/reference/signals.md");

/// Does it.
pub fn run(server: &ServerContext, tools: &[ToolEntry], arguments: &ToolArguments) -> Result<Value> {
    let requested = arguments.name("topic")?.unwrap_or_default().trim().to_lowercase();
    let topic = requested.strip_prefix("capsid ").unwrap_or(&requested);
    let text = match topic {
        "" | "overview" | "tools" => OVERVIEW.to_owned(),
        "protocol" | "spec" | "gep" => SPEC.to_owned(),
        "signals" => SIGNALS.to_owned(),
        "codes" | "errors" => codes(),
        "commands" | "cli" => commands(server),
        topic => tool(tools, topic)
            .or_else(|| code(topic))
            .or_else(|| command(server, topic))
            .ok_or_else(|| unknown(topic))?,
    };
    Ok(json!({"topic": if topic.is_empty() { "overview" } else { topic }, "text": text}))
}

fn unknown(topic: &str) -> Problem {
    Problem::new(Code::NotFound, format!("There is no help on `{}`.", inert_line(cut(topic, 80))))
        .fix("Topics: tools, protocol, signals, commands, codes, the name of a tool or of a command, an error code.")
}

fn codes() -> String {
    Code::ALL.iter().map(|code| format!("{code}: {}\n", code.meaning())).collect()
}

fn code(topic: &str) -> Option<String> {
    let code = Code::ALL.iter().find(|code| code.as_str() == topic)?;
    Some(format!("{code}: {} The program ends with status {}.", code.meaning(), code.exit_status()))
}

fn commands(server: &ServerContext) -> String {
    (server.commands)()
        .into_iter()
        .map(|(name, help)| format!("{name}: {}\n", help.lines().next().unwrap_or_default()))
        .collect()
}

fn command(server: &ServerContext, topic: &str) -> Option<String> {
    (server.commands)().into_iter().find(|(name, _)| name == topic).map(|(_, help)| help)
}

fn tool(tools: &[ToolEntry], topic: &str) -> Option<String> {
    let entry = tools.iter().find(|entry| entry.name == topic)?;
    let mut text = format!("{}: {}\n", entry.name, entry.description);
    for (name, schema) in entry.properties.as_object().into_iter().flatten() {
        let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let needed = if entry.required.contains(&name.as_str()) { ", required" } else { "" };
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
        text.push_str(&format!("- {name} ({kind}{needed}): {description}"));
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            text.push_str(&format!(" One of: {}.", words.join(", ")));
        }
        text.push('\n');
    }
    if topic == "publish" {
        text.push_str(&format!("\n{}\n", publish::EXPLAINED));
    }
    Some(text)
}
