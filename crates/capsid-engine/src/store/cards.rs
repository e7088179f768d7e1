//! Loads of the genes what selecting needs, fast enough for a hundred thousand of them.

use super::AssetStore;
use crate::rules::select::GeneCard;
use capsid_model::Result;
use capsid_model::gene::{EpigeneticMark, Gene};
use serde::Deserialize;
use std::borrow::Cow;

/// A gene as most files have it. Any other shape makes the reader use the tolerant parser for the list.
#[derive(Deserialize)]
struct GeneCardRow<'a> {
    #[serde(default, rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    id: String,
    #[serde(default)]
    signals_match: Vec<String>,
    #[serde(default)]
    epigenetic_marks: Vec<MarkRow>,
}

#[derive(Deserialize)]
struct MarkRow {
    context: String,
    boost: f64,
}

impl AssetStore {
    /// The genes in file order, as selecting needs them. One without an id could not be found again and is left out.
    pub fn gene_cards(&self) -> Result<Vec<GeneCard>> {
        if let Some(list) = self.genes.plain_list()?
            && let Ok(rows) = serde_json::from_str::<Vec<GeneCardRow<'_>>>(&list)
        {
            let genes = rows.into_iter().filter(|row| row.kind == "Gene" && !row.id.is_empty());
            return Ok(genes.map(card).collect());
        }
        let documents = self.genes.documents()?;
        Ok(documents
            .iter()
            .filter(|gene| Gene::is_gene(gene))
            .map(|gene| GeneCard::from(&Gene::read(gene)))
            .filter(|card| !card.id.is_empty())
            .collect())
    }
}

fn card(row: GeneCardRow<'_>) -> GeneCard {
    let mark = |row: MarkRow| EpigeneticMark { context: row.context, boost: row.boost };
    GeneCard {
        id: row.id,
        patterns: row.signals_match,
        marks: row.epigenetic_marks.into_iter().map(mark).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn both_ways_give_the_same_cards() {
        let folder = tempfile::tempdir().unwrap();
        let store = AssetStore::at(folder.path());
        let genes = json!([
            {"type": "Gene", "id": "a", "signals_match": ["x", "ü"], "epigenetic_marks": [{"context": "c", "boost": 0.1}]},
            {"type": "Other", "id": "b"},
            {"type": "Gene", "signals_match": ["x"]},
            {"type": "Gene", "id": "", "signals_match": ["x"]},
            {"type": "Gene", "id": "c"},
        ]);
        std::fs::write(store.genes.path(), json!({"version": 1, "genes": genes}).to_string()).unwrap();
        let fast = store.gene_cards().unwrap();
        std::fs::write(folder.path().join("genes.jsonl"), "{\"type\":\"Gene\",\"id\":\"c\"}\n").unwrap();
        assert_eq!(store.gene_cards().unwrap(), fast);
        assert_eq!(fast.iter().map(|card| card.id.as_str()).collect::<Vec<_>>(), ["a", "c"]);
    }
}
