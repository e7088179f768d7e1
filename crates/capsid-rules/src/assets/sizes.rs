//! How large an asset may be.

use capsid_model::Object;

/// The most bytes of members that the hub has no meaning for.
pub const UNKNOWN_BYTES: i64 = 16 * 1024;

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

/// What is too large about an asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Oversize {
    /// What has too many bytes.
    pub what: &'static str,
    pub bytes: i64,
    pub limit: i64,
}

/// Whether an asset is larger than `most` bytes, or carries too much of what nobody reads.
pub fn oversize(body: &str, object: &Object, most: i64) -> Option<Oversize> {
    let bytes = body.len() as i64;
    if bytes > most {
        return Some(Oversize { what: "An asset", bytes, limit: most });
    }
    let unknown = object.iter().filter(|(key, _)| !KNOWN.contains(&key.as_str()));
    let bytes = unknown.map(|(key, value)| (key.len() + value.to_string().len()) as i64).sum();
    let what = "The unknown members of an asset";
    (bytes > UNKNOWN_BYTES).then_some(Oversize { what, bytes, limit: UNKNOWN_BYTES })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_asset_and_its_unknown_members_have_a_limit_each() {
        let check = |value: serde_json::Value, most| {
            let body = value.to_string();
            oversize(&body, value.as_object().unwrap(), most).map(|found| found.limit)
        };
        let small = json!({"type": "Capsule"});
        let size = small.to_string().len() as i64;
        assert_eq!((check(small.clone(), size), check(small, size - 1)), (None, Some(size - 1)));
        let with = |key: &str, bytes: usize| json!({"type": "Capsule", key: "x".repeat(bytes)});
        // A name and two quotation marks count, too.
        assert_eq!(check(with("x", 16 * 1024 - 3), 1 << 20), None);
        assert_eq!(check(with("x", 16 * 1024 - 2), 1 << 20), Some(UNKNOWN_BYTES));
        assert_eq!(check(with("diff", 100_000), 1 << 20), None);
    }
}
