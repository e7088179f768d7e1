//! Looks for a candidate that solved the same problem and that nobody has tried yet.

use super::matching::{check_trial_patch, is_solution};
use super::search::{NAME_UNITS, ReuseQuery, TRIES, describe_hit, is_usable};
use super::{ReuseHit, ReuseMode};
use capsid_client::NodeClient;
use capsid_client::calls::SearchRow;
use capsid_model::capsule::Capsule;
use capsid_model::text::cut;
use capsid_model::{Object, Value, env};
use std::time::Instant;

/// The most candidates that are looked at.
const ROWS: usize = 20;

/// The first candidate whose patch may be tried, taken on trial. A hub that offers none, or fails, has none.
pub(super) fn find_candidate(
    node: &NodeClient,
    query: &ReuseQuery,
    is_isolated: bool,
    deadline: Instant,
) -> Option<ReuseHit> {
    if query.joins {
        describe_hit(node);
    }
    let rows = node.search_candidates(&query.signals, ROWS).ok()?;
    let mut rows: Vec<SearchRow> = rows
        .into_iter()
        .filter(|row| is_usable(row, node.id()) && query.problem.match_row(&row.row).is_some())
        .collect();
    // The sort is stable: among equals the hub's own order stands.
    rows.sort_by_key(|row| query.problem.match_row(&row.row));
    for row in rows.iter().take(TRIES) {
        if Instant::now() >= deadline {
            return None;
        }
        let fetched = node.fetch_trial(&[&row.asset_id]).ok()?;
        let hit = fetched.assets.into_iter().find_map(|capsule| to_hit(row, capsule, query, is_isolated));
        if hit.is_some() {
            return hit;
        }
    }
    None
}

/// A candidate that came as its row promised, solved the same problem, and whose patch may be tried.
fn to_hit(row: &SearchRow, capsule: Object, query: &ReuseQuery, is_isolated: bool) -> Option<ReuseHit> {
    let text = |name: &str| capsule.get(name).and_then(Value::as_str);
    if text("type") != Some("Capsule") || text("asset_id") != Some(&row.asset_id) {
        return None;
    }
    let read = Capsule::read(&capsule);
    let fits = read.outcome.is_success()
        && is_solution(&capsule)
        && env::is_compatible(&read.env_fingerprint, env::platform());
    let level = query.problem.match_capsule(&capsule).filter(|_| fits)?;
    check_trial_patch(&capsule, is_isolated).ok()?;
    Some(ReuseHit {
        mode: ReuseMode::Direct,
        is_candidate: true,
        score: query.policy.score(read.confidence, read.success_streak, row.reputation),
        level: Some(level),
        can_try: Ok(()),
        asset_id: row.asset_id.clone(),
        source_node_id: cut(row.source_node_id.as_deref().unwrap_or_default(), NAME_UNITS).to_owned(),
        chain_id: row.row.get("chain_id").and_then(Value::as_str).map(|id| cut(id, NAME_UNITS).to_owned()),
        reputation: row.reputation,
        gene: None,
        capsule,
    })
}
