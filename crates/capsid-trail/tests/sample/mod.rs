//! `docs/sample`: the bundle that the documents use, made of two transcripts with a fixed key and a fixed time.

use capsid_model::Time;
use capsid_seal::bundle::{BundleExport, OwnHeads, write};
use capsid_seal::sources::open_any;
use capsid_seal::{Sealer, SigningKey, TrailHome};
use capsid_trail::session_sealer::SessionSealer;
use capsid_transcript::Tool;
use capsid_transcript::session_paths::source_of;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The time of sealing, and the same as a bundle states it.
const NOW: &str = "2026-06-01T12:00:00.000Z";
const GENERATED_AT: &str = "2026-06-01T12:00:00+00:00";

const SESSIONS: [(Tool, &str, &str); 2] = [
    (Tool::ClaudeCode, "claude-code.jsonl", "5f0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01"),
    (Tool::Codex, "codex.jsonl", "019e2f00-1111-7222-8333-444455556666"),
];

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The key of the documents, whose private half everybody knows.
fn key() -> SigningKey {
    SigningKey::from_seed(&std::array::from_fn(|at| u8::try_from(at).unwrap()))
}

/// Seals both sessions in a home, the same on every machine.
fn seal_into(home: &TrailHome) {
    let sealer = Sealer::new(key());
    let last_id = AtomicU64::new(0);
    let new_id = || format!("00000000-0000-4000-8000-{:012x}", last_id.fetch_add(1, Ordering::Relaxed));
    let clock = Time::parse(NOW).unwrap();
    let sealing = SessionSealer { home, sealer: &sealer, clock: &clock, new_id: &new_id, redact: true };
    for (tool, file, session) in SESSIONS {
        let transcript = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sample").join(file);
        let source = source_of(tool, &transcript, session).unwrap();
        sealing.seal(&source, true).unwrap();
        assert!(sealing.finish(tool.name(), session).unwrap().recorded, "{session}");
    }
}

fn export(home: &TrailHome, out: &Path) {
    let chains = open_any(home.root()).unwrap().chains;
    let key = key();
    let heads = OwnHeads { key: key.clone(), time: NOW.to_owned() };
    let export = BundleExport {
        chains: &chains,
        own: Some(key.public()),
        known: &[],
        generated_at: GENERATED_AT,
        heads: Some(&heads),
    };
    assert!(write(out, &export).unwrap().left_out.is_empty());
}

fn json_files(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    let names = names.filter(|name| name.ends_with(".json"));
    names.map(|name| (name.clone(), std::fs::read_to_string(folder.join(name)).unwrap())).collect()
}

#[test]
fn the_sample_bundle_of_the_documents_is_the_one_that_its_transcripts_make() {
    let folder = tempfile::tempdir().unwrap();
    let home = TrailHome::at(folder.path().join("home"));
    seal_into(&home);
    let out = folder.path().join("out");
    export(&home, &out);
    let sample = docs().join("sample");
    if std::env::var_os("CAPSID_UPDATE_DOCS").is_some() {
        for name in json_files(&sample).keys() {
            std::fs::remove_file(sample.join(name)).unwrap();
        }
        for (name, text) in json_files(&out) {
            std::fs::write(sample.join(name), text).unwrap();
        }
    }
    let (made, stored) = (json_files(&out), json_files(&sample));
    assert_eq!(made.keys().collect::<Vec<_>>(), stored.keys().collect::<Vec<_>>(), "run scripts/make-sample");
    for (name, text) in &made {
        assert!(stored[name] == *text, "docs/sample/{name} is out of date; run scripts/make-sample");
    }
    assert_eq!(made.len(), 5, "two chains, the meta-chain, the head statements, the index");
}
