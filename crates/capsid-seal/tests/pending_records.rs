//! Records that a service signs: they wait while it is down, and nothing forks.

use crate::store::*;
use capsid_model::{Code, Problem, Result};
use capsid_seal::chain::{AppendOutcome, ChainReader, ChainWriter};
use capsid_seal::hash::sha3_hex;
use capsid_seal::record_signer::{ChainSignatures, LocalSigner, RecordSigner};
use capsid_seal::verify::skim;
use capsid_seal::{PublicKey, Sealer, SigningKey};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Signs each position once, and does what it is told.
#[derive(Debug)]
struct FakeService {
    key: SigningKey,
    signed: Mutex<HashMap<u64, String>>,
    mood: Mutex<ServiceMood>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ServiceMood {
    Up,
    Down,
    /// It signs, and the answer never arrives: the client was killed in between.
    Silent,
}

impl FakeService {
    fn new(mood: ServiceMood) -> Arc<Self> {
        let key = SigningKey::from_seed(&[9; 32]);
        Arc::new(Self { key, signed: Mutex::default(), mood: Mutex::new(mood) })
    }

    fn set(&self, mood: ServiceMood) {
        *self.mood.lock().unwrap() = mood;
    }
}

impl RecordSigner for FakeService {
    fn public(&self) -> PublicKey {
        self.key.public()
    }

    fn sign_chain(&self, texts: &[&str]) -> Result<ChainSignatures> {
        let mood = *self.mood.lock().unwrap();
        if mood == ServiceMood::Down {
            return Err(Problem::new(Code::SignerUnreachable, "down"));
        }
        let mut signed = self.signed.lock().unwrap();
        for text in texts {
            let hash = sha3_hex(text.as_bytes());
            if *signed.entry(skim(text)?.sequence).or_insert(hash.clone()) != hash {
                return Err(Problem::new(Code::SignerFork, "a second history"));
            }
        }
        match mood {
            ServiceMood::Silent => Err(Problem::new(Code::SignerUnreachable, "killed")),
            _ => LocalSigner(self.key.clone()).sign_chain(texts),
        }
    }
}

fn append_by(service: &Arc<FakeService>, path: &Path, names: &[&str], open: bool) -> Result<AppendOutcome> {
    let sealer =
        Sealer::with_service(Arc::clone(service) as Arc<dyn RecordSigner>, SigningKey::from_seed(&[3; 32]));
    let mut writer = ChainWriter::open(path).unwrap().signing_with(sealer.clone());
    writer.append(None, names.iter().map(|name| pending(name, open)), |name, turn, link| {
        let name = if turn == capsid_seal::chain::RecordReason::Late {
            format!("{name} later")
        } else {
            name.clone()
        };
        sealer.prepare(&record(&name), link, NOW)
    })
}

fn waiting(path: &Path) -> u64 {
    ChainReader::open(path).unwrap().pending(None).unwrap()
}

#[test]
fn a_stopped_service_loses_no_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let service = FakeService::new(ServiceMood::Up);
    let first = append_by(&service, &path, &["a"], false).unwrap();
    assert_eq!((first.appended, first.total, first.pending), (1, 1, 0));
    service.set(ServiceMood::Down);
    let names: Vec<String> = (0..300).map(|n| format!("k{n:04}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let down = append_by(&service, &path, &names, false).unwrap();
    assert_eq!((down.appended, down.total, down.pending), (300, 1, 300));
    let again = append_by(&service, &path, &names, false).unwrap();
    assert_eq!((again.appended, again.skipped, again.pending), (0, 300, 300), "what waits is not made twice");
    assert_eq!(append_by(&service, &path, &["open"], true).unwrap().pending, 301);
    assert_eq!(append_by(&service, &path, &["open"], false).unwrap().pending, 302);
    assert_eq!((waiting(&path), all(&path, None).len()), (302, 1));
    service.set(ServiceMood::Up);
    let up = append_by(&service, &path, &["z"], false).unwrap();
    assert_eq!((up.appended, up.total, up.pending), (1, 304, 0));
    assert_eq!(waiting(&path), 0);
    let records = all(&path, None);
    let sealed = sound_by(&records, &service.public());
    assert_eq!((sealed[0].as_str(), sealed[1].as_str()), ("a", "k0000"));
    assert_eq!(&sealed[301..], ["open", "open later", "z"]);
    assert_eq!(append_by(&service, &path, &["open", "a", "k0299"], false).unwrap().appended, 0);
}

#[test]
fn a_kill_between_journal_and_commit_forks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let service = FakeService::new(ServiceMood::Silent);
    assert_eq!(append_by(&service, &path, &["a", "b"], false).unwrap().pending, 2);
    assert_eq!(append_by(&service, &path, &["b", "c"], false).unwrap().pending, 3);
    service.set(ServiceMood::Up);
    let done = append_by(&service, &path, &["a", "b", "c", "d"], false).unwrap();
    assert_eq!((done.appended, done.skipped, done.total, done.pending), (1, 3, 4, 0));
    let records = all(&path, None);
    assert_eq!(sound_by(&records, &service.public()), ["a", "b", "c", "d"]);
}

#[test]
fn a_history_that_the_service_refuses_waits_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("s.db"), folder.path().join("t.db"));
    let service = FakeService::new(ServiceMood::Up);
    append_by(&service, &path, &["a"], false).unwrap();
    assert_eq!(append_by(&service, &other, &["b"], false).unwrap_err().code, Code::SignerFork);
    assert_eq!((waiting(&other), all(&other, None).len()), (1, 0));
}

#[test]
fn what_waited_for_a_service_that_is_gone_is_signed_by_the_own_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    append_by(&FakeService::new(ServiceMood::Down), &path, &["a"], false).unwrap();
    let mut writer = ChainWriter::open(&path).unwrap().signing_with(sealer());
    let appended = append(&mut writer, None, &["a", "b"]).unwrap();
    assert_eq!((appended.appended, appended.skipped, appended.total), (1, 1, 2));
    assert_eq!(waiting(&path), 0);
    assert_eq!(sound(&all(&path, None)), ["a", "b"]);
}

/// The names of records that link up and are signed by this key.
fn sound_by(records: &[capsid_seal::StoredRecord], key: &PublicKey) -> Vec<String> {
    let is_signed = |stored: &&capsid_seal::StoredRecord| {
        stored.seal.signed_by == key.fingerprint() && key.verifies(&stored.seal.hash, &stored.seal.signature)
    };
    let mut previous = None;
    for (sequence, stored) in (0..).zip(records) {
        let head = skim(&stored.canonical).unwrap();
        assert_eq!((head.sequence, head.previous_hash), (sequence, previous));
        previous = Some(sha3_hex(stored.canonical.as_bytes()));
    }
    let names = records.iter().filter(is_signed).map(|stored| skim(&stored.canonical).unwrap().id);
    names.map(|id| id.trim_start_matches("id-").to_owned()).collect()
}
