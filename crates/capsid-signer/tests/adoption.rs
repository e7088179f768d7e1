//! A home is handed over as a whole, and only if it is valid as its own.

use crate::sealed_home::seal_with;
use crate::support::Scene;
use capsid_model::Code;
use capsid_seal::keys::rotation;
use capsid_seal::meta::{Conversation, record_conversation, record_rotation};
use capsid_seal::{Sealer, SigningKey, TrailHome};
use capsid_signer::adoption::adopt_home;
use std::path::{Path, PathBuf};

const NOW: &str = "2026-02-07T15:20:54+00:00";

/// A home with a key of its own and two sealed records, of which the meta-chain knows.
fn used_home(scene: &Scene) -> (TrailHome, PathBuf, Sealer) {
    scene.serve();
    let home = TrailHome::at(&scene.trust.home);
    std::fs::create_dir_all(home.chains().join("codex")).unwrap();
    std::fs::write(home.key(), [4; 32]).unwrap();
    let path = home.chains().join("codex/s.db");
    let sealer = Sealer::new(SigningKey::from_seed(&[4; 32]));
    record(&home, &path, &sealer, &["a", "b"]);
    (home, path, sealer)
}

fn record(home: &TrailHome, path: &Path, sealer: &Sealer, names: &[&str]) {
    let sealed = seal_with(sealer, path, names).unwrap();
    let conversation = Conversation {
        tool: "codex",
        session: "s",
        head_hash: &sealed.head.unwrap(),
        count: sealed.total,
        shared: None,
    };
    record_conversation(home.root(), &conversation, sealer, &format!("m{}", sealed.total), NOW).unwrap();
}

#[track_caller]
fn assert_refused(scene: &Scene, home: &TrailHome, expected: &str) {
    let problem = adopt_home(home, &scene.trust).unwrap_err();
    assert_eq!(problem.code, Code::ChainBroken);
    assert!(problem.message.contains(expected), "{problem:?}");
    let status = scene.client().status().unwrap();
    assert!(status.is_adopt_open && status.chains == 0, "the service took nothing over: {status:?}");
}

#[test]
fn a_chain_of_a_stranger_is_not_adopted() {
    let scene = Scene::new();
    let (home, ..) = used_home(&scene);
    let stranger = Sealer::new(SigningKey::from_seed(&[5; 32]));
    seal_with(&stranger, &home.chains().join("codex/other.db"), &["a"]).unwrap();
    assert_refused(&scene, &home, "names the signer");
}

#[test]
fn a_cut_home_is_not_adopted() {
    let scene = Scene::new();
    let (home, path, _) = used_home(&scene);
    let whole = std::fs::read(&path).unwrap();
    let cut = "DELETE FROM capsules WHERE sequence = 1; DROP TABLE capsid_keys";
    rusqlite::Connection::open(&path).unwrap().execute_batch(cut).unwrap();
    assert_refused(&scene, &home, "codex/s has 1 records; the meta-chain recorded 2");
    std::fs::remove_file(&path).unwrap();
    assert_refused(&scene, &home, "codex/s is gone");
    std::fs::write(&path, whole).unwrap();
    let meta = std::fs::read(home.meta()).unwrap();
    std::fs::remove_file(home.meta()).unwrap();
    assert_refused(&scene, &home, "The meta-chain is gone");
    std::fs::write(home.meta(), meta).unwrap();
    assert_eq!(adopt_home(&home, &scene.trust).unwrap().len(), 2, "the chain and the meta-chain");
}

#[test]
fn a_home_extended_by_a_retired_key_is_not_adopted() {
    let scene = Scene::new();
    let (home, path, old) = used_home(&scene);
    let (next, new_key) = (SigningKey::from_seed(&[6; 32]), SigningKey::from_seed(&[6; 32]).public());
    let keys = (&SigningKey::from_seed(&[4; 32]).public(), &new_key);
    let switch = || rotation::rotate(home.root(), &[6; 32], NOW).map(drop);
    record_rotation(home.root(), keys, &old, ("m-rotation", NOW), switch).unwrap();
    let sealed = std::fs::read(&path).unwrap();
    seal_with(&old, &path, &["a", "b", "forged"]).unwrap();
    assert_refused(&scene, &home, "Record 2 is signed by");
    std::fs::write(&path, sealed).unwrap();
    record(&home, &path, &Sealer::new(next), &["a", "b", "c"]);
    let adopted = adopt_home(&home, &scene.trust).unwrap();
    let mut counts: Vec<u64> = adopted.iter().map(|head| head.count).collect();
    counts.sort_unstable();
    assert_eq!(counts, [3, 3], "the chain; the meta-chain with the rotation");
}
