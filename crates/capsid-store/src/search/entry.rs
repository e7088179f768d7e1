//! What is indexed of an asset.

use super::expression;
use crate::db::row::row;
use capsid_rules::assets::traits;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_rules::meaning::MeaningTerms;
use capsid_rules::meaning::terms;
use serde_json::Value;

row! {
    /// What is indexed of an asset.
    #[derive(Debug, Clone)]
    pub struct IndexEntry {
        pub seq: i64 = "a.seq",
        pub asset_type: AssetType = "a.asset_type",
        pub status: AssetStatus = "a.status",
        pub gdi: i64 = "a.gdi",
        pub node_id: String = "a.node_id",
        /// The part of a listing that never changes.
        pub card: String = "a.card",
        pub category: Option<String> = "a.category",
        /// What it means, as a line; missing in assets of old that the index has not reached yet.
        pub meaning: Option<String> = "a.meaning",
    }
}

impl IndexEntry {
    /// Its terms in the form that indexes take, with spaces between them.
    pub fn terms(&self) -> String {
        let mut terms = indexed_terms(&self.node_id, &self.card);
        terms.extend(self.category.as_deref().map(expression::category_term));
        let meaning = MeaningTerms::read(self.meaning.as_deref().unwrap_or_default());
        terms.extend(meaning.terms().into_iter().map(terms::encode_term));
        terms.join(" ")
    }
}

/// The terms of an asset in the form that indexes take.
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
