//! Bundles that a hub takes: a gene, a capsule and an event, each with its true id.

use capsid_model::asset::stamp;
use serde_json::{Value, json};

/// A gene, a capsule and an event that belong together.
#[derive(Debug, Clone)]
pub struct Bundle {
    pub gene: Value,
    pub capsule: Value,
    pub event: Value,
}

impl Bundle {
    /// The bundle of a number. Two numbers give texts that are not alike.
    pub fn new(n: u64) -> Self {
        let mut words = Words(fastrand::Rng::with_seed(n));
        let signal = format!("Signal{}Error", n % 7);
        Self::from_assets(
            json!({
                "type": "Gene", "schema_version": "1.5.0", "category": "repair", "signals_match": [signal],
                "summary": words.sentence(), "validation": ["node tests/retry.test.js"],
            }),
            json!({
                "type": "Capsule", "schema_version": "1.5.0", "trigger": [signal], "summary": words.sentence(),
                "confidence": 0.85, "blast_radius": {"files": 1, "lines": 10},
                "outcome": {"status": "success", "score": 0.85},
                "env_fingerprint": {"platform": "linux", "arch": "x64"}, "success_streak": 3,
            }),
            json!({
                "type": "EvolutionEvent", "intent": "repair", "outcome": {"status": "success", "score": 0.85},
                "mutations_tried": 3, "total_cycles": n,
            }),
        )
    }

    /// Makes three assets belong together and sets their ids.
    pub fn from_assets(mut gene: Value, mut capsule: Value, mut event: Value) -> Self {
        set_id(&mut gene);
        capsule["gene"] = gene["asset_id"].clone();
        set_id(&mut capsule);
        event["capsule_id"] = capsule["asset_id"].clone();
        event["genes_used"] = json!([gene["asset_id"]]);
        set_id(&mut event);
        Self { gene, capsule, event }
    }

    /// A changed bundle, with its ids set again.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        Self::from_assets(self.gene, self.capsule, self.event)
    }

    pub fn payload(&self) -> Value {
        json!({"assets": [self.gene, self.capsule, self.event]})
    }

    pub fn gene_id(&self) -> &str {
        self.gene["asset_id"].as_str().unwrap()
    }

    pub fn capsule_id(&self) -> &str {
        self.capsule["asset_id"].as_str().unwrap()
    }

    pub fn event_id(&self) -> &str {
        self.event["asset_id"].as_str().unwrap()
    }
}

/// Sets the true id of an asset.
pub fn set_id(asset: &mut Value) {
    stamp(asset.as_object_mut().unwrap());
}

struct Words(fastrand::Rng);

impl Words {
    fn sentence(&mut self) -> String {
        let words: Vec<String> = (0..12).map(|_| self.word()).collect();
        format!("Fix {}.", words.join(" "))
    }

    fn word(&mut self) -> String {
        (0..self.0.usize(3..9)).map(|_| self.0.lowercase()).collect()
    }
}
