//! What `qp-capsule` 1.5.4 gets wrong, as `docs/explanation/qp-capsule.md` lists it: each is tried with its own command.

use crate::peer;
use crate::qp_capsule::{in_its_form, judge, sealed_short};
use capsid_model::exact::{ExactJson, spaced};
use capsid_seal::keys::KeySet;
use capsid_seal::sources::{SourceKind, open_any};
use capsid_seal::verify::VerifyFailureClass;
use capsid_seal::{Sealer, SigningKey};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mistake: what is done to the text of an honest chain, what the peer is asked for, and what Capsid finds.
struct Mistake {
    name: &'static str,
    change: fn(&str) -> String,
    level: &'static [&'static str],
    found: VerifyFailureClass,
}

const MISTAKES: [Mistake; 5] = [
    Mistake {
        name: "an edited record",
        change: |text| text.replacen("\"domain\": \"", "\"domain\": \"x", 1),
        level: &[],
        found: VerifyFailureClass::Hash,
    },
    Mistake {
        name: "signatures that are none",
        change: |text| replace_signature(text, |_| "zz".to_owned()),
        level: &["--full"],
        found: VerifyFailureClass::Signature,
    },
    Mistake {
        name: "a signature in upper case",
        change: |text| replace_signature(text, str::to_uppercase),
        level: &["--pubkey"],
        found: VerifyFailureClass::Signature,
    },
    Mistake {
        name: "a member twice",
        change: |text| text.replacen("\"sequence\": 0", "\"sequence\": 7, \"sequence\": 0", 1),
        level: &["--pubkey"],
        found: VerifyFailureClass::Malformed,
    },
    Mistake {
        name: "a signer that is another",
        change: |text| replace_member(text, "signed_by", |_| "f".repeat(16)),
        level: &["--pubkey"],
        found: VerifyFailureClass::UnknownSigner,
    },
];

fn replace_signature(text: &str, change: impl Fn(&str) -> String) -> String {
    replace_member(text, "signature", change)
}

/// Changes the first member of a name, which is a text without escapes.
fn replace_member(text: &str, name: &str, change: impl Fn(&str) -> String) -> String {
    let start = format!("\"{name}\": \"");
    let (before, rest) = text.split_once(&start).unwrap();
    let (value, after) = rest.split_once('"').unwrap();
    format!("{before}{start}{}\"{after}", change(value))
}

/// Whether the peer's command takes a file.
fn takes(path: &Path, level: &[&str], key: &str) -> bool {
    let program =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers/python/.venv/bin/capsule"));
    assert!(program.exists(), "there is no `.venv` in tests/peers/python: run `scripts/setup test`");
    let home = tempfile::tempdir().unwrap();
    let key = level.contains(&"--pubkey").then_some(key);
    let mut command = Command::new(program);
    command.arg("verify").args(level).args(key).arg(path).env("QUANTUMPIPES_DATA_DIR", home.path());
    command.output().unwrap().status.success()
}

#[test]
fn qp_capsule_takes_what_it_should_refuse_and_capsid_does_not() {
    let (mut rng, seed) = peer::seeded();
    let sealer = Sealer::new(SigningKey::from_seed(&[5; 32]));
    let key = sealer.public();
    let records = sealed_short(&mut rng, &sealer).iter().map(in_its_form).collect();
    let honest = spaced(&ExactJson::Array(records));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.json");
    for Mistake { name, change, level, found } in MISTAKES {
        std::fs::write(&path, &honest).unwrap();
        assert!(takes(&path, level, &key.hex()), "{seed} {name}: the honest chain");
        std::fs::write(&path, change(&honest)).unwrap();
        assert!(
            takes(&path, level, &key.hex()),
            "{seed} {name}: a newer version refuses it; change the page"
        );
        let verdict = judge(&path, SourceKind::Json, false, &KeySet::from_key(key));
        assert_eq!(verdict.failure.map(|failure| failure.class), Some(found), "{seed} {name}");
    }
    std::fs::write(&path, "[]").unwrap();
    assert!(takes(&path, &["--pubkey"], &key.hex()), "a chain of nothing");
}

#[test]
fn qp_capsule_refuses_an_honest_chain_of_agent_capsule() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sample");
    let sample = sample.join("codex-019e2f00-1111-7222-8333-444455556666.json");
    let chains = open_any(&sample).unwrap().chains;
    let records = chains[0].records().unwrap().map(|stored| in_its_form(&stored.unwrap())).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.json");
    std::fs::write(&path, spaced(&ExactJson::Array(records))).unwrap();
    let key = SigningKey::from_seed(&std::array::from_fn(|at| u8::try_from(at).unwrap())).public();
    assert!(!takes(&path, &["--full"], ""));
    assert!(judge(&path, SourceKind::Json, false, &KeySet::from_key(key)).valid);
}
