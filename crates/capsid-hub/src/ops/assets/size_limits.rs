//! How large an asset may be.

use crate::error::{ApiError, ApiResult, HubCode};
use capsid_model::Object;

/// The most bytes of members that the hub has no meaning for.
const UNKNOWN_BYTES: usize = 16 * 1024;

/// The members that clients send and the hub, or other nodes, read.
const KNOWN: [&str; 47] = [
    "type",
    "schema_version",
    "asset_id",
    "id",
    "summary",
    "title",
    "category",
    "domain",
    "tags",
    "signals",
    "signals_match",
    "trigger",
    "preconditions",
    "strategy",
    "constraints",
    "validation",
    "epigenetic_marks",
    "gene",
    "genes_used",
    "confidence",
    "blast_radius",
    "outcome",
    "env_fingerprint",
    "success_streak",
    "content",
    "diff",
    "code_snippet",
    "reproduction",
    "proof",
    "chain_id",
    "model_name",
    "intent",
    "capsule_id",
    "mutation_id",
    "mutations_tried",
    "total_cycles",
    "parent",
    "personality_state",
    "validation_report_id",
    "meta",
    "a2a",
    "execution_trace",
    "source_type",
    "reused_asset_id",
    "success_reason",
    "problem",
    "explanation",
];

/// Refuses an asset that is larger than this hub takes, or that carries too much of what nobody reads.
pub fn check_sizes(path: &str, body: &str, object: &Object, most: i64) -> ApiResult<()> {
    if body.len() as i64 > most {
        return Err(too_large(path, "An asset", body.len(), most));
    }
    let unknown = object.iter().filter(|(key, _)| !KNOWN.contains(&key.as_str()));
    let size: usize = unknown.map(|(key, value)| key.len() + value.to_string().len()).sum();
    match size > UNKNOWN_BYTES {
        true => Err(too_large(path, "The unknown members of an asset", size, UNKNOWN_BYTES as i64)),
        false => Ok(()),
    }
}

fn too_large(path: &str, what: &str, size: usize, most: i64) -> ApiError {
    ApiError::new(
        HubCode::PayloadTooLarge,
        format!("`{path}` is too large: {what} may have {most} bytes here, and has {size}."),
        "Leave out what others do not need, or split the change.",
    )
    .with("path", path)
    .with("limit_bytes", most)
    .with("bytes", size)
}
