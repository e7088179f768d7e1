//! What holds for every document: the canonical form is one form, and an id survives the way through text.

use capsid_model::asset::{self, IdVerdict, asset_id, asset_id_of_text};
use capsid_model::{Object, Value, canonical};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]{0,2}", Just(asset::ASSET_ID.to_owned()), any::<String>()]
}

fn object() -> impl Strategy<Value = Object> {
    let value = leaf().prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            btree_map(key(), inner, 0..5).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    btree_map(key(), value, 0..8).prop_map(|map| map.into_iter().collect())
}

/// The same document with the members of every object in the opposite order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            Value::Object(map.iter().rev().map(|(key, inner)| (key.clone(), reversed(inner))).collect())
        }
        Value::Array(items) => items.iter().map(reversed).collect(),
        other => other.clone(),
    }
}

fn as_object(value: &Value) -> Object {
    value.as_object().cloned().unwrap_or_default()
}

proptest! {
    // A failure prints its smallest input; nothing is written beside the sources.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn our_writer_and_the_library_write_the_same(object in object()) {
        let value = Value::Object(object);
        prop_assert_eq!(canonical::canonical_value(&value), serde_json_canonicalizer::to_string(&value).unwrap());
    }

    #[test]
    fn the_canonical_form_is_its_own_canonical_form(object in object()) {
        let once = canonical::canonical_value(&Value::Object(object));
        prop_assert_eq!(canonical::canonical_text(&once).unwrap(), once);
    }

    #[test]
    fn the_order_of_keys_never_matters(object in object()) {
        let turned = as_object(&reversed(&Value::Object(object.clone())));
        prop_assert_eq!(asset_id(&turned), asset_id(&object));
    }

    #[test]
    fn printing_and_reading_keeps_the_id(object in object()) {
        let id = asset_id(&object);
        let compact = serde_json::to_string(&object).unwrap();
        let pretty = serde_json::to_string_pretty(&object).unwrap();
        prop_assert_eq!(asset_id_of_text(&compact).unwrap(), Some(id.clone()));
        prop_assert_eq!(asset_id_of_text(&pretty).unwrap(), Some(id.clone()));
        let read = as_object(&canonical::read(&compact).unwrap());
        prop_assert_eq!(asset_id(&read), id);
    }

    #[test]
    fn what_is_stamped_verifies_after_the_way_through_text(mut object in object()) {
        asset::stamp(&mut object);
        let text = serde_json::to_string_pretty(&object).unwrap();
        prop_assert_eq!(asset::verify_text(&text).unwrap(), IdVerdict::Verified);
        let read = as_object(&canonical::read(&text).unwrap());
        prop_assert_eq!(asset::verify(&read), IdVerdict::Verified);
    }

    #[test]
    fn another_member_is_another_id(object in object(), key in "[x-z]{3}", value in leaf()) {
        let mut changed = object.clone();
        if changed.insert(key, value).is_none() {
            prop_assert_ne!(asset_id(&changed), asset_id(&object));
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>(), jsonish in "[\\[\\]{}\":,0-9eE+.\\\\ud8-]{0,40}") {
        let _ = asset_id_of_text(&text);
        let _ = asset_id_of_text(&jsonish);
    }
}
