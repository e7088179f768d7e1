//! Bundles with a meta-chain, and conversations in each state.

use super::bundle::{Case, Part, files, part};
use crate::verification::support::*;
use capsid_model::fields;
use capsid_seal::{ActionRecord, ChainLink, Sealer, StoredRecord};

/// A meta-chain with a record for each of these: the session, and the chain as it was then.
fn meta(seen: &[(&str, &[StoredRecord])]) -> Vec<StoredRecord> {
    let mut records: Vec<StoredRecord> = Vec::new();
    for (number, (session, chain)) in seen.iter().enumerate() {
        let head_hash = chain.last().map_or("0".repeat(64), |last| last.seal.hash.clone());
        let result = fields! {
            "kind": "conversation_seal",
            "tool": "codex",
            "session_id": *session,
            "head_hash": head_hash,
            "capsule_count": chain.len(),
        };
        let record = ActionRecord {
            id: format!("00000000-0000-4000-9000-{number:012}"),
            kind: "system".into(),
            domain: "meta".into(),
            outcome: fields! { "status": "success", "summary": "sealed", "result": result },
            ..ActionRecord::default()
        };
        let previous_hash = records.last().map(|last| last.seal.hash.clone());
        let link = ChainLink { sequence: number as u64, previous_hash };
        records.push(Sealer::new(own()).seal(&record, &link, SIGNED_AT).unwrap());
    }
    records
}

pub fn cases() -> Vec<Case> {
    let complete = chain(4);
    let case = |name: &str, parts: &[Part], seen: &[(&str, &[StoredRecord])]| {
        Case::new(name, files(parts, Some(&meta(seen))))
    };
    let there = |records: &[StoredRecord]| [part("s", without_columns(records))];
    let mut swapped = complete.clone();
    Tampering::EditText.apply(&mut swapped, 1);
    let mut otherwise = complete[..2].to_vec();
    extend_otherwise(&mut otherwise, 4);
    let two = [part("s", without_columns(&complete)), part("t", chain(1))];
    let mut broken = files(&two, Some(&broken_meta(&complete)));
    let last = broken.len() - 1;
    assert_eq!(broken[last].0, "meta.json");
    let renamed = [part("other-name", without_columns(&complete))];
    vec![
        case("intact", &there(&complete), &[("s", &complete)]),
        case("grown", &there(&complete), &[("s", &complete[..3])]),
        case("truncated", &there(&complete[..3]), &[("s", &complete)]),
        case("altered inside", &there(&swapped), &[("s", &complete)]),
        case("altered at the end", &there(&otherwise), &[("s", &complete)]),
        case("missing", &there(&complete), &[("s", &complete), ("gone", &complete)]),
        case("unsealed", &two, &[("s", &complete)]),
        case("recorded again as it grew", &there(&complete), &[("s", &complete[..2]), ("s", &complete)]),
        case(
            "recorded again, then truncated",
            &there(&complete[..1]),
            &[("s", &complete[..2]), ("s", &complete)],
        ),
        case("cut, continued and recorded", &there(&otherwise), &[("s", &complete[..3]), ("s", &otherwise)]),
        case("cut and recorded", &there(&complete[..2]), &[("s", &complete), ("s", &complete[..2])]),
        case("found by its first record", &renamed, &[("s", &complete)]),
        case("recorded without any record", &there(&complete), &[("s", &[])]),
        case("an empty chain", &there(&[]), &[("s", &complete)]),
        case("nothing recorded", &there(&complete), &[]),
        Case::new("meta-chain broken", std::mem::take(&mut broken)),
        case("listed chain not there", &there(&complete), &[("s", &complete)]).without("codex-s.json"),
        case("meta-chain not there", &there(&complete), &[("s", &complete)]).without("meta.json"),
        case("signed by a stranger", &there(&complete), &[("s", &complete)])
            .edit("meta.json", |text| text.replace(&own().public().fingerprint(), "0000000000000000")),
    ]
}

/// The second record was edited, so the third, which is about another conversation, proves nothing.
fn broken_meta(complete: &[StoredRecord]) -> Vec<StoredRecord> {
    let mut records = meta(&[("s", complete), ("s", &complete[..2]), ("t", &chain(1))]);
    records[1].canonical = records[1].canonical.replace("sealed", "sealeD");
    records
}

/// Goes on with other records than the honest chain.
fn extend_otherwise(records: &mut Vec<StoredRecord>, length: usize) {
    for number in records.len()..length {
        let previous_hash = records.last().map(|last| last.seal.hash.clone());
        let link = ChainLink { sequence: number as u64, previous_hash };
        records.push(Sealer::new(own()).seal(&record(number + 100), &link, SIGNED_AT).unwrap());
    }
}
