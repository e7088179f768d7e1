//! A chain on disk whose records the real service signs.

use crate::support::Scene;
use capsid_model::{Code, Result, fields};
use capsid_seal::chain::{AppendOutcome, ChainReader, ChainWriter, PendingRecord};
use capsid_seal::{ActionRecord, Sealer, SigningKey, StoredRecord};
use capsid_signer::service_signer::{ServiceSigner, expected_by_service};
use capsid_verdict::evidence::ExpectationSource;
use std::path::Path;
use std::sync::Arc;

fn seal_names(scene: &Scene, path: &Path, names: &[&str]) -> Result<AppendOutcome> {
    let service = ServiceSigner::new(scene.trust.clone()).unwrap();
    let sealer = Sealer::with_service(Arc::new(service), SigningKey::from_seed(&[3; 32]));
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

fn records(path: &Path) -> Vec<StoredRecord> {
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
    let [expected] = &expected_by_service(&scene.trust).unwrap()[..] else { panic!() };
    let ExpectationSource::HeadStatement(signer) = &expected.source else { panic!("{expected:?}") };
    assert_eq!(signer.fingerprint, key.fingerprint());
    assert_eq!((expected.chain.as_str(), expected.count), ("codex/s", 3));
    assert_eq!(expected.head, up.head);
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
    let [expected] = &expected_by_service(&scene.trust).unwrap()[..] else { panic!() };
    assert_eq!((expected.count, &expected.head), (3, &first.head));
}
