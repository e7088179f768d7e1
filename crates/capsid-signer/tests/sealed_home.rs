//! A chain on disk whose records the real service signs.

use crate::support::Scene;
use capsid_model::{Code, Problem, Result, fields};
use capsid_seal::chain::{AppendOutcome, ChainReader, ChainWriter, PendingRecord};
use capsid_seal::keys::KeyOrigin;
use capsid_seal::record_signer::{ChainSignatures, RecordSigner};
use capsid_seal::verify::{VerifyOptions, verify};
use capsid_seal::{ActionRecord, PublicKey, Sealer, SigningKey, StoredRecord, TrailHome};
use capsid_signer::adoption::adopt_home;
use capsid_signer::flush::{flush_home, list_pending};
use capsid_signer::head_witness::HeadWitness;
use capsid_signer::service_signer::ServiceSigner;
use capsid_signer::trusted_keys::add_service_keys;
use capsid_verdict::evidence::ExpectationSource;
use std::path::Path;
use std::sync::Arc;

pub fn seal_names(scene: &Scene, path: &Path, names: &[&str]) -> Result<AppendOutcome> {
    let service = ServiceSigner::new(scene.trust.clone()).unwrap();
    seal_with(&Sealer::with_service(Arc::new(service), SigningKey::from_seed(&[3; 32])), path, names)
}

pub fn seal_with(sealer: &Sealer, path: &Path, names: &[&str]) -> Result<AppendOutcome> {
    let mut writer = ChainWriter::open(path).unwrap().signing_with(sealer.clone());
    let items = names.iter().map(|name| PendingRecord {
        key: (*name).to_owned(),
        open: false,
        weight: 100,
        item: (*name).to_owned(),
    });
    writer.append(None, items, |name, _, link| {
        let record = ActionRecord {
            id: name.clone(),
            kind: "tool".into(),
            domain: "codex".into(),
            context: fields! { "session_id": "s" },
            ..ActionRecord::default()
        };
        sealer.prepare(&record, link, "2026-02-07T15:20:54+00:00")
    })
}

pub fn records(path: &Path) -> Vec<StoredRecord> {
    ChainReader::open(path).unwrap().records(None).map(Result::unwrap).collect()
}

#[test]
fn a_stopped_service_loses_no_record() {
    let scene = Scene::new();
    let path = scene.folder.path().join("s.db");
    let down = seal_names(&scene, &path, &["a", "b"]).unwrap();
    assert_eq!((down.appended, down.total, down.pending), (2, 0, 2));
    scene.serve();
    let up = seal_names(&scene, &path, &["b", "c"]).unwrap();
    assert_eq!((up.appended, up.total, up.pending), (1, 3, 0));
    let key = scene.trust.current_key().unwrap();
    for stored in records(&path) {
        assert!(key.verifies(&stored.seal.hash, &stored.seal.signature));
        assert_eq!(stored.seal.signed_by, key.fingerprint());
    }
    let [expected] = &HeadWitness::ask(scene.trust).unwrap().expectations()[..] else { panic!() };
    let ExpectationSource::HeadStatement(signer) = &expected.source else { panic!("{expected:?}") };
    assert_eq!(signer.fingerprint, key.fingerprint());
    assert_eq!((expected.chain.as_str(), expected.count), ("codex/s", 3));
    assert_eq!(expected.head, up.head);
}

/// The service signs, and the writer is killed before the answer arrives.
#[derive(Debug)]
struct KilledWriter(ServiceSigner);

impl RecordSigner for KilledWriter {
    fn public(&self) -> PublicKey {
        self.0.public()
    }

    fn sign_chain(&self, texts: &[&str]) -> Result<ChainSignatures> {
        self.0.sign_chain(texts)?;
        Err(Problem::new(Code::SignerUnreachable, "killed"))
    }
}

#[test]
fn a_kill_between_journal_and_commit_forks_nothing() {
    let scene = Scene::new();
    scene.serve();
    let path = scene.folder.path().join("s.db");
    let killed = KilledWriter(ServiceSigner::new(scene.trust.clone()).unwrap());
    seal_names(&scene, &path, &["a"]).unwrap();
    let sealer = Sealer::with_service(Arc::new(killed), SigningKey::from_seed(&[3; 32]));
    let outcome = seal_with(&sealer, &path, &["b", "c"]).unwrap();
    assert_eq!((outcome.total, outcome.pending), (1, 2), "the chain has none of what the service signed");
    let [expected] = &HeadWitness::ask(scene.trust.clone()).unwrap().expectations()[..] else { panic!() };
    assert_eq!(expected.count, 3, "the service has signed them");
    // Another hook offers the same and one more.
    let after = seal_names(&scene, &path, &["b", "c", "d"]).unwrap();
    assert_eq!((after.appended, after.total, after.pending), (1, 4, 0));
    let sealed = records(&path);
    assert_eq!(sealed[2].seal.hash, *expected.head.as_ref().unwrap());
    let key = scene.trust.current_key().unwrap();
    assert!(sealed.iter().all(|stored| key.verifies(&stored.seal.hash, &stored.seal.signature)));
}

#[test]
fn a_home_with_chains_waits_until_they_are_handed_over_and_then_goes_on() {
    let scene = Scene::new();
    scene.serve();
    let own = Sealer::new(SigningKey::from_seed(&[4; 32]));
    let home = TrailHome::at(&scene.trust.home);
    std::fs::create_dir_all(home.chains().join("codex")).unwrap();
    std::fs::write(home.key(), [4; 32]).unwrap();
    let path = home.chains().join("codex/s.db");
    seal_with(&own, &path, &["a"]).unwrap();
    assert_eq!(seal_names(&scene, &path, &["b"]).unwrap().pending, 1);
    let adopted = adopt_home(&home, &scene.trust).unwrap();
    assert_eq!((adopted.len(), adopted[0].count), (1, 1));
    assert_eq!(seal_names(&scene, &path, &["c"]).unwrap().total, 3);
    // The old key counts for the adopted record only.
    let mut keys = capsid_seal::keys::load_home(home.root());
    add_service_keys(&mut keys, &scene.trust).unwrap();
    let options = VerifyOptions { signatures: true, ..VerifyOptions::default() };
    let runs = verify(records(&path).into_iter().map(Ok), &options, &keys).unwrap().runs;
    let origins: Vec<_> = runs.iter().map(|run| (run.count, run.origin)).collect();
    assert_eq!(origins, [(1, Some(KeyOrigin::Retired)), (2, Some(KeyOrigin::Own))]);
}

#[test]
fn what_waits_in_a_home_is_flushed() {
    let scene = Scene::new();
    let home = TrailHome::at(&scene.trust.home);
    std::fs::create_dir_all(home.chains().join("codex")).unwrap();
    let path = home.chains().join("codex/s.db");
    assert_eq!(seal_names(&scene, &path, &["a", "b"]).unwrap().pending, 2);
    assert_eq!(list_pending(&home).unwrap(), [(path.clone(), None, 2)]);
    assert_eq!(flush_home(&home, &scene.trust).unwrap_err().code, Code::SignerUnreachable);
    scene.serve();
    let outcome = flush_home(&home, &scene.trust).unwrap();
    assert_eq!((outcome.signed, outcome.waiting, outcome.caught_up), (2, 0, 0));
    assert_eq!(records(&path).len(), 2);
}

#[test]
fn a_rewritten_chain_is_not_signed_and_the_heads_still_name_the_first_one() {
    let scene = Scene::new();
    scene.serve();
    let path = scene.folder.path().join("s.db");
    let first = seal_names(&scene, &path, &["a", "b", "c"]).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(seal_names(&scene, &path, &["x"]).unwrap_err().code, Code::SignerFork);
    assert!(records(&path).is_empty());
    let [expected] = &HeadWitness::ask(scene.trust).unwrap().expectations()[..] else { panic!() };
    assert_eq!((expected.count, &expected.head), (3, &first.head));
}
