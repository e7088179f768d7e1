//! Our asset ids against those of `@evomap/gep-sdk`, on random documents.
//!
//! The seed is printed; `CAPSID_SEED` repeats a run, `CAPSID_SOAK=1` makes ten times as many documents. Without the
//! package this test fails: an id that nobody compared is no proof.

use crate::odd_json;
use capsid_model::asset::asset_id_of_text;
use capsid_testkit::rounds::{rounds, seed};
use std::path::PathBuf;
use std::process::Command;

fn peers() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers"))
}

/// The ids that the peer gives, one per line of text.
fn peer_ids(lines: &str) -> Vec<String> {
    let package = peers().join("node_modules/@evomap/gep-sdk/package.json");
    assert!(
        package.is_file(),
        "`@evomap/gep-sdk` is not installed in tests/peers: run `scripts/setup test` (needs Node and npm)"
    );
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("documents.jsonl");
    std::fs::write(&file, lines).unwrap();
    let output = Command::new("node")
        .arg(peers().join("ids.mjs"))
        .arg(&file)
        .output()
        .expect("`node` runs: `scripts/setup test` installs it");
    assert!(output.status.success(), "node failed: {}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    printed.lines().map(str::to_owned).collect()
}

#[test]
fn ids_equal_those_of_the_peer_on_random_documents() {
    let seed = seed();
    let count = rounds(10_000, 100_000);
    println!("{count} documents");

    let mut rng = fastrand::Rng::with_seed(seed);
    let documents: Vec<String> = (0..count).map(|_| odd_json::object_text(&mut rng)).collect();
    let theirs = peer_ids(&documents.join("\n"));

    assert_eq!(theirs.len(), count);
    for (document, theirs) in documents.iter().zip(&theirs) {
        let ours = asset_id_of_text(document).unwrap_or_else(|problem| {
            panic!("CAPSID_SEED={seed}: {problem}\n{document}");
        });
        assert_eq!(ours.as_ref(), Some(theirs), "CAPSID_SEED={seed}\n{document}");
    }
}

#[test]
fn every_member_is_hashed_also_the_one_that_the_peer_loses() {
    let hidden = r#"{"__proto__":1,"a":2}"#;
    let plain = r#"{"a":2}"#;
    let theirs = peer_ids(&format!("{hidden}\n{plain}"));
    assert_eq!(theirs[0], theirs[1], "the peer mended it: compare this key too");
    assert_eq!(asset_id_of_text(plain).unwrap().as_ref(), Some(&theirs[1]));
    assert_ne!(asset_id_of_text(hidden).unwrap().as_ref(), Some(&theirs[0]));
}
