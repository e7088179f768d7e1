//! The knowledge graph over HTTP: who may ask it, what that costs, what it answers and draws, and what it lets itself be
//! told.

mod draw;
mod forget;
mod hostile;
mod ingest;
mod price;
mod query;

use crate::common::{Bundle, TestHub};
use serde_json::{Value, json};

/// A bundle about something, which one understands.
pub fn bundle(signal: &str, gene: &str, capsule: &str) -> Bundle {
    Bundle::from_assets(
        json!({
            "type": "Gene", "schema_version": "1.5.0", "category": "repair", "signals_match": [signal],
            "summary": gene, "validation": ["node tests/retry.test.js"],
        }),
        json!({
            "type": "Capsule", "schema_version": "1.5.0", "trigger": [signal], "summary": capsule,
            "confidence": 0.85, "blast_radius": {"files": 1, "lines": 10},
            "outcome": {"status": "success", "score": 0.85},
            "env_fingerprint": {"platform": "linux", "arch": "x64"}, "success_streak": 3,
        }),
        json!({
            "type": "EvolutionEvent", "intent": "repair", "outcome": {"status": "success", "score": 0.85},
            "mutations_tried": 3, "total_cycles": 5,
        }),
    )
}

/// A hub that knows of timeouts and of full disks. The capsules are promoted.
pub fn fill(hub: &TestHub) -> [Bundle; 2] {
    let root = crate::common::economy::admin(hub);
    let bundles = [
        bundle(
            "TimeoutError",
            "Retry with exponential backoff when requests time out",
            "Bounded retry and a connection pool for the payment gateway",
        ),
        bundle(
            "DiskFullError",
            "Rotate and compress old logs before the volume is full",
            "Nightly rotation keeps the build server's partition below eighty percent",
        ),
    ];
    for bundle in &bundles {
        hub.publish("node_maker", bundle).expect(200);
        for id in [bundle.gene_id(), bundle.capsule_id()] {
            hub.post_as(&root, &format!("/admin/assets/{id}/promote"), &json!({"reason": "Works."}))
                .expect(200);
        }
    }
    bundles
}

/// The names of what was found.
pub fn names(answer: &Value) -> Vec<String> {
    answer["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| crate::common::economy::text(&node["properties"]["name"]))
        .collect()
}

/// Everything that the graph holds, as text.
pub fn graph_dump(hub: &TestHub) -> String {
    hub.follow();
    hub.hub.store.read_now(capsid_store::graph::dump).unwrap()
}
