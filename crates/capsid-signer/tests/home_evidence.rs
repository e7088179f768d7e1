//! The verdict on a home that the service signs, as every command asks for it.

use crate::sealed_home::{records, seal_names, seal_with};
use crate::support::Scene;
use capsid_seal::evidence::CollectOptions;
use capsid_seal::sources::open_any;
use capsid_seal::{Sealer, SigningKey, TrailHome};
use capsid_signer::adoption::adopt_home;
use capsid_signer::home_evidence::{JudgedTrail, judge_elsewhere, judge_home};
use capsid_signer::trust_root::SignerTrust;
use capsid_verdict::{FindingCode, VerdictLevel};
use std::path::{Path, PathBuf};

/// A scene whose service runs and is trusted, and its home.
fn signed_scene() -> (Scene, PathBuf, TrailHome) {
    let scene = Scene::new();
    let trust = scene.folder.path().join("signer.d");
    scene.trust.save(&trust).unwrap();
    scene.serve();
    let home = TrailHome::at(&scene.trust.home);
    std::fs::create_dir_all(home.chains().join("codex")).unwrap();
    (scene, trust, home)
}

fn codes(judged: &JudgedTrail) -> Vec<FindingCode> {
    judged.verdict.findings.iter().map(|one| one.code).collect()
}

fn open(path: &Path) -> capsid_seal::sources::ChainSources {
    open_any(path).unwrap()
}

#[test]
fn a_home_that_the_service_signs_is_judged_with_its_key_and_its_heads() {
    let (scene, trust, home) = signed_scene();
    let path = home.chains().join("codex/s.db");
    seal_names(&scene, &path, &["a", "b"]).unwrap();
    let judge = || judge_home(&trust, &home, &CollectOptions::default()).unwrap();
    assert_eq!(judge().verdict.level, VerdictLevel::Valid, "{:?}", judge().verdict.findings);
    // Its end is cut, with every trace of it in the home.
    let cut = "DELETE FROM capsules WHERE sequence = 1; DROP TABLE IF EXISTS capsid_keys";
    rusqlite::Connection::open(&path).unwrap().execute_batch(cut).unwrap();
    let _ = std::fs::remove_file(path.with_extension("checkpoint.json"));
    assert!(codes(&judge()).contains(&FindingCode::Truncated), "{:?}", judge().verdict.findings);
    std::fs::remove_dir_all(home.root()).unwrap();
    assert!(codes(&judge()).contains(&FindingCode::ConversationMissing));
}

#[test]
fn a_key_of_before_the_service_counts_elsewhere_for_what_was_handed_over_and_no_more() {
    let (scene, trust, home) = signed_scene();
    std::fs::write(home.key(), [4; 32]).unwrap();
    let before = Sealer::new(SigningKey::from_seed(&[4; 32]));
    let path = home.chains().join("codex/s.db");
    seal_with(&before, &path, &["a"]).unwrap();
    adopt_home(&home, &scene.trust).unwrap();
    let elsewhere = scene.folder.path().join("elsewhere.db");
    std::fs::copy(&path, &elsewhere).unwrap();
    let judge = || judge_elsewhere(&trust, &home, &open(&elsewhere), &CollectOptions::default()).unwrap();
    assert!(judge().verdict.level.is_good(), "{:?}", judge().verdict.findings);
    // Whoever reads the account can read that key, and seals one more.
    seal_with(&before, &elsewhere, &["a", "forged"]).unwrap();
    assert_eq!(records(&elsewhere).len(), 2);
    let judged = judge();
    let bad = judged.verdict.findings.first().unwrap();
    assert_eq!((bad.code, bad.position), (FindingCode::RetiredKey, Some(1)));
    // Where nobody can say what was handed over, that is said.
    let none = scene.folder.path().join("none");
    SignerTrust { socket: none.clone(), heads: none, ..scene.trust }.save(&trust).unwrap();
    assert!(codes(&judge()).contains(&FindingCode::SignerUnreachable));
}
