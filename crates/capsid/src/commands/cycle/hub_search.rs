//! The hub's part in a cycle: the search before it, and the report after it. None of it fails a cycle.

use crate::output::{self, DIM, GOOD, NAME, WARN, paint};
use capsid_client::NodeClient;
use capsid_engine::exchange::reuse::{self, ReuseHit, ReuseSearch, outbox};
use capsid_engine::memory::remote::{self, ConsultOutcome, RemoteMemory};
use capsid_engine::workspace::Workspace;
use capsid_model::Value;
use capsid_model::text::{cut, inert_line};

/// This node and its hub, where one is configured and not switched off.
pub(crate) fn node(workspace: &Workspace, offline: bool) -> Option<NodeClient> {
    if offline {
        return None;
    }
    reuse::node(workspace).unwrap_or_else(|problem| {
        output::caution("hub", &problem);
        None
    })
}

/// Says what the search of a hub gave.
pub(crate) fn print_search_result(search: &ReuseSearch) {
    match &search.hit {
        Some(hit) => print_hit(search, hit),
        None => {
            let why = search.miss.as_deref().unwrap_or("nothing");
            let line = format!("nothing to reuse from {} ({})", inert_line(&search.hub), inert_line(why));
            output::talk(format_args!("  hub       {}", paint(DIM, line)));
        }
    }
    if let Some(problem) = &search.problem {
        output::caution("hub", problem);
    }
}

fn print_hit(search: &ReuseSearch, hit: &ReuseHit) {
    let by = match hit.source_node_id.as_str() {
        "" => "somebody",
        node => node,
    };
    output::talk(format_args!(
        "  hub       {} {}",
        paint(GOOD, hit.mode.source_type()),
        paint(NAME, inert_line(&hit.asset_id))
    ));
    let from = format!("by {}, score {}, from {}", inert_line(by), hit.score, inert_line(&search.hub));
    output::talk(format_args!("            {}", paint(DIM, from)));
    let summary = hit.capsule.get("summary").and_then(Value::as_str).unwrap_or_default();
    output::talk(format_args!("            {}", paint(DIM, cut(&inert_line(summary), 100))));
}

/// The memory that a hub stores, where the user wants one and it is not switched off.
pub(crate) fn memory(workspace: &Workspace, offline: bool) -> Option<RemoteMemory> {
    if offline {
        return None;
    }
    remote::connect_remote(workspace).unwrap_or_else(|problem| {
        output::caution("memory", &problem);
        None
    })
}

/// Says what the shared memory advised.
pub(crate) fn print_advice(consulted: &ConsultOutcome) {
    let style = if consulted.problem.is_some() { WARN } else { DIM };
    for line in advice_lines(&consulted.to_json()) {
        output::talk(format_args!("  memory    {}", paint(style, line)));
    }
}

/// What a hub advised, as it was recorded, and that it was the hub.
pub(crate) fn advice_lines(memory: &Value) -> Vec<String> {
    let text = |name: &str| memory.get(name).and_then(Value::as_str).map(inert_line);
    let list = |name: &str| -> Vec<String> {
        let items = memory.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(Value::as_str).map(|item| cut(&inert_line(item), 240).to_owned()).collect()
    };
    let Some(hub) = text("hub") else { return Vec::new() };
    if let Some(miss) = text("miss") {
        return vec![search_without_hub(
            &hub,
            &miss,
            memory.pointer("/problem/message").and_then(Value::as_str),
        )];
    }
    let prefers = text("preferred").map(|gene| format!("prefers {gene}"));
    let bans = Some(list("banned")).filter(|genes| !genes.is_empty());
    let bans = bans.map(|genes| format!("advises against {}", genes.join(", ")));
    let advice: Vec<String> = prefers.into_iter().chain(bans).collect();
    let advice = if advice.is_empty() { "has nothing to advise".to_owned() } else { advice.join(", ") };
    let mut lines = vec![format!("{hub} {advice}")];
    lines.extend(list("explanation").into_iter().map(|reason| format!("its words: {reason}")));
    lines.extend(list("not_followed").into_iter().map(|what| format!("not followed: {what}")));
    lines
}

/// That nothing came from the hub, and why, in one line.
fn search_without_hub(hub: &str, miss: &str, problem: Option<&str>) -> String {
    let why = match problem.map(|problem| cut(&inert_line(problem), 240).to_owned()) {
        None => format!("nothing from {hub} ({miss})"),
        Some(problem) => match problem.strip_prefix(&format!("`{hub}` ")) {
            Some(rest) => format!("{hub} {rest}"),
            None => format!("{hub}: {problem}"),
        },
    };
    format!("this repository's own alone; {why}")
}

/// Sends the pending reports to the hub, and the new records to the shared memory. What cannot be delivered stays for the next
/// time.
pub(crate) fn deliver(workspace: &Workspace, offline: bool) {
    report(workspace, offline);
    if !offline && let Some(problem) = remote::deliver(workspace) {
        output::caution("memory", &problem);
    }
}

/// Sends the pending reports to the hub. What cannot be delivered stays for the next time.
fn report(workspace: &Workspace, offline: bool) {
    if !outbox::pending(workspace).is_ok_and(|waiting| !waiting.is_empty()) {
        return;
    }
    let Some(node) = node(workspace, offline) else { return };
    match outbox::flush(workspace, &node) {
        Ok(flushed) => {
            if flushed.sent > 0 {
                let hub = inert_line(node.hub_url());
                output::talk(paint(DIM, format_args!("reported the result to {hub}")));
            }
            for problem in &flushed.refused {
                output::caution("report refused", problem);
            }
            if let Some(problem) = &flushed.problem {
                output::caution("report kept for later", problem);
            }
        }
        Err(problem) => output::caution("report kept for later", &problem),
    }
}
