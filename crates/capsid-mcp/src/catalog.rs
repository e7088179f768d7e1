//! The tools: their names, their descriptions, and the functions behind them.
//!
//! Every byte here is paid for by every conversation of every agent, so a tool has few words and `help` has the rest.

use crate::compat;
use crate::tool_entry::{ToolEffect, ToolEntry};
use crate::tools::{evolve, help, outcome, publish, recall, search, status, verify};
use capsid_model::{Value, json};
use rmcp::model::Tool;

/// What all schemas of the default tools together may take, as JSON.
pub const BUDGET: usize = 9_000;

/// Every tool of a server.
pub(crate) fn entries(compat: bool) -> Vec<ToolEntry> {
    let mut entries = own();
    if compat {
        entries.extend(compat::entries());
    }
    entries
}

/// The tools as they are listed.
pub fn tools(compat: bool) -> Vec<Tool> {
    entries(compat).iter().map(ToolEntry::tool).collect()
}

fn texts(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": description})
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn flag(description: &str) -> Value {
    json!({"type": "boolean", "description": description})
}

fn words(allowed: &[&str], description: &str) -> Value {
    json!({"type": "string", "enum": allowed, "description": description})
}

fn own() -> Vec<ToolEntry> {
    vec![
        ToolEntry {
            name: "evolve",
            description: "Work on a problem in this repository in a cycle that is validated and recorded. First `prepare` with the error text: it gives a prompt and a run id. Make the change, then `solidify`: validation runs in a sandbox on a private view of the repository, and the outcome is recorded. Your files are left as they are, whatever the outcome.",
            effect: ToolEffect::Changes,
            properties: json!({
                "action": words(&evolve::ACTIONS, "Default prepare. review shows the waiting run and its diff; reject drops the run; distill asks for one gene from many successes, and takes it in from `text`."),
                "text": text("Error output, log or request that the signals are read from."),
                "logs": texts("Log files to read instead."),
                "strategy": words(&evolve::STRATEGIES, "What kind of change is wanted."),
                "repro": text("Command that fails with the problem and must pass after the change."),
                "title": text("With solidify: the change in at most 72 characters."),
                "summary": text("With solidify: the cause and the change."),
                "run_id": text("With solidify: finish only this run."),
                "files": texts("With reject: files to restore as they were when the run began."),
                "all": flag("With reject: restore every file that the run changed."),
                "commit": flag("With solidify: commit exactly the files of the cycle."),
                "dry_run": flag("Decide and show, write nothing."),
                "force": flag("Begin although nothing is new or a run waits."),
            }),
            required: &[],
            work: evolve::run,
        },
        ToolEntry {
            name: "recall",
            description: "Proven solutions for a problem: what worked in this repository before, with its provenance. Ask before fixing.",
            effect: ToolEffect::Asks,
            properties: json!({
                "query": text("The error message or the problem in words."),
                "signals": texts("Signals such as log_error, if they are known."),
                "limit": {"type": "integer", "description": "Default 3."},
                "hub": flag("Also look at the hub, where one is configured."),
            }),
            required: &[],
            work: recall::run,
        },
        ToolEntry {
            name: "record_outcome",
            description: "Record how an attempt ended, so that later choices learn from it.",
            effect: ToolEffect::Adds,
            properties: json!({
                "signals": texts("What was seen."),
                "status": words(&outcome::STATUS, "How it ended."),
                "score": {"type": "number", "description": "0 to 1."},
                "summary": text("What was done, in a sentence."),
                "gene": text("The gene that was followed."),
                "used_assets": texts("Ids of the capsules or assets that were used."),
                "hub": flag("Also record it in this node's memory on the hub."),
            }),
            required: &["signals", "status"],
            work: outcome::run,
        },
        ToolEntry {
            name: "search",
            description: "Look something up on the hub. Nothing is bought and nothing is changed.",
            effect: ToolEffect::Asks,
            properties: json!({
                "what": words(&search::WHAT, "Default assets."),
                "query": text("In your own words: assets are found by what they mean, each with why."),
                "signals": texts("Find promoted assets for these."),
                "kind": words(&search::KINDS, "Only these assets."),
                "category": text("With query: repair, optimize, innovate, explore or regulatory."),
                "environment": text("With query: known to work there, such as linux_x64."),
                "since": text("With query: published from this day or time on."),
                "until": text("With query: published before."),
                "id": text("Of the asset, task, bounty or node."),
                "limit": {"type": "integer", "description": "Default 10."},
            }),
            required: &[],
            work: search::run,
        },
        ToolEntry {
            name: "publish",
            description: "Send something to the hub, or take something in. Without `confirm` it only shows exactly what would be sent. Secrets and personal data are redacted first.",
            effect: ToolEffect::Sends,
            properties: json!({
                "action": words(&publish::ACTIONS, "Default bundle: a capsule with its gene and event. fetch stages an asset, promote takes a staged one in after it validated here. help topic `publish` lists what each takes."),
                "id": text("The capsule, asset, task or bounty. Without one, bundle lists what could be published."),
                "params": {"type": "object", "description": "Further fields of the action."},
                "dry_run": flag("Default true."),
                "confirm": flag("With dry_run false: the owner agreed to send it."),
            }),
            required: &[],
            work: publish::run,
        },
        ToolEntry {
            name: "verify",
            description: "Check that records are what they say: the event log against its sealed chain, all assets in the store, one asset's id, or the sealed trail of agent sessions.",
            effect: ToolEffect::Reads,
            properties: json!({
                "what": words(&verify::WHAT, "Default events."),
                "asset": {"type": "object", "description": "With asset: the asset itself."},
                "id": text("With asset: its id in the store."),
                "path": text("With trail: a chain, bundle or home; default the user's own."),
            }),
            required: &[],
            work: verify::run,
        },
        ToolEntry {
            name: "status",
            description: "What there is here: counts, the run that waits, genes, capsules, events, signals, why a gene was chosen, this node.",
            effect: ToolEffect::Reads,
            properties: json!({
                "what": words(&status::WHAT, "Default summary."),
                "id": text("One record in full; with explain, a run."),
                "text": text("With signals: the text to read them from."),
                "limit": {"type": "integer", "description": "Default 20."},
                "offset": {"type": "integer"},
            }),
            required: &[],
            work: status::run,
        },
        ToolEntry {
            name: "help",
            description: "Explain a topic without any network: a tool, a command of the program such as `node publish`, an error code, protocol, signals, commands, codes.",
            effect: ToolEffect::Reads,
            properties: json!({"topic": text("Default: an overview.")}),
            required: &[],
            work: |server, _, arguments| help::run(server, &entries(true), arguments),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemas_keep_their_budget() {
        let bytes = serde_json::to_string(&tools(false)).unwrap().len();
        println!(
            "8 tools: {bytes} bytes of {BUDGET}; with compat: {}",
            serde_json::to_string(&tools(true)).unwrap().len()
        );
        assert!(tools(false).len() <= 8 && bytes < BUDGET, "{bytes}");
    }

    #[test]
    fn names_are_unique_and_required_arguments_exist() {
        let mut seen = std::collections::BTreeSet::new();
        for entry in entries(true) {
            assert!(seen.insert(entry.name), "{}", entry.name);
            let known = entry.arguments();
            assert!(entry.required.iter().all(|name| known.contains(name)), "{}", entry.name);
        }
    }
}
