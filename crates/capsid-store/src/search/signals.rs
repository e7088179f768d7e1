//! Assets by one signal that they name, found by the search so that it costs no more on a large hub.

use crate::assets::list::{AssetFilter, ListedAsset};
use crate::db::tx::Tx;
use crate::search::{self, SignalSearch};
use capsid_model::problem::Result;
use capsid_rules::assets::traits::card_members;
use serde_json::Value;

/// How many assets with a signal are looked at.
const MAX: usize = 1000;

/// The assets that a filter with a signal lets through, and whether there may be more.
pub fn find_by_signal(tx: &mut dyn Tx, filter: &AssetFilter) -> Result<(Vec<ListedAsset>, bool)> {
    let Some(signal) = &filter.signal else { return Ok((Vec::new(), false)) };
    let (mut found, mut more) = (Vec::new(), false);
    for status in &filter.statuses {
        for kind in filter.types() {
            let query = SignalSearch {
                asset_type: Some(*kind),
                status: *status,
                node_id: filter.node_id.clone(),
                ..SignalSearch::signals(vec![signal.clone()], MAX)
            };
            let hits = search::find(tx, &query)?;
            more |= hits.len() >= MAX;
            found.extend(hits.into_iter().map(|hit| hit.listed));
        }
    }
    found.retain(|listed: &ListedAsset| fits(listed, filter, signal));
    Ok((found, more))
}

fn fits(listed: &ListedAsset, filter: &AssetFilter, signal: &str) -> bool {
    let (asset, traits) = (&listed.asset, &listed.asset.traits);
    let same = |other: &String| other.trim().to_lowercase() == signal.trim().to_lowercase();
    filter.tier.is_none_or(|tier| asset.trust_tier == tier)
        && filter.node_id.as_ref().is_none_or(|node| *node == asset.node_id)
        && (filter.chain_id.is_none() || filter.chain_id == traits.chain_id)
        && (filter.category.is_none() || filter.category == traits.category)
        && filter.label.is_none_or(|label| label == traits.proof)
        && signals_in_card(&asset.card).iter().any(same)
}

/// The signals that an asset names, from its card. What is no text is none.
pub fn signals_in_card(card: &str) -> Vec<String> {
    let mut card = card_members(card);
    let items = match card.remove("signals") {
        Some(Value::Array(items)) => items,
        Some(one @ Value::String(_)) => vec![one],
        _ => Vec::new(),
    };
    items
        .into_iter()
        .filter_map(|item| if let Value::String(text) = item { Some(text) } else { None })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::signals_in_card;

    #[test]
    fn only_texts_are_signals() {
        assert_eq!(signals_in_card(r#""a":1,"signals":["x",1,null,"y"]"#), ["x", "y"]);
        assert_eq!(signals_in_card(r#""signals":"x""#), ["x"]);
        assert!(signals_in_card(r#""signals":{"x":1}"#).is_empty() && signals_in_card("broken").is_empty());
    }
}
