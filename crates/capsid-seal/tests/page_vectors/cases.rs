//! Chains and bundles in every condition.

use super::bundle::{Case, files, part, sealed};
use crate::verification::support::*;
use capsid_model::exact::{ExactJson, canonical_ascii, parse, spaced};
use capsid_seal::hash::sha3_hex;
use capsid_seal::{Sealer, SigningKey, StoredRecord};

const LENGTH: usize = 4;
const FILE: &str = "codex-s.json";

/// One chain for each kind of tampering, at the first, a middle and the last record.
pub fn chains() -> Vec<Case> {
    let mut cases =
        vec![Case::from_records("untouched", chain(LENGTH)), Case::from_records("empty", Vec::new())];
    for tampering in Tampering::ALL.into_iter().filter(|one| !one.needs_columns()) {
        for at in [0, 1, LENGTH - 1] {
            let mut records = chain(LENGTH);
            tampering.apply(&mut records, at);
            cases.push(Case::from_records(format!("{tampering:?} at {at}"), records));
        }
    }
    cases.push(Case::from_records("inserted from another chain", inserted()));
    cases.push(Case::from_records("unsealed in the middle", unsealed()));
    cases.extend(signers());
    cases
}

fn inserted() -> Vec<StoredRecord> {
    let (mut records, mut other) = (chain(LENGTH), Vec::new());
    extend(&mut other, &Sealer::new(stranger()), 3);
    records.insert(2, other.remove(2));
    records
}

fn unsealed() -> Vec<StoredRecord> {
    let mut records = chain(LENGTH);
    records[1].seal = capsid_seal::RecordSeal::default();
    records
}

/// Who signed, by which name, and how far that key is trusted.
fn signers() -> Vec<Case> {
    let named = |name: String| {
        let mut records = chain(2);
        records.iter_mut().for_each(|stored| stored.seal.signed_by.clone_from(&name));
        records
    };
    let key = own().public();
    let strange = |length| {
        let mut records = Vec::new();
        extend(&mut records, &Sealer::new(stranger()), length);
        records
    };
    vec![
        Case::from_records("own key", chain(2)).own(key),
        Case::from_records("pinned key", chain(2)).pinned(key),
        Case::from_records("own and pinned key", chain(2)).own(key).pinned(key),
        Case::from_records("another's key, pinned", strange(2)).pinned(stranger().public()),
        Case::from_records("another's key, not known", strange(2)),
        Case::from_records("short name", named(key.short_fingerprint())),
        Case::from_records(
            "short name with a digit too many",
            named(format!("{}0", key.short_fingerprint())),
        ),
        Case::from_records("whole key as name", named(key.hex())),
        Case::from_records("more than the key as name", named(format!("{}0", key.hex()))),
        Case::from_records("name in upper case", named(key.fingerprint().to_uppercase())),
        Case::from_records("15 digits as name", named(key.fingerprint()[..15].to_owned())),
        Case::from_records("no name", named(String::new())),
        Case::from_records("two keys of one short name", shared_name().0).pinned(shared_name().1),
    ]
}

/// A chain signed by a key whose short name another, pinned key shares.
fn shared_name() -> (Vec<StoredRecord>, capsid_seal::PublicKey) {
    let wanted = own().public().short_fingerprint();
    let seeds = (0_u64..).map(|number| {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        SigningKey::from_seed(&seed).public()
    });
    let twin = seeds.take(1_000_000).find(|key| key.short_fingerprint() == wanted).unwrap();
    let mut records = chain(2);
    records.iter_mut().for_each(|stored| stored.seal.signed_by.clone_from(&wanted));
    (records, twin)
}

/// Bundles of either generation, and files that are not what they should be.
pub fn bundles() -> Vec<Case> {
    let good = || Case::from_records("", chain(2));
    let named = |name: &str, case: Case| Case { name: name.to_owned(), ..case };
    let index = |name: &str, from: &str, to: &str| {
        named(name, good().edit("index.json", |text| replaced(text, from, to)))
    };
    let file = |name: &str, change: &dyn Fn(&str) -> String| named(name, good().edit(FILE, change));
    let key = own().public();
    vec![
        named("both generations: the newer", good()),
        named("both generations: the older", good().edit("index.json", older)),
        index("length is wrong", "\"length\": 2", "\"length\": 3"),
        index("head is wrong", "\"head_hash\": \"", "\"head_hash\": \"0"),
        index("wrong hashes announced", "\"all_hashes_ok\": true", "\"all_hashes_ok\": false"),
        index("start is wrong", "\"started_at\": \"2026", "\"started_at\": \"2025"),
        index("end is wrong", "\"ended_at\": \"2026", "\"ended_at\": \"2025"),
        index("signers are wrong", "\"signed_by\": [", "\"signed_by\": [\"x\","),
        index("claims of other types say nothing", "\"length\": 2", "\"length\": \"3\""),
        index("counts are wrong", "\"chain_count\": 1", "\"chain_count\": 2"),
        index("a key under another's name", "\"keys\": {", "\"keys\": {\"0000000000000000\": 7, "),
        index("the own key under another's name", "\"fingerprint\": \"", "\"fingerprint\": \"0"),
        index("an id that is a path", "\"id\": \"codex-s\"", "\"id\": \"../codex-s\""),
        index("no chains listed", "\"chains\"", "\"chain\""),
        index("an index that is no JSON", "{", "["),
        named("an index with a byte order mark", good().edit("index.json", |text| format!("\u{feff}{text}"))),
        named("no index", Case::new("", vec![("other.json".into(), "{}".into())])),
        named("a listed chain is not there", good().without(FILE)),
        file("a byte order mark", &|text| format!("\u{feff}{text}")),
        file("white space", &|text| format!(" \r\n\t{text}\n ")),
        file("no JSON", &|_| "hello".into()),
        file("nothing", &|_| String::new()),
        file("another document", &|_| r#"{"a": 1}"#.into()),
        file("cut in the middle", &|text| text[..text.len() / 2].into()),
        file("cut before the end", &|text| text[..text.len() - 2].into()),
        file("more behind the end", &|text| format!("{text}x")),
        file("two lists of records", &|text| format!("{}, \"capsules\": []}}", &text[..text.len() - 1])),
        file("members behind the records", &|text| format!("{}, \"x\": [1]}}", &text[..text.len() - 1])),
        file("a broken member before the records", &|text| replaced(text, "\"length\": 2", "\"length\": 02")),
        file("records that are no objects", &|_| r#"{"capsules": [1, "x", null, []]}"#.into()),
        file("a name twice in a record", &|text| replaced(text, "\"hash\": ", "\"hash\": \"\", \"hash\": ")),
        file("half a pair in a record", &|text| {
            replaced(text, "\"signature_pq\": \"\"", r#""signature_pq": "\ud800""#)
        }),
        file("a whole pair in a record", &|text| {
            replaced(text, "\"signed_at\"", r#""x": "\ud83d\ude00", "signed_at""#)
        }),
        file("a post-quantum signature that nobody can check", &|text| {
            replaced(text, "\"signature_pq\": \"\"", "\"signature_pq\": \"00\"")
        }),
        file("a hash that is no text", &|text| replaced(text, "\"hash\": \"", "\"hash\": 7, \"was\": \"")),
        file("a list without anything around", &|_| documents(spaced)),
        file("documents, all but ASCII escaped", &|_| documents(canonical_ascii)),
        file("documents, one changed", &|_| replaced(&documents(spaced), "done", "dane")),
        file("one record alone", &|_| spaced(&document(&chain(1)[0]))),
        file("the earliest form", &|_| earliest()),
        file("no records", &|_| r#"{"capsules": []}"#.into()),
        named("several chains", Case::new("", files(&[part("a", chain(1)), part("b", chain(3))], None))),
        named("no key in the bundle", keyless(good())),
        named("no key in the bundle, but pinned", keyless(good()).pinned(key)),
    ]
}

fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

/// The first exporter knew neither keys nor the meta-chain.
fn older(text: &str) -> String {
    let ExactJson::Object(mut index) = parse(text).unwrap() else { panic!("an index") };
    index.shift_remove("keys");
    index.shift_remove("meta");
    index.insert("tools".to_owned(), ExactJson::from(vec!["codex"]));
    let mut text = spaced(&ExactJson::Object(index));
    for name in ["signed_by", "started_at", "ended_at"] {
        text = text.replace(&format!("\"{name}\""), &format!("\"{name}_\""));
    }
    text
}

fn keyless(case: Case) -> Case {
    case.edit("index.json", |text| {
        text.replace("\"keys\"", "\"no_keys\"").replace("\"public_key\"", "\"no_key\"")
    })
}

/// A record as one object, the seal among its content.
fn document(stored: &StoredRecord) -> ExactJson {
    let (Ok(ExactJson::Object(mut fields)), ExactJson::Object(seal)) =
        (parse(&stored.canonical), sealed(stored))
    else {
        panic!("objects");
    };
    fields.extend(seal.into_iter().filter(|(name, _)| name != "canonical"));
    ExactJson::Object(fields)
}

fn documents(write: impl Fn(&ExactJson) -> String) -> String {
    write(&ExactJson::Array(chain(2).iter().map(document).collect()))
}

/// Hashed with all but ASCII escaped, and stored as documents.
fn earliest() -> String {
    let mut records = chain(1);
    let text = canonical_ascii(&parse(&records[0].canonical).unwrap());
    assert_ne!(text, records[0].canonical);
    records[0].canonical = text;
    records[0].seal.hash = sha3_hex(records[0].canonical.as_bytes());
    records[0].seal.signature = own().sign(&records[0].seal.hash);
    spaced(&ExactJson::Array(vec![document(&records[0])]))
}
