//! What the tests of stored chains share.
#![allow(dead_code)]

use capsid_model::exact::ExactJson;
use capsid_model::fields;
use capsid_seal::chain::{AppendOutcome, ChainReader, ChainWriter, PendingRecord, RecordReason};
use capsid_seal::hash::sha3_hex;
use capsid_seal::{ActionRecord, ChainLink, Sealer, SigningKey, StoredRecord};
use std::path::{Path, PathBuf};

pub const NOW: &str = "2026-02-07T15:20:54+00:00";

/// Data next to the project, if present.
pub fn shared(path: &str) -> Option<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")).join(path);
    if !folder.exists() {
        eprintln!("skipped: `{}` is not on this machine", folder.display());
        return None;
    }
    Some(folder)
}

pub fn sealer() -> Sealer {
    Sealer::new(SigningKey::from_seed(&std::array::from_fn(|i| i as u8)))
}

pub fn record(name: &str) -> ActionRecord {
    ActionRecord {
        id: format!("id-{name}"),
        kind: "tool".into(),
        domain: "codex".into(),
        trigger: fields! { "request": format!("do {name} ü🍐") },
        context: fields! { "environment": fields! { "key": name } },
        outcome: fields! { "summary": "x".repeat(40) },
        ..ActionRecord::default()
    }
}

pub fn pending(name: &str, open: bool) -> PendingRecord<String> {
    PendingRecord { key: name.to_owned(), open, weight: 500, item: name.to_owned() }
}

pub fn seal(name: &String, turn: RecordReason, link: &ChainLink) -> capsid_model::Result<StoredRecord> {
    let name = if turn == RecordReason::Late { format!("{name} later") } else { name.clone() };
    sealer().seal(&record(&name), link, NOW)
}

pub fn append(
    writer: &mut ChainWriter,
    tenant: Option<&str>,
    names: &[&str],
) -> capsid_model::Result<AppendOutcome> {
    writer.append(tenant, names.iter().map(|name| pending(name, false)), seal)
}

/// A chain of `count` records at `path`.
pub fn chain(path: &Path, count: usize) {
    let mut writer = ChainWriter::open(path).unwrap();
    let items = (0..count).map(|n| pending(&format!("k{n:04}"), false));
    assert_eq!(writer.append(None, items, seal).unwrap().total, count as u64);
}

pub fn all(path: &Path, tenant: Option<&str>) -> Vec<StoredRecord> {
    ChainReader::open(path).unwrap().records(tenant).map(Result::unwrap).collect()
}

/// Checks hash, place and link of every record, and gives the names they were made of.
pub fn sound(records: &[StoredRecord]) -> Vec<String> {
    let mut previous: Option<String> = None;
    let mut names = Vec::new();
    for (index, stored) in records.iter().enumerate() {
        let content = capsid_model::exact::parse(&stored.canonical).unwrap();
        assert_eq!(sha3_hex(stored.canonical.as_bytes()), stored.seal.hash, "hash at {index}");
        assert_eq!(
            content.get("sequence").and_then(ExactJson::as_i64),
            Some(index as i64),
            "place at {index}"
        );
        assert_eq!(content.text("previous_hash"), previous.as_deref(), "link at {index}");
        if let Some(columns) = &stored.columns {
            assert_eq!(columns.sequence, index as i64);
            assert_eq!(columns.previous_hash, previous);
            assert_eq!(content.text("id"), Some(columns.id.as_str()));
        }
        previous = Some(stored.seal.hash.clone());
        names.extend(
            content.at(&["context", "environment", "key"]).and_then(ExactJson::as_str).map(str::to_owned),
        );
    }
    names
}

pub fn files_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Copies a folder, for the shared one may not be written.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
            #[allow(clippy::permissions_set_readonly_false)]
            {
                let mut mode = std::fs::metadata(&target).unwrap().permissions();
                mode.set_readonly(false);
                std::fs::set_permissions(&target, mode).unwrap();
            }
        }
    }
}

/// A database as `agent-capsule` writes it: its table alone, and a checkpoint next to it.
pub fn reference_chain(path: &Path, names: &[&str], checkpoint: bool) {
    let database = rusqlite::Connection::open(path).unwrap();
    let table = "CREATE TABLE capsules (rowid_pk INTEGER PRIMARY KEY AUTOINCREMENT, tenant_id TEXT,
        sequence INTEGER NOT NULL, id TEXT NOT NULL, previous_hash TEXT, hash TEXT NOT NULL, signature TEXT NOT NULL,
        signature_pq TEXT NOT NULL DEFAULT '', signed_at TEXT, signed_by TEXT NOT NULL DEFAULT '',
        canonical TEXT NOT NULL, UNIQUE (tenant_id, sequence))";
    database.execute_batch(table).unwrap();
    let mut link = ChainLink::default();
    for name in names {
        let stored = seal(&(*name).to_owned(), RecordReason::First, &link).unwrap();
        insert_row(&database, &stored);
        link = ChainLink { sequence: link.sequence + 1, previous_hash: Some(stored.seal.hash) };
    }
    if checkpoint {
        let done: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        let text = format!("{{\"done\": [{}]}}", done.join(", "));
        std::fs::write(capsid_seal::chain::checkpoint_of(path), text).unwrap();
    }
}

/// Adds a row to a chain, whatever it is.
pub fn insert_row(database: &rusqlite::Connection, stored: &StoredRecord) {
    let (columns, seal) = (stored.columns.as_ref().unwrap(), &stored.seal);
    let insert =
        "INSERT INTO capsules (sequence, id, previous_hash, hash, signature, signed_at, signed_by, canonical)
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let values = rusqlite::params![
        columns.sequence,
        columns.id,
        columns.previous_hash,
        seal.hash,
        seal.signature,
        seal.signed_at,
        seal.signed_by,
        stored.canonical
    ];
    database.execute(insert, values).unwrap();
}

/// The key that [`sealer`] signs with.
pub fn keys() -> capsid_seal::keys::KeySet {
    let mut keys = capsid_seal::keys::KeySet::default();
    keys.add(sealer().public(), capsid_seal::keys::KeyOrigin::Own);
    keys
}

/// Verifies a source with signatures.
pub fn verify(source: &capsid_seal::sources::ChainSource) -> capsid_seal::verify::ChainVerdict {
    let options = capsid_seal::verify::VerifyOptions { signatures: true, ..Default::default() };
    capsid_seal::verify::verify(source.records().unwrap(), &options, &keys()).unwrap()
}

/// A home with chains of the given lengths, each recorded in the meta-chain.
pub fn home(folder: &Path, chains: &[(&str, &str, usize)]) {
    for (tool, session, count) in chains {
        chain(&folder.join(format!("chains/{tool}/{session}.db")), *count);
        record_in_meta(folder, tool, session);
    }
}

/// Records the present state of a chain.
pub fn record_in_meta(home: &Path, tool: &str, session: &str) -> capsid_seal::meta::MetaRecordOutcome {
    use capsid_seal::meta::{Conversation, record_conversation};
    let records = all(&home.join(format!("chains/{tool}/{session}.db")), None);
    let head_hash = &records.last().unwrap().seal.hash;
    let count = records.len() as u64;
    let conversation = Conversation { tool, session, head_hash, count, shared: None };
    record_conversation(home, &conversation, &sealer(), &format!("meta-{session}-{count}"), NOW).unwrap()
}
