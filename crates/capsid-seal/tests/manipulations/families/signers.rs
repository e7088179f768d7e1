//! Who signed a record.

use super::super::base::{self, current_key, retired_key, stranger_key};
use super::super::draft::{FIRST, to_value};
use super::super::expected::{by_trust, invalid, unknown_signer};
use super::{CHAIN, Manipulation, at_each, change_record, sign};
use capsid_model::json;

pub fn all() -> Vec<Manipulation> {
    let families = [resigned(), claimed(), rewritten(), retired()];
    families.into_iter().flatten().collect()
}

fn resigned() -> Vec<Manipulation> {
    at_each(|position, words| {
        let name = format!("14 re-signed by a stranger, {words}");
        Manipulation::new(name, unknown_signer(position), |draft| {
            change_record(draft, position, |record| sign(record, &stranger_key()));
        })
    })
}

fn claimed() -> Vec<Manipulation> {
    at_each(|position, words| {
        let name = format!("15 re-signed by a stranger under the owner's name, {words}");
        Manipulation::new(name, invalid("signature", CHAIN, position), |draft| {
            change_record(draft, position, |record| {
                sign(record, &stranger_key());
                record["signed_by"] = json!(current_key().public().fingerprint());
            });
        })
    })
}

/// The meta-chain recorded the chain at 4 and at 6 records. Whoever accepts the stranger's key sees that it is another.
fn rewritten() -> Vec<Manipulation> {
    at_each(|position, words| {
        let name = format!("16 tail rewritten by a stranger, key added, from the {words}");
        let recorded = if position < 4 { 3 } else { 5 };
        let expected =
            by_trust(invalid("signer_not_allowed", CHAIN, position), invalid("altered", CHAIN, recorded));
        Manipulation::new(name, expected, |draft| {
            let [mut chain, ..] = base::chains();
            chain.records.truncate(position);
            chain.extend(&stranger_key(), 6, "other");
            *draft.records(FIRST) = chain.records.iter().map(to_value).collect();
            draft.adjust(FIRST);
            let key = stranger_key().public();
            draft.index()["keys"][key.fingerprint()] = json!(key.hex());
        })
    })
}

/// The chain began after the rotation, so the old key may have signed none of it.
fn retired() -> Vec<Manipulation> {
    at_each(|position, words| {
        let name = format!("17 signed by a retired key after its last position, {words}");
        Manipulation::new(name, invalid("retired_key", CHAIN, position), |draft| {
            change_record(draft, position, |record| sign(record, &retired_key()));
        })
    })
}
