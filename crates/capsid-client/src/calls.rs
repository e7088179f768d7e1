//! The messages about assets, typed: search, fetch, publish, report, decide, revoke.

use crate::asset;
use crate::identity::is_name;
use crate::node::{NodeClient, bundle_signature};
use crate::raw_assets::raw_bodies;
use capsid_model::text::cut;
use capsid_model::{Object, Problem, Result, Value, json};
use std::collections::BTreeMap;

/// A search result for an asset: free, and not counted as use.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRow {
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
    /// Its state, if the hub reports it.
    pub status: Option<String>,
    /// One line about it.
    pub summary: String,
    /// The complete row of the hub.
    pub row: Object,
}

/// Assets that were fetched, and what became of those that were not.
#[derive(Debug, Default)]
pub struct FetchedAssets {
    /// Each with an id that holds.
    pub assets: Vec<Object>,
    /// Those that came and were refused.
    pub refused: Vec<Problem>,
    /// The publisher by asset id, if the hub reports it.
    pub sources: BTreeMap<String, String>,
    /// Each asset as the hub served it, by its id.
    pub bodies: BTreeMap<String, String>,
    /// The rest of the payload: tasks, balance, what was missing.
    pub payload: Object,
}

/// The most assets or rows of one answer that are looked at.
const MAX_ROWS: usize = 500;
/// The longest summary that is read.
const MAX_SUMMARY_LEN: usize = 2000;
/// The longest run of successes that is believed.
const MAX_STREAK: f64 = 1e6;

impl NodeClient {
    /// Looks for promoted assets that answer signals.
    pub fn search(&self, signals: &[String], kind: Option<&str>, limit: usize) -> Result<Vec<SearchRow>> {
        let payload = json!({"signals": signals, "asset_type": kind, "search_only": true, "limit": limit});
        let answer = self.message("fetch", payload)?;
        Ok(rows(list(&answer), limit))
    }

    /// Looks for candidates of others that answer signals and can be taken on trial. None on a hub that offers none.
    pub fn search_candidates(&self, signals: &[String], limit: usize) -> Result<Vec<SearchRow>> {
        let payload = json!({"signals": signals, "asset_type": "Capsule", "search_only": true, "trial": true,
            "limit": limit});
        let answer = self.message("fetch", payload)?;
        let candidates = answer.get("candidates").and_then(Value::as_array).map(Vec::as_slice);
        let is_candidate = |row: &SearchRow| row.status.as_deref() == Some("candidate");
        Ok(offered_rows(candidates.unwrap_or_default(), limit, is_candidate))
    }

    /// Fetches assets by id; each is checked before it is returned, and assets that were not requested are refused.
    pub fn fetch(&self, ids: &[&str]) -> Result<FetchedAssets> {
        self.fetched(json!({"asset_ids": ids}), Some(ids))
    }

    /// The same for any payload of a fetch.
    pub fn fetch_as(&self, payload: Value) -> Result<FetchedAssets> {
        self.fetched(payload, None)
    }

    pub(crate) fn fetched(&self, payload: Value, requested: Option<&[&str]>) -> Result<FetchedAssets> {
        let (mut answer, bytes) = self.message_with_bytes("fetch", payload)?;
        let mut fetched = FetchedAssets::default();
        parse_assets(&mut fetched, list(&answer), requested);
        fetched.bodies = raw_bodies(&bytes);
        fetched.sources = sources(&fetched.assets, &answer);
        answer.retain(|name, _| name != "results" && name != "assets");
        fetched.payload = answer;
        Ok(fetched)
    }

    /// Publishes a bundle: a gene, a capsule and perhaps an event, each with its id.
    pub fn publish(&self, assets: &[Object]) -> Result<Object> {
        self.message_with("publish", &|known| {
            json!({"assets": assets, "signature": bundle_signature(known.secret.as_deref(), assets)})
        })
    }

    /// Asks what the hub would say of a bundle; nothing is stored.
    pub fn validate(&self, assets: &[Object]) -> Result<Object> {
        self.message("validate", json!({"assets": assets}))
    }

    /// Reports whether an asset's validation passed here.
    pub fn report(&self, asset_id: &str, report: &Value) -> Result<Object> {
        self.message("report", json!({"target_asset_id": asset_id, "validation_report": report}))
    }

    /// Answers an assignment that [`NodeClient::validation_tasks`](crate::NodeClient::validation_tasks) gave: `report` holds its `task_id`, its `nonce`,
    /// `overall_ok` and what each command did.
    pub fn report_assignment(&self, report: &Value) -> Result<Object> {
        self.message("report", report.clone())
    }

    /// Accepts, rejects or quarantines an asset.
    pub fn decide(&self, asset_id: &str, decision: &str, reason: Option<&str>) -> Result<Object> {
        let payload = json!({"target_asset_id": asset_id, "decision": decision, "reason": reason});
        self.message("decision", payload)
    }

    /// Withdraws an asset of this node, and its bundle with it.
    pub fn revoke(&self, asset_id: &str, reason: Option<&str>) -> Result<Object> {
        self.message("revoke", json!({"target_asset_id": asset_id, "reason": reason}))
    }
}

fn list(answer: &Object) -> &[Value] {
    let list = answer.get("results").or_else(|| answer.get("assets")).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

/// The assets of an answer, each once, those that hold apart from those that do not.
fn parse_assets(fetched: &mut FetchedAssets, received: &[Value], requested: Option<&[&str]>) {
    for received in received.iter().take(MAX_ROWS) {
        match asset::checked(received, None).and_then(|asset| requested_ids(asset, requested)) {
            Ok(asset) if fetched.assets.iter().any(|known| known["asset_id"] == asset["asset_id"]) => {}
            Ok(asset) => fetched.assets.push(asset),
            Err(problem) => fetched.refused.push(problem),
        }
    }
    if received.len() > MAX_ROWS {
        fetched.refused.push(asset::refused(&format!(
            "{} assets at once; those after the first {MAX_ROWS} were left out",
            received.len()
        )));
    }
}

/// Who published which asset: by the row about it, or by the remark that came inside it.
fn sources(assets: &[Object], answer: &Object) -> BTreeMap<String, String> {
    let publisher = |about: &Value| {
        let node = about.get("source_node_id").and_then(Value::as_str);
        node.filter(|node| is_name(node)).map(str::to_owned)
    };
    let source = |asset: &Object| {
        let id = asset.get("asset_id").and_then(Value::as_str)?;
        let row = answer.get("meta").and_then(|meta| meta.get(id)).and_then(&publisher);
        let inside = || {
            let is_it = |received: &&Value| received.get("asset_id").and_then(Value::as_str) == Some(id);
            list(answer).iter().take(MAX_ROWS).find(is_it).and_then(&publisher)
        };
        Some((id.to_owned(), row.or_else(inside)?))
    };
    assets.iter().filter_map(source).collect()
}

fn requested_ids(asset: Object, requested: Option<&[&str]>) -> Result<Object> {
    let id = asset.get("asset_id").and_then(Value::as_str).unwrap_or_default();
    match requested {
        Some(ids) if !ids.contains(&id) => Err(asset::refused(&format!("`{id}`, which nobody asked for"))),
        _ => Ok(asset),
    }
}

/// The rows of a search that can be used, each asset once.
fn rows(received: &[Value], limit: usize) -> Vec<SearchRow> {
    // What others of the same owner published is offered before it is promoted.
    let is_offered = |hit: &SearchRow| match hit.status.as_deref() {
        None | Some("promoted") => true,
        Some("candidate") => hit.row.get("own") == Some(&Value::Bool(true)),
        Some(_) => false,
    };
    offered_rows(received, limit, is_offered)
}

fn offered_rows(received: &[Value], limit: usize, is_offered: impl Fn(&SearchRow) -> bool) -> Vec<SearchRow> {
    let mut rows: Vec<SearchRow> = Vec::new();
    for hit in received.iter().take(MAX_ROWS).filter_map(row) {
        if is_offered(&hit) && rows.len() < limit && rows.iter().all(|known| known.asset_id != hit.asset_id) {
            rows.push(hit);
        }
    }
    rows
}

/// A row of a list of assets, its numbers brought to what they can be; none where it names no asset.
pub fn row(value: &Value) -> Option<SearchRow> {
    let row = value.as_object()?;
    let text = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
    let number = |name: &str| row.get(name).and_then(Value::as_f64).filter(|number| number.is_finite());
    Some(SearchRow {
        asset_id: text("asset_id").filter(|id| asset::is_id(id))?,
        kind: text("type").or_else(|| text("asset_type")).filter(|kind| is_name(kind)).unwrap_or_default(),
        source_node_id: text("source_node_id").filter(|id| is_name(id)),
        reputation: number("reputation_score").map(|score| score.clamp(0.0, 100.0)),
        confidence: number("confidence").unwrap_or_default().clamp(0.0, 1.0),
        streak: number("success_streak").unwrap_or_default().clamp(0.0, MAX_STREAK) as u64,
        status: text("status"),
        summary: cut(&text("summary").unwrap_or_default(), MAX_SUMMARY_LEN).to_owned(),
        row: row.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::asset::stamp;

    fn id(digit: char) -> String {
        format!("sha256:{}", digit.to_string().repeat(64))
    }

    #[test]
    fn absurd_rows_are_brought_to_what_can_be_or_left_out() {
        let received = [
            json!({"asset_id": id('a'), "success_streak": -3, "confidence": 1e308, "reputation_score": -1}),
            json!({"asset_id": id('a'), "success_streak": 5, "source_node_id": "node_1"}),
            json!({"asset_id": id('b'), "success_streak": 1e300, "confidence": "x", "status": "promoted",
                "source_node_id": "\u{1b}[2J", "type": "<b>", "summary": "s".repeat(1 << 20)}),
            json!({"asset_id": id('c'), "status": "rejected"}),
            json!({"asset_id": id('d'), "status": "candidate"}),
            json!({"asset_id": "sha256:short"}),
            json!({"asset_id": 7}),
            json!("row"),
        ];
        let found_rows = rows(&received, 10);
        assert_eq!(found_rows.len(), 2);
        assert_eq!(
            (found_rows[0].streak, found_rows[0].confidence, found_rows[0].reputation),
            (0, 1.0, Some(0.0))
        );
        assert_eq!(
            (found_rows[1].streak, found_rows[1].confidence, found_rows[1].reputation),
            (1_000_000, 0.0, None)
        );
        assert_eq!((found_rows[1].source_node_id.as_deref(), found_rows[1].kind.as_str()), (None, ""));
        assert_eq!(found_rows[1].summary.len(), MAX_SUMMARY_LEN);
        assert_eq!(rows(&received, 1).len(), 1);
        let many = vec![json!({"asset_id": "no"}); MAX_ROWS * 3];
        assert!(rows(&many, usize::MAX).is_empty());
    }

    #[test]
    fn the_publisher_is_told_by_the_row_or_the_remark() {
        let assets =
            ['a', 'b', 'c', 'd'].map(|digit| json!({"asset_id": id(digit)}).as_object().unwrap().clone());
        let answer = json!({
            "meta": {id('a'): {"source_node_id": "node_1"}, id('c'): {"source_node_id": "\u{1b}[2J"}},
            "results": [
                {"asset_id": id('a'), "source_node_id": "node_9"},
                {"asset_id": id('b'), "source_node_id": "node_2"},
                {"asset_id": id('c')}, {"asset_id": id('d'), "source_node_id": 7}, 7,
            ],
        });
        let source_map = sources(&assets, answer.as_object().unwrap());
        let wanted = [(id('a'), "node_1".to_owned()), (id('b'), "node_2".to_owned())];
        assert_eq!(source_map, BTreeMap::from(wanted));
    }

    #[test]
    fn an_asset_comes_once_and_only_if_it_was_asked_for_and_holds() {
        let made = |summary: &str| {
            let mut asset = json!({"type": "Gene", "summary": summary}).as_object().unwrap().clone();
            stamp(&mut asset);
            asset
        };
        let (wanted, other) = (made("wanted"), made("other"));
        let mut forged = made("lying");
        forged.insert("summary".to_owned(), "changed".into());
        let wanted_id = wanted["asset_id"].as_str().unwrap().to_owned();
        let mut received: Vec<Value> =
            [&wanted, &wanted, &other, &forged].into_iter().cloned().map(Value::from).collect();
        let mut fetched = FetchedAssets::default();
        parse_assets(&mut fetched, &received, Some(&[&wanted_id]));
        assert_eq!(fetched.assets, [wanted]);
        let codes: Vec<_> = fetched.refused.iter().map(|problem| problem.code.as_str()).collect();
        assert_eq!(codes, ["hub_answer_invalid", "asset_id_mismatch"]);
        received.resize(MAX_ROWS * 2, Value::Null);
        let mut many = FetchedAssets::default();
        parse_assets(&mut many, &received, None);
        assert!(many.refused.len() <= MAX_ROWS + 1);
    }
}
