//! What must hold of every exact value, whatever is in it. How Python writes it is tested where sealing is.

use capsid_model::exact::{
    ExactFields, ExactInt, ExactJson, canonical, canonical_ascii, indented, parse, parse_lossy, spaced,
};
use proptest::prelude::*;

fn value() -> impl Strategy<Value = ExactJson> {
    let leaf = prop_oneof![
        Just(ExactJson::Null),
        any::<bool>().prop_map(ExactJson::from),
        any::<i64>().prop_map(ExactJson::from),
        "-?[1-9][0-9]{19,60}".prop_map(|digits| ExactJson::Int(ExactInt::Big(digits.into()))),
        any::<f64>()
            .prop_filter("a value that equals itself", |number| !number.is_nan())
            .prop_map(ExactJson::from),
        ".*".prop_map(ExactJson::from),
        any::<Vec<char>>().prop_map(|chars| ExactJson::from(chars.into_iter().collect::<String>())),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(ExactJson::Array),
            prop::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|members| ExactJson::Object(members.into_iter().collect())),
        ]
    })
}

fn reversed(value: &ExactJson) -> ExactJson {
    match value {
        ExactJson::Array(items) => ExactJson::Array(items.iter().map(reversed).collect()),
        ExactJson::Object(fields) => {
            let members = fields.iter().rev().map(|(name, value)| (name.clone(), reversed(value)));
            ExactJson::Object(members.collect::<ExactFields>())
        }
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn every_layout_reads_back_as_the_same_value(value in value()) {
        for text in [canonical(&value), canonical_ascii(&value), spaced(&value), indented(&value)] {
            prop_assert_eq!(&parse(&text).unwrap(), &value);
            prop_assert_eq!(&parse_lossy(text.as_bytes()).unwrap(), &value);
        }
        prop_assert!(canonical_ascii(&value).is_ascii());
    }

    #[test]
    fn the_order_of_members_does_not_change_the_canonical_text(value in value()) {
        let text = canonical(&value);
        prop_assert_eq!(&canonical(&reversed(&value)), &text);
        prop_assert_eq!(canonical(&parse(&text).unwrap()), text);
    }

    #[test]
    fn the_order_of_members_is_kept_elsewhere(value in value()) {
        let read = parse(&spaced(&value)).unwrap();
        prop_assert_eq!(spaced(&read), spaced(&value));
        prop_assert_eq!(indented(&read), indented(&value));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in any::<Vec<u8>>()) {
        let _ = parse_lossy(&bytes);
    }

    #[test]
    fn no_damage_makes_the_reader_panic(value in value(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = canonical(&value).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(read) = parse_lossy(&bytes) {
            prop_assert_eq!(canonical(&parse(&canonical(&read)).unwrap()), canonical(&read));
        }
        let _ = parse_lossy(&bytes[..at]);
    }
}
