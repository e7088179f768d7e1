//! Capabilities that were noticed and may become genes.

use crate::files::phase;
use crate::store::events::object;
use crate::store::{AssetStore, lines};
use capsid_disk::files;
use capsid_model::asset::stamp;
use capsid_model::hash::stable_hash;
use capsid_model::text::{collapse, cut};
use capsid_model::{Object, Result, Time, Value, json};
use regex::Regex;
use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

/// The newest lines that are retained once there are more than [`LIMIT`], and that are searched for a known id.
const KEPT: usize = 500;

/// The most lines in the file.
const LIMIT: usize = 1000;

/// A tool used this often in one transcript is worth a look.
const REPEATED: usize = 2;

/// The most candidates of one transcript.
const MAX_NOTICED: usize = 20;

/// Signals that speak of something that could be built.
const OPPORTUNITIES: [&str; 10] = [
    "user_feature_request",
    "user_improvement_suggestion",
    "perf_bottleneck",
    "capability_gap",
    "stable_success_plateau",
    "external_opportunity",
    "recurring_error",
    "unsupported_input_type",
    "evolution_stagnation_detected",
    "repair_loop_detected",
];

static TOOL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\[TOOL:\s*([A-Za-z0-9_-]{1,80})\]").ok());

/// The candidates in a transcript and in the signals. Pure.
pub fn notice(transcript: &str, signals: &[String], now: Time) -> Vec<Object> {
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    if let Some(tool) = TOOL.as_ref() {
        for capture in tool.captures_iter(transcript) {
            *uses.entry(capture.get(1).map_or("", |name| name.as_str())).or_default() += 1;
        }
    }
    let tools = uses.into_iter().filter(|(_, count)| *count >= REPEATED).map(|(name, count)| {
        let title = format!("Repeated use of the tool {name}");
        let id = stable_hash(&title);
        let evidence = format!("{count} calls of {name} in one transcript");
        candidate(&id, &title, "transcript", &[name], &evidence, now)
    });
    let named = OPPORTUNITIES.iter().filter_map(|name| {
        let signal = signals.iter().find(|signal| is_named(signal, name))?;
        let title = format!("Answer to the signal {name}");
        Some(candidate(&stable_hash(name), &title, "signals", &[name], signal, now))
    });
    tools.chain(named).take(MAX_NOTICED).collect()
}

fn is_named(signal: &str, name: &str) -> bool {
    signal.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

fn candidate(id: &str, title: &str, source: &str, signals: &[&str], evidence: &str, now: Time) -> Object {
    let candidate = json!({
        "type": "CapabilityCandidate",
        "id": format!("cand_{id}"),
        "title": cut(title, 120),
        "source": source,
        "created_at": now.iso(),
        "signals": signals,
        "shape": {
            "title": cut(title, 120),
            "input": "the situation in which it was seen",
            "output": "a gene or a small tool that handles it",
            "invariants": "existing behaviour and tests stay as they are",
            "params": "what differed between the times it was seen",
            "failure_points": "seen too rarely to be general; done well enough already",
            "evidence": cut(&collapse(evidence), 240),
        },
    });
    match candidate {
        Value::Object(mut candidate) => {
            stamp(&mut candidate);
            candidate
        }
        _ => Object::new(),
    }
}

/// Appends the candidates that the newest lines do not hold, and keeps the file bounded. The caller holds the lock.
pub fn append_new(store: &AssetStore, candidates: &[Object]) -> Result<usize> {
    let path = store.candidates();
    let mut entries = lines::tail(&path, LIMIT + 1)?;
    let newest = &entries[entries.len().saturating_sub(KEPT)..];
    let mut known: HashSet<String> =
        newest.iter().filter_map(|line| Some(id_of(&object(line.as_bytes())?))).collect();
    let new: Vec<String> = candidates
        .iter()
        .filter(|candidate| known.insert(id_of(candidate)))
        .map(|candidate| serde_json::to_string(candidate).unwrap_or_default())
        .collect();
    if new.is_empty() && entries.len() <= LIMIT {
        return Ok(0);
    }
    phase::enter("candidates");
    if entries.len() + new.len() <= LIMIT {
        files::append(&path, &joined(&new))?;
    } else {
        entries.extend_from_slice(&new);
        let newest = &entries[entries.len() - KEPT..];
        files::replace(&path, joined(newest).as_bytes())?;
    }
    Ok(new.len())
}

fn joined(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

fn id_of(document: &Object) -> String {
    text(document.get("id")).to_owned()
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_770_000_000_000);

    fn store() -> (tempfile::TempDir, AssetStore) {
        let folder = tempfile::tempdir().unwrap();
        let store = AssetStore::at(folder.path());
        (folder, store)
    }

    fn numbered(range: std::ops::Range<usize>) -> Vec<Object> {
        range.map(|n| candidate(&n.to_string(), "t", "signals", &[], "e", NOW)).collect()
    }

    fn count_lines(store: &AssetStore) -> usize {
        std::fs::read_to_string(store.candidates()).unwrap().lines().count()
    }

    #[test]
    fn a_repeated_tool_and_an_opportunity_are_noticed() {
        let signals = ["user_feature_request:dark mode".to_owned(), "capability_gaps".to_owned()];
        let candidates = notice("[TOOL: exec] [TOOL:exec] [TOOL: read] [TOOL: ]", &signals, NOW);
        let ids: Vec<&str> = candidates.iter().map(|c| c["id"].as_str().unwrap()).collect();
        let expected = [
            format!("cand_{}", stable_hash("Repeated use of the tool exec")),
            format!("cand_{}", stable_hash("user_feature_request")),
        ];
        assert_eq!(ids, expected);
        assert_eq!(candidates[1]["shape"]["evidence"], "user_feature_request:dark mode");
    }

    #[test]
    fn the_same_candidate_is_written_once() {
        let (_folder, store) = store();
        let candidates = notice("", &["perf_bottleneck".to_owned()], NOW);
        assert_eq!(append_new(&store, &candidates).unwrap(), 1);
        assert_eq!(append_new(&store, &candidates).unwrap(), 0);
        let line = lines::tail(&store.candidates(), 1).unwrap().remove(0);
        assert!(capsid_model::asset::verify_text(&line).unwrap().holds(), "{line}");
        assert!(line.contains("Answer to the signal perf_bottleneck"), "{line}");
    }

    #[test]
    fn the_file_stays_bounded_and_keeps_the_newest() {
        let (_folder, store) = store();
        append_new(&store, &numbered(0..1000)).unwrap();
        assert_eq!(count_lines(&store), 1000);
        append_new(&store, &numbered(1000..1001)).unwrap();
        assert_eq!(count_lines(&store), 500);
        let last = lines::tail(&store.candidates(), 1).unwrap();
        assert!(last[0].contains("cand_1000"));
    }
}
