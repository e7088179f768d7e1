//! The calls that others build on, typed: search, fetch, publish, report.

use crate::asset;
use crate::node::Node;
use capsid_model::{Object, Problem, Result, Value, json};

/// What a search tells of an asset: free, and not counted as use.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its id.
    pub asset_id: String,
    /// `Gene`, `Capsule` or `EvolutionEvent`.
    pub kind: String,
    /// Who published it.
    pub source_node_id: Option<String>,
    /// What the publisher's word is worth, from 0 to 100.
    pub reputation: Option<f64>,
    /// The publisher's confidence.
    pub confidence: f64,
    /// How often it worked in a row.
    pub streak: u64,
    /// Its state, where the hub tells.
    pub status: Option<String>,
    /// One line about it.
    pub summary: String,
    /// Everything the hub said of it.
    pub row: Object,
}

/// Assets that were fetched, and what became of those that were not.
#[derive(Debug, Default)]
pub struct Fetched {
    /// Each with an id that holds.
    pub assets: Vec<Object>,
    /// Those that came and were refused.
    pub refused: Vec<Problem>,
    /// The whole payload beside them: tasks, balance, what was missing.
    pub payload: Object,
}

impl Node {
    /// Looks for promoted assets that answer signals.
    pub fn search(&self, signals: &[String], kind: Option<&str>, limit: usize) -> Result<Vec<Row>> {
        let payload = json!({"signals": signals, "asset_type": kind, "search_only": true, "limit": limit});
        let answer = self.message("fetch", payload)?;
        Ok(list(&answer).iter().filter_map(row).take(limit).collect())
    }

    /// Fetches assets by id; each is checked before it is handed on.
    pub fn fetch(&self, ids: &[&str]) -> Result<Fetched> {
        let mut fetched = self.fetch_as(json!({"asset_ids": ids}))?;
        let asked = |asset: &Object| {
            asset.get("asset_id").and_then(Value::as_str).is_some_and(|id| ids.contains(&id))
        };
        fetched.assets.retain(asked);
        Ok(fetched)
    }

    /// The same for any payload of a fetch.
    pub fn fetch_as(&self, payload: Value) -> Result<Fetched> {
        let mut answer = self.message("fetch", payload)?;
        let mut fetched = Fetched::default();
        for received in list(&answer) {
            match asset::checked(received, None) {
                Ok(asset) => fetched.assets.push(asset),
                Err(problem) => fetched.refused.push(problem),
            }
        }
        answer.retain(|name, _| name != "results" && name != "assets");
        fetched.payload = answer;
        Ok(fetched)
    }

    /// Publishes a bundle: a gene, a capsule and perhaps an event, each with its id.
    pub fn publish(&self, assets: &[Object]) -> Result<Object> {
        self.message("publish", json!({"assets": assets, "signature": self.bundle_signature(assets)?}))
    }

    /// Asks what the hub would say of a bundle; nothing is stored.
    pub fn validate(&self, assets: &[Object]) -> Result<Object> {
        self.message("validate", json!({"assets": assets}))
    }

    /// Says whether an asset's validation passed here.
    pub fn report(&self, asset_id: &str, report: &Value) -> Result<Object> {
        self.message("report", json!({"target_asset_id": asset_id, "validation_report": report}))
    }
}

fn list(answer: &Object) -> &[Value] {
    let list = answer.get("results").or_else(|| answer.get("assets")).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

/// A row of a list of assets; none where it names no asset.
pub fn row(value: &Value) -> Option<Row> {
    let row = value.as_object()?;
    let text = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
    let number = |name: &str| row.get(name).and_then(Value::as_f64);
    Some(Row {
        asset_id: text("asset_id")?,
        kind: text("type").or_else(|| text("asset_type")).unwrap_or_default(),
        source_node_id: text("source_node_id"),
        reputation: number("reputation_score"),
        confidence: number("confidence").unwrap_or_default().clamp(0.0, 1.0),
        streak: row.get("success_streak").and_then(Value::as_u64).unwrap_or_default(),
        status: text("status"),
        summary: text("summary").unwrap_or_default(),
        row: row.clone(),
    })
}
