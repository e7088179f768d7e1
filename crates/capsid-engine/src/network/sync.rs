//! Sync: what the hub has for this node, what this node has for the hub, and the node's reputation there.

use super::publishing::{self, PublishRound};
use super::reuse_reports;
use super::tasks;
use crate::config::ReuseConfig;
use crate::exchange::reuse::outbox;
use crate::exchange::stage;
use crate::rules::outbound::outbound_signals;
use crate::run::state::RunState;
use crate::store;
use crate::workspace::Workspace;
use capsid_client::NodeClient;
use capsid_client::calls::SearchRow;
use capsid_client::node::encoded;
use capsid_model::backoff::BackoffPolicy;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Object, Problem, Result, Time, Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The most foreign assets that one sync stages.
const MAX_STAGED: usize = 10;
/// The most rows of a search that are looked at.
const MAX_ROWS: usize = 50;
/// The most signals in a request.
const MAX_SIGNALS: usize = 20;
/// How many of the last cycles say what this repository is about.
const RECENT: usize = 5;
/// The ids of foreign assets that are remembered as seen.
const MAX_SEEN: usize = 1000;
/// The pause after a sync that did not reach the hub; each further one doubles it.
const FIRST_PAUSE_MS: i64 = 5 * 60_000;

/// What a sync did, or would do.
#[derive(Debug, Clone, Default)]
pub struct SyncSummary {
    /// Foreign assets that were staged, or would be: id and one line.
    pub came: Vec<(String, String)>,
    /// Those that came and were refused.
    pub refused: Vec<Problem>,
    /// Tasks that the hub offers: id, title, bounty.
    pub tasks: Vec<(String, String, f64)>,
    /// What was published, and what waits.
    pub published: PublishRound,
    /// Eligible capsules that stay here because the owner has not allowed to publish.
    pub held: Vec<String>,
    /// How many reports were delivered.
    pub reports: usize,
    pub reports_waiting: usize,
    /// Capsules that other nodes applied and proved, each with its streak now.
    pub reused: Vec<(String, u64)>,
    pub reputation: Option<f64>,
    /// What it earned in all.
    pub earned: Option<f64>,
    pub credits: Option<f64>,
    /// Problems during the sync; the next sync tries each of them again.
    pub problems: Vec<Problem>,
    /// Whether nothing was sent and nothing was written.
    pub dry_run: bool,
}

impl SyncSummary {
    /// For programs.
    pub fn to_json(&self) -> Value {
        let pair = |(id, text): &(String, String)| json!({"asset_id": id, "summary": text});
        let problem = |problem: &Problem| json!({"code": problem.code.as_str(), "message": problem.message});
        json!({
            "ok": true,
            "dry_run": self.dry_run,
            "came": self.came.iter().map(pair).collect::<Vec<_>>(),
            "refused": self.refused.iter().map(problem).collect::<Vec<_>>(),
            "tasks": self.tasks.iter().map(|(id, title, bounty)| json!({"task_id": id, "title": title, "bounty_amount": bounty})).collect::<Vec<_>>(),
            "published": self.published.sent.iter().map(|(id, asset)| json!({"capsule_id": id, "asset_id": asset})).collect::<Vec<_>>(),
            "waiting": self.published.waiting.iter().map(|(id, reason)| json!({"capsule_id": id, "reason": reason})).collect::<Vec<_>>(),
            "held": self.held,
            "reports_sent": self.reports,
            "reports_waiting": self.reports_waiting,
            "reused_by_others": self.reused.iter().map(|(id, streak)| json!({"capsule_id": id, "streak": streak})).collect::<Vec<_>>(),
            "reputation": self.reputation,
            "total_earned": self.earned,
            "credit_balance": self.credits,
            "problems": self.problems.iter().map(problem).collect::<Vec<_>>(),
        })
    }

    /// One line.
    pub fn line(&self) -> String {
        let mut parts = vec![
            format!("{} new asset(s) staged", self.came.len()),
            format!("{} published", self.published.sent.len()),
            format!("{} waiting", self.published.waiting.len() + self.reports_waiting),
            format!("{} task(s) offered", self.tasks.len()),
        ];
        if !self.reused.is_empty() {
            parts.push(format!("{} capsule(s) reused by others", self.reused.len()));
        }
        parts.extend(self.reputation.map(|value| format!("reputation {value:.1}")));
        parts.extend(self.credits.map(|value| format!("{value} credits")));
        parts.join(", ")
    }
}

/// What is stored between syncs, in `hub_sync.json`.
#[derive(Debug, Clone, Default)]
struct SyncState {
    file: Object,
}

impl SyncState {
    fn path(workspace: &Workspace) -> Result<PathBuf> {
        workspace.state_file("hub_sync.json")
    }

    fn read(workspace: &Workspace) -> Result<Self> {
        Ok(Self { file: store::read_state(&Self::path(workspace)?)? })
    }

    fn write(&self, workspace: &Workspace) -> Result<()> {
        workspace.create_state_dir()?;
        store::write_state(&Self::path(workspace)?, &self.file)
    }

    fn time(&self, name: &str) -> Option<Time> {
        self.file.get(name).and_then(Value::as_str).and_then(Time::parse)
    }

    fn failures(&self) -> u64 {
        self.file.get("failures").and_then(Value::as_u64).unwrap_or_default()
    }

    fn mark_synced(&self) -> BTreeSet<String> {
        let list = self.file.get("seen").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    fn add_seen(&mut self, ids: impl Iterator<Item = String>) {
        let known = self.file.get("seen").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut list: Vec<Value> = known.into_iter().chain(ids.map(Value::from)).collect();
        list.drain(..list.len().saturating_sub(MAX_SEEN));
        self.file.insert("seen".to_owned(), list.into());
    }

    fn refused(&self) -> Object {
        self.file.get("refused").and_then(Value::as_object).cloned().unwrap_or_default()
    }
}

/// When the next sync is due: some hours after the last, or a while after one that did not reach the hub.
pub fn due(workspace: &Workspace) -> Result<Time> {
    let state = SyncState::read(workspace)?;
    let hours = i64::try_from(workspace.config.hub.sync_hours.clamp(1, 24 * 30)).unwrap_or(24);
    Ok(match (state.failures(), state.time("last_attempt"), state.time("last_sync")) {
        (0, _, Some(last)) => Time(last.0.saturating_add(hours * 3_600_000)),
        (failures @ 1.., Some(last), _) => {
            let backoff = BackoffPolicy::doubling(FIRST_PAUSE_MS, hours * 3_600_000);
            Time(last.0.saturating_add(backoff.pause_ms(i64::try_from(failures).unwrap_or(i64::MAX))))
        }
        _ => Time(0),
    })
}

/// Does one sync. An unreachable hub is a problem; a later failure is reported and left for the next sync.
pub fn sync(workspace: &Workspace, node: &NodeClient, dry_run: bool) -> Result<SyncSummary> {
    workspace.require_store()?;
    let mut state = SyncState::read(workspace)?;
    let result = exchange(workspace, node, &mut state, dry_run);
    if !dry_run {
        let now = workspace.now().iso();
        let failures = if result.is_ok() { 0 } else { state.failures().saturating_add(1) };
        state.file.insert("hub".to_owned(), node.hub_url().into());
        state.file.insert("last_attempt".to_owned(), now.clone().into());
        state.file.insert("failures".to_owned(), failures.into());
        if let Ok(synced) = &result {
            state.file.insert("last_sync".to_owned(), now.into());
            state.file.insert("reputation".to_owned(), json!(synced.reputation));
            state.file.insert("credit_balance".to_owned(), json!(synced.credits));
        }
        state.write(workspace)?;
    }
    result
}

fn exchange(
    workspace: &Workspace,
    node: &NodeClient,
    state: &mut SyncState,
    dry_run: bool,
) -> Result<SyncSummary> {
    let mut synced = SyncSummary { dry_run, ..SyncSummary::default() };
    // The first call decides whether the hub can be reached.
    let answer = node.message("fetch", json!({"tasks_only": true, "include_tasks": true}))?;
    let signals = recent_signals(workspace)?;
    synced.tasks = offered(&answer, node.id());
    synced.credits = answer.get("credit_balance").and_then(Value::as_f64);
    let mut keep = |result: Result<()>| {
        if let Err(problem) = result {
            synced.problems.push(problem);
        }
    };
    let mut came = SyncedIn::default();
    if !signals.is_empty() {
        keep(import_asset(workspace, node, &signals, state, dry_run, &mut came));
    }
    let mut gone = SyncedOut::default();
    keep(revoke_removed(workspace, node, state, dry_run, &mut gone));
    let mut reused = Vec::new();
    if !dry_run {
        keep(count_reuses(workspace, node, state, &mut reused));
    }
    let mut stands = (None, None);
    keep(fetch_reputation(node, &mut stands));
    (synced.came, synced.refused) = (came.staged, came.refused);
    (synced.published, synced.held) = (gone.published, gone.held);
    (synced.reports, synced.reports_waiting) = (gone.reports, gone.reports_waiting);
    synced.reused = reused;
    (synced.reputation, synced.earned) = stands;
    synced.credits = synced.credits.or_else(|| balance(node));
    Ok(synced)
}

/// The signals of the last cycles as they may leave this machine.
fn recent_signals(workspace: &Workspace) -> Result<Vec<String>> {
    if workspace.config.hub.reuse == ReuseConfig::Off {
        return Ok(Vec::new());
    }
    let mut signals: Vec<String> =
        RunState::load(workspace)?.last_run().map(|run| run.signals).unwrap_or_default();
    for event in workspace.store.events.recent(RECENT)?.into_iter().rev() {
        signals.extend(event.signals);
    }
    Ok(outbound_signals(&signals, MAX_SIGNALS))
}

fn offered(answer: &Object, node_id: &str) -> Vec<(String, String, f64)> {
    let list = answer.get("tasks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let tasks = list.iter().filter_map(|task| tasks::HubTask::read(task, node_id)).take(100);
    tasks.map(|task| (task.weighed.task_id, task.weighed.title, task.weighed.bounty)).collect()
}

#[derive(Default)]
struct SyncedIn {
    staged: Vec<(String, String)>,
    refused: Vec<Problem>,
}

/// Stages what is new and answers the signals of the last cycles. It costs nothing: what has a price is left where it is.
fn import_asset(
    workspace: &Workspace,
    node: &NodeClient,
    signals: &[String],
    state: &mut SyncState,
    dry_run: bool,
    came: &mut SyncedIn,
) -> Result<()> {
    let known = known_ids(workspace, state)?;
    let rows: Vec<SearchRow> = node
        .search(signals, None, MAX_ROWS)?
        .into_iter()
        .filter(|row| row.source_node_id.as_deref() != Some(node.id()) && !known.contains(&row.asset_id))
        .filter(|row| matches!(row.kind.as_str(), "Gene" | "Capsule"))
        .filter(|row| !row.row.get("credit_cost").and_then(Value::as_f64).is_some_and(|cost| cost > 0.0))
        .take(MAX_STAGED)
        .collect();
    let line = |row: &SearchRow| inert_line(cut(&row.summary, 100));
    if dry_run || rows.is_empty() {
        came.staged = rows.iter().map(|row| (row.asset_id.clone(), line(row))).collect();
        return Ok(());
    }
    let ids: Vec<&str> = rows.iter().map(|row| row.asset_id.as_str()).collect();
    let fetched = node.fetch(&ids)?;
    came.refused.extend(fetched.refused);
    for asset in fetched.assets {
        let id = asset.get("asset_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(row) = rows.iter().find(|row| row.asset_id == id) else { continue };
        let staged =
            stage::stage(workspace, &Value::Object(asset).to_string(), row.source_node_id.as_deref())?;
        came.refused.extend(staged.refused);
        if !staged.accepted.is_empty() {
            came.staged.push((id.clone(), line(row)));
        }
        state.add_seen(std::iter::once(id));
    }
    Ok(())
}

/// The ids that this repository has, staged or saw before.
fn known_ids(workspace: &Workspace, state: &SyncState) -> Result<BTreeSet<String>> {
    let mut known = state.mark_synced();
    let id = |asset: &Object| asset.get("asset_id").and_then(Value::as_str).map(str::to_owned);
    known.extend(workspace.store.capsules.documents()?.iter().filter_map(id));
    known.extend(workspace.store.genes.documents()?.iter().filter_map(id));
    known.extend(stage::staged(workspace)?.iter().filter_map(id));
    Ok(known)
}

#[derive(Default)]
struct SyncedOut {
    published: PublishRound,
    held: Vec<String>,
    reports: usize,
    reports_waiting: usize,
}

/// Sends what waits: reports about what was reused, and what became eligible.
fn revoke_removed(
    workspace: &Workspace,
    node: &NodeClient,
    state: &mut SyncState,
    dry_run: bool,
    gone: &mut SyncedOut,
) -> Result<()> {
    (gone.reports, gone.reports_waiting) = send_queued_reports(workspace, node, dry_run)?;
    if dry_run || !workspace.config.hub.publish {
        let eligible = publishing::eligible(workspace, node.hub_url())?;
        match workspace.config.hub.publish {
            true => {
                gone.published.waiting =
                    eligible.into_iter().map(|id| (id, "it would be published".to_owned())).collect();
            }
            false => gone.held = eligible,
        }
        return Ok(());
    }
    let mut refused = state.refused();
    let result = publishing::publish(workspace, node, &mut refused);
    state.file.insert("refused".to_owned(), refused.into());
    gone.published = result?;
    Ok(())
}

/// Publishes what became eligible since the last time, without a full sync.
pub fn publish_now(workspace: &Workspace, node: &NodeClient) -> Result<PublishRound> {
    let mut state = SyncState::read(workspace)?;
    let mut refused = state.refused();
    let published = publishing::publish(workspace, node, &mut refused);
    // Whatever stopped it, what the hub refused before that is remembered.
    state.file.insert("refused".to_owned(), refused.into());
    state.write(workspace)?;
    published
}

/// Delivers the reports that wait: how many went, and how many still wait.
pub fn send_queued_reports(
    workspace: &Workspace,
    node: &NodeClient,
    dry_run: bool,
) -> Result<(usize, usize)> {
    if dry_run || !workspace.config.hub.report {
        return Ok((0, outbox::pending(workspace)?.len()));
    }
    let flushed = outbox::flush(workspace, node)?;
    Ok((flushed.sent, flushed.left))
}

/// Counts the reports of other nodes that applied what this store published.
fn count_reuses(
    workspace: &Workspace,
    node: &NodeClient,
    state: &mut SyncState,
    reused: &mut Vec<(String, u64)>,
) -> Result<()> {
    let stored = state.file.get("reports_from").and_then(Value::as_u64).unwrap_or_default();
    let mut start = usize::try_from(stored).unwrap_or_default();
    *reused = reuse_reports::count_reuses(workspace, node, &mut start)?;
    state.file.insert("reports_from".to_owned(), start.into());
    Ok(())
}

/// The reputation and the earnings of this node.
fn fetch_reputation(node: &NodeClient, reputation: &mut (Option<f64>, Option<f64>)) -> Result<()> {
    let id = encoded(node.id());
    let seen = match node.get(&format!("/a2a/nodes/{id}"), &[]) {
        // A node that has only read is not known to the hub yet.
        Err(problem) if problem.hub_code.as_deref() == Some("node_not_found") => return Ok(()),
        seen => seen?,
    };
    reputation.0 = seen.get("reputation_score").and_then(Value::as_f64);
    let earned = node.get(&format!("/billing/earnings/{id}"), &[])?;
    reputation.1 = earned.get("total_earned").and_then(Value::as_f64);
    Ok(())
}

/// The node's balance; a hub that does not report it is no problem.
fn balance(node: &NodeClient) -> Option<f64> {
    let status = node.get("/a2a/validator/status", &[("node_id", node.id())]).ok()?;
    status.get("credit_balance").and_then(Value::as_f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_bounded() {
        let mut state = SyncState::default();
        state.add_seen((0..MAX_SEEN + 5).map(|n| format!("sha256:{n}")));
        assert_eq!(state.mark_synced().len(), MAX_SEEN);
        assert!(!state.mark_synced().contains("sha256:0"));
    }

    #[test]
    fn a_state_of_nonsense_is_an_empty_one() {
        let file = json!({"seen": {"a": 1}, "failures": "x", "refused": [], "last_sync": 7});
        let state = SyncState { file: file.as_object().cloned().unwrap() };
        assert!(state.mark_synced().is_empty() && state.failures() == 0 && state.refused().is_empty());
        assert_eq!(state.time("last_sync"), None);
    }
}
