//! A second list of bundles for the three verifiers, beside the table: rotations of keys, and findings that the table does
//! not have.
//!
//! The bundles are changes of the same base, and the readers are the same. `has` names a finding that every reader must
//! get, also where it is not the first.

use super::base::{self, current_key, entry, retired_key, rotation, seal_next, statement, stranger_key};
use super::draft::{BundleDraft, FIRST, HEADS, META, SECOND, THIRD, signed_statement, to_value};
use super::expected::{Expectation, by_trust, invalid, noticed, unchanged, verdict};
use super::families::sign;
use super::{Manipulation, same_file, to_case};
use capsid_model::exact::ExactJson;
use capsid_model::{Value, json};
use capsid_seal::{ActionRecord, SigningKey, StoredRecord};
use std::path::{Path, PathBuf};

/// The first chain.
const CHAIN: &str = "codex/s1";

/// A bundle, and a finding that every reader gets.
struct BundleCase {
    code: Option<&'static str>,
    manipulation: Manipulation,
}

fn all() -> Vec<BundleCase> {
    rotations().into_iter().chain(findings()).collect()
}

/// `code` is empty where readers with other keys find something else.
fn make(name: &str, code: &'static str, expected: Expectation, change: fn(&mut BundleDraft)) -> BundleCase {
    let code = Some(code).filter(|code| !code.is_empty());
    BundleCase { code, manipulation: Manipulation::new(name, expected, change) }
}

fn rotations() -> Vec<BundleCase> {
    vec![
        make(
            "a second rotation by a retired key gives it no more records",
            "retired_key",
            invalid("retired_key", CHAIN, 5),
            |draft| {
                sign(&mut draft.records(FIRST)[5], &retired_key());
                draft.adjust(FIRST);
                let number = base::meta().len();
                add_to_meta(draft, &rotation(number, &retired_key(), &current_key()), &retired_key());
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
            by_trust(invalid("meta_invalid", "meta", 6), invalid("retired_key", CHAIN, 6)),
            |draft| {
                let key = stranger_key().public();
                draft.index()["keys"][key.fingerprint()] = json!(key.hex());
                let number = base::meta().len();
                add_to_meta(draft, &rotation(number, &current_key(), &stranger_key()), &stranger_key());
                let [mut chain, ..] = base::chains();
                chain.extend(&current_key(), 7, "step");
                draft.set_records(FIRST, &chain.records);
                draft.adjust(FIRST);
            },
        ),
    ]
}

/// Findings that no case of the table has.
fn findings() -> Vec<BundleCase> {
    vec![
        make("forked: a statement about another history", "forked", invalid("forked", CHAIN, 5), |draft| {
            let [mut other, ..] = base::chains();
            other.records.truncate(4);
            other.extend(&current_key(), 6, "other");
            let text = statement(&current_key(), "codex", "s1", &other.records);
            statements(draft)[0] = signed_statement(&current_key(), &text);
        }),
        make(
            "unlisted_file: a chain that the index does not list",
            "unlisted_file",
            noticed("unverified", "unlisted_file", None),
            |draft| {
                let copy = draft.files[THIRD].clone();
                draft.files.insert("codex-s9.json".to_owned(), copy);
            },
        ),
        make(
            "meta_absent: nothing says how long the chains were",
            "meta_absent",
            noticed("unverified", "meta_absent", None),
            |draft| {
                draft.files.remove(META);
                draft.files.remove(HEADS);
                draft.index()["meta"] = Value::Null;
            },
        ),
        make(
            "unrecorded: the meta-chain does not know a chain",
            "unrecorded",
            noticed("unverified", "unrecorded", "codex/s3"),
            |draft| {
                draft.records(META).pop();
                draft.adjust_meta();
                statements(draft).truncate(2);
            },
        ),
        make(
            "unrecorded: the meta-chain listed a chain as open and never recorded it",
            "unrecorded",
            noticed("unverified", "unrecorded", "codex/s3"),
            |draft| {
                let [_, second, third] = base::chains();
                let mut records = base::meta();
                records.pop();
                let mut listing = entry(records.len(), &second, 4);
                let Some(ExactJson::Object(result)) = listing.outcome.get_mut("result") else { panic!() };
                let head = third.records[0].seal.hash.as_str();
                let open = vec![third.tool.into(), third.session.into(), 1_u64.into(), head.into()];
                result.insert("open".to_owned(), vec![ExactJson::Array(open)].into());
                *draft.records(META).last_mut().unwrap() =
                    to_value(&seal_next(&records, &listing, &current_key()));
                draft.adjust_meta();
                statements(draft).truncate(2);
            },
        ),
        make(
            "empty: a chain without records",
            "empty",
            noticed("unverified", "empty", "codex/s4"),
            |draft| {
                let entry = json!({ "id": "codex-s4", "tool": "codex", "title": "s4", "length": 0 });
                draft.index()["chains"].as_array_mut().unwrap().push(entry);
                draft.adjust_totals();
                let text = json!({ "id": "codex-s4", "length": 0, "capsules": [] }).to_string();
                draft.texts.insert("codex-s4.json".to_owned(), text);
            },
        ),
        make(
            "time_order: a record claims an hour before the one before it",
            "time_order",
            by_trust(at("valid", "time_order", CHAIN, 3), unchanged()),
            |draft| {
                draft.records(FIRST)[3]["signed_at"] = json!("2026-02-07T14:13:00+00:00");
                draft.adjust(FIRST);
            },
        ),
        make(
            "not_checked: a post-quantum signature without a key for it",
            "not_checked",
            noticed("unverified", "not_checked", "codex/s3"),
            |draft| {
                draft.records(THIRD)[0]["signature_pq"] = json!("00".repeat(3309));
            },
        ),
    ]
}

fn at(level: &'static str, code: &'static str, chain: &'static str, position: usize) -> Expectation {
    Box::new(move |_| verdict(level, code, chain, position))
}

fn statements(draft: &mut BundleDraft) -> &mut Vec<Value> {
    draft.file(HEADS)["statements"].as_array_mut().unwrap()
}

/// Seals one more record of the meta-chain.
fn add_to_meta(draft: &mut BundleDraft, action: &ActionRecord, key: &SigningKey) {
    let added = seal_next(&base::meta(), action, key);
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
    statements(draft).pop();
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
