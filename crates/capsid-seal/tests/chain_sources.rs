//! Whatever holds chains is found, and read the same from everywhere.

use crate::store::*;
use capsid_model::Code;
use capsid_model::exact::{ExactJson, canonical, canonical_ascii, indented, parse, spaced};
use capsid_seal::chain::ChainWriter;
use capsid_seal::hash::sha3_hex;
use capsid_seal::sources::{ChainSources, SourceKind, open_any};
use capsid_seal::verify::VerifyFailureClass;
use capsid_seal::{Sealer, SigningKey, StoredRecord};
use std::path::Path;

/// A record as one object, with its seal among its content, as `qp-capsule` writes JSON chains.
fn sealed_object(stored: &StoredRecord) -> ExactJson {
    let ExactJson::Object(mut fields) = parse(&stored.canonical).unwrap() else { panic!() };
    let seal = stored.seal.clone();
    fields.insert("hash".into(), seal.hash.into());
    fields.insert("signature".into(), seal.signature.into());
    fields.insert("signature_pq".into(), seal.signature_pq.into());
    fields.insert("signed_at".into(), seal.signed_at.into());
    fields.insert("signed_by".into(), seal.signed_by.into());
    ExactJson::Object(fields)
}

fn records(count: usize) -> Vec<StoredRecord> {
    let folder = tempfile::tempdir().unwrap();
    chain(&folder.path().join("s.db"), count);
    all(&folder.path().join("s.db"), None)
}

fn only(sources: &ChainSources) -> &capsid_seal::sources::ChainSource {
    assert_eq!(sources.chains.len(), 1);
    &sources.chains[0]
}

/// A database as `qp-capsule` writes it: ordinary JSON, escaped, in some order.
fn document_database(path: &Path, records: &[StoredRecord], text_of: impl Fn(&ExactJson) -> String) {
    let database = rusqlite::Connection::open(path).unwrap();
    let table = "CREATE TABLE capsules (id VARCHAR(36) PRIMARY KEY, type VARCHAR(20), sequence INTEGER,
        previous_hash VARCHAR(64), data TEXT, hash VARCHAR(64), signature TEXT, signature_pq TEXT,
        signed_at VARCHAR(40), signed_by VARCHAR(32), session_id VARCHAR(36), CONSTRAINT uq UNIQUE (sequence))";
    database.execute_batch(table).unwrap();
    for stored in records {
        let (columns, seal) = (stored.columns.as_ref().unwrap(), &stored.seal);
        let insert = "INSERT INTO capsules VALUES (?1, 'tool', ?2, ?3, ?4, ?5, ?6, '', ?7, ?8, NULL)";
        let text = text_of(&parse(&stored.canonical).unwrap());
        let values = rusqlite::params![
            columns.id,
            columns.sequence,
            columns.previous_hash,
            text,
            seal.hash,
            seal.signature,
            seal.signed_at,
            seal.signed_by
        ];
        database.execute(insert, values).unwrap();
    }
}

#[test]
fn a_json_list_and_a_single_record_verify() {
    let folder = tempfile::tempdir().unwrap();
    let records = records(150);
    let list = ExactJson::Array(records.iter().map(sealed_object).collect());
    for (name, text) in
        [("spaced", spaced(&list)), ("indented", indented(&list)), ("tight", canonical(&list))]
    {
        let path = folder.path().join(format!("{name}.json"));
        std::fs::write(&path, text).unwrap();
        let sources = open_any(&path).unwrap();
        assert_eq!(sources.kind, SourceKind::Json);
        let verdict = verify(only(&sources));
        assert_eq!((verdict.valid, verdict.verified), (true, 150), "{name}");
        let tail: Vec<StoredRecord> = only(&sources).records_from(148).unwrap().map(Result::unwrap).collect();
        assert_eq!(tail[0].seal, records[148].seal);
        assert_eq!(tail.len(), 2);
    }
    let path = folder.path().join("one.json");
    std::fs::write(&path, indented(&sealed_object(&records[0]))).unwrap();
    assert_eq!(verify(only(&open_any(&path).unwrap())).verified, 1);
    std::fs::write(&path, "\u{feff} [ ] \n").unwrap();
    assert_eq!(verify(only(&open_any(&path).unwrap())).total, 0);
}

#[test]
fn entries_that_are_no_records_are_malformed_at_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list.json");
    let good = spaced(&sealed_object(&records(1)[0]));
    for bad in
        ["7", "null", "\"text\"", "[]", "{}", "{\"hash\": 5}", "{\"hash\": \"ab\", \"canonical\": 3}", "tru"]
    {
        std::fs::write(&path, format!("[{good}, {bad}]")).unwrap();
        let verdict = verify(only(&open_any(&path).unwrap()));
        assert_eq!((verdict.verified, verdict.broken_at), (1, Some(1)), "{bad}");
        assert_eq!(verdict.failure.unwrap().class, VerifyFailureClass::Malformed, "{bad}");
    }
}

#[test]
fn files_that_are_no_chain_are_said_to_be_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let good = spaced(&sealed_object(&records(1)[0]));
    let bundle = format!("{{\"id\": \"x\", \"capsules\": [{good}]}}");
    for bad in ["", "x", "7", "{}", "{\"a\": 1}", "{\"a\": 1", "{a: 1}", "{\"a\" 1}", "\0\0\0\0"] {
        std::fs::write(&path, bad).unwrap();
        assert_eq!(open_any(&path).unwrap_err().code, Code::ChainUnreadable, "{bad:?}");
    }
    let broken_later = [
        format!("[{good}"),
        format!("[{good}]]"),
        format!("[{good} {good}]"),
        format!("[{good},]"),
        bundle[..bundle.len() - 1].to_owned(),
        format!("{},\"capsules\":[]}}", &bundle[..bundle.len() - 1]),
    ];
    for bad in broken_later {
        std::fs::write(&path, &bad).unwrap();
        let result: Result<Vec<StoredRecord>, _> =
            only(&open_any(&path).unwrap()).records().unwrap().collect();
        assert_eq!(result.unwrap_err().code, Code::ChainUnreadable, "{bad}");
    }
    std::fs::write(&path, format!("[{good}, \"\u{fffd}").into_bytes()).unwrap();
    assert!(open_any(&path).unwrap().chains[0].records().unwrap().any(|record| record.is_err()));
    assert_eq!(open_any(&folder.path().join("missing")).unwrap_err().code, Code::FileNotFound);
    assert_eq!(open_any(folder.path()).unwrap_err().code, Code::ChainUnreadable);
    assert_eq!(files_in(folder.path()), ["file"]);
}

#[test]
fn a_document_database_verifies_from_the_document_that_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capsules.db");
    document_database(&path, &records(5), |content| spaced(content).replace('ü', "\\u00fc"));
    let sources = open_any(&path).unwrap();
    assert_eq!(sources.kind, SourceKind::Documents);
    assert_eq!(verify(only(&sources)).verified, 5);
    let database = rusqlite::Connection::open(&path).unwrap();
    let edits = [
        (
            "UPDATE capsules SET data = replace(data, 'do k0002', 'do K0002') WHERE sequence = 2",
            2,
            VerifyFailureClass::Hash,
        ),
        (
            "UPDATE capsules SET data = replace(data, '{\"authority\"', '{\"hash\": \"x\", \"authority\"') WHERE sequence = 1",
            1,
            VerifyFailureClass::Hash,
        ),
        ("UPDATE capsules SET id = 'other' WHERE sequence = 0", 0, VerifyFailureClass::Column),
    ];
    for (edit, at, class) in edits {
        assert_eq!(database.execute(edit, []).unwrap(), 1, "{edit}");
        let verdict = verify(only(&sources));
        assert_eq!((verdict.broken_at, verdict.failure.unwrap().class), (Some(at), class), "{edit}");
    }
}

#[test]
fn the_earliest_records_verify_with_their_escapes() {
    let folder = tempfile::tempdir().unwrap();
    let mut stored = records(1).remove(0);
    let key = SigningKey::from_seed(&std::array::from_fn(|i| i as u8));
    assert_eq!(key.public(), Sealer::new(key.clone()).public());
    let escaped = canonical_ascii(&parse(&stored.canonical).unwrap());
    assert_ne!(escaped, stored.canonical);
    stored.seal.hash = sha3_hex(escaped.as_bytes());
    stored.seal.signature = key.sign(&stored.seal.hash);
    let (list, database) = (folder.path().join("list.json"), folder.path().join("capsules.db"));
    std::fs::write(&list, spaced(&ExactJson::Array(vec![sealed_object(&stored)]))).unwrap();
    document_database(&database, &[stored], spaced);
    for path in [list, database] {
        assert!(verify(only(&open_any(&path).unwrap())).valid, "{}", path.display());
    }
}

#[test]
fn a_home_gives_all_its_chains_and_one_bad_file_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    home(root, &[("codex", "a.b", 3), ("cline", "x", 2)]);
    chain(&root.join("chains/older.db"), 1);
    std::fs::write(root.join("chains/codex/bad.db"), "nothing of the kind").unwrap();
    std::fs::write(root.join("chains/codex/empty.db"), "").unwrap();
    std::fs::write(root.join("chains/codex/notes.txt"), "mine").unwrap();
    let sources = open_any(root).unwrap();
    assert_eq!(sources.kind, SourceKind::Home);
    let names: Vec<(Option<&str>, Option<&str>, bool)> = sources
        .chains
        .iter()
        .map(|chain| (chain.tool.as_deref(), chain.session.as_deref(), chain.is_meta))
        .collect();
    let expected = [
        (Some("cline"), Some("x"), false),
        (Some("codex"), Some("a.b"), false),
        (Some("codex"), Some("bad"), false),
        (Some("codex"), Some("empty"), false),
        (Some("claude-code"), Some("older"), false),
        (None, Some("meta"), true),
    ];
    assert_eq!(names, expected);
    assert_eq!(sources.chains[2].records().unwrap_err().code, Code::ChainUnreadable);
    assert_eq!(verify(&sources.chains[3]).total, 0);
    for at in [0, 1, 4, 5] {
        assert!(verify(&sources.chains[at]).valid, "{at}");
    }
    assert_eq!(open_any(&root.join("chains")).unwrap().chains.len(), 5, "the folder of chains by itself");
    assert!(
        !files_in(&root.join("chains/codex"))
            .iter()
            .any(|name| name.ends_with("-wal") || name.ends_with("-shm"))
    );
}

#[test]
fn a_shared_database_gives_a_chain_for_each_tenant() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.db");
    let mut writer = ChainWriter::open(&path).unwrap();
    append(&mut writer, Some("one"), &["a", "b"]).unwrap();
    append(&mut writer, Some("two"), &["a"]).unwrap();
    let sources = open_any(&path).unwrap();
    let counts: Vec<_> =
        sources.chains.iter().map(|chain| (chain.session.as_deref(), verify(chain).verified)).collect();
    assert_eq!(counts, [(Some("one"), 2), (Some("two"), 1)]);
    assert_eq!(sources.chains[0].tool.as_deref(), Some("codex"));
}

#[test]
fn the_sample_home_and_bundle_verify_where_present() {
    let Some(sample) = shared("vectors/sealed") else { return };
    for (name, length) in [("home-sample", 46), ("bundle-sample", 46)] {
        let sources = open_any(&sample.join(name)).unwrap();
        assert_eq!(sources.chains.len(), 5, "{name}");
        let verdicts: Vec<_> = sources.chains.iter().map(verify).collect();
        assert!(verdicts.iter().all(|verdict| verdict.valid), "{name}: {verdicts:?}");
        assert_eq!(verdicts.iter().map(|verdict| verdict.verified).sum::<u64>(), length, "{name}");
        for (source, verdict) in sources.chains.iter().zip(&verdicts) {
            let claim = source.claim.clone().unwrap_or_default();
            assert_eq!(
                claim.contradiction(verdict.length, verdict.head.as_deref()),
                None,
                "{}",
                source.label
            );
            let mut facts = capsid_seal::bundle::ChainFacts::default();
            source.records().unwrap().for_each(|stored| facts.record(&stored.unwrap().seal));
            assert_eq!(claim.contradicted_by(&facts), None, "{}", source.label);
        }
        assert_eq!((sources.refused_keys.len(), sources.contradictions.len()), (0, 0));
    }
    assert_eq!(open_any(&sample.join("bundle-sample")).unwrap().keys.len(), 2);
    let file = sample.join("bundle-sample/cline-1780308000123.json");
    assert_eq!(verify(only(&open_any(&file).unwrap())).verified, 13);
}
