//! The families, numbered as in the table.

mod chains;
mod claims;
mod harmless;
mod meta_chain;
mod order;
mod seals;
mod signers;
mod statements;
mod texts;

use super::Manipulation;
use super::draft::{BundleDraft, FIRST};
use capsid_model::{Value, json};
use capsid_seal::SigningKey;
use capsid_seal::hash::sha3_hex;

/// The records that are manipulated: the first, one in the middle and the last.
const POSITIONS: [(usize, &str); 3] = [(0, "first record"), (3, "middle record"), (5, "last record")];
const LAST: usize = 5;
/// The chain that they are in.
const CHAIN: &str = "codex/s1";

pub fn all() -> Vec<Manipulation> {
    let groups = [
        texts::all(),
        seals::all(),
        signers::all(),
        order::all(),
        chains::all(),
        claims::all(),
        meta_chain::all(),
        statements::all(),
        harmless::all(),
    ];
    groups.into_iter().flatten().collect()
}

/// One manipulation for each of the three positions.
fn at_each(change: impl Fn(usize, &str) -> Manipulation) -> Vec<Manipulation> {
    POSITIONS.iter().map(|(position, words)| change(*position, words)).collect()
}

/// The text of a record.
fn canonical(record: &Value) -> String {
    record["canonical"].as_str().unwrap().to_owned()
}

/// Gives a record another text, and the hash of it.
fn set_text(record: &mut Value, text: &str) {
    record["canonical"] = json!(text);
    record["hash"] = json!(sha3_hex(text.as_bytes()));
}

/// Signs a record as it is now.
pub fn sign(record: &mut Value, key: &SigningKey) {
    record["signature"] = json!(key.sign(record["hash"].as_str().unwrap()));
    record["signed_by"] = json!(key.public().fingerprint());
}

fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

/// Changes one record of the first chain, and the headers if they speak of it.
fn change_record(draft: &mut BundleDraft, position: usize, change: impl FnOnce(&mut Value)) {
    change(&mut draft.records(FIRST)[position]);
    draft.adjust(FIRST);
}
