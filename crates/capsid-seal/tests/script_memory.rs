//! How much memory the independent script takes for a bundle that is larger than that.

use capsid_model::fields;
use capsid_seal::{ActionRecord, ChainLink, Sealer, SigningKey};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

const MEGABYTE: u64 = 1_000_000;
/// Read as a whole, so many records would take more than the limit, as bytes and as text.
const LENGTH: u64 = 500;

/// A bundle with one chain of so many records of 100 kB, and beside it a file that no index lists.
fn write_bundle(folder: &Path, length: u64, unlisted: u64) {
    let sealer = Sealer::new(SigningKey::from_seed(&[5; 32]));
    let mut out = BufWriter::new(File::create(folder.join("codex-s.json")).unwrap());
    out.write_all(b"{\"id\": \"codex-s\", \"capsules\": [").unwrap();
    let mut previous_hash = None;
    for sequence in 0..length {
        let action = ActionRecord {
            id: format!("id-{sequence}"),
            kind: "tool".into(),
            domain: "codex".into(),
            context: fields! { "session_id": "s" },
            outcome: fields! { "summary": format!("{sequence:06}").repeat(100_000 / 6) },
            ..ActionRecord::default()
        };
        let link = ChainLink { sequence, previous_hash: previous_hash.take() };
        let stored = sealer.seal(&action, &link, "2026-02-07T15:20:54+00:00").unwrap();
        let seal = &stored.seal;
        // The text has no other characters that JSON escapes.
        let text = stored.canonical.replace('\\', "\\\\").replace('"', "\\\"");
        let record = format!(
            r#"{{"hash":"{}","signature":"{}","signature_pq":"","signed_by":"{}","canonical":"{text}"}}"#,
            seal.hash, seal.signature, seal.signed_by
        );
        write!(out, "{}{record}", if sequence == 0 { "" } else { ", " }).unwrap();
        previous_hash = Some(stored.seal.hash);
    }
    out.write_all(b"]}").unwrap();
    out.flush().unwrap();
    let key = sealer.public();
    let index = capsid_model::json!({
        "public_key": key.hex(), "fingerprint": key.fingerprint(), "keys": {(key.fingerprint()): key.hex()},
        "chain_count": 1, "capsule_count": length,
        "chains": [{"id": "codex-s", "tool": "codex", "length": length}],
    });
    std::fs::write(folder.join("index.json"), index.to_string()).unwrap();
    // Most of it is a hole that takes no room on the disk.
    let mut other = File::create(folder.join("other.json")).unwrap();
    other.write_all(b"{\"capsules\": [").unwrap();
    other.set_len(unlisted).unwrap();
}

#[test]
fn the_independent_script_stays_under_100_megabytes() {
    let folder = tempfile::tempdir().unwrap();
    write_bundle(folder.path(), LENGTH, 400 * MEGABYTE);
    let chain = std::fs::metadata(folder.path().join("codex-s.json")).unwrap().len();
    assert!(chain > 50 * MEGABYTE, "{chain}");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/verify.mjs");
    let program = "const { checkBundle } = await import(process.env.SCRIPT);
        const { level, verified, findings } = checkBundle(process.env.BUNDLE);
        const codes = findings.map(({ code }) => code);
        console.log(JSON.stringify([level, verified, codes, process.resourceUsage().maxRSS]));";
    let ran = Command::new("node")
        .args(["--input-type=module", "-e", program])
        .env("SCRIPT", &script)
        .env("BUNDLE", folder.path())
        .output()
        .expect("Node 18 or later");
    let told = String::from_utf8_lossy(&ran.stdout);
    let told: capsid_model::Value =
        told.parse().unwrap_or_else(|_| panic!("{told}{}", String::from_utf8_lossy(&ran.stderr)));
    assert_eq!((&told[0], &told[1]), (&"unverified".into(), &LENGTH.into()), "{told}");
    assert!(told[2].as_array().unwrap().contains(&"unlisted_file".into()), "{told}");
    let peak = told[3].as_u64().unwrap() * 1024;
    println!("{} MB", peak / MEGABYTE);
    assert!(peak < 100 * MEGABYTE, "{peak} bytes");
}
