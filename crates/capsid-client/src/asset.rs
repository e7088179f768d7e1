//! A fetched asset, checked: its id is the hash of its content once the hub's own remarks are taken off.

use capsid_model::asset::{Verdict, verify};
use capsid_model::{Code, Object, Problem, Result, Value};

/// What hubs put into an asset when they hand it out, and what is no part of what was hashed.
const REMARKS: [&str; 18] = [
    "credit_cost",
    "gdi_score",
    "success_rate",
    "reuse_count",
    "ranking_score",
    "source_node_id",
    "fetched_at",
    "receipt",
    "hub_receipt",
    "already_purchased",
    "_semantic_similarity",
    "semantic_similarity",
    "_search_score",
    "search_score",
    "_match_score",
    "match_score",
    "_retrieval_rank",
    "retrieval_rank",
];

/// The asset as it was published, or why it is not used. `wanted` is the id it was asked for by.
pub fn checked(received: &Value, wanted: Option<&str>) -> Result<Object> {
    let Value::Object(received) = received else {
        return Err(refused("an asset that is no object"));
    };
    let claimed = received.get("asset_id").and_then(Value::as_str).unwrap_or_default().to_owned();
    if wanted.is_some_and(|wanted| wanted != claimed) {
        return Err(refused("another asset than the one that was asked for"));
    }
    // An asset may hold such a member itself: then it holds as it came.
    if matches!(verify(received), Verdict::Verified | Verdict::VerifiedLegacy) {
        return Ok(received.clone());
    }
    let mut asset = received.clone();
    asset.retain(|name, _| !REMARKS.contains(&name.as_str()));
    if verify(&asset).holds() {
        return Ok(asset);
    }
    Err(Problem::new(
        Code::AssetIdMismatch,
        format!("`{claimed}` is not the hash of the asset that came under this id; it was not used."),
    )
    .fix("Fetch it again; if it stays so, tell the hub's operator that the asset was changed."))
}

fn refused(what: &str) -> Problem {
    Problem::new(Code::HubAnswerInvalid, format!("The hub sent {what}; it was not used."))
}
