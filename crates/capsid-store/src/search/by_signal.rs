//! Lists of assets that name a signal, found by the search so that they cost no more on a large hub.

use crate::assets::list::{AssetFilter, AssetSort, ListPosition, ListedAsset};
use crate::db::tx::Tx;
use crate::search::{self, SignalSearch};
use capsid_model::problem::Result;
use capsid_rules::assets::traits::card_members;
use serde_json::Value;

/// How many assets with a signal are looked at.
const MAX: usize = 1000;

/// The assets that name a signal after a position, at most `limit` of them, with how many there are in all and whether
/// there may be more.
pub fn list(
    tx: &mut dyn Tx,
    filter: &AssetFilter,
    signal: &str,
    sort: AssetSort,
    after: ListPosition,
    limit: usize,
) -> Result<(Vec<ListedAsset>, (i64, bool))> {
    let (mut assets, more) = find_by_signal(tx, filter, signal)?;
    let total = (assets.len() as i64, more);
    let position = |listed: &ListedAsset| {
        let position = sort.position(&listed.asset);
        (position.key, position.seq)
    };
    assets.retain(|listed| position(listed) < (after.key, after.seq));
    assets.sort_by_key(|listed| std::cmp::Reverse(position(listed)));
    assets.truncate(limit);
    Ok((assets, total))
}

/// The assets that a filter lets through and that name a signal, whatever its case, and whether there may be more.
pub(super) fn find_by_signal(
    tx: &mut dyn Tx,
    filter: &AssetFilter,
    signal: &str,
) -> Result<(Vec<ListedAsset>, bool)> {
    let (mut assets, mut more) = (Vec::new(), false);
    for status in &filter.statuses {
        for kind in filter.types() {
            let query = SignalSearch {
                asset_type: Some(*kind),
                status: *status,
                node_id: filter.node_id.clone(),
                ..SignalSearch::signals(vec![signal.to_owned()], MAX)
            };
            let hits = search::find(tx, &query)?;
            more |= hits.len() >= MAX;
            assets.extend(hits.into_iter().map(|hit| hit.listed));
        }
    }
    assets.retain(|listed: &ListedAsset| fits(listed, filter, signal));
    Ok((assets, more))
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
pub(super) fn signals_in_card(card: &str) -> Vec<String> {
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
