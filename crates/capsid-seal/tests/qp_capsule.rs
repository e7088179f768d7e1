//! Fresh chains, sealed by us or by `qp-capsule` and verified by the other.

use crate::odd_text;
#[allow(dead_code)]
use crate::peer;
use capsid_model::exact::{ExactFields, ExactJson, canonical, canonical_ascii, indented, parse, spaced};
use capsid_model::fields;
use capsid_seal::chain::{ChainReader, ChainWriter, PendingRecord};
use capsid_seal::hash::sha3_hex;
use capsid_seal::keys::{KeyOrigin, KeySet};
use capsid_seal::record::uuid;
use capsid_seal::sources::{SourceKind, open_any};
use capsid_seal::verify::{self, ChainVerdict, VerifyFailureClass, VerifyOptions};
use capsid_seal::{ActionRecord, PublicKey, Sealer, SigningKey, StoredRecord, python_iso};
use capsid_testkit::rounds::{rounds, size};
use fastrand::Rng;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many records a long chain has.
fn many() -> usize {
    size(1_000, 10_000)
}

/// The verdict on the one chain of a file.
pub(crate) fn judge(path: &Path, kind: SourceKind, batch: bool, keys: &KeySet) -> ChainVerdict {
    let sources = open_any(path).unwrap();
    assert_eq!((sources.kind, sources.chains.len()), (kind, 1), "{}", path.display());
    let options = VerifyOptions { signatures: true, batch, ..VerifyOptions::default() };
    verify::verify(sources.chains[0].records().unwrap(), &options, keys).unwrap()
}

/// Has the peer seal a chain; gives the key that was the last to sign.
fn sealed_by_peer(folder: &Path, rng: &mut Rng, count: usize, keyring: bool, rotate: usize) -> PublicKey {
    let order = fields! {
        "folder": folder.to_str().unwrap(),
        "seed": rng.u64(..) >> 1,
        "count": count,
        "keyring": keyring,
        "rotate": rotate,
    };
    let answer = peer::python("sealer.py", canonical(&ExactJson::Object(order)) + "\n").remove(0);
    PublicKey::from_hex(serde_json::from_str(&answer).unwrap()).unwrap()
}

/// The peer's two ways to keep a chain hold, one with each mode of verifying.
fn holds(folder: &Path, count: usize, keys: &KeySet, batch: bool, seed: &str) -> ChainVerdict {
    let forms = [("chain.json", SourceKind::Json, batch), ("capsules.db", SourceKind::Documents, !batch)];
    let [first, second] = forms.map(|(name, kind, batch)| {
        let verdict = judge(&folder.join(name), kind, batch, keys);
        assert_eq!((&verdict.failure, verdict.verified), (&None, count as u64), "{seed} {name}");
        verdict
    });
    assert_eq!((&first.head, &first.signers), (&second.head, &second.signers));
    first
}

#[test]
fn what_the_peer_sealed_holds() {
    let (mut rng, seed) = peer::seeded();
    let folder = tempfile::tempdir().unwrap();
    let (theirs, ours) = (folder.path().join("theirs"), folder.path().join("ours"));
    let count = many();
    let key = sealed_by_peer(&theirs, &mut rng, count, true, 0);
    holds(&theirs, count, &KeySet::from_key(key), false, &seed);

    // Its keyring alone is enough: the private key stays where it is.
    std::fs::create_dir(&ours).unwrap();
    std::fs::copy(theirs.join("keyring.json"), ours.join("keyring.json")).unwrap();
    let keys = capsid_seal::keys::load_home(&ours);
    let verdict = holds(&theirs, count, &keys, true, &seed);
    assert_eq!(verdict.signers[&key.fingerprint()].count, count as u64);

    let other = SigningKey::from_seed(&[9; 32]).public();
    let verdict = judge(&theirs.join("chain.json"), SourceKind::Json, false, &KeySet::from_key(other));
    assert_eq!(verdict.failure.unwrap().class, VerifyFailureClass::UnknownSigner);
}

#[test]
fn its_keys_over_time_are_found_in_its_keyring() {
    let (mut rng, seed) = peer::seeded();
    let folder = tempfile::tempdir().unwrap();
    let (rotated, plain) = (folder.path().join("rotated"), folder.path().join("plain"));
    let last = sealed_by_peer(&rotated, &mut rng, 30, true, 10);
    let verdict = holds(&rotated, 30, &capsid_seal::keys::load_home(&rotated), true, &seed);
    let counts: Vec<u64> = verdict.signers.values().map(|signer| signer.count).collect();
    assert_eq!(counts, [10, 10, 10]);
    assert_eq!(verdict.signers[&last.fingerprint()].origin, Some(KeyOrigin::Own));
    let verdict = judge(&rotated.join("chain.json"), SourceKind::Json, false, &KeySet::from_key(last));
    assert_eq!(verdict.broken_at, Some(0), "the last key signed the last records only");

    let key = sealed_by_peer(&plain, &mut rng, 10, false, 0);
    assert!(!plain.join("keyring.json").exists());
    holds(&plain, 10, &KeySet::from_key(key), false, &seed);
}

#[test]
fn what_the_peer_sealed_and_someone_changed_is_refused() {
    let (mut rng, seed) = peer::seeded();
    let folder = tempfile::tempdir().unwrap();
    let key = sealed_by_peer(&folder.path().join("c"), &mut rng, 12, true, 0);
    let database = rusqlite::Connection::open(folder.path().join("c/capsules.db")).unwrap();
    let keys = KeySet::from_key(key);
    for round in 0..rounds(200, 4_000) {
        let index = rng.i64(0..12);
        let was: String = database
            .query_row("SELECT data FROM capsules WHERE sequence = ?1", [index], |row| row.get(0))
            .unwrap();
        let now = changed_leaf(&mut rng, &was);
        let set = "UPDATE capsules SET data = ?1 WHERE sequence = ?2";
        database.execute(set, rusqlite::params![now, index]).unwrap();
        let verdict =
            judge(&folder.path().join("c/capsules.db"), SourceKind::Documents, round % 2 == 0, &keys);
        assert_eq!(verdict.broken_at, Some(index as u64), "{seed} {was} {now}");
        assert_eq!(verdict.failure.unwrap().class, VerifyFailureClass::Hash, "{seed} {was} {now}");
        database.execute(set, rusqlite::params![was, index]).unwrap();
    }
}

/// The document with one of its values changed, written in one of the ways JSON allows.
fn changed_leaf(rng: &mut Rng, document: &str) -> String {
    let mut content = parse(document).unwrap();
    change(rng, &mut content);
    [spaced, canonical_ascii, indented][rng.usize(..3)](&content)
}

/// Changes one value somewhere below, so that its canonical text is another one.
fn change(rng: &mut Rng, value: &mut ExactJson) {
    match value {
        ExactJson::Object(fields) if !fields.is_empty() && rng.u8(..8) > 0 => {
            let at = rng.usize(..fields.len());
            change(rng, &mut fields[at]);
        }
        ExactJson::Array(items) if !items.is_empty() && rng.u8(..8) > 0 => {
            let at = rng.usize(..items.len());
            change(rng, &mut items[at]);
        }
        ExactJson::Object(fields) => _ = fields.insert("and more".to_owned(), ExactJson::Null),
        ExactJson::Array(items) => items.push(ExactJson::Null),
        ExactJson::String(text) => text.push('.'),
        ExactJson::Bool(yes) => *yes = !*yes,
        ExactJson::Null => *value = ExactJson::from(0_i64),
        _ => *value = ExactJson::Null,
    }
}

fn text(rng: &mut Rng) -> String {
    odd_text::text(rng)
}

fn maybe_text(rng: &mut Rng) -> ExactJson {
    if rng.bool() { ExactJson::Null } else { text(rng).into() }
}

fn texts(rng: &mut Rng) -> ExactJson {
    ExactJson::Array((0..rng.usize(..3)).map(|_| text(rng).into()).collect())
}

/// Any value that can be sealed.
fn value(rng: &mut Rng) -> ExactJson {
    loop {
        if let Ok(value) = parse(&odd_text::document(rng))
            && value.is_sealable()
        {
            return value;
        }
    }
}

fn mapping(rng: &mut Rng) -> ExactFields {
    (0..rng.usize(..4)).map(|_| (text(rng), value(rng))).collect()
}

fn one_of(rng: &mut Rng, words: &[&str]) -> ExactJson {
    words[rng.usize(..words.len())].into()
}

/// Integers go where the format wants floats: sealing makes them floats.
fn share(rng: &mut Rng) -> ExactJson {
    match rng.u8(..3) {
        0 => ExactJson::from(i64::from(rng.bool())),
        _ => ExactJson::Float(rng.f64()),
    }
}

fn option(rng: &mut Rng) -> ExactFields {
    fields! {
        "id": text(rng),
        "description": text(rng),
        "pros": texts(rng),
        "cons": texts(rng),
        "estimated_impact": mapping(rng),
        "feasibility": share(rng),
        "risks": texts(rng),
        "selected": rng.bool(),
        "rejection_reason": text(rng),
    }
}

fn call(rng: &mut Rng) -> ExactFields {
    fields! {
        "tool": text(rng),
        "arguments": mapping(rng),
        "result": value(rng),
        "success": rng.bool(),
        "duration_ms": rng.i64(..),
        "error": maybe_text(rng),
    }
}

fn reasoning(rng: &mut Rng) -> ExactFields {
    let options: Vec<ExactFields> = (0..rng.usize(..3)).map(|_| option(rng)).collect();
    let considered: Vec<ExactJson> = options.iter().map(|option| option["description"].clone()).collect();
    fields! {
        "analysis": text(rng),
        "options": options.into_iter().map(ExactJson::Object).collect::<Vec<_>>(),
        "options_considered": considered,
        "selected_option": text(rng),
        "reasoning": text(rng),
        "confidence": share(rng),
        "model": maybe_text(rng),
        "prompt_hash": maybe_text(rng),
    }
}

/// A random record of the peer's shape.
fn record(rng: &mut Rng) -> ActionRecord {
    let kinds = ["agent", "tool", "system", "kill", "workflow", "chat", "vault", "auth"];
    let moment = rng.i64(-60_000_000_000_000_000..250_000_000_000_000_000);
    let whole_second = moment.div_euclid(1_000_000) * 1_000_000;
    ActionRecord {
        id: uuid(rng.u128(..)),
        kind: kinds[rng.usize(..kinds.len())].to_owned(),
        domain: text(rng),
        parent_id: rng.bool().then(|| uuid(rng.u128(..))),
        trigger: fields! {
            "type": one_of(rng, &["user_request", "scheduled", "system", "agent"]),
            "source": text(rng),
            "timestamp": python_iso(if rng.u8(..4) == 0 { whole_second } else { moment }),
            "request": text(rng),
            "correlation_id": maybe_text(rng),
            "user_id": maybe_text(rng),
        },
        context: fields! {
            "agent_id": text(rng),
            "session_id": maybe_text(rng),
            "environment": mapping(rng),
        },
        reasoning: reasoning(rng),
        authority: fields! {
            "type": one_of(rng, &["autonomous", "policy", "human_approved", "escalated"]),
            "approver": maybe_text(rng),
            "policy_reference": maybe_text(rng),
            "chain": (0..rng.usize(..2)).map(|_| ExactJson::Object(mapping(rng))).collect::<Vec<_>>(),
            "escalation_reason": maybe_text(rng),
        },
        execution: fields! {
            "tool_calls": (0..rng.usize(..3)).map(|_| ExactJson::Object(call(rng))).collect::<Vec<_>>(),
            "duration_ms": rng.i64(..),
            "resources_used": mapping(rng),
        },
        outcome: fields! {
            "status": one_of(rng, &["pending", "success", "failure", "partial", "blocked"]),
            "result": value(rng),
            "summary": text(rng),
            "error": maybe_text(rng),
            "side_effects": texts(rng),
            "metrics": mapping(rng),
        },
    }
}

/// Random records, sealed into a chain on disk and read from there.
fn sealed_by_us(rng: &mut Rng, sealer: &Sealer, count: usize) -> Vec<StoredRecord> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.db");
    let mut moment = rng.i64(..4_000_000_000_000_000);
    let items = (0..count).map(|n| PendingRecord {
        key: n.to_string(),
        open: false,
        weight: 2_000,
        item: record(rng),
    });
    let seal = |record: &ActionRecord, _, link: &_| {
        moment += 250_000;
        sealer.seal(record, link, &python_iso(moment))
    };
    ChainWriter::open(&path).unwrap().append(None, items, seal).unwrap();
    ChainReader::open(&path).unwrap().records(None).map(Result::unwrap).collect()
}

/// A record as the peer writes it into a JSON chain: the content, and the seal behind it.
pub(crate) fn in_its_form(stored: &StoredRecord) -> ExactJson {
    let ExactJson::Object(mut fields) = parse(&stored.canonical).unwrap() else { panic!() };
    let seal = stored.seal.clone();
    fields.extend(fields! {
        "hash": seal.hash,
        "signature": seal.signature,
        "signature_pq": seal.signature_pq,
        "signed_at": seal.signed_at,
        "signed_by": seal.signed_by,
    });
    ExactJson::Object(fields)
}

fn key(rng: &mut Rng) -> SigningKey {
    SigningKey::from_seed(&std::array::from_fn(|_| rng.u8(..)))
}

#[test]
fn what_we_sealed_the_peer_takes() {
    let (mut rng, seed) = peer::seeded();
    let folder = tempfile::tempdir().unwrap();
    let sealer = Sealer::new(key(&mut rng));
    let count = many();
    let records = sealed_by_us(&mut rng, &sealer, count);
    let list = ExactJson::Array(records.iter().map(in_its_form).collect());
    for (name, written) in [("spaced", spaced(&list)), ("escaped", canonical_ascii(&list))] {
        let path = folder.path().join(format!("{name}.json"));
        std::fs::write(&path, written).unwrap();
        assert_eq!(its_command_says(&path, &sealer.public()), (true, count as u64), "{seed} {name}");
        let verdict = judge(&path, SourceKind::Json, false, &KeySet::from_key(sealer.public()));
        assert_eq!((verdict.valid, verdict.verified), (true, count as u64), "{seed} {name}");
    }
}

/// Asks the peer's own command, with nothing but the public key.
fn its_command_says(path: &Path, key: &PublicKey) -> (bool, u64) {
    let program =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers/python/.venv/bin/capsule"));
    assert!(program.exists(), "there is no `.venv` in tests/peers/python: run `scripts/setup test`");
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(program)
        .args(["verify", "--json", "--pubkey", &key.hex()])
        .arg(path)
        .env("QUANTUMPIPES_DATA_DIR", home.path())
        .output()
        .unwrap();
    let verdict = parse(&String::from_utf8(output.stdout).unwrap()).expect("an answer in JSON");
    assert_eq!(verdict.text("level"), Some("signatures"));
    let valid = verdict.get("valid") == Some(&ExactJson::Bool(true));
    assert_eq!(output.status.success(), valid);
    (valid, verdict.get("capsules_verified").and_then(ExactJson::as_i64).unwrap() as u64)
}

#[test]
fn what_we_sealed_and_someone_changed_both_refuse_at_the_same_place() {
    let (mut rng, seed) = peer::seeded();
    let (own, foreign) = (Sealer::new(key(&mut rng)), key(&mut rng));
    let (mut tampered, mut lines) = (Vec::new(), String::new());
    for _ in 0..rounds(400, 8_000) {
        // Few records each, so that every kind of place comes up.
        let mut records: Vec<ExactJson> = sealed_short(&mut rng, &own).iter().map(in_its_form).collect();
        let what = tamper(&mut rng, &mut records, &foreign);
        let list = ExactJson::Array(records);
        lines += &format!("[\"{}\",{}]\n", own.public().hex(), canonical(&list));
        tampered.push((what, list));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.json");
    let mut met = std::collections::BTreeMap::<&str, usize>::new();
    for ((what, list), answer) in tampered.iter().zip(peer::python("verifier.py", lines)) {
        let theirs: Option<u64> = serde_json::from_str(&answer).unwrap();
        std::fs::write(&path, spaced(list)).unwrap();
        for batch in [false, true] {
            let verdict = judge(&path, SourceKind::Json, batch, &KeySet::from_key(own.public()));
            assert_eq!(verdict.broken_at, theirs, "{seed} {what} {verdict:?} {}", spaced(list));
        }
        assert_eq!(theirs.is_none(), PASSES.contains(what), "{seed} {what} {}", spaced(list));
        *met.entry(what).or_default() += 1;
    }
    assert_eq!(met.len(), TAMPERINGS.len(), "{seed} every kind came up: {met:?}");
}

pub(crate) fn sealed_short(rng: &mut Rng, sealer: &Sealer) -> Vec<StoredRecord> {
    let mut link = capsid_seal::ChainLink::default();
    let count = rng.u64(2..6);
    (0..count)
        .map(|sequence| {
            let stored = sealer.seal(&record(rng), &link, "2026-02-07T15:20:54+00:00").unwrap();
            link = capsid_seal::ChainLink {
                sequence: sequence + 1,
                previous_hash: Some(stored.seal.hash.clone()),
            };
            stored
        })
        .collect()
}

const TAMPERINGS: [&str; 14] = [
    "nothing",
    "the end cut off",
    "a moment of signing",
    "a post-quantum signature",
    "content",
    "content and hash",
    "content, and all hashes and links",
    "content, and all signed by another key",
    "a hash",
    "a signature",
    "a record removed",
    "two records swapped",
    "a record repeated",
    "a first record with one before it",
];

/// What no signature covers, and what only something outside the chain can show.
const PASSES: [&str; 4] = [TAMPERINGS[0], TAMPERINGS[1], TAMPERINGS[2], TAMPERINGS[3]];

/// Changes a chain, and returns how.
fn tamper(rng: &mut Rng, records: &mut Vec<ExactJson>, foreign: &SigningKey) -> &'static str {
    let what = TAMPERINGS[rng.usize(..TAMPERINGS.len())];
    let last = records.len() - 1;
    let index = rng.usize(..=last);
    match what {
        "nothing" => {}
        "the end cut off" => records.truncate(index + 1),
        "a moment of signing" => set(&mut records[index], "signed_at", "2031-01-01T00:00:00+00:00"),
        "a post-quantum signature" => set(&mut records[index], "signature_pq", "5e"),
        "content" => change_content(rng, &mut records[index]),
        "content and hash" => {
            change_content(rng, &mut records[index]);
            rehash(&mut records[index]);
        }
        "content, and all hashes and links" => {
            change_content(rng, &mut records[index]);
            relink(records, index, |_| None);
        }
        "content, and all signed by another key" => {
            change_content(rng, &mut records[index]);
            relink(records, index, |hash| Some(foreign.sign(hash)));
        }
        "a hash" => change_digit(rng, &mut records[index], "hash"),
        "a signature" => change_digit(rng, &mut records[index], "signature"),
        // Not the last: that is the end cut off.
        "a record removed" => _ = records.remove(rng.usize(..last)),
        "two records swapped" => {
            let other = (index + rng.usize(1..=last)) % (last + 1);
            records.swap(index, other);
        }
        "a record repeated" => records.insert(rng.usize(..=last + 1), records[index].clone()),
        _ => {
            set(&mut records[0], "previous_hash", &"0".repeat(64));
            relink(records, 0, |_| None);
        }
    }
    what
}

fn fields_of(record: &mut ExactJson) -> &mut ExactFields {
    match record {
        ExactJson::Object(fields) => fields,
        _ => panic!("a record is an object"),
    }
}

fn set(record: &mut ExactJson, name: &str, text: &str) {
    fields_of(record).insert(name.to_owned(), text.into());
}

fn change_content(rng: &mut Rng, record: &mut ExactJson) {
    let names =
        ["domain", "spec_version", "trigger", "context", "reasoning", "authority", "execution", "outcome"];
    let name = names[rng.usize(..names.len())];
    change(rng, fields_of(record).get_mut(name).unwrap());
}

fn change_digit(rng: &mut Rng, record: &mut ExactJson, name: &str) {
    let mut text = record.text(name).unwrap().to_owned();
    let at = rng.usize(..text.len());
    let other = if text.as_bytes()[at] == b'0' { "1" } else { "0" };
    text.replace_range(at..=at, other);
    set(record, name, &text);
}

/// Gives a record the hash that its content has.
fn rehash(record: &mut ExactJson) -> String {
    let mut content = fields_of(record).clone();
    for name in ["hash", "signature", "signature_pq", "signed_at", "signed_by"] {
        content.shift_remove(name);
    }
    let hash = sha3_hex(canonical(&ExactJson::Object(content)).as_bytes());
    set(record, "hash", &hash);
    hash
}

/// Makes hashes and links right again from a place on, and the signatures too where `sign` gives any.
fn relink(records: &mut [ExactJson], from: usize, sign: impl Fn(&str) -> Option<String>) {
    let mut previous: Option<String> = None;
    for record in &mut records[from..] {
        if let Some(hash) = &previous {
            set(record, "previous_hash", hash);
        }
        let hash = rehash(record);
        if let Some(signature) = sign(&hash) {
            set(record, "signature", &signature);
        }
        previous = Some(hash);
    }
}
