//! Reports of other nodes that applied a capsule of this store and proved it: each lets the capsule's streak grow once.

use crate::exchange::publication_log::{self, PublicationRecord};
use crate::store::reuse_ledger::ReuseByOthers;
use crate::workspace::Workspace;
use capsid_client::NodeClient;
use capsid_client::asset::is_id;
use capsid_model::asset::stamp;
use capsid_model::text::cut;
use capsid_model::{Code, Object, Result, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The most published capsules whose reports one sync asks for.
const MAX_ASSETS: usize = 50;
/// The most reports on one of them that are read.
const MAX_REPORTS: &str = "100";
/// The longest name in a report that is kept.
const MAX_NAME: usize = 200;

/// Reads the hub's reports on what this store published, and counts those that are new. `start` says where the last sync
/// stopped, and is moved on: a store may have published more than one sync asks for. Gives the capsules that grew, each
/// with its streak.
pub fn count_reuses(
    workspace: &Workspace,
    node: &NodeClient,
    start: &mut usize,
) -> Result<Vec<(String, u64)>> {
    let published = list_published(workspace, node.hub_url())?;
    if published.is_empty() {
        return Ok(Vec::new());
    }
    let first = *start % published.len();
    let mut reports = Vec::new();
    for (asset_id, capsule_id) in published.iter().cycle().skip(first).take(published.len().min(MAX_ASSETS)) {
        reports.extend(fetch_reports(node, asset_id, capsule_id)?);
    }
    *start = (first + MAX_ASSETS.min(published.len())) % published.len();
    record_reuses(workspace, reports)
}

/// What the hub took of this store: the id that it was published under, and the capsule.
fn list_published(workspace: &Workspace, hub: &str) -> Result<Vec<(String, String)>> {
    let is_there = |record: &PublicationRecord| {
        record.hub == hub
            && record.rejected.is_none()
            && is_id(&record.asset_id)
            && !record.capsule_id.is_empty()
    };
    let records = publication_log::read(workspace)?.into_iter().filter(is_there);
    let published: BTreeMap<String, String> =
        records.map(|record| (record.asset_id, record.capsule_id)).collect();
    Ok(published.into_iter().collect())
}

fn fetch_reports(node: &NodeClient, asset_id: &str, capsule_id: &str) -> Result<Vec<ReuseByOthers>> {
    let answer = match node.get("/a2a/validation-reports", &[("asset_id", asset_id), ("limit", MAX_REPORTS)])
    {
        // Not every hub lists reports, and what was removed there has none.
        Err(problem) if problem.code == Code::HubRefused => return Ok(Vec::new()),
        answer => answer?,
    };
    let reports = answer.get("reports").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let read = |report: &Value| read_reuse(report, node, asset_id, capsule_id);
    Ok(reports.iter().filter_map(read).collect())
}

/// A report by which another owner's node applied the capsule and proved it. The hub labels what its publisher or its
/// owner reports as `self`, and what it asked for itself as `assigned`: a validator runs the commands alone.
fn read_reuse(report: &Value, node: &NodeClient, asset_id: &str, capsule_id: &str) -> Option<ReuseByOthers> {
    let text = |name: &str| report.get(name).and_then(Value::as_str);
    let number = |name: &str| report.get(name).and_then(Value::as_f64).unwrap_or_default();
    let counts = report.get("overall_ok").and_then(Value::as_bool) == Some(true)
        && text("label") == Some("unsolicited")
        && text("target_asset_id") == Some(asset_id)
        && text("validator_node_id").is_some_and(|validator| validator != node.id())
        && number("weight") > 0.0
        && number("reproduction_score") >= 1.0;
    let name = |member: &str| text(member).filter(|text| !text.is_empty() && cut(text, MAX_NAME) == *text);
    let (report_id, node_id) = name("report_id").zip(name("validator_node_id")).filter(|_| counts)?;
    Some(ReuseByOthers {
        hub: node.hub_url().to_owned(),
        report_id: report_id.to_owned(),
        node_id: node_id.to_owned(),
        capsule_id: capsule_id.to_owned(),
        asset_id: asset_id.to_owned(),
        at: name("created_at").unwrap_or_default().to_owned(),
    })
}

/// Adds the new reports to the ledger and writes the streaks that follow into the capsules.
fn record_reuses(workspace: &Workspace, reports: Vec<ReuseByOthers>) -> Result<Vec<(String, u64)>> {
    if reports.is_empty() {
        return Ok(Vec::new());
    }
    let _lock = workspace.lock()?;
    let added = workspace.store.events.reuse_ledger().add(reports)?;
    let grown: BTreeSet<String> = added.into_iter().map(|reuse| reuse.capsule_id).collect();
    let mut streaks = Vec::new();
    for id in grown {
        let Some(mut capsule) = workspace.store.capsules.find(&id)? else { continue };
        let streak = workspace.store.events.success_streak(&id)?;
        set_streak(&mut capsule, streak);
        workspace.store.capsules.upsert(&capsule)?;
        streaks.push((id, streak));
    }
    Ok(streaks)
}

fn set_streak(capsule: &mut Object, streak: u64) {
    capsule.insert("success_streak".to_owned(), streak.into());
    stamp(capsule);
}
