//! Capabilities that were noticed and may become genes, and staged assets of others. Both are shown, never run.

use crate::phase;
use crate::store::events::object;
use crate::store::{Store, files, lines};
use capsid_model::capsule::Capsule;
use capsid_model::gene::Gene;
use capsid_model::hash::stable_hash;
use capsid_model::text::{collapse, cut, inert_line};
use capsid_model::{Object, Result, Time, Value, json};
use regex::Regex;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

/// The newest lines kept once there are more than [`LIMIT`], and those in which a known id is looked for.
const KEPT: usize = 500;

/// The most lines in the file.
const LIMIT: usize = 1000;

/// A tool used this often in one transcript is worth a look.
const REPEATED: usize = 2;

/// The most candidates of one transcript.
const MAX_NOTICED: usize = 20;

/// The most genes and the most capsules of others that are shown.
const SHOWN_EXTERNAL: usize = 3;

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
        for found in tool.captures_iter(transcript) {
            *uses
                .entry(found.get(1).map_or("", |name| name.as_str()))
                .or_default() += 1;
        }
    }
    let tools = uses
        .into_iter()
        .filter(|(_, count)| *count >= REPEATED)
        .map(|(name, count)| {
            let title = format!("Repeated use of the tool {name}");
            let id = stable_hash(&title);
            let evidence = format!("{count} calls of {name} in one transcript");
            candidate(&id, &title, "transcript", &[name], &evidence, now)
        });
    let named = OPPORTUNITIES.iter().filter_map(|name| {
        let signal = signals.iter().find(|signal| is_named(signal, name))?;
        let title = format!("Answer to the signal {name}");
        Some(candidate(
            &stable_hash(name),
            &title,
            "signals",
            &[name],
            signal,
            now,
        ))
    });
    tools.chain(named).take(MAX_NOTICED).collect()
}

fn is_named(signal: &str, name: &str) -> bool {
    signal
        .strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

fn candidate(
    id: &str,
    title: &str,
    source: &str,
    signals: &[&str],
    evidence: &str,
    now: Time,
) -> Object {
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
        Value::Object(candidate) => candidate,
        _ => Object::new(),
    }
}

/// Appends the candidates that the newest lines do not hold, and keeps the file bounded. The caller holds the lock.
pub fn append_new(store: &Store, candidates: &[Object]) -> Result<usize> {
    let path = store.candidates();
    let mut kept = lines::tail(&path, LIMIT + 1)?;
    let newest = &kept[kept.len().saturating_sub(KEPT)..];
    let mut known: HashSet<String> = newest
        .iter()
        .filter_map(|line| Some(id_of(&object(line.as_bytes())?)))
        .collect();
    let new: Vec<String> = candidates
        .iter()
        .filter(|candidate| known.insert(id_of(candidate)))
        .map(|candidate| serde_json::to_string(candidate).unwrap_or_default())
        .collect();
    if new.is_empty() && kept.len() <= LIMIT {
        return Ok(0);
    }
    phase::enter("candidates");
    if kept.len() + new.len() <= LIMIT {
        files::append(&path, &joined(&new))?;
    } else {
        kept.extend_from_slice(&new);
        let newest = &kept[kept.len() - KEPT..];
        files::replace(&path, joined(newest).as_bytes())?;
    }
    Ok(new.len())
}

/// One line about each of the newest `count` candidates.
pub fn preview(store: &Store, count: usize) -> Result<Vec<String>> {
    let lines = lines::tail(&store.candidates(), count)?;
    Ok(lines
        .iter()
        .filter_map(|line| object(line.as_bytes()))
        .map(|candidate| {
            let evidence = candidate
                .get("shape")
                .and_then(|shape| shape.get("evidence"));
            shown(&format!(
                "{}: {}",
                text(candidate.get("title")),
                text(evidence)
            ))
        })
        .collect())
}

/// One line about each staged asset of others that matches best; `hits` says whether a pattern matches the signals.
pub fn external_preview(store: &Store, hits: &dyn Fn(&str) -> bool) -> Result<Vec<String>> {
    let lines = lines::tail(&store.external_candidates(), KEPT)?;
    let mut newest: HashMap<String, usize> = HashMap::new();
    let staged: Vec<Object> = lines
        .iter()
        .filter_map(|line| object(line.as_bytes()))
        .collect();
    for (place, asset) in staged.iter().enumerate() {
        newest.insert(id_of(asset), place);
    }
    let current = || {
        let is_newest = |place, asset| newest.get(&id_of(asset)) == Some(&place);
        staged
            .iter()
            .enumerate()
            .filter(move |(place, asset)| is_newest(*place, asset))
    };
    let genes = current()
        .filter(|(_, asset)| Gene::is_gene(asset))
        .map(|(_, asset)| {
            let gene = Gene::read(asset);
            (
                count(&gene.signals_match, hits),
                line("Gene", &gene.id, &gene.summary, asset),
            )
        });
    let capsules = current()
        .filter(|(_, asset)| text(asset.get("type")) == "Capsule")
        .map(|(_, asset)| {
            let capsule = Capsule::read(asset);
            (
                count(&capsule.trigger, hits),
                line("Capsule", &capsule.id, &capsule.summary, asset),
            )
        });
    Ok(best(genes.collect())
        .chain(best(capsules.collect()))
        .collect())
}

/// The lines with the most hits, those without any left out.
fn best(mut scored: Vec<(usize, String)>) -> impl Iterator<Item = String> {
    scored.retain(|(hits, _)| *hits > 0);
    scored.sort_by_key(|(hits, _)| std::cmp::Reverse(*hits));
    scored
        .into_iter()
        .take(SHOWN_EXTERNAL)
        .map(|(_, line)| line)
}

fn count(patterns: &[String], hits: &dyn Fn(&str) -> bool) -> usize {
    patterns.iter().filter(|pattern| hits(pattern)).count()
}

fn line(kind: &str, id: &str, summary: &str, asset: &Object) -> String {
    let source = asset.get("a2a").and_then(|a2a| a2a.get("source"));
    let source = source.and_then(Value::as_str).unwrap_or("external");
    shown(&format!("{kind} {id} from {source}: {summary}"))
}

fn shown(line: &str) -> String {
    inert_line(cut(line, 300))
}

fn joined(lines: &[String]) -> String {
    lines
        .iter()
        .flat_map(|line| [line.as_str(), "\n"])
        .collect()
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

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        (folder, store)
    }

    fn numbered(range: std::ops::Range<usize>) -> Vec<Object> {
        range
            .map(|n| candidate(&n.to_string(), "t", "signals", &[], "e", NOW))
            .collect()
    }

    fn count_lines(store: &Store) -> usize {
        std::fs::read_to_string(store.candidates())
            .unwrap()
            .lines()
            .count()
    }

    #[test]
    fn a_repeated_tool_and_an_opportunity_are_noticed() {
        let signals = [
            "user_feature_request:dark mode".to_owned(),
            "capability_gaps".to_owned(),
        ];
        let found = notice(
            "[TOOL: exec] [TOOL:exec] [TOOL: read] [TOOL: ]",
            &signals,
            NOW,
        );
        let ids: Vec<&str> = found.iter().map(|c| c["id"].as_str().unwrap()).collect();
        let expected = [
            format!("cand_{}", stable_hash("Repeated use of the tool exec")),
            format!("cand_{}", stable_hash("user_feature_request")),
        ];
        assert_eq!(ids, expected);
        assert_eq!(
            found[1]["shape"]["evidence"],
            "user_feature_request:dark mode"
        );
    }

    #[test]
    fn the_same_candidate_is_written_once() {
        let (_folder, store) = store();
        let found = notice("", &["perf_bottleneck".to_owned()], NOW);
        assert_eq!(append_new(&store, &found).unwrap(), 1);
        assert_eq!(append_new(&store, &found).unwrap(), 0);
        assert_eq!(
            preview(&store, 8).unwrap(),
            ["Answer to the signal perf_bottleneck: perf_bottleneck"]
        );
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

    #[test]
    fn only_matching_staged_assets_are_shown_three_of_a_kind() {
        let (_folder, store) = store();
        let mut lines = String::new();
        for n in 0..5 {
            lines +=
                &format!("{{\"type\":\"Gene\",\"id\":\"g{n}\",\"signals_match\":[\"err\"]}}\n");
        }
        lines += "{\"type\":\"Gene\",\"id\":\"g4\",\"signals_match\":[\"err\",\"log\"],\"summary\":\"a\\u001bb\"}\n";
        lines += "{\"type\":\"Capsule\",\"id\":\"c\",\"trigger\":[\"none\"]}\nnot json\n";
        lines += "{\"type\":\"Capsule\",\"id\":\"d\",\"trigger\":[\"log\"],\"a2a\":{\"source\":\"node_1\"}}\n";
        files::append(&store.external_candidates(), &lines).unwrap();
        let hits = |pattern: &str| "log_error".contains(pattern);
        assert_eq!(
            external_preview(&store, &hits).unwrap(),
            [
                "Gene g4 from external: a\\u{1b}b",
                "Gene g0 from external:",
                "Gene g1 from external:",
                "Capsule d from node_1:"
            ]
        );
    }
}
