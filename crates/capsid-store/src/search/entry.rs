//! What the search holds of an asset.

use super::{expression, ranked};
use crate::assets::list::ListedAsset;
use crate::db::row::{row, select};
use crate::db::tx::{Dialect, Tx};
use crate::params;
use capsid_model::Object;
use capsid_model::problem::Result;
use capsid_rules::assets::traits;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_rules::meaning::MeaningTerms;
use capsid_rules::meaning::terms;
use serde_json::Value;
use std::collections::HashMap;

row! {
    /// What decides by which terms an asset is found, and where.
    #[derive(Debug, Clone)]
    pub struct EntryRow {
        pub seq: i64 = "a.seq",
        pub asset_type: AssetType = "a.asset_type",
        pub status: AssetStatus = "a.status",
        pub gdi: i64 = "a.gdi",
        pub node_id: String = "a.node_id",
        /// The part of a listing that never changes.
        pub card: String = "a.card",
        pub category: Option<String> = "a.category",
    }
}

impl EntryRow {
    /// Where it belongs.
    pub fn rank(&self) -> i64 {
        ranked::rank(self.asset_type, self.status, self.gdi, self.seq)
    }

    /// Its terms in the form that the index takes, with spaces between them.
    pub fn terms(&self, meaning: &MeaningTerms) -> String {
        let mut terms = vec![expression::type_term(self.asset_type).to_owned()];
        terms.extend(indexed_terms(&self.node_id, &self.card));
        terms.extend(self.category.as_deref().map(expression::category_term));
        terms.extend(meaning.terms().into_iter().map(terms::encode_term));
        terms.join(" ")
    }
}

/// Assets between two sequences. Reads as many rows.
pub fn entries_between(tx: &mut dyn Tx, first: i64, last: i64) -> Result<Vec<EntryRow>> {
    tx.query_all(
        select!(
            EntryRow,
            "FROM assets a WHERE a.seq >= $1 AND a.seq <= $2 AND length(a.asset_id) = 32 ORDER BY a.seq"
        ),
        params![first, last],
    )
}

row! {
    /// The texts that an asset means something by.
    #[derive(Debug, Clone)]
    pub struct MeaningSource {
        pub seq: i64 = "a.seq",
        asset_type: AssetType = "a.asset_type",
        body: String = "a.body",
        /// Of the gene that a capsule first came with.
        gene_body: Option<String> = "CASE WHEN a.asset_type = 'Capsule' THEN (SELECT g.body FROM bundles b
            JOIN assets g ON g.asset_id = b.gene_id WHERE b.bundle_id = a.bundle_id) END",
    }
}

impl MeaningSource {
    /// What it means. A body that is no object means nothing; `fsck` tells of it.
    pub fn meaning(&self) -> MeaningTerms {
        let read = |body: &str| serde_json::from_str::<Object>(body).ok();
        let gene = self.gene_body.as_deref().and_then(read);
        traits::meaning(&read(&self.body).unwrap_or_default(), self.asset_type, gene.as_ref())
    }
}

const SOURCES_SQLITE: &str =
    select!(MeaningSource, "FROM assets a WHERE a.seq IN (SELECT value FROM json_each($1)) ORDER BY a.seq");
const SOURCES_POSTGRES: &str = select!(
    MeaningSource,
    "FROM assets a WHERE a.seq IN
        (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST($1 AS JSON))) ORDER BY a.seq"
);

/// The texts of some assets. Reads two rows for each.
pub fn meaning_sources(tx: &mut dyn Tx, seqs: &[i64]) -> Result<Vec<MeaningSource>> {
    if seqs.is_empty() {
        return Ok(Vec::new());
    }
    let sql = match tx.dialect() {
        Dialect::Sqlite => SOURCES_SQLITE,
        Dialect::Postgres => SOURCES_POSTGRES,
    };
    tx.query_all(sql, params![&serde_json::json!(seqs).to_string()])
}

/// What some assets mean: as the index holds it, else made of their texts. Reads a row for each, or two.
pub fn meanings(tx: &mut dyn Tx, seqs: &[i64]) -> Result<HashMap<i64, MeaningTerms>> {
    let list = serde_json::json!(seqs).to_string();
    let kept = tx.index()?.query_all::<(i64, String)>(
        "SELECT m.seq, m.line FROM meanings m WHERE m.seq IN (SELECT j.value FROM json_each($1) j)",
        params![&list],
    )?;
    let mut meanings: HashMap<i64, MeaningTerms> =
        kept.into_iter().map(|(seq, line)| (seq, MeaningTerms::read(&line))).collect();
    let missing: Vec<i64> = seqs.iter().copied().filter(|seq| !meanings.contains_key(seq)).collect();
    for source in meaning_sources(tx, &missing)? {
        meanings.insert(source.seq, source.meaning());
    }
    Ok(meanings)
}

/// The words of some assets: as the index holds them, else made of their cards. Reads a row for each.
pub fn words(tx: &mut dyn Tx, assets: &[ListedAsset]) -> Result<HashMap<i64, String>> {
    let seqs: Vec<i64> = assets.iter().map(|listed| listed.asset.seq).collect();
    let kept = tx.index()?.query_all::<(i64, String)>(
        "SELECT m.seq, m.words FROM meanings m WHERE m.seq IN (SELECT j.value FROM json_each($1) j)",
        params![&serde_json::json!(seqs).to_string()],
    )?;
    let mut words: HashMap<i64, String> = kept.into_iter().collect();
    for listed in assets {
        words.entry(listed.asset.seq).or_insert_with(|| words_of(&listed.asset.card));
    }
    Ok(words)
}

/// The terms of a card in the form that the index takes, with a space around each.
pub fn words_of(card: &str) -> String {
    let mut words = String::from(" ");
    for term in terms_of(card) {
        words.push_str(&terms::encode_term(&term));
        words.push(' ');
    }
    words
}

/// The terms of an asset in the form that the index takes.
pub fn indexed_terms(node_id: &str, card: &str) -> Vec<String> {
    let mut indexed = vec![expression::node_term(node_id)];
    indexed.extend(terms_of(card).iter().map(|term| terms::encode_term(term)));
    indexed
}

/// The terms of an asset, from its card: signals first, then its summary, its kind of change and its own name.
pub fn terms_of(card: &str) -> Vec<String> {
    let card = traits::card_members(card);
    let text = |key: &str| card.get(key).and_then(Value::as_str).unwrap_or_default();
    let signals: Vec<&str> = ["trigger", "signals_match", "signals"]
        .iter()
        .filter_map(|key| card.get(*key).and_then(Value::as_array))
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let extra = [text("category"), text("intent"), text("local_id")];
    terms::asset_terms(&signals, text("summary"), &extra)
}

#[cfg(test)]
mod tests {
    use super::terms_of;

    #[test]
    fn the_terms_of_a_card() {
        let card = r#""asset_id":"x","local_id":"gene_a","summary":"Retry with backoff","category":"repair","signals_match":["TimeoutError"]"#;
        let terms = terms_of(card);
        for term in ["s_timeout_error", "timeout", "retry", "backoff", "repair", "gene"] {
            assert!(terms.iter().any(|known| known == term), "{term} in {terms:?}");
        }
        assert!(terms_of("not a card").is_empty());
    }
}
