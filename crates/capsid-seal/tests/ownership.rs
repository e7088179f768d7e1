//! Whose chain goes on, and which keys of the past still sign.

use crate::store::{NOW, all, append, chain, pending, record, record_in_meta, seal, sealer};
use capsid_model::{Code, Result};
use capsid_seal::chain::{AppendOutcome, ChainReader, ChainWriter, RecordReason};
use capsid_seal::keys::load_home;
use capsid_seal::meta::{ChainOwner, OwnChain, RotationRecord, record_rotation, rotations, traces_of};
use capsid_seal::{ChainLink, Sealer, SigningKey, StoredRecord};
use std::path::Path;

const STRANGER: [u8; 32] = [9; 32];

fn sign_again(path: &Path, seed: &[u8; 32], signed_by: Option<&str>) {
    let key = SigningKey::from_seed(seed);
    let head = ChainReader::open(path).unwrap().head(None).unwrap().unwrap();
    let name = signed_by.map_or_else(|| key.public().fingerprint(), str::to_owned);
    let database = rusqlite::Connection::open(path).unwrap();
    let edit = "UPDATE capsules SET signature = ?1, signed_by = ?2 WHERE hash = ?3";
    assert_eq!(database.execute(edit, [key.sign(&head.seal.hash), name, head.seal.hash]).unwrap(), 1);
}

/// Adds one record as the owner of the chain.
fn go_on(root: &Path, path: &Path, key: &Sealer) -> Result<AppendOutcome> {
    let owner = ChainOwner::new(root, "codex/s", key);
    let mut writer = ChainWriter::open(path).unwrap().owned_by(owner).signing_with(key.clone());
    writer.append(None, [pending("more", false)], |name: &String, _: RecordReason, link: &ChainLink| {
        key.prepare(&record(name), link, NOW)
    })
}

#[test]
fn nothing_is_appended_after_a_foreign_or_invalid_record() {
    let own = sealer().public().fingerprint();
    let stranger = SigningKey::from_seed(&STRANGER).public();
    for (signed_by, is_known, code) in [
        (None, false, Code::ChainNotOwn),
        // A key that is known, or even pinned, is still not the owner's.
        (None, true, Code::ChainNotOwn),
        (Some(own.as_str()), false, Code::ChainBroken),
        (Some(""), false, Code::ChainNotOwn),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (root, path) = (folder.path(), folder.path().join("chains/codex/s.db"));
        chain(&path, 3);
        assert_eq!(go_on(root, &path, &sealer()).unwrap().total, 4);
        sign_again(&path, &STRANGER, signed_by);
        if is_known {
            capsid_seal::keys::known::register(root, &stranger).unwrap();
            capsid_seal::keys::pinned::pin(root, &stranger).unwrap();
        }
        let before = all(&path, None);
        let items = ["x", "y"].map(|name| pending(name, false));
        let owner = ChainOwner::new(root, "codex/s", &sealer());
        let mut writer = ChainWriter::open(&path).unwrap().owned_by(owner);
        assert_eq!(writer.append(None, items, seal).unwrap_err().code, code, "{signed_by:?}");
        assert_eq!(all(&path, None), before);
    }
}

#[test]
fn nothing_is_appended_to_a_chain_that_is_shorter_than_its_mark() {
    let folder = tempfile::tempdir().unwrap();
    let (root, path) = (folder.path(), folder.path().join("chains/codex/s.db"));
    chain(&path, 3);
    record_in_meta(root, "codex", "s");
    let cut = "DELETE FROM capsules WHERE sequence = 2; DELETE FROM capsid_keys WHERE sequence = 2";
    rusqlite::Connection::open(&path).unwrap().execute_batch(cut).unwrap();
    let problem = go_on(root, &path, &sealer()).unwrap_err();
    assert_eq!(problem.code, Code::ChainBroken);
    assert!(problem.message.contains("2 records are there, and at least 3"), "{}", problem.message);
    // An owner who accepts the rest goes on from there.
    ChainWriter::open(&path).unwrap().accept_cut(None).unwrap();
    assert_eq!(go_on(root, &path, &sealer()).unwrap().total, 3);
}

#[test]
fn nothing_is_recorded_of_a_chain_that_is_not_valid_and_own() {
    let refusal = |edit: &dyn Fn(&Path)| {
        let folder = tempfile::tempdir().unwrap();
        let (root, path) = (folder.path(), folder.path().join("chains/codex/s.db"));
        chain(&path, 3);
        record_in_meta(root, "codex", "s");
        append(&mut ChainWriter::open(&path).unwrap(), None, &["late"]).unwrap();
        edit(&path);
        let own = OwnChain { tool: "codex", session: "s", database: &path, tenant: None, checkpoint: None };
        let verdict = own.verify(root, &[sealer().public()]).unwrap();
        verdict.refusal.map(|problem| problem.code)
    };
    let sql = |text: &'static str| {
        move |path: &Path| rusqlite::Connection::open(path).unwrap().execute_batch(text).unwrap()
    };
    assert_eq!(refusal(&|_| ()), None);
    assert_eq!(refusal(&|path| sign_again(path, &STRANGER, None)), Some(Code::ChainNotOwn));
    let cut =
        sql("DELETE FROM capsules WHERE sequence > 1; DROP TABLE capsid_keys; DROP TABLE capsid_finalised");
    assert_eq!(refusal(&cut), Some(Code::ChainBroken), "the meta-chain alone knows");
    let cut = sql("DELETE FROM capsules WHERE sequence = 3");
    assert_eq!(refusal(&cut), Some(Code::ChainBroken), "the keys know");
}

#[test]
fn a_retired_key_is_own_only_below_the_counts_recorded_before_its_rotation() {
    let folder = tempfile::tempdir().unwrap();
    let (root, path) = (folder.path(), folder.path().join("chains/codex/s.db"));
    let keys = root.join("key");
    capsid_seal::keys::file::load_or_create(&keys, &std::array::from_fn(|i| i as u8)).unwrap();
    chain(&path, 3);
    record_in_meta(root, "codex", "s");
    let (old, new) = (sealer(), Sealer::new(SigningKey::from_seed(&[2; 32])));
    let pair = (old.public(), new.public());
    let switch = || capsid_seal::keys::rotation::rotate(root, &[2; 32], NOW).map(drop);
    record_rotation(root, (&pair.0, &pair.1), &old, ("rotation", NOW), switch).unwrap();
    // A process that still has the old key stops.
    assert_eq!(go_on(root, &path, &old).unwrap_err().code, Code::ChangeRefused);
    let rotation: RotationRecord = rotations(root).unwrap().pop().unwrap();
    assert_eq!((rotation.old, rotation.new), pair);
    assert!(rotation.is_signed_by_old());
    let forged = StoredRecord { seal: all(&path, None)[0].seal.clone(), ..rotation.record.clone() };
    assert!(!RotationRecord { record: forged, ..rotation }.is_signed_by_old());
    let limit =
        |chain: &str| traces_of(root, chain, &load_home(root)).unwrap().limit(&pair.0.fingerprint(), chain);
    assert_eq!([limit("codex/s"), limit("codex/other"), limit("meta")], [Some(3), Some(0), Some(2)]);
    assert_eq!(
        traces_of(root, "codex/s", &load_home(root)).unwrap().limit(&pair.1.fingerprint(), "codex/s"),
        None
    );

    // The new key goes on behind the last record of the old one, and the meta-chain does too.
    let other = root.join("chains/codex/thief.db");
    std::fs::copy(&path, &other).unwrap();
    assert_eq!(go_on(root, &path, &new).unwrap().total, 4);
    // A thief of the old key cannot make a chain grow: what it signs behind the count is not the owner's.
    std::fs::copy(&other, &path).unwrap();
    assert_eq!(append(&mut ChainWriter::open(&path).unwrap(), None, &["forged"]).unwrap().total, 4);
    assert_eq!(go_on(root, &path, &new).unwrap_err().code, Code::ChainNotOwn);
    let own = OwnChain { tool: "codex", session: "s", database: &path, tenant: None, checkpoint: None };
    let refusal = own.verify(root, &[new.public()]).unwrap().refusal.unwrap();
    assert_eq!(refusal.code, Code::ChainNotOwn);
    assert!(refusal.message.contains("retired at record 3"), "{}", refusal.message);
}

#[test]
fn an_adopted_key_is_own_and_a_public_key_alone_adopts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (root, path) = (folder.path(), folder.path().join("chains/codex/s.db"));
    chain(&path, 2);
    let new = Sealer::new(SigningKey::from_seed(&[2; 32]));
    assert_eq!(go_on(root, &path, &new).unwrap_err().code, Code::ChainNotOwn);
    let file = root.join("other.key");
    std::fs::write(&file, sealer().public().hex()).unwrap();
    let adopt = || capsid_seal::keys::adopted::adopt(root, &file, &[5; 32]);
    assert_eq!(adopt().unwrap_err().code, Code::KeyInvalid);
    std::fs::write(&file, std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
    assert_eq!(adopt().unwrap(), sealer().public());
    assert_eq!(go_on(root, &path, &new).unwrap().total, 3);
}

#[test]
fn a_chain_that_is_not_proven_to_its_end_is_not_finalised() {
    let folder = tempfile::tempdir().unwrap();
    let (root, path) = (folder.path(), folder.path().join("chains/codex/s.db"));
    chain(&path, 2);
    let own = OwnChain { tool: "codex", session: "s", database: &path, tenant: None, checkpoint: None };
    assert!(own.verify(root, &[sealer().public()]).unwrap().refusal.is_none());
    // Nobody has the key for a post-quantum signature that it carries.
    let edit = format!("UPDATE capsules SET signature_pq = '{}' WHERE sequence = 1", "0a".repeat(3309));
    rusqlite::Connection::open(&path).unwrap().execute_batch(&edit).unwrap();
    let refusal = own.verify(root, &[sealer().public()]).unwrap().refusal.unwrap();
    assert_eq!(refusal.code, Code::ChainBroken);
    assert!(refusal.message.contains("Not checked: 1 post-quantum"), "{}", refusal.message);
}
