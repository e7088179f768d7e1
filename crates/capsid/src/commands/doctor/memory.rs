//! What `capsid doctor` looks at for the memory graph: whether a hub shares it, in whose name, and what waits to be sent.

use super::DoctorFinding;
use super::node::read_health;
use capsid_engine::memory::remote::{self, RemoteMemory};
use capsid_engine::workspace::Workspace;
use std::time::Duration;

/// How long the hub may take to answer: a doctor does not wait.
const PATIENCE: Duration = Duration::from_secs(3);

/// Everything about the memory graph.
pub(super) fn findings(workspace: &Workspace) -> Vec<DoctorFinding> {
    if let Some(other) = other_provider(workspace) {
        return vec![DoctorFinding::warning(
            "memory",
            format!(
                "MEMORY_GRAPH_PROVIDER is `{other}`, which is neither `local` nor `remote`; it counts as local"
            ),
            "Set it to `remote` to share the memory through a hub, or unset it.",
        )];
    }
    let remote = match remote::connect_remote(workspace) {
        Ok(None) => {
            return vec![DoctorFinding::fine("memory", "this repository's own; nothing of it leaves")];
        }
        Ok(Some(remote)) => remote,
        Err(problem) => return vec![DoctorFinding::wrong("memory", &problem)],
    };
    let mut findings = vec![answers(&remote)];
    if remote.withholds_key() {
        findings.push(DoctorFinding::warning(
            "memory",
            "MEMORY_GRAPH_REMOTE_KEY is not shown to a hub that a repository names",
            "Name the hub that it is for with MEMORY_GRAPH_REMOTE_URL.",
        ));
    }
    let waiting = remote::pending(workspace).map_or(0, |waiting| waiting.len());
    if waiting > 0 {
        let detail = format!("{waiting} record(s) wait to be sent to it");
        findings.push(DoctorFinding::warning(
            "memory",
            detail,
            "The next cycle that reaches the hub sends them.",
        ));
    }
    findings
}

fn other_provider(workspace: &Workspace) -> Option<String> {
    let set = workspace.variable("MEMORY_GRAPH_PROVIDER")?.trim().to_owned();
    let known = ["local", "remote"].iter().any(|name| set.eq_ignore_ascii_case(name));
    (!known).then_some(set)
}

fn answers(remote: &RemoteMemory) -> DoctorFinding {
    let whose = if remote.by_key() { "an account" } else { "this node" };
    let detail = format!("shared through {} in the name of {whose}", remote.hub_url());
    let settings = capsid_client::ClientConfig { timeout: PATIENCE, retries: 0, ..remote.settings().clone() };
    match read_health(&settings) {
        Ok(_) => DoctorFinding::fine("memory", detail),
        // Without it a cycle goes by this repository's own memory.
        Err(problem) => DoctorFinding::warning(
            "memory",
            format!("{detail}; {}", problem.message),
            "Cycles go on with this repository's own memory; check the address and the network.",
        ),
    }
}
