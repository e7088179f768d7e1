//! The assets of an answer as they were served.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The lists of assets in an answer, each asset as it was sent.
#[derive(Deserialize)]
struct RawAssets<'a> {
    #[serde(borrow, default)]
    results: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    assets: Vec<&'a RawValue>,
}

/// The same in an envelope.
#[derive(Deserialize)]
struct RawEnvelope<'a> {
    #[serde(borrow)]
    payload: RawAssets<'a>,
}

#[derive(Deserialize)]
struct NamedAsset {
    asset_id: String,
}

/// The assets of an answer by their ids, byte for byte. What cannot be read that way is left out.
pub(crate) fn raw_bodies(answer: &[u8]) -> BTreeMap<String, String> {
    let lists = serde_json::from_slice::<RawEnvelope<'_>>(answer)
        .map(|envelope| envelope.payload)
        .or_else(|_| serde_json::from_slice::<RawAssets<'_>>(answer));
    let Ok(lists) = lists else { return BTreeMap::new() };
    let named = |raw: &&RawValue| {
        let asset: NamedAsset = serde_json::from_str(raw.get()).ok()?;
        Some((asset.asset_id, raw.get().to_owned()))
    };
    lists.results.iter().chain(&lists.assets).filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assets_are_taken_byte_for_byte() {
        let body = "{\"asset_id\": \"sha256:1\",  \"n\": 1.50, \"s\":\"\\u00e9\"}";
        for answer in [
            format!(r#"{{"protocol":"gep-a2a","payload":{{"results":[{body}],"count":1}},"x":[1]}}"#),
            format!(r#"{{"assets":[{body},{{"no":"id"}}]}}"#),
        ] {
            let bodies = raw_bodies(answer.as_bytes());
            assert_eq!(bodies.get("sha256:1").map(String::as_str), Some(body), "{answer}");
            assert_eq!(bodies.len(), 1);
        }
        assert!(raw_bodies(b"[]").is_empty() && raw_bodies(b"no").is_empty());
    }
}
