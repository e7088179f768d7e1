//! What a hub is still to be told of its solutions that were used here.

use super::log;
use crate::workspace::Workspace;
use crate::workspace::outbox::{MAX_LEN, OutboxFile};
use capsid_client::NodeClient;
use capsid_client::refusal::may_pass;
use capsid_model::{Code, Object, Problem, Result, Value, json};

pub use crate::workspace::outbox::FlushSummary;

const REPORTS: OutboxFile = OutboxFile::HubReports;

/// What waits, oldest first.
pub fn pending(workspace: &Workspace) -> Result<Vec<Object>> {
    REPORTS.pending(workspace)
}

/// Sends what waits for the node's hub, and notes what became of it.
pub fn flush(workspace: &Workspace, node: &NodeClient) -> Result<FlushSummary> {
    let is_meant = |entry: &Object| text(entry, "hub") == node.hub_url();
    let flushed = REPORTS.flush(workspace, MAX_LEN, is_meant, is_final, |entry| {
        let report = entry.get("report").cloned().unwrap_or_default();
        node.report_tried(text(entry, "asset_id"), &report).map(drop)
    })?;
    record_reported(workspace, &flushed.done)?;
    Ok(flushed)
}

/// Whether sending the same again can only be refused again. What fails on this machine is no word of the hub.
fn is_final(problem: &Problem) -> bool {
    problem.code == Code::HubRefused && !may_pass(problem)
}

/// Notes what was taken off.
fn record_reported(workspace: &Workspace, done: &[(Object, Option<String>)]) -> Result<()> {
    if done.is_empty() {
        return Ok(());
    }
    let _lock = workspace.lock()?;
    let at = workspace.now().iso();
    let notes: Vec<Value> = done
        .iter()
        .map(|(entry, refused)| {
            json!({
                "timestamp": at,
                "run_id": entry.get("run_id"),
                "action": if refused.is_none() { "asset_report" } else { "asset_report_refused" },
                "asset_id": entry.get("asset_id"),
                "asset_type": "Capsule",
                "reason": refused,
                "via": entry.get("hub"),
            })
        })
        .collect();
    log::append(workspace, &notes)
}

fn text<'a>(entry: &'a Object, name: &str) -> &'a str {
    entry.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_hub_will_never_take_is_given_up() {
        let refused = Problem::new(Code::HubRefused, "no");
        assert!(is_final(&refused.clone().hub_code("asset_not_found").hub_status(404)));
        assert!(!is_final(&refused.clone().hub_code("node_secret_required").hub_status(401)));
        assert!(!is_final(&refused));
        for code in [Code::NodeSecretRefused, Code::IdentityInvalid, Code::PermissionDenied] {
            assert!(!is_final(&Problem::new(code, "not now")), "{code}");
        }
    }
}
