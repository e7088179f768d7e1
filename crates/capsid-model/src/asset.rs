//! Content addressing: the `asset_id` of an object, and whether a stored one holds.

use crate::canonical::text::canonical_without;
use crate::canonical::write_members;
use crate::hash::sha256_hex;
use crate::problem::Result;
use crate::{Object, Value};

/// The key that holds an asset's id and is left out of the hash.
pub const ASSET_ID: &str = "asset_id";

/// What checking a stored id found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdVerdict {
    /// The stored id is the hash of the content.
    Verified,
    /// It is, once the member that another engine hashed but never wrote is put back.
    VerifiedLegacy,
    /// The content is not what was hashed.
    Mismatch {
        /// The id in the document.
        stored: String,
        /// The id its content has.
        computed: String,
    },
    /// The document has no id, or an empty one.
    Missing {
        /// The id its content has.
        computed: String,
    },
    /// Only objects have ids.
    NotAnObject,
}

impl IdVerdict {
    /// Whether the stored id holds.
    pub fn holds(&self) -> bool {
        matches!(self, Self::Verified | Self::VerifiedLegacy)
    }
}

/// The id of an object: SHA-256 of its canonical form without the top-level `asset_id`.
pub fn asset_id(object: &Object) -> String {
    let mut canonical = Vec::new();
    write_members(object.iter().filter(|(key, _)| *key != ASSET_ID), &mut canonical);
    prefixed(&canonical)
}

/// The id of a JSON text, or nothing when it is not an object.
pub fn asset_id_of_text(text: &str) -> Result<Option<String>> {
    Ok(canonical_without(text, ASSET_ID)?.map(|(canonical, _)| prefixed(canonical.as_bytes())))
}

/// Sets the id of an object, as its last member. Call it after every change of content.
pub fn stamp(object: &mut Object) {
    object.shift_remove(ASSET_ID);
    let id = asset_id(object);
    object.insert(ASSET_ID.to_owned(), Value::String(id));
}

/// Checks the stored id of an object.
pub fn verify(object: &Object) -> IdVerdict {
    let computed = asset_id(object);
    let stored = object.get(ASSET_ID).and_then(Value::as_str).unwrap_or_default();
    if stored == computed {
        return IdVerdict::Verified;
    }
    if stored.is_empty() {
        return IdVerdict::Missing { computed };
    }
    if legacy_form(object).is_some_and(|legacy| asset_id(&legacy) == stored) {
        return IdVerdict::VerifiedLegacy;
    }
    IdVerdict::Mismatch { stored: stored.to_owned(), computed }
}

/// Checks the stored id inside a JSON text, exactly as the text stands.
pub fn verify_text(text: &str) -> Result<IdVerdict> {
    let Some((canonical, stored)) = canonical_without(text, ASSET_ID)? else {
        return Ok(IdVerdict::NotAnObject);
    };
    let computed = prefixed(canonical.as_bytes());
    Ok(match stored.filter(|id| !id.is_empty()) {
        None => IdVerdict::Missing { computed },
        Some(stored) if stored == computed => IdVerdict::Verified,
        Some(stored) if legacy_text(text).is_some_and(|legacy| asset_id(&legacy) == stored) => {
            IdVerdict::VerifiedLegacy
        }
        Some(stored) => IdVerdict::Mismatch { stored, computed },
    })
}

/// The text with the member put back that its engine hashed but never wrote, so that everybody who hashes it finds its
/// id. Nothing where the id holds as the text stands, or not at all.
pub fn restored(text: &str) -> Option<String> {
    match verify_text(text) {
        Ok(IdVerdict::VerifiedLegacy) => serde_json::to_string(&legacy_text(text)?).ok(),
        _ => None,
    }
}

fn prefixed(canonical: &[u8]) -> String {
    format!("sha256:{}", sha256_hex(canonical))
}

fn legacy_text(text: &str) -> Option<Object> {
    legacy_form(&serde_json::from_str(text).ok()?)
}

/// The document with `"region": null` in every fingerprint, if one of them names an engine that hashed it that way.
fn legacy_form(object: &Object) -> Option<Object> {
    fn restore(value: &mut Value, found: &mut bool) {
        match value {
            Value::Object(map) => {
                if let Some(Value::Object(print)) = map.get_mut("env_fingerprint") {
                    let version = print.get("evolver_version").and_then(Value::as_str).unwrap_or_default();
                    if version.starts_with("1.") && !print.contains_key("region") {
                        print.insert("region".to_owned(), Value::Null);
                        *found = true;
                    }
                }
                map.values_mut().for_each(|inner| restore(inner, found));
            }
            Value::Array(items) => items.iter_mut().for_each(|inner| restore(inner, found)),
            _ => {}
        }
    }
    let mut found = false;
    let mut value = Value::Object(object.clone());
    restore(&mut value, &mut found);
    match value {
        Value::Object(map) if found => Some(map),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> String {
        asset_id_of_text(text).unwrap().unwrap()
    }

    #[test]
    fn known_ids() {
        assert_eq!(
            id(r#"{"type":"Gene","id":"g1"}"#),
            "sha256:aa914307d9b1985176b409544b0c1bc7071af361d1c31bd37b65bb5de0f03f8d"
        );
        assert_eq!(
            id(
                r#"{"b":{"z":1,"asset_id":"kept-because-nested","a":2},"asset_id":"sha256:dropped","a":[3,{"y":null,"x":true}]}"#
            ),
            "sha256:c7357e583a8b0bde26a35a1b61d0e7351e303f749ca0952d5b1848e090ae3a3f"
        );
        assert_eq!(
            id(r#"{"claims":null,"arr":[],"obj":{},"nested":[[],[null],{}],"t":true,"f":false}"#),
            "sha256:64b022428248f3548e8b6a97c33107826161c622768c496f07ab64ba761c856b"
        );
    }

    #[test]
    fn a_stamped_object_verifies_and_a_changed_one_does_not() {
        let mut object =
            serde_json::from_str::<Object>(r#"{"asset_id":"old","type":"Gene","n":1.0}"#).unwrap();
        stamp(&mut object);
        assert_eq!(object.keys().next_back().unwrap(), ASSET_ID);
        let text = serde_json::to_string(&object).unwrap();
        assert_eq!(verify_text(&text).unwrap(), IdVerdict::Verified);
        object.insert("n".into(), Value::from(2));
        assert!(matches!(verify(&object), IdVerdict::Mismatch { .. }));
        object.shift_remove(ASSET_ID);
        assert!(matches!(verify(&object), IdVerdict::Missing { .. }));
        assert_eq!(verify_text("[1]").unwrap(), IdVerdict::NotAnObject);
    }

    #[test]
    fn odd_documents_verify_from_their_text() {
        let text = r#"{"s":"\ud83d","n":1e400}"#;
        let stamped = format!(r#"{{"s":"\ud83d","asset_id":"{}","n":1e400}}"#, id(text));
        assert_eq!(verify_text(&stamped).unwrap(), IdVerdict::Verified);
        assert!(!verify_text(&stamped.replace("1e400", "1")).unwrap().holds());
    }

    #[test]
    fn what_another_engine_hashed_but_never_wrote_is_put_back() {
        for version in ["1.29.8", "1.94.0"] {
            let mut hashed = serde_json::from_str::<Object>(
                r#"{"type":"ValidationReport","env_fingerprint":{"region":null}}"#,
            )
            .unwrap();
            hashed["env_fingerprint"]["evolver_version"] = version.into();
            stamp(&mut hashed);
            if let Some(Value::Object(print)) = hashed.get_mut("env_fingerprint") {
                print.shift_remove("region");
            }
            assert_eq!(verify(&hashed), IdVerdict::VerifiedLegacy);
            let restored = restored(&serde_json::to_string(&hashed).unwrap()).unwrap();
            assert_eq!(verify_text(&restored).unwrap(), IdVerdict::Verified);
        }
        assert_eq!(restored(r#"{"asset_id":"sha256:0"}"#), None);
    }
}
