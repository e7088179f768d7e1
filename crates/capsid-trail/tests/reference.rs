//! The sample transcripts give the reference's chains, except for the differences that we list.
//!
//! The samples are in a folder next to the project; without them there is nothing to compare with. What each rule makes
//! of a transcript is tested with the readers, on any machine.

use capsid_model::Time;
use capsid_model::exact::{ExactJson, parse_lossy};
use capsid_seal::chain::ChainReader;
use capsid_seal::{ActionRecord, ChainLink, Sealer, SigningKey, StoredRecord, TrailHome};
use capsid_trail::session_sealer::SessionSealer;
use capsid_transcript::cursor::hook_fields;
use capsid_transcript::session_paths::source_of;
use capsid_transcript::{Tool, TranscriptSource};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

fn samples(tool: Tool) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts").join(tool.name());
    if !folder.is_dir() {
        println!("skipped: the sample transcripts are not beside the project");
        return None;
    }
    Some(folder)
}

fn document(path: &Path) -> ExactJson {
    parse_lossy(&std::fs::read(path).unwrap()).unwrap()
}

/// Seals a transcript with the key and the ids of the expected chain; gives the records by their keys.
fn sealed(source: &TranscriptSource) -> Vec<(String, StoredRecord)> {
    let folder = tempfile::tempdir().unwrap();
    let home = TrailHome::at(folder.path());
    let seed: [u8; 32] = std::array::from_fn(|byte| byte as u8);
    let sealer = Sealer::new(SigningKey::from_seed(&seed));
    let count = AtomicUsize::new(0);
    let new_id = || format!("00000000-0000-4000-8000-{:012}", count.fetch_add(1, Ordering::SeqCst));
    let session_sealer =
        SessionSealer { home: &home, sealer: &sealer, clock: &Time(0), new_id: &new_id, redact: true };
    session_sealer.seal(source, true).unwrap();
    let (path, _) = home.chain(source.tool.name(), &source.session);
    let reader = ChainReader::open(&path).unwrap();
    let records: Vec<StoredRecord> = reader.records(None).map(Result::unwrap).collect();
    let mut keys = Vec::new();
    capsid_transcript::read(source, &mut |action| {
        keys.push(action.key);
        Ok(())
    })
    .unwrap();
    assert_eq!(keys.len(), records.len());
    keys.into_iter().zip(records).collect()
}

/// The paths at which two values differ.
fn differences(ours: &ExactJson, theirs: &ExactJson, path: &str, mismatches: &mut Vec<String>) {
    match (ours, theirs) {
        (ExactJson::Object(a), ExactJson::Object(b)) => {
            for name in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
                let path = format!("{path}/{name}");
                match (a.get(name), b.get(name)) {
                    (Some(ours), Some(theirs)) => differences(ours, theirs, &path, mismatches),
                    _ => mismatches.push(path),
                }
            }
        }
        (ExactJson::Array(a), ExactJson::Array(b)) if a.len() == b.len() => {
            for (index, (ours, theirs)) in a.iter().zip(b).enumerate() {
                differences(ours, theirs, &format!("{path}/{index}"), mismatches);
            }
        }
        _ if ours == theirs => {}
        _ => mismatches.push(path.to_owned()),
    }
}

/// What is sealed, without the record's identity and its place in the chain.
fn content(record: &ExactJson) -> ExactJson {
    let mut fields = record.as_object().unwrap().clone();
    fields.retain(|name, _| !matches!(name.as_str(), "id" | "sequence" | "previous_hash"));
    ExactJson::Object(fields)
}

/// Every difference from the expected chain, as (key of the record, path in it).
fn found(ours: &[(String, StoredRecord)], expected: &ExactJson) -> Vec<(String, String)> {
    let theirs = expected.get("capsules").unwrap().as_array().unwrap();
    let mut mismatches = Vec::new();
    for record in theirs {
        let key = record.text("key").unwrap();
        let Some((_, stored)) = ours.iter().find(|(ours, _)| ours == key) else {
            mismatches.push((key.to_owned(), "*".to_owned()));
            continue;
        };
        let mut paths = Vec::new();
        let wanted = content(record.get("content").unwrap());
        differences(&content(&document_of(stored)), &wanted, "", &mut paths);
        mismatches.extend(paths.into_iter().map(|path| (key.to_owned(), path)));
    }
    let known: Vec<&str> = theirs.iter().map(|record| record.text("key").unwrap()).collect();
    let both: Vec<&str> =
        ours.iter().map(|(key, _)| key.as_str()).filter(|key| known.contains(key)).collect();
    let order: Vec<&str> = known.iter().copied().filter(|key| both.contains(key)).collect();
    assert_eq!(both, order, "the records come in the reference's order");
    let added = ours.iter().filter(|(key, _)| !known.contains(&key.as_str()));
    mismatches.extend(added.map(|(key, _)| (key.clone(), "*".to_owned())));
    mismatches
}

fn document_of(stored: &StoredRecord) -> ExactJson {
    capsid_model::exact::parse(&stored.canonical).unwrap()
}

/// Only the listed differences occur, and all of them.
#[track_caller]
fn compare(source: &TranscriptSource, expected: &ExactJson) {
    compare_as(source.tool.name(), source, expected);
}

/// The same, by the list under another name.
#[track_caller]
fn compare_as(name: &str, source: &TranscriptSource, expected: &ExactJson) {
    let list = document(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../capsid-transcript/differences.json"));
    let listed: Vec<(&str, &str)> = list
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry.text("tool") == Some(name))
        .map(|entry| (entry.text("record").unwrap(), entry.text("path").unwrap()))
        .collect();
    let actual = found(&sealed(source), expected);
    let covers = |(record, path): &(&str, &str), (key, found_path): &(String, String)| {
        (*record == "*" && *path != "*" || record == key)
            && (path == found_path || found_path.starts_with(&format!("{path}/")))
    };
    let unlisted: Vec<_> =
        actual.iter().filter(|one| !listed.iter().any(|entry| covers(entry, one))).collect();
    assert!(unlisted.is_empty(), "not listed: {unlisted:#?}");
    let idle: Vec<_> = listed.iter().filter(|entry| !actual.iter().any(|one| covers(entry, one))).collect();
    assert!(idle.is_empty(), "listed, and does not occur: {idle:#?}");
}

#[test]
fn claude_code() {
    let Some(folder) = samples(Tool::ClaudeCode) else { return };
    let expected = document(&folder.join("expected-peer-chain.json"));
    let session = expected.text("session_id").unwrap();
    let transcript = folder.join(format!("{session}.jsonl"));
    compare(&source_of(Tool::ClaudeCode, &transcript, session).unwrap(), &expected);
}

#[test]
fn codex() {
    let Some(folder) = samples(Tool::Codex) else { return };
    let expected = document(&folder.join("expected-peer-chain.json"));
    let day = folder.join("sessions/2026/06/01");
    let rollout = std::fs::read_dir(day).unwrap().next().unwrap().unwrap().path();
    let session = expected.text("session_id").unwrap();
    assert_eq!(capsid_transcript::codex::session_id(&rollout).as_deref(), Some(session));
    compare(&source_of(Tool::Codex, &rollout, session).unwrap(), &expected);
}

#[test]
fn cursor() {
    let Some(folder) = samples(Tool::Cursor) else { return };
    let expected = document(&folder.join("expected-peer-chain.json"));
    let session = expected.text("session_id").unwrap();
    let mut source = source_of(Tool::Cursor, &folder.join("state.vscdb"), session).unwrap();
    source.text_transcript = Some(folder.join("transcript.jsonl"));
    source.hook_fields = hook_fields(&document(&folder.join("hook-stop.json")));
    compare(&source, &expected);
}

#[test]
fn cline() {
    let Some(folder) = samples(Tool::Cline) else { return };
    let expected = document(&folder.join("expected-peer-chain.json"));
    let session = expected.text("session_id").unwrap();
    compare(&source_of(Tool::Cline, &folder.join("tasks").join(session), session).unwrap(), &expected);
}

/// The same content gives the reference's chain, to the last byte of its signatures.
#[test]
fn a_chain_of_the_same_content_is_equal_to_the_byte() {
    let Some(folder) = samples(Tool::Cursor) else { return };
    let expected = document(&folder.join("expected-peer-chain.transcript-only.json"));
    let seed: [u8; 32] = std::array::from_fn(|byte| byte as u8);
    let sealer = Sealer::new(SigningKey::from_seed(&seed));
    let theirs = expected.get("capsules").unwrap().as_array().unwrap();
    let mut link = ChainLink::default();
    for record in theirs {
        let content = record.get("content").unwrap();
        let section = |name: &str| content.get(name).unwrap().as_object().unwrap().clone();
        let ours = ActionRecord {
            id: content.text("id").unwrap().to_owned(),
            kind: content.text("type").unwrap().to_owned(),
            domain: content.text("domain").unwrap().to_owned(),
            parent_id: None,
            trigger: section("trigger"),
            context: section("context"),
            reasoning: section("reasoning"),
            authority: section("authority"),
            execution: section("execution"),
            outcome: section("outcome"),
        };
        let stored = sealer.seal(&ours, &link, "1970-01-01T00:00:00+00:00").unwrap();
        assert_eq!(Some(stored.canonical.as_str()), record.text("canonical"));
        assert_eq!(Some(stored.seal.hash.as_str()), record.text("hash"));
        assert_eq!(Some(stored.seal.signature.as_str()), record.text("signature"));
        link = ChainLink { sequence: link.sequence + 1, previous_hash: Some(stored.seal.hash) };
    }
    assert_eq!(link.previous_hash.as_deref(), expected.text("head_hash"));
}

/// Only the listed differences occur where only the text transcript is there.
#[test]
fn cursor_text() {
    let Some(folder) = samples(Tool::Cursor) else { return };
    let expected = document(&folder.join("expected-peer-chain.transcript-only.json"));
    let session = expected.text("session_id").unwrap();
    let source = source_of(Tool::Cursor, &folder.join("transcript.jsonl"), session).unwrap();
    let source = TranscriptSource { authorship: None, ..source };
    compare_as("cursor-text", &source, &expected);
}
