//! An asset as lists show it: what never changes, which is kept as text, and what does.

use capsid_model::time::Time;
use capsid_store::assets::list::ListedAsset;
use serde_json::{Map, Value};
use std::fmt::Write;

/// The row of an asset, as JSON.
pub fn row(listed: &ListedAsset) -> String {
    format!("{{{},{}}}", listed.asset.card, dynamic(listed))
}

/// The row with more members, which are JSON without braces.
pub fn row_with(listed: &ListedAsset, more: &str) -> String {
    format!("{{{},{},{more}}}", listed.asset.card, dynamic(listed))
}

/// What changes, as JSON.
pub fn meta(listed: &ListedAsset) -> String {
    format!("{{{}}}", dynamic(listed))
}

/// What changes, as members without braces.
fn dynamic(listed: &ListedAsset) -> String {
    let asset = &listed.asset;
    let mut text = String::with_capacity(900);
    let mut put = |key: &str, value: &dyn std::fmt::Display| {
        let comma = if text.is_empty() { "" } else { "," };
        let _to_a_string = write!(text, "{comma}\"{key}\":{value}");
    };
    put("bundle_id", &quoted(&asset.bundle_id));
    put("status", &quoted(asset.status.as_str()));
    put("trust_tier", &quoted(&asset.trust_tier));
    put("gdi_score", &number(asset.gdi as f64 / 100.0));
    put("gdi_mean", &number(asset.gdi_mean));
    put("gdi_intrinsic", &number(asset.gdi_intrinsic));
    put("gdi_usage", &number(asset.gdi_usage));
    put("gdi_social", &number(asset.gdi_social));
    put("gdi_freshness", &number(asset.gdi_freshness));
    put("call_count", &asset.call_count);
    put("reuse_count", &asset.reuse_count);
    put("view_count", &asset.view_count);
    put("upvotes", &asset.upvotes);
    put("downvotes", &asset.downvotes);
    put("source_node_id", &quoted(&asset.node_id));
    put("reputation_score", &number(listed.reputation));
    put("chain_id", &asset.traits.chain_id.as_deref().map_or_else(null, quoted));
    put("has_evolution_event", &asset.traits.has_event);
    put("validation_label", &quoted(asset.traits.proof.as_str()));
    put("created_at", &iso(asset.created_at));
    put("promoted_at", &asset.promoted_at.map_or_else(null, iso));
    put("last_activity_at", &iso(asset.last_activity_at));
    if let Some(safety) = &asset.safety {
        put("safety", &quoted(safety));
    }
    if let Some(similar) = &asset.similar_to {
        put("similar_to", &quoted(&similar.to_string()));
    }
    text
}

fn null() -> String {
    "null".to_owned()
}

/// A text as JSON.
pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
}

/// A time as JSON.
pub fn iso(at: i64) -> String {
    quoted(&Time(at).iso())
}

/// A number as people read it: with four decimals.
pub fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

/// The same for every number with decimals in a value.
pub fn round_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            number.as_f64().map_or(Value::Null, |n| rounded(n).into())
        }
        Value::Array(items) => items.into_iter().map(round_numbers).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(key, value)| (key, round_numbers(value))).collect()
        }
        other => other,
    }
}

/// A number as JSON; what is no number is zero.
pub fn number(value: f64) -> String {
    serde_json::to_string(&rounded(value))
        .ok()
        .filter(|text| text != "null")
        .unwrap_or_else(|| "0.0".to_owned())
}

/// Rows as a JSON array.
pub fn array(rows: &[String]) -> String {
    format!("[{}]", rows.join(","))
}

/// Only some members of a row: those that `fields` names, and always the id.
#[derive(Debug, Clone, Default)]
pub struct FieldSelection(Vec<String>);

impl FieldSelection {
    /// Reads a list such as `asset_id,summary`.
    pub fn parse(text: Option<&str>) -> Self {
        let names = text.unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty());
        Self(names.map(str::to_owned).collect())
    }

    /// Leaves out what was not asked for.
    pub fn select(&self, row: String) -> String {
        if self.0.is_empty() {
            return row;
        }
        let Ok(mut members) = serde_json::from_str::<Map<String, Value>>(&row) else { return row };
        members.retain(|key, _| key == "asset_id" || self.0.iter().any(|name| name == key));
        serde_json::to_string(&members).unwrap_or(row)
    }
}

/// What reports and decisions say together: how many, and how much they weigh.
pub fn consensus(tally: &capsid_rules::evaluation::consensus::ConsensusTally) -> serde_json::Value {
    serde_json::json!({ "passes": tally.passed, "fails": tally.failed(), "total": tally.counted,
        "weight": { "passes": tally.passes, "fails": tally.fails }, "verdict": tally.verdict })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_shown_with_four_decimals() {
        assert_eq!(number(0.123_456_789), "0.1235");
        assert_eq!(number(f64::NAN), "0.0");
        let score = json!({"parts": [{"value": 1.0 / 3.0, "weight": 2}], "score": 36.8});
        assert_eq!(round_numbers(score), json!({"parts": [{"value": 0.3333, "weight": 2}], "score": 36.8}));
    }
}
