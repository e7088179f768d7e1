//! Bundles as files in memory.

use crate::verification::support::*;
use capsid_model::exact::{ExactFields, ExactJson, indented, spaced};
use capsid_model::fields;
use capsid_seal::{PublicKey, StoredRecord};

/// A bundle and the keys that its reader trusts.
pub struct Case {
    pub name: String,
    pub files: Vec<(String, String)>,
    pub own: Option<PublicKey>,
    pub pinned: Vec<PublicKey>,
}

/// One chain of a bundle that is put together.
pub struct Part {
    pub tool: &'static str,
    pub session: &'static str,
    pub records: Vec<StoredRecord>,
}

pub fn part(session: &'static str, records: Vec<StoredRecord>) -> Part {
    Part { tool: "codex", session, records }
}

pub fn sealed(stored: &StoredRecord) -> ExactJson {
    let seal = stored.seal.clone();
    ExactJson::Object(fields! {
        "hash": seal.hash,
        "signature": seal.signature,
        "signature_pq": seal.signature_pq,
        "signed_at": seal.signed_at,
        "signed_by": seal.signed_by,
        "canonical": stored.canonical.clone(),
    })
}

pub fn list(records: &[StoredRecord]) -> ExactJson {
    ExactJson::Array(records.iter().map(sealed).collect())
}

fn summary(part: &Part) -> ExactFields {
    let hash = |stored: Option<&StoredRecord>| stored.map(|stored| stored.seal.hash.clone());
    let at = |stored: Option<&StoredRecord>| stored.and_then(|stored| stored.seal.signed_at.clone());
    let (first, last) = (part.records.first(), part.records.last());
    let mut signers: Vec<String> = part.records.iter().map(|stored| stored.seal.signed_by.clone()).collect();
    signers.retain(|name| !name.is_empty());
    signers.sort();
    signers.dedup();
    fields! {
        "id": format!("{}-{}", part.tool, part.session),
        "tool": part.tool,
        "title": part.session,
        "length": part.records.len(),
        "head_hash": hash(last),
        "genesis_hash": hash(first),
        "all_hashes_ok": true,
        "signed_by": signers,
        "started_at": at(first),
        "ended_at": at(last),
    }
}

/// The files of a bundle with a correct index, with our key in it.
pub fn files(parts: &[Part], meta: Option<&[StoredRecord]>) -> Vec<(String, String)> {
    let chains: Vec<ExactJson> = parts.iter().map(|part| ExactJson::Object(summary(part))).collect();
    let key = own().public();
    let meta_summary = meta.map(|records| {
        let head = records.last().map(|last| last.seal.hash.clone());
        fields! { "length": records.len(), "head_hash": head, "all_hashes_ok": true }
    });
    let index = fields! {
        "generated_at": "2026-02-07T16:20:54+01:00",
        "public_key": key.hex(),
        "fingerprint": key.fingerprint(),
        "keys": ExactFields::from_iter([(key.fingerprint(), ExactJson::from(key.hex()))]),
        "chain_count": parts.len(),
        "capsule_count": parts.iter().map(|part| part.records.len()).sum::<usize>(),
        "meta": meta_summary,
        "chains": chains,
    };
    let mut files = vec![("index.json".to_owned(), indented(&ExactJson::Object(index)))];
    for part in parts {
        let mut fields = summary(part);
        fields.insert("capsules".to_owned(), list(&part.records));
        files.push((format!("{}-{}.json", part.tool, part.session), spaced(&ExactJson::Object(fields))));
    }
    if let Some(records) = meta {
        let text = spaced(&ExactJson::Object(fields! { "length": records.len(), "capsules": list(records) }));
        files.push(("meta.json".to_owned(), text));
    }
    files
}

impl Case {
    pub fn new(name: impl Into<String>, files: Vec<(String, String)>) -> Self {
        Self { name: name.into(), files, own: None, pinned: Vec::new() }
    }

    pub fn from_records(name: impl Into<String>, records: Vec<StoredRecord>) -> Self {
        Self::new(name, files(&[part("s", records)], None))
    }

    /// Changes the text of a file.
    pub fn edit(mut self, file: &str, change: impl FnOnce(&str) -> String) -> Self {
        let (_, text) = self.files.iter_mut().find(|(name, _)| name == file).unwrap();
        *text = change(text);
        self
    }

    pub fn without(mut self, file: &str) -> Self {
        self.files.retain(|(name, _)| name != file);
        self
    }

    pub fn own(self, key: PublicKey) -> Self {
        Self { own: Some(key), ..self }
    }

    pub fn pinned(self, key: PublicKey) -> Self {
        Self { pinned: vec![key], ..self }
    }
}
