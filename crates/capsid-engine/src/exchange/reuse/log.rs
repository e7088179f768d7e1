//! `asset_call_log.jsonl`: every search, and every use of an asset that came from a hub, one line each.

use super::ReuseSearch;
use crate::store::lines;
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::{Result, Value, json};
use std::path::PathBuf;

/// The most lines in the file, and the newest kept once there are more.
const LIMIT: usize = 1000;
const KEPT: usize = 500;

fn path(workspace: &Workspace) -> PathBuf {
    workspace.paths.evolution.join("asset_call_log.jsonl")
}

/// Notes how the search of a run ended, and what is made of what it found. The caller holds the store's lock.
pub fn record_search(workspace: &Workspace, run_id: &str, search: &ReuseSearch) -> Result<()> {
    append(workspace, &search_lines(&workspace.now().iso(), run_id, search))
}

fn search_lines(at: &str, run_id: &str, search: &ReuseSearch) -> Vec<Value> {
    let line = |action: &str| {
        let hit = search.hit.as_ref();
        json!({
            "timestamp": at,
            "run_id": run_id,
            "action": action,
            "asset_id": hit.map(|hit| &hit.asset_id),
            "asset_type": hit.map(|_| "Capsule"),
            "source_node_id": hit.map(|hit| &hit.source_node_id),
            "chain_id": hit.and_then(|hit| hit.chain_id.as_ref()),
            "score": hit.map(|hit| hit.score),
            "mode": hit.map(|hit| hit.mode.as_str()),
            "signals": search.signals,
            "reason": search.miss,
            "via": search.hub,
        })
    };
    match &search.hit {
        None => vec![line("hub_search_miss")],
        Some(hit) if hit.mode == super::ReuseMode::Direct => {
            vec![line("hub_search_hit"), line("asset_reuse")]
        }
        Some(_) => vec![line("hub_search_hit"), line("asset_reference")],
    }
}

/// Appends lines and keeps the file bounded. The caller holds the store's lock.
pub fn append(workspace: &Workspace, records: &[Value]) -> Result<()> {
    let path = path(workspace);
    let new: Vec<String> = records.iter().map(Value::to_string).collect();
    let mut kept = lines::tail(&path, LIMIT + 1)?;
    if kept.len() + new.len() <= LIMIT {
        return files::append(&path, &joined(&new));
    }
    kept.extend(new);
    let newest = &kept[kept.len().saturating_sub(KEPT)..];
    files::replace(&path, joined(newest).as_bytes())
}

fn joined(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::SystemClock;
    use capsid_testkit::test_repo::TestRepo;
    use std::sync::Arc;

    #[test]
    fn the_log_stays_bounded_and_keeps_the_newest() {
        let repo = TestRepo::new();
        let workspace = Workspace::open(repo.path(), Arc::new(SystemClock), Arc::new(repo.env())).unwrap();
        let some = |range: std::ops::Range<usize>| range.map(|n| json!({"n": n})).collect::<Vec<_>>();
        append(&workspace, &some(0..LIMIT)).unwrap();
        assert_eq!(lines::tail(&path(&workspace), LIMIT + 1).unwrap().len(), LIMIT);
        append(&workspace, &some(LIMIT..LIMIT + 1)).unwrap();
        let kept = lines::tail(&path(&workspace), LIMIT + 1).unwrap();
        assert_eq!((kept.len(), kept[KEPT - 1].as_str()), (KEPT, r#"{"n":1000}"#));
    }
}
