//! Staged assets of others that match the signals.

use super::{KEPT, id_of, text, truncate_line};
use crate::exchange::origin::source;
use crate::store::events::object;
use crate::store::{AssetStore, lines};
use capsid_model::capsule::Capsule;
use capsid_model::gene::Gene;
use capsid_model::{Object, Result};
use std::collections::HashSet;

/// The most genes and the most capsules that are shown.
const SHOWN: usize = 3;

/// One line about each of the best matching staged assets of others; `hits` decides whether a pattern matches.
pub fn external_preview(store: &AssetStore, hits: &dyn Fn(&str) -> bool) -> Result<Vec<String>> {
    let lines = lines::tail(&store.external_candidates(), KEPT)?;
    let newest_first = lines.iter().rev();
    let (mut genes, mut capsules) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for asset in newest_first.filter_map(|line| object(line.as_bytes())) {
        let kind = text(asset.get("type"));
        if !seen.insert((kind.to_owned(), id_of(&asset))) {
            continue;
        }
        if kind == "Gene" {
            genes.push((count(&Gene::read(&asset).signals_match, hits), line(&asset)));
        } else if kind == "Capsule" {
            capsules.push((count(&Capsule::read(&asset).trigger, hits), line(&asset)));
        }
    }
    Ok(best(genes).chain(best(capsules)).collect())
}

/// The lines with the most hits, those without any left out.
fn best(mut scored: Vec<(usize, String)>) -> impl Iterator<Item = String> {
    scored.retain(|(hits, _)| *hits > 0);
    scored.sort_by_key(|(hits, _)| std::cmp::Reverse(*hits));
    scored.into_iter().take(SHOWN).map(|(_, line)| line)
}

fn count(patterns: &[String], hits: &dyn Fn(&str) -> bool) -> usize {
    patterns.iter().filter(|pattern| hits(pattern)).count()
}

fn line(asset: &Object) -> String {
    let member = |name: &str| text(asset.get(name));
    let source = source(asset).unwrap_or("external");
    truncate_line(&format!("{} {} from {source}: {}", member("type"), member("id"), member("summary")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_disk::files;

    #[test]
    fn only_matching_staged_assets_are_shown_three_of_a_kind() {
        let folder = tempfile::tempdir().unwrap();
        let store = AssetStore::at(folder.path());
        let mut lines = String::new();
        for n in 0..5 {
            lines += &format!("{{\"type\":\"Gene\",\"id\":\"g{n}\",\"signals_match\":[\"err\"]}}\n");
        }
        lines += "{\"type\":\"Gene\",\"id\":\"g4\",\"signals_match\":[\"err\",\"log\"],\"summary\":\"a\\u001bb\"}\n";
        lines += "{\"type\":\"Capsule\",\"id\":\"c\",\"trigger\":[\"none\"]}\nnot json\n";
        lines +=
            "{\"type\":\"Capsule\",\"id\":\"d\",\"trigger\":[\"log\"],\"a2a\":{\"source\":\"node_1\"}}\n";
        files::append(&store.external_candidates(), &lines).unwrap();
        let hits = |pattern: &str| "log_error".contains(pattern);
        assert_eq!(
            external_preview(&store, &hits).unwrap(),
            [
                "Gene g4 from external: a\\u{1b}b",
                "Gene g3 from external:",
                "Gene g2 from external:",
                "Capsule d from node_1:"
            ]
        );
    }
}
