//! Whatever is done to a stored chain gets the right word and the right place, in the database and in the bundle.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

mod store;

use capsid_model::exact::{Json, parse, spaced};
use capsid_seal::bundle::{Export, write};
use capsid_seal::sources::{ChainSource, open_any};
use capsid_seal::verify::{FailureClass, Options};
use capsid_seal::{Link, Sealer, SigningKey, Stored};
use rusqlite::{Connection, params};
use std::path::{Path, PathBuf};
use store::*;

/// A chain twice: in a database, and in a bundle.
struct Both {
    _folder: tempfile::TempDir,
    db: PathBuf,
    file: PathBuf,
    records: Vec<Stored>,
    text: String,
    in_database: ChainSource,
    in_bundle: ChainSource,
}

/// Thousands of changes are made, and the disk is not what is tested.
fn quick_folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

impl Both {
    fn new(count: usize) -> Self {
        let folder = quick_folder();
        let db = folder.path().join("home/chains/codex/s.db");
        chain(&db, count);
        let out = folder.path().join("out");
        let chains = open_any(&db).unwrap().chains;
        write(&out, &Export { chains: &chains, own: None, known: &[], generated_at: NOW }).unwrap();
        let file = out.join("codex-s.json");
        let text = std::fs::read_to_string(&file).unwrap();
        // The uniqueness rules would keep a clumsy forger out; this one knows SQL.
        let raw = Connection::open(&db).unwrap();
        raw.execute_batch("DROP INDEX capsid_place; CREATE TABLE kept AS SELECT * FROM capsules").unwrap();
        let [in_database, in_bundle] = [&db, &file].map(|path| open_any(path).unwrap().chains.remove(0));
        Self { records: all(&db, None), _folder: folder, db, file, text, in_database, in_bundle }
    }

    fn sql(&self) -> Connection {
        let raw = Connection::open(&self.db).unwrap();
        raw.execute_batch("PRAGMA synchronous = OFF").unwrap();
        raw
    }

    fn restore(&self) {
        self.sql().execute_batch("DELETE FROM capsules; INSERT INTO capsules SELECT * FROM kept").unwrap();
    }

    /// What verification says after statements were run on the database.
    fn database(&self, statements: &str) -> Said {
        self.sql().execute_batch(statements).unwrap();
        let said = verdict(&self.db, true);
        self.restore();
        said
    }

    /// What verification says after the list of records in the bundle was changed.
    fn bundle(&self, change: impl FnOnce(&mut Vec<Json>)) -> Said {
        let Json::Object(mut fields) = parse(&self.text).unwrap() else { panic!() };
        let Some(Json::Array(records)) = fields.get_mut("capsules") else { panic!() };
        change(records);
        std::fs::write(&self.file, spaced(&Json::Object(fields))).unwrap();
        verdict(&self.file, true)
    }
}

type Said = Option<(FailureClass, u64)>;

fn verdict(path: &Path, signatures: bool) -> Said {
    verdict_of(&open_any(path).unwrap().chains[0], signatures)
}

fn verdict_of(source: &ChainSource, signatures: bool) -> Said {
    let options = Options { signatures, threads: 1, ..Options::default() };
    let records = source.records().unwrap();
    let verdict = capsid_seal::verify::verify(records, &options, &keys()).unwrap();
    assert_eq!(verdict.valid, verdict.failure.is_none());
    Some((verdict.failure?.class, verdict.broken_at.unwrap()))
}

fn bundled(stored: &Stored) -> Json {
    let seal = &stored.seal;
    Json::Object(capsid_model::fields! {
        "hash": seal.hash.as_str(),
        "signature": seal.signature.as_str(),
        "signature_pq": "",
        "signed_at": seal.signed_at.as_deref(),
        "signed_by": seal.signed_by.as_str(),
        "canonical": stored.canonical.as_str(),
    })
}

#[test]
fn an_untouched_chain_is_sound_in_both() {
    let both = Both::new(5);
    assert_eq!(both.database(""), None);
    assert_eq!(both.bundle(|_| ()), None);
}

#[test]
fn removals_swaps_and_repetitions_show_at_their_place() {
    let both = Both::new(6);
    for at in 0..5_u64 {
        let missing = Some((FailureClass::Missing, at));
        assert_eq!(both.database(&format!("DELETE FROM capsules WHERE sequence = {at}")), missing);
        assert_eq!(both.bundle(|records| drop(records.remove(at as usize))), missing);

        let renumbered = format!(
            "DELETE FROM capsules WHERE sequence = {at};
             UPDATE capsules SET sequence = -sequence WHERE sequence > {at};
             UPDATE capsules SET sequence = -sequence - 1 WHERE sequence < 0;
             UPDATE capsules SET previous_hash = (SELECT hash FROM capsules b WHERE b.sequence = {at} - 1)
                 WHERE sequence = {at}"
        );
        assert_eq!(both.database(&renumbered), Some((FailureClass::Column, at)), "renumbered from {at}");

        let repeated = format!(
            "INSERT INTO capsules (sequence, id, previous_hash, hash, signature, signed_at, signed_by, canonical)
             SELECT sequence, id, previous_hash, hash, signature, signed_at, signed_by, canonical
             FROM kept WHERE sequence = {at}"
        );
        let twice = Some((FailureClass::Link, at + 1));
        assert_eq!(both.database(&repeated), twice);
        assert_eq!(both.bundle(|records| records.insert(at as usize, records[at as usize].clone())), twice);

        for other in at + 1..6 {
            let swapped = format!(
                "UPDATE capsules SET sequence = -1 WHERE sequence = {at};
                 UPDATE capsules SET sequence = {at} WHERE sequence = {other};
                 UPDATE capsules SET sequence = {other} WHERE sequence = -1"
            );
            assert_eq!(both.database(&swapped), Some((FailureClass::Column, at)), "{at} and {other}");
            let link = Some((FailureClass::Link, at));
            assert_eq!(both.bundle(|records| records.swap(at as usize, other as usize)), link);
        }
    }
}

#[test]
fn columns_that_differ_from_the_sealed_text_show() {
    let both = Both::new(4);
    for at in 0..4_u64 {
        for change in ["id = 'x'", "previous_hash = 'x'", "id = x'00'"] {
            let statement = format!("UPDATE capsules SET {change} WHERE sequence = {at}");
            assert_eq!(both.database(&statement), Some((FailureClass::Column, at)), "{statement}");
        }
        let moved = both.database(&format!("UPDATE capsules SET sequence = 'far' WHERE sequence = {at}"));
        let place = moved.map(|(_, place)| place);
        assert_eq!(place, Some(at), "{moved:?}");
    }
    let nulled = both.database("UPDATE capsules SET previous_hash = NULL WHERE sequence = 2");
    assert_eq!(nulled, Some((FailureClass::Column, 2)));
}

#[test]
fn a_record_forged_with_another_key_shows() {
    let both = Both::new(4);
    let forger = Sealer::new(SigningKey::from_seed(&[9; 32]));
    for at in 0..4_u64 {
        let previous_hash = (at > 0).then(|| both.records[at as usize - 1].seal.hash.clone());
        let mut forged = forger.seal(&record("forged"), &Link { sequence: at, previous_hash }, NOW).unwrap();
        for (class, signed_by) in [
            (FailureClass::UnknownSigner, forger.public().fingerprint()),
            (FailureClass::Signature, sealer().public().fingerprint()),
        ] {
            forged.seal.signed_by = signed_by;
            let columns = forged.columns.clone().unwrap();
            let update =
                "UPDATE capsules SET id = ?2, hash = ?3, signature = ?4, signed_by = ?5, canonical = ?6
                          WHERE sequence = ?1";
            let seal = &forged.seal;
            let values =
                params![at as i64, columns.id, seal.hash, seal.signature, seal.signed_by, forged.canonical];
            both.sql().execute(update, values).unwrap();
            assert_eq!(verdict(&both.db, true), Some((class, at)));
            let unsigned = (at < 3).then_some((FailureClass::Link, at + 1));
            assert_eq!(verdict(&both.db, false), unsigned, "without signatures the next link shows it");
            both.restore();
            assert_eq!(both.bundle(|records| records[at as usize] = bundled(&forged)), Some((class, at)));
        }
    }
}

#[test]
fn a_cut_end_shows_in_the_meta_chain_and_in_the_index() {
    let folder = tempfile::tempdir().unwrap();
    home(folder.path(), &[("codex", "s", 5)]);
    let db = folder.path().join("chains/codex/s.db");
    let out = folder.path().join("out");
    let export = |chains: &[ChainSource]| {
        write(&out, &Export { chains, own: None, known: &[], generated_at: NOW }).unwrap();
    };
    export(&open_any(folder.path()).unwrap().chains);
    for kept in (1..5).rev() {
        Connection::open(&db).unwrap().execute("DELETE FROM capsules WHERE sequence >= ?1", [kept]).unwrap();
        assert_eq!(verdict(&db, true), None, "the chain alone cannot show it");
        let report = capsid_seal::meta::verify_meta(folder.path(), &keys(), &Default::default()).unwrap();
        assert_eq!(report.conversations[0].status, capsid_seal::meta::Status::Truncated);

        let Json::Object(mut fields) =
            parse(&std::fs::read_to_string(out.join("codex-s.json")).unwrap()).unwrap()
        else {
            panic!()
        };
        let Some(Json::Array(records)) = fields.get_mut("capsules") else { panic!() };
        records.pop();
        std::fs::write(out.join("codex-s.json"), spaced(&Json::Object(fields))).unwrap();
        let source = open_any(&out).unwrap().chains.remove(0);
        let verdict = verify(&source);
        assert!(source.claim.unwrap().contradiction(verdict.length, verdict.head.as_deref()).is_some());
    }
}

/// Another byte at one position of a text, still text.
fn other(text: &str, at: usize, random: &mut fastrand::Rng) -> String {
    let mut bytes = text.as_bytes().to_vec();
    loop {
        let byte = random.u8(0x20..0x7f);
        if byte != bytes[at] {
            bytes[at] = byte;
            break;
        }
    }
    // A character of several bytes that lost one is no text any more: then all of it goes.
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn expected(field: &str, changed: &str, at: u64) -> Said {
    let class = match field {
        "canonical" => FailureClass::Hash,
        "hash" if changed.bytes().all(|byte| byte.is_ascii_hexdigit()) => FailureClass::Hash,
        "hash" => FailureClass::Malformed,
        "signature" => FailureClass::Signature,
        "signed_by" => FailureClass::UnknownSigner,
        _ => FailureClass::Column,
    };
    Some((class, at))
}

fn field<'a>(stored: &'a Stored, name: &str) -> &'a str {
    match name {
        "canonical" => &stored.canonical,
        "hash" => &stored.seal.hash,
        "signature" => &stored.seal.signature,
        "signed_by" => &stored.seal.signed_by,
        "id" => &stored.columns.as_ref().unwrap().id,
        _ => stored.columns.as_ref().unwrap().previous_hash.as_deref().unwrap_or_default(),
    }
}

/// Changes one byte in the database.
fn change_row(both: &Both, raw: &Connection, change: &Change<'_>) {
    let update = format!("UPDATE capsules SET {} = ?2 WHERE sequence = ?1", change.name);
    raw.execute(&update, params![change.at as i64, change.new]).unwrap();
    assert_eq!(verdict_of(&both.in_database, change.needs_signatures()), change.expected(), "{change:?}");
    raw.execute(&update, params![change.at as i64, change.old]).unwrap();
}

/// Changes one byte in the bundle, where it has that field. Every record names the same signer, so only the first
/// name is found by its text.
fn change_file(both: &Both, change: &Change<'_>) {
    let is_there = !["id", "previous_hash"].contains(&change.name);
    if is_there && (change.name != "signed_by" || change.at == 0) {
        let member = |value: &str| format!("\"{}\": {}", change.name, spaced(&Json::from(value)));
        let text = both.text.replacen(&member(change.old), &member(&change.new), 1);
        assert_ne!(text, both.text);
        std::fs::write(&both.file, text).unwrap();
        assert_eq!(verdict_of(&both.in_bundle, change.needs_signatures()), change.expected(), "{change:?}");
    }
}

/// Another byte at one place of a field.
#[derive(Debug)]
struct Change<'a> {
    name: &'static str,
    at: usize,
    old: &'a str,
    new: String,
}

impl<'a> Change<'a> {
    fn new(both: &'a Both, name: &'static str, at: usize, byte: usize, random: &mut fastrand::Rng) -> Self {
        let old = field(&both.records[at], name);
        Self { name, at, old, new: other(old, byte, random) }
    }

    /// Checking many signatures takes long.
    fn needs_signatures(&self) -> bool {
        ["signature", "signed_by"].contains(&self.name)
    }

    fn expected(&self) -> Said {
        expected(self.name, &self.new, self.at as u64)
    }

    /// Anywhere in a chain, mostly in the text.
    fn anywhere(both: &'a Both, random: &mut fastrand::Rng) -> Self {
        loop {
            let at = random.usize(..both.records.len());
            let name = FIELDS[[0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5][random.usize(..12)]];
            let length = field(&both.records[at], name).len();
            if length > 0 {
                return Self::new(both, name, at, random.usize(..length), random);
            }
        }
    }
}

const FIELDS: [&str; 6] = ["canonical", "hash", "signature", "signed_by", "id", "previous_hash"];

#[test]
fn every_single_byte_of_a_short_chain_counts() {
    let both = Both::new(5);
    let raw = both.sql();
    let seed = 11;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for at in 0..5 {
        for name in FIELDS {
            for byte in 0..field(&both.records[at], name).len() {
                let change = Change::new(&both, name, at, byte, &mut random);
                change_row(&both, &raw, &change);
                change_file(&both, &change);
            }
        }
    }
    assert_eq!(verdict(&both.db, true), None, "all was put back");
}

#[test]
fn bytes_of_a_longer_chain_count_wherever_they_are_in_the_database() {
    let both = Both::new(50);
    let raw = both.sql();
    let seed = 12;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..2000 {
        change_row(&both, &raw, &Change::anywhere(&both, &mut random));
    }
    assert_eq!(verdict(&both.db, true), None, "all was put back");
}

#[test]
fn bytes_of_a_longer_chain_count_wherever_they_are_in_the_bundle() {
    let both = Both::new(50);
    let seed = 13;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..2000 {
        change_file(&both, &Change::anywhere(&both, &mut random));
    }
}
