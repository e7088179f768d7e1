//! A second list of bundles for the three verifiers, beside the table: rotations of keys.
//!
//! The bundles are changes of the same base, and the readers are the same. `has` names a finding that every reader must
//! get, also where it is not the first.

use super::base::{self, current_key, entry, retired_key, rotation, seal_next, stranger_key};
use super::draft::{BundleDraft, FIRST, META, SECOND, to_value};
use super::expected::{Expectation, by_trust, invalid};
use super::families::sign;
use super::{Manipulation, same_file, to_case};
use capsid_model::{Value, json};
use capsid_seal::{ActionRecord, SigningKey, StoredRecord};
use std::path::{Path, PathBuf};

/// A bundle, and a finding that every reader gets.
struct BundleCase {
    code: Option<&'static str>,
    manipulation: Manipulation,
}

fn all() -> Vec<BundleCase> {
    let make =
        |name: &str, code: &'static str, expected: Expectation, change: fn(&mut BundleDraft)| BundleCase {
            code: Some(code).filter(|code| !code.is_empty()),
            manipulation: Manipulation::new(name, expected, change),
        };
    vec![
        make(
            "a second rotation by a retired key gives it no more records",
            "retired_key",
            invalid("retired_key", "codex/s1", 5),
            |draft| {
                sign(&mut draft.records(FIRST)[5], &retired_key());
                draft.adjust(FIRST);
                let number = base::meta().len();
                add_to_meta(draft, rotation(number, &retired_key(), &current_key()), &retired_key());
            },
        ),
        make(
            "a rotation that only the successor could seal counts",
            "retired_key",
            invalid("retired_key", "claude-code/s2", 3),
            |draft| {
                let [first, second, third] = base::chains();
                let records = [
                    entry(0, &second, 2),
                    rotation(1, &retired_key(), &current_key()),
                    entry(2, &first, 6),
                    entry(3, &second, 4),
                    entry(4, &third, 1),
                    entry(5, &third, 1),
                ];
                set_meta(draft, &records, &current_key());
                sign(&mut draft.records(SECOND)[3], &retired_key());
                draft.adjust(SECOND);
            },
        ),
        make(
            "a stranger retires no key that is trusted more",
            "",
            by_trust(invalid("meta_invalid", "meta", 6), invalid("retired_key", "codex/s1", 6)),
            |draft| {
                let key = stranger_key().public();
                draft.index()["keys"][key.fingerprint()] = json!(key.hex());
                let number = base::meta().len();
                add_to_meta(draft, rotation(number, &current_key(), &stranger_key()), &stranger_key());
                let [mut chain, ..] = base::chains();
                chain.extend(&current_key(), 7, "step");
                draft.set_records(FIRST, &chain.records);
                draft.adjust(FIRST);
            },
        ),
    ]
}

/// Seals one more record of the meta-chain.
fn add_to_meta(draft: &mut BundleDraft, action: ActionRecord, key: &SigningKey) {
    let added = seal_next(&base::meta(), &action, key);
    draft.records(META).push(to_value(&added));
    draft.adjust_meta();
}

/// Puts another meta-chain in the place of the honest one. What was stated about that is left out.
fn set_meta(draft: &mut BundleDraft, actions: &[ActionRecord], key: &SigningKey) {
    let mut records: Vec<StoredRecord> = Vec::new();
    for action in actions {
        let sealed = seal_next(&records, action, key);
        records.push(sealed);
    }
    draft.set_records(META, &records);
    draft.adjust_meta();
    draft.file(super::draft::HEADS)["statements"].as_array_mut().unwrap().pop();
}

pub fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers/bundle_cases.json")
}

#[test]
fn the_second_list_is_what_its_cases_say() {
    let cases = all();
    let case = |one: &BundleCase| {
        let mut case = to_case(&one.manipulation);
        case["has"] = json!(one.code);
        case
    };
    same_file(&path(), &json!({ "cases": cases.iter().map(case).collect::<Vec<Value>>() }));
}
