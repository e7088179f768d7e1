//! A fetched asset, checked: its id is the hash of its content once the hub's own remarks are taken off.

use capsid_model::asset::verify;
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

/// The asset as it was published, or why it is not used. `wanted` is the requested id.
pub fn checked(received: &Value, wanted: Option<&str>) -> Result<Object> {
    let Value::Object(received) = received else {
        return Err(refused("an asset that is no object"));
    };
    let claimed = received.get("asset_id").and_then(Value::as_str).unwrap_or_default().to_owned();
    if !is_id(&claimed) {
        return Err(refused("an asset without an id"));
    }
    if wanted.is_some_and(|wanted| wanted != claimed) {
        return Err(refused("another asset than the one that was asked for"));
    }
    // An asset may hold such a member itself: then it holds as it came.
    if verify(received).holds() {
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

/// Whether a text has the form of an asset's id.
pub fn is_id(text: &str) -> bool {
    let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64 && hex.bytes().all(digit))
}

pub(crate) fn refused(what: &str) -> Problem {
    Problem::new(Code::HubAnswerInvalid, format!("The hub sent {what}; it was not used."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::asset::stamp;
    use capsid_model::json;

    fn made() -> Object {
        let mut asset =
            json!({"type": "Capsule", "summary": "s", "success_rate": 1}).as_object().unwrap().clone();
        stamp(&mut asset);
        asset
    }

    #[test]
    fn a_hubs_remarks_are_taken_off_and_members_of_the_asset_stay() {
        let asset = made();
        assert_eq!(checked(&asset.clone().into(), None).unwrap(), asset);
        let mut plain = asset;
        plain.shift_remove("success_rate");
        stamp(&mut plain);
        let mut remarked = plain.clone();
        remarked.insert("gdi_score".to_owned(), 40.into());
        remarked.insert("source_node_id".to_owned(), "node_1".into());
        assert_eq!(checked(&remarked.into(), None).unwrap(), plain);
    }

    #[test]
    fn a_changed_asset_and_another_one_are_refused() {
        let id = made()["asset_id"].as_str().unwrap().to_owned();
        for (name, value) in [("summary", json!("other")), ("status", json!("promoted"))] {
            let mut asset = made();
            asset.insert(name.to_owned(), value);
            assert_eq!(checked(&asset.into(), Some(&id)).unwrap_err().code, Code::AssetIdMismatch);
        }
        let other = format!("sha256:{}", "0".repeat(64));
        assert_eq!(checked(&made().into(), Some(&other)).unwrap_err().code, Code::HubAnswerInvalid);
        for bad in [json!(null), json!({}), json!({"asset_id": "sha256:\u{1b}[2J"}), json!([made()])] {
            assert_eq!(checked(&bad, None).unwrap_err().code, Code::HubAnswerInvalid, "{bad}");
        }
    }
}
