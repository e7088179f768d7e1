//! A chain in a home and in a bundle, to be tampered with.
#![allow(dead_code)]

use crate::store::{self, sealer};
use capsid_model::exact::{ExactJson, spaced};
use capsid_seal::bundle::{BundleExport, write};
use capsid_seal::chain::{ChainReader, ChainWriter};
use capsid_seal::keys::KeySet;
use capsid_seal::sources::open_any;
use capsid_seal::verify::{self, ChainVerdict, VerifyFailureClass, VerifyOptions};
use capsid_seal::{ActionRecord, StoredRecord};
use rusqlite::{Connection, params};
use std::path::{Path, PathBuf};

/// What verification comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// All that many records are good.
    Valid(u64),
    Broken(VerifyFailureClass, u64),
    Unreadable,
}

/// What is stored of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Canonical,
    Hash,
    Signature,
    SignedBy,
    SignedAt,
    SignaturePq,
    Id,
    Sequence,
    PreviousHash,
}

impl Field {
    pub const ALL: [Self; 9] = [
        Self::Canonical,
        Self::Hash,
        Self::Signature,
        Self::SignedBy,
        Self::SignedAt,
        Self::SignaturePq,
        Self::Id,
        Self::Sequence,
        Self::PreviousHash,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Canonical => "canonical",
            Self::Hash => "hash",
            Self::Signature => "signature",
            Self::SignedBy => "signed_by",
            Self::SignedAt => "signed_at",
            Self::SignaturePq => "signature_pq",
            Self::Id => "id",
            Self::Sequence => "sequence",
            Self::PreviousHash => "previous_hash",
        }
    }

    /// The others are columns of the database alone.
    pub fn in_bundle(self) -> bool {
        !matches!(self, Self::Id | Self::Sequence | Self::PreviousHash)
    }

    pub fn bytes(self, stored: &StoredRecord) -> Vec<u8> {
        let columns = stored.columns.as_ref().unwrap();
        let text = match self {
            Self::Canonical => stored.canonical.clone(),
            Self::Hash => stored.seal.hash.clone(),
            Self::Signature => stored.seal.signature.clone(),
            Self::SignedBy => stored.seal.signed_by.clone(),
            Self::SignedAt => stored.seal.signed_at.clone().unwrap_or_default(),
            Self::SignaturePq => stored.seal.signature_pq.clone(),
            Self::Id => columns.id.clone(),
            Self::Sequence => columns.sequence.to_string(),
            Self::PreviousHash => columns.previous_hash.clone().unwrap_or_default(),
        };
        text.into_bytes()
    }
}

pub struct Scene {
    _folder: tempfile::TempDir,
    pub home: PathBuf,
    pub bundle: PathBuf,
    pub database: PathBuf,
    pub chain: Vec<StoredRecord>,
    pub keys: KeySet,
    rows: Connection,
    reader: ChainReader,
    /// The bundle's chain file before its records, and the records as they are in it.
    head: String,
    entries: Vec<String>,
}

impl Scene {
    pub fn new(count: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (home, bundle) = (folder.path().join("home"), folder.path().join("bundle"));
        let database = home.join("chains/codex/s.db");
        lean_chain(&database, count);
        store::record_in_meta(&home, "codex", "s");
        let chain = store::all(&database, None);
        let sources = open_any(&home).unwrap();
        let own = Some(sealer().public());
        write(
            &bundle,
            &BundleExport { chains: &sources.chains, own, known: &[], generated_at: store::NOW, heads: None },
        )
        .unwrap();
        let rows = Connection::open(&database).unwrap();
        // Tampering also drops the constraint that positions are unique.
        rows.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; DROP INDEX capsid_place")
            .unwrap();
        rows.execute_batch("PRAGMA journal_mode = MEMORY").unwrap();
        let file = std::fs::read_to_string(bundle.join("codex-s.json")).unwrap();
        let (head, _) = file.split_once("\"capsules\": [").unwrap();
        let entries = chain.iter().map(entry).collect();
        let reader = ChainReader::open(&database).unwrap();
        let scene = Self {
            _folder: folder,
            reader,
            home,
            bundle,
            database,
            keys: store::keys(),
            rows,
            head: head.to_owned(),
            entries,
            chain,
        };
        assert_eq!(
            scene.file_of(&scene.entries),
            file.as_bytes(),
            "the bundle is put together as it was written"
        );
        scene
    }

    pub fn chain_file(&self) -> PathBuf {
        self.bundle.join("codex-s.json")
    }

    fn file_of<T: AsRef<[u8]>>(&self, entries: &[T]) -> Vec<u8> {
        let mut file = format!("{}\"capsules\": [", self.head).into_bytes();
        for (at, entry) in entries.iter().enumerate() {
            file.extend_from_slice(if at == 0 { b"" } else { b", " });
            file.extend_from_slice(entry.as_ref());
        }
        file.extend_from_slice(b"]}");
        file
    }

    /// Runs something while a field of a row is another.
    pub fn with_field<T>(&self, index: usize, field: Field, now: &[u8], look: impl FnOnce() -> T) -> T {
        let was = field.bytes(&self.chain[index]);
        let update = format!("UPDATE capsules SET {} = CAST(?1 AS TEXT) WHERE rowid_pk = ?2", field.name());
        let set = |value: &[u8]| {
            let changed =
                self.rows.prepare_cached(&update).unwrap().execute(params![value, index as i64 + 1]);
            assert_eq!(changed.unwrap(), 1);
        };
        set(now);
        let result = look();
        set(&was);
        result
    }

    /// Runs something while a column has the value of an SQL expression.
    pub fn with_sql<T>(&self, index: usize, column: &str, value: &str, look: impl FnOnce() -> T) -> T {
        let id = &self.chain[index].columns.as_ref().unwrap().id;
        let update = format!("UPDATE capsules SET {column} = {value} WHERE rowid_pk = ?1");
        assert_eq!(self.rows.execute(&update, [index as i64 + 1]).unwrap(), 1, "{id}");
        let result = look();
        self.fill(&self.chain);
        result
    }

    /// Runs something while the table has these rows.
    pub fn with_rows<T>(&self, records: &[StoredRecord], look: impl FnOnce() -> T) -> T {
        self.fill(records);
        let result = look();
        self.fill(&self.chain);
        result
    }

    fn fill(&self, records: &[StoredRecord]) {
        self.rows.execute_batch("BEGIN; DELETE FROM capsules; DELETE FROM sqlite_sequence").unwrap();
        records.iter().for_each(|stored| store::insert_row(&self.rows, stored));
        self.rows.execute_batch("COMMIT").unwrap();
    }

    fn verdict(&self, path: &Path, options: &VerifyOptions) -> Option<ChainVerdict> {
        let sources = open_any(path).ok()?;
        // The one without a tenant comes first.
        let records = sources.chains[0].records().ok()?;
        verify::verify(records, options, &self.keys).ok()
    }

    fn judge(&self, path: &Path, options: &VerifyOptions) -> Finding {
        self.verdict(path, options).as_ref().map_or(Finding::Unreadable, finding)
    }

    /// The table's rows as they are now.
    pub fn judge_rows(&self, batch: bool) -> Finding {
        let options = VerifyOptions { signatures: true, batch, ..VerifyOptions::default() };
        let verdict = verify::verify(self.reader.records(None), &options, &self.keys).ok();
        verdict.as_ref().map_or(Finding::Unreadable, finding)
    }

    /// Without signatures.
    pub fn judge_hashes(&self) -> Finding {
        self.judge(&self.database, &VerifyOptions::default())
    }

    pub fn judge_database(&self, batch: bool) -> Finding {
        self.judge(&self.database, &VerifyOptions { signatures: true, batch, ..VerifyOptions::default() })
    }

    pub fn judge_bundle(&self, batch: bool) -> Finding {
        self.judge(&self.bundle, &VerifyOptions { signatures: true, batch, ..VerifyOptions::default() })
    }

    /// The bundle with these records in the place of its own.
    pub fn judge_bundle_of(&self, records: &[StoredRecord], batch: bool) -> Finding {
        let entries: Vec<String> = records.iter().map(entry).collect();
        std::fs::write(self.chain_file(), self.file_of(&entries)).unwrap();
        self.judge_bundle(batch)
    }

    /// The bundle with one field of a record changed.
    pub fn judge_bundle_with(&self, index: usize, field: Field, now: &[u8], batch: bool) -> Finding {
        let entry = &self.entries[index];
        let name = format!("\"{}\": ", field.name());
        let start = entry.find(&name).unwrap() + name.len();
        let was = spaced(&ExactJson::from(String::from_utf8(field.bytes(&self.chain[index])).unwrap()));
        assert!(entry[start..].starts_with(&was));
        let changed =
            [&entry.as_bytes()[..start], &quoted(now), &entry.as_bytes()[start + was.len()..]].concat();
        let mut entries: Vec<&[u8]> = self.entries.iter().map(String::as_bytes).collect();
        entries[index] = &changed;
        std::fs::write(self.chain_file(), self.file_of(&entries)).unwrap();
        self.judge_bundle(batch)
    }

    /// The sealed texts as they were.
    pub fn texts(&self) -> Vec<String> {
        self.chain.iter().map(|stored| stored.canonical.clone()).collect()
    }

    pub fn bundle_texts(&self) -> Vec<String> {
        texts(&self.bundle)
    }

    pub fn database_texts(&self) -> Vec<String> {
        texts(&self.database)
    }

    /// Who signed, and how many records.
    pub fn signers(&self) -> Vec<(String, u64)> {
        let options = VerifyOptions { signatures: true, ..VerifyOptions::default() };
        let verdict = self.verdict(&self.database, &options).unwrap();
        verdict.signers.into_iter().map(|(name, signer)| (name, signer.count)).collect()
    }
}

fn finding(verdict: &ChainVerdict) -> Finding {
    match (&verdict.failure, verdict.broken_at) {
        (None, None) => {
            assert!(verdict.valid && verdict.verified == verdict.total);
            Finding::Valid(verdict.total)
        }
        (Some(failure), Some(at)) => {
            assert!(!verdict.valid && verdict.verified == at, "{verdict:?}");
            Finding::Broken(failure.class, at)
        }
        _ => panic!("{verdict:?}"),
    }
}

/// Records with little in them, for every byte is tried.
fn lean_chain(path: &Path, count: usize) {
    let items = (0..count).map(|n| store::pending(&format!("k{n}"), false));
    let seal = |name: &String, _, link: &_| {
        let trigger = capsid_model::fields! { "request": format!("do {name} ü🍐") };
        let record = ActionRecord {
            id: format!("id-{name}"),
            kind: "tool".into(),
            trigger,
            ..ActionRecord::default()
        };
        sealer().seal(&record, link, store::NOW)
    };
    ChainWriter::open(path).unwrap().append(None, items, seal).unwrap();
}

fn texts(path: &Path) -> Vec<String> {
    let sources = open_any(path).unwrap();
    sources.chains[0].records().unwrap().map(|stored| stored.unwrap().canonical).collect()
}

/// A record as a bundle's chain file has it.
fn entry(stored: &StoredRecord) -> String {
    let seal = stored.seal.clone();
    spaced(&ExactJson::Object(capsid_model::fields! {
        "hash": seal.hash,
        "signature": seal.signature,
        "signature_pq": seal.signature_pq,
        "signed_at": seal.signed_at,
        "signed_by": seal.signed_by,
        "canonical": stored.canonical.as_str(),
    }))
}

/// Bytes as a JSON text, also such as are no UTF-8.
fn quoted(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            0..=31 => out.extend(format!("\\u{byte:04x}").bytes()),
            _ => out.push(*byte),
        }
    }
    out.push(b'"');
    out
}
