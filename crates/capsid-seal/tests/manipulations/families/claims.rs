//! What the index and the headers claim.

use super::super::base::stranger_key;
use super::super::draft::{BundleDraft, FIRST};
use super::super::expected::{Expectation, invalid, noticed, unreadable};
use super::{CHAIN, Manipulation};
use capsid_model::{Value, json};

pub fn all() -> Vec<Manipulation> {
    let make = |name: &str, expected: Expectation, change: &dyn Fn(&mut BundleDraft)| {
        Manipulation::new(name, expected, change)
    };
    let of_chain = || invalid("contradiction", CHAIN, None);
    let claim = |name: &str, field: &'static str, value: Value| {
        make(name, of_chain(), &|draft| {
            draft.listed(FIRST)[field] = value.clone();
            draft.adjust_totals();
        })
    };
    let key = stranger_key().public();
    let small = format!("01{}", "0".repeat(62));
    vec![
        claim("29 length", "length", json!(7)),
        claim("30 head", "head_hash", json!("0".repeat(64))),
        claim("31 genesis", "genesis_hash", json!("0".repeat(64))),
        claim("32 signers", "signed_by", json!(["0123456789abcdef"])),
        claim("33 times", "started_at", json!("2025-02-07T15:10:00+00:00")),
        make("34 totals", invalid("contradiction", None, None), &|draft| {
            draft.index()["capsule_count"] = json!(12);
        }),
        make("35 listed twice", invalid("listed_twice", CHAIN, None), &|draft| {
            let entry = draft.listed(FIRST).clone();
            list(draft, entry);
        }),
        make("36 chain named meta", invalid("listed_twice", "meta", None), &|draft| {
            list(draft, json!({ "id": "meta", "length": 6 }));
        }),
        make("37 path in the id", unreadable("../codex-s1"), &|draft| {
            list(draft, json!({ "id": "../codex-s1", "tool": "codex", "length": 6 }));
        }),
        make("38 key under a wrong name", noticed("unverified", "key_refused", None), &|draft| {
            draft.index()["keys"]["0123456789abcdef"] = json!(key.hex());
        }),
        make("39 key of small order", noticed("unverified", "key_refused", None), &|draft| {
            draft.index()["keys"][&small[..16]] = json!(small);
        }),
        make("40 index and file header differ", of_chain(), &|draft| {
            draft.file(FIRST)["length"] = json!(7);
        }),
    ]
}

/// Adds an entry to the list of chains.
fn list(draft: &mut BundleDraft, entry: Value) {
    draft.index()["chains"].as_array_mut().unwrap().push(entry);
    draft.adjust_totals();
}
