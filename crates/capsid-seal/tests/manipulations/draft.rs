//! A bundle as documents that can be changed.

use super::base::{self, BaseChain, current_key, retired_key, statement};
use capsid_model::{Value, json};
use capsid_seal::{SigningKey, StoredRecord};
use std::collections::{BTreeMap, BTreeSet};

pub const INDEX: &str = "index.json";
pub const META: &str = "meta.json";
pub const HEADS: &str = "heads.json";
/// The chain file whose records are manipulated.
pub const FIRST: &str = "codex-s1.json";
pub const SECOND: &str = "claude-code-s2.json";
pub const THIRD: &str = "codex-s3.json";

/// The files of a bundle.
#[derive(Debug, Clone, Default)]
pub struct BundleDraft {
    pub files: BTreeMap<String, Value>,
    /// Files whose exact text matters.
    pub texts: BTreeMap<String, String>,
}

pub fn to_value(stored: &StoredRecord) -> Value {
    let seal = &stored.seal;
    json!({
        "hash": seal.hash,
        "signature": seal.signature,
        "signature_pq": seal.signature_pq,
        "signed_at": seal.signed_at,
        "signed_by": seal.signed_by,
        "canonical": stored.canonical,
    })
}

pub fn signed_statement(key: &SigningKey, text: &str) -> Value {
    json!({ "text": text, "signature": key.sign(text) })
}

impl BundleDraft {
    /// The honest bundle.
    pub fn base() -> Self {
        let (old, new) = (retired_key().public(), current_key().public());
        let mut draft = Self::default();
        let index = json!({
            "generated_at": "2026-02-07T16:00:00+00:00",
            "public_key": new.hex(),
            "fingerprint": new.fingerprint(),
            "keys": { (old.fingerprint()): old.hex(), (new.fingerprint()): new.hex() },
            "chain_count": 0,
            "capsule_count": 0,
            "meta": {},
            "chains": [],
        });
        draft.files.insert(INDEX.into(), index);
        let mut statements = Vec::new();
        for chain in base::chains() {
            draft.add_chain(&chain);
            let text = statement(&current_key(), chain.tool, chain.session, &chain.records);
            statements.push(signed_statement(&current_key(), &text));
        }
        let meta = base::meta();
        draft.files.insert(META.into(), json!({ "capsules": meta.iter().map(to_value).collect::<Vec<_>>() }));
        draft.adjust_meta();
        let text = statement(&current_key(), "meta", "meta", &meta);
        statements.push(signed_statement(&current_key(), &text));
        draft.files.insert(HEADS.into(), json!({ "statements": statements }));
        draft
    }

    /// Adds a chain, and lists it.
    pub fn add_chain(&mut self, chain: &BaseChain) {
        let file = format!("{}.json", chain.id());
        let header =
            json!({ "id": chain.id(), "tool": chain.tool, "title": chain.session, "all_hashes_ok": true });
        self.index()["chains"].as_array_mut().unwrap().push(header.clone());
        self.files.insert(file.clone(), header);
        self.set_records(&file, &chain.records);
        self.adjust(&file);
    }

    pub fn file(&mut self, name: &str) -> &mut Value {
        self.files.get_mut(name).unwrap()
    }

    pub fn index(&mut self) -> &mut Value {
        self.file(INDEX)
    }

    /// The entry of the index for a chain file.
    pub fn listed(&mut self, file: &str) -> &mut Value {
        let id = file.trim_end_matches(".json");
        let chains = self.index()["chains"].as_array_mut().unwrap();
        chains.iter_mut().find(|entry| entry["id"] == id).unwrap()
    }

    pub fn records(&mut self, file: &str) -> &mut Vec<Value> {
        self.file(file)["capsules"].as_array_mut().unwrap()
    }

    pub fn set_records(&mut self, file: &str, records: &[StoredRecord]) {
        self.file(file)["capsules"] = records.iter().map(to_value).collect();
    }

    /// Makes the headers of a chain agree with its records.
    pub fn adjust(&mut self, file: &str) {
        let records = self.records(file).clone();
        let signers: BTreeSet<&str> = records.iter().filter_map(|one| one["signed_by"].as_str()).collect();
        let (first, last) = (&records[0], &records[records.len() - 1]);
        let facts = json!({
            "length": records.len(),
            "head_hash": last["hash"],
            "genesis_hash": first["hash"],
            "signed_by": signers,
            "started_at": first["signed_at"],
            "ended_at": last["signed_at"],
        });
        for (name, value) in facts.as_object().unwrap() {
            self.file(file)[name] = value.clone();
            self.listed(file)[name] = value.clone();
        }
        self.adjust_totals();
    }

    /// Makes the sums of the index agree with its list.
    pub fn adjust_totals(&mut self) {
        let chains = self.index()["chains"].as_array().unwrap().clone();
        let sum: u64 = chains.iter().filter_map(|entry| entry["length"].as_u64()).sum();
        self.index()["chain_count"] = json!(chains.len());
        self.index()["capsule_count"] = json!(sum);
    }

    /// Makes the headers of the meta-chain agree with its records.
    pub fn adjust_meta(&mut self) {
        let records = self.records(META).clone();
        let head = records.last().unwrap()["hash"].clone();
        let facts = json!({ "length": records.len(), "head_hash": head, "all_hashes_ok": true });
        self.index()["meta"] = facts.clone();
        for (name, value) in facts.as_object().unwrap() {
            self.file(META)[name] = value.clone();
        }
    }

    /// Takes a chain off the list.
    pub fn unlist(&mut self, file: &str) {
        let id = file.trim_end_matches(".json").to_owned();
        self.index()["chains"].as_array_mut().unwrap().retain(|entry| entry["id"] != id.as_str());
        self.adjust_totals();
    }
}
