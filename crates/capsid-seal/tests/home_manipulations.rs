//! The second manipulation table: a home, changed in every way that its owner's account could change it.

use crate::store::{NOW, pending, sealer};
use capsid_model::fields;
use capsid_seal::chain::{ChainWriter, checkpoint_of};
use capsid_seal::evidence::{CollectOptions, collect_home};
use capsid_seal::hash::sha3_hex;
use capsid_seal::keys::{KeyOrigin, KeySet};
use capsid_seal::meta::{Conversation, PinnedHead, record_conversation};
use capsid_seal::{ActionRecord, SigningKey, TrailHome};
use capsid_verdict::{Require, SignerPolicy, TrailVerdict};
use std::path::{Path, PathBuf};

/// What is expected: the level, and the first finding with its chain and position.
type Expected = (&'static str, &'static str, &'static str, Option<u64>);
type HomeCase = (&'static str, &'static dyn Fn(&Path), Expected);

const VALID: Expected = ("valid", "", "", None);

fn stranger() -> SigningKey {
    SigningKey::from_seed(&[99; 32])
}

fn keys() -> KeySet {
    let mut keys = crate::store::keys();
    keys.add(stranger().public(), KeyOrigin::Known);
    keys
}

fn path(root: &Path, chain: &str) -> PathBuf {
    root.join(format!("chains/{chain}.db"))
}

/// Seals records up to a length; `word` tells two histories apart.
fn extend(root: &Path, tool: &str, session: &str, length: usize, word: &str) {
    let file = path(root, &format!("{tool}/{session}"));
    let mut writer = ChainWriter::open(&file).unwrap();
    let items = (0..length).map(|n| pending(&format!("{word}{n}"), false));
    let seal = |name: &String, _, link: &_| {
        let record = ActionRecord {
            id: format!("id-{name}"),
            kind: "tool".into(),
            domain: tool.into(),
            context: fields! { "session_id": session },
            outcome: fields! { "summary": name.as_str() },
            ..ActionRecord::default()
        };
        sealer().seal(&record, link, NOW)
    };
    writer.append(None, items, seal).unwrap();
    writer.write_checkpoint(None, &checkpoint_of(&file)).unwrap();
}

fn finalise(root: &Path, tool: &str, session: &str) {
    let records = crate::store::all(&path(root, &format!("{tool}/{session}")), None);
    let (head_hash, count) = (&records.last().unwrap().seal.hash, records.len() as u64);
    let conversation = Conversation { tool, session, head_hash, count, shared: None };
    record_conversation(root, &conversation, &sealer(), &format!("meta-{session}-{count}"), NOW).unwrap();
}

/// One session that was finalised twice, one that was finalised once, and one that goes on.
fn base(root: &Path) {
    extend(root, "claude-code", "c", 3, "k");
    extend(root, "codex", "a", 4, "k");
    finalise(root, "codex", "a");
    extend(root, "codex", "a", 6, "k");
    finalise(root, "codex", "a");
    extend(root, "codex", "b", 4, "k");
    finalise(root, "codex", "b");
}

fn judge(root: &Path, meta_heads: Vec<PinnedHead>) -> TrailVerdict {
    let options = CollectOptions { meta_heads, threads: 1, ..CollectOptions::default() };
    let found = collect_home(&TrailHome::at(root), &keys(), &options).unwrap();
    found.evaluate(&SignerPolicy::implied(Require::Own))
}

fn sql(file: &Path, statements: &str) {
    rusqlite::Connection::open(file).unwrap().execute_batch(statements).unwrap();
}

fn on_a(root: &Path, statements: &str) {
    sql(&path(root, "codex/a"), statements);
}

fn on_c(root: &Path, statements: &str) {
    sql(&path(root, "claude-code/c"), statements);
}

fn on_meta(root: &Path, statements: &str) {
    sql(&root.join("meta.db"), statements);
}

fn remove(root: &Path, files: &[&str]) {
    files.iter().for_each(|file| std::fs::remove_file(root.join(file)).unwrap());
}

/// Signs a record anew.
fn sign_again(root: &Path, sequence: i64, key: &SigningKey) {
    let database = rusqlite::Connection::open(path(root, "codex/a")).unwrap();
    let query = "SELECT hash FROM capsules WHERE sequence = ?1";
    let hash: String = database.query_row(query, [sequence], |row| row.get(0)).unwrap();
    let change = "UPDATE capsules SET signature = ?1, signed_by = ?2 WHERE sequence = ?3";
    let values = rusqlite::params![key.sign(&hash), key.public().fingerprint(), sequence];
    database.execute(change, values).unwrap();
}

/// Edits a text and makes its hash again.
fn edit_with_hash(root: &Path, sequence: i64) {
    let database = rusqlite::Connection::open(path(root, "codex/a")).unwrap();
    let query = "SELECT canonical FROM capsules WHERE sequence = ?1";
    let text: String = database.query_row(query, [sequence], |row| row.get(0)).unwrap();
    let text = text.replace("\"tool\"", "\"chat\"");
    let change = "UPDATE capsules SET canonical = ?1, hash = ?2 WHERE sequence = ?3";
    database.execute(change, rusqlite::params![text, sha3_hex(text.as_bytes()), sequence]).unwrap();
}

/// Leaves a database as a writer does that is killed in the middle of a transaction.
pub fn leave_hot_journal(file: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work.db");
    std::fs::copy(file, &work).unwrap();
    let database = rusqlite::Connection::open(&work).unwrap();
    let statements = "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 5; BEGIN IMMEDIATE;
        UPDATE capsules SET canonical = canonical || ' '; CREATE TABLE padding (bytes BLOB);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
        INSERT INTO padding SELECT randomblob(4000) FROM n;";
    database.execute_batch(statements).unwrap();
    let journal = |path: &Path| PathBuf::from(format!("{}-journal", path.display()));
    std::fs::copy(&work, file).unwrap();
    std::fs::copy(journal(&work), journal(file)).unwrap();
    assert!(std::fs::metadata(journal(file)).unwrap().len() > 0);
}

const CUT_A: &str = "DELETE FROM capsules WHERE sequence > 4";
const A: &str = "codex/a";
const C: &str = "claude-code/c";

fn cases() -> Vec<HomeCase> {
    vec![
        (
            "text edited, first",
            &|root| on_a(root, "UPDATE capsules SET canonical = canonical || ' ' WHERE sequence = 0"),
            ("invalid", "hash", A, Some(0)),
        ),
        (
            "text edited, middle",
            &|root| on_a(root, "UPDATE capsules SET canonical = canonical || ' ' WHERE sequence = 3"),
            ("invalid", "hash", A, Some(3)),
        ),
        (
            "text edited, last",
            &|root| on_a(root, "UPDATE capsules SET canonical = canonical || ' ' WHERE sequence = 5"),
            ("invalid", "hash", A, Some(5)),
        ),
        (
            "text edited and hash renewed",
            &|root| edit_with_hash(root, 3),
            ("invalid", "signature", A, Some(3)),
        ),
        (
            "hash edited",
            &|root| on_a(root, "UPDATE capsules SET hash = printf('%064d', 7) WHERE sequence = 3"),
            ("invalid", "hash", A, Some(3)),
        ),
        (
            "hash no hex",
            &|root| on_a(root, "UPDATE capsules SET hash = 'x' WHERE sequence = 3"),
            ("invalid", "malformed", A, Some(3)),
        ),
        (
            "signature emptied",
            &|root| on_a(root, "UPDATE capsules SET signature = '' WHERE sequence = 3"),
            ("invalid", "signature", A, Some(3)),
        ),
        (
            "signature in upper case",
            &|root| on_a(root, "UPDATE capsules SET signature = upper(signature) WHERE sequence = 3"),
            ("invalid", "signature", A, Some(3)),
        ),
        (
            "signature of another record",
            &|root| {
                on_a(
                    root,
                    "UPDATE capsules SET signature = (SELECT signature FROM capsules WHERE sequence = 1) WHERE sequence = 3",
                );
            },
            ("invalid", "signature", A, Some(3)),
        ),
        (
            "signer unknown",
            &|root| on_a(root, "UPDATE capsules SET signed_by = '0123456789abcdef' WHERE sequence = 3"),
            ("invalid", "unknown_signer", A, Some(3)),
        ),
        (
            "signed by a key that is known",
            &|root| sign_again(root, 5, &stranger()),
            ("invalid", "signer_not_allowed", A, Some(5)),
        ),
        (
            "signed by a stranger",
            &|root| sign_again(root, 5, &SigningKey::from_seed(&[98; 32])),
            ("invalid", "unknown_signer", A, Some(5)),
        ),
        (
            "column sequence no number",
            &|root| on_a(root, "UPDATE capsules SET sequence = 'two' WHERE sequence = 2"),
            ("invalid", "column", A, Some(2)),
        ),
        (
            "column sequence renumbered",
            &|root| on_a(root, "UPDATE capsules SET sequence = 9 WHERE sequence = 3"),
            ("invalid", "column", A, Some(3)),
        ),
        (
            "column id edited",
            &|root| on_a(root, "UPDATE capsules SET id = 'x' WHERE sequence = 1"),
            ("invalid", "column", A, Some(1)),
        ),
        (
            "column previous_hash edited",
            &|root| on_a(root, "UPDATE capsules SET previous_hash = NULL WHERE sequence = 2"),
            ("invalid", "column", A, Some(2)),
        ),
        (
            "record removed",
            &|root| on_a(root, "DELETE FROM capsules WHERE sequence = 2"),
            ("invalid", "missing", A, Some(2)),
        ),
        (
            "records hidden under another tenant",
            &|root| on_a(root, "UPDATE capsules SET tenant_id = x'61' WHERE sequence > 3"),
            ("invalid", "malformed", A, None),
        ),
        ("tail cut", &|root| on_a(root, CUT_A), ("incomplete", "truncated", A, Some(5))),
        (
            "tail cut with its keys",
            &|root| on_a(root, &format!("{CUT_A}; DELETE FROM capsid_keys WHERE sequence > 4")),
            ("incomplete", "truncated", A, Some(5)),
        ),
        (
            "every record removed",
            &|root| on_a(root, "DELETE FROM capsules"),
            ("incomplete", "truncated", A, Some(0)),
        ),
        (
            "chain removed",
            &|root| remove(root, &["chains/codex/a.db"]),
            ("incomplete", "conversation_missing", A, Some(0)),
        ),
        (
            "chain removed with its checkpoint",
            &|root| remove(root, &["chains/codex/a.db", "chains/codex/a.checkpoint.json"]),
            ("incomplete", "conversation_missing", A, Some(0)),
        ),
        (
            "chain replaced by another history",
            &|root| {
                remove(root, &["chains/codex/a.db"]);
                extend(root, "codex", "a", 6, "other");
            },
            ("invalid", "altered", A, Some(3)),
        ),
        (
            "chain replaced by no database",
            &|root| std::fs::write(path(root, A), "no database").unwrap(),
            ("unreadable", "unreadable", A, None),
        ),
        (
            "chain emptied",
            &|root| std::fs::write(path(root, A), "").unwrap(),
            ("incomplete", "truncated", A, Some(0)),
        ),
        (
            "chains swapped",
            &|root| {
                std::fs::rename(path(root, A), root.join("x")).unwrap();
                std::fs::rename(path(root, "codex/b"), path(root, A)).unwrap();
                std::fs::rename(root.join("x"), path(root, "codex/b")).unwrap();
            },
            ("invalid", "contradiction", A, None),
        ),
        (
            "chain copied under another name",
            &|root| {
                std::fs::copy(path(root, A), path(root, "codex/d")).unwrap();
            },
            ("invalid", "contradiction", "codex/d", None),
        ),
        (
            "open chain cut",
            &|root| on_c(root, "DELETE FROM capsules WHERE sequence > 1"),
            ("incomplete", "truncated", C, Some(2)),
        ),
        (
            "open chain cut with its keys",
            &|root| {
                on_c(
                    root,
                    "DELETE FROM capsules WHERE sequence > 1; DELETE FROM capsid_keys WHERE sequence > 1",
                );
            },
            ("incomplete", "truncated", C, Some(2)),
        ),
        (
            "open chain cut with its keys and checkpoint",
            &|root| {
                on_c(
                    root,
                    "DELETE FROM capsules WHERE sequence > 1; DELETE FROM capsid_keys WHERE sequence > 1",
                );
                remove(root, &["chains/claude-code/c.checkpoint.json"]);
            },
            ("incomplete", "truncated", C, Some(2)),
        ),
        (
            "open chain removed with its checkpoint",
            &|root| remove(root, &["chains/claude-code/c.db", "chains/claude-code/c.checkpoint.json"]),
            ("incomplete", "conversation_missing", C, Some(0)),
        ),
        (
            "meta entry edited",
            &|root| on_meta(root, "UPDATE capsules SET canonical = canonical || ' ' WHERE sequence = 1"),
            ("invalid", "meta_invalid", "meta", Some(1)),
        ),
        (
            "meta tail cut",
            &|root| on_meta(root, "DELETE FROM capsules WHERE sequence > 1"),
            ("incomplete", "meta_truncated", "meta", Some(2)),
        ),
        (
            "meta tail cut with its keys",
            &|root| {
                on_meta(
                    root,
                    "DELETE FROM capsules WHERE sequence > 1; DELETE FROM capsid_keys WHERE sequence > 1",
                );
            },
            ("incomplete", "meta_truncated", "meta", Some(2)),
        ),
        (
            "meta tail cut with its keys and checkpoint",
            &|root| {
                on_meta(
                    root,
                    "DELETE FROM capsules WHERE sequence > 1; DELETE FROM capsid_keys WHERE sequence > 1",
                );
                remove(root, &["meta.checkpoint.json"]);
            },
            ("incomplete", "meta_truncated", "meta", Some(2)),
        ),
        (
            "meta-chain removed with its checkpoint",
            &|root| remove(root, &["meta.db", "meta.checkpoint.json"]),
            ("incomplete", "meta_missing", "meta", Some(0)),
        ),
        (
            "checkpoint removed and another damaged",
            &|root| {
                remove(root, &["chains/codex/a.checkpoint.json"]);
                std::fs::write(root.join("chains/codex/b.checkpoint.json"), "[").unwrap();
            },
            VALID,
        ),
        ("a writer killed half way", &|root| leave_hot_journal(&path(root, A)), VALID),
        (
            "every trace removed alike",
            &|root| {
                remove(root, &["meta.db", "meta.checkpoint.json", "chains/codex/a.checkpoint.json"]);
                on_a(
                    root,
                    &format!(
                        "{CUT_A}; DELETE FROM capsid_keys WHERE sequence > 4; DROP TABLE capsid_finalised"
                    ),
                );
                sql(&path(root, "codex/b"), "DROP TABLE capsid_finalised");
            },
            VALID,
        ),
    ]
}

#[test]
fn forty_changes_of_a_home_get_their_verdict() {
    let cases = cases();
    assert_eq!(cases.len(), 40);
    let mut mismatches = Vec::new();
    for (name, change, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        base(folder.path());
        change(folder.path());
        let verdict = judge(folder.path(), Vec::new());
        let first =
            verdict.findings.iter().find(|one| one.level == verdict.level && !verdict.level.is_good());
        let actual = (
            verdict.level.as_str(),
            first.map_or("", |one| one.code.as_str()),
            first.and_then(|one| one.chain.as_deref()).unwrap_or_default(),
            first.and_then(|one| one.position),
        );
        if actual != expected {
            let findings = &verdict.findings;
            mismatches
                .push(format!("{name}\n  expected {expected:?}\n  actual   {actual:?}\n  {findings:?}"));
        }
    }
    assert!(mismatches.is_empty(), "{} differ\n{}", mismatches.len(), mismatches.join("\n"));
}

#[test]
fn the_honest_home_is_valid_and_a_noted_head_shows_what_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    base(root);
    let verdict = judge(root, Vec::new());
    assert_eq!(verdict.level.as_str(), "valid", "{:?}", verdict.findings);
    let length = 3;
    let hash = crate::store::all(&root.join("meta.db"), None)[2].seal.hash.clone();
    let code =
        |root: &Path, noted: PinnedHead| judge(root, vec![noted]).decisive().map(|one| one.code.as_str());
    assert_eq!(code(root, PinnedHead { length, hash: hash.clone() }), None);
    assert_eq!(code(root, PinnedHead { length, hash: "0".repeat(64) }), Some("pinned_head_differs"));
    assert_eq!(code(root, PinnedHead { length: 4, hash }), Some("pinned_head_missing"));
}

#[test]
fn a_quick_look_finds_what_is_missing_and_says_what_it_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    base(root);
    let look = || {
        let options = CollectOptions { quick: true, ..CollectOptions::default() };
        let found = collect_home(&TrailHome::at(root), &keys(), &options).unwrap();
        found.evaluate(&SignerPolicy::implied(Require::Own))
    };
    let verdict = look();
    assert_eq!(verdict.level.as_str(), "unverified", "{:?}", verdict.findings);
    assert!(verdict.findings[0].message.starts_with("Not checked: content and signatures of "));
    on_a(root, CUT_A);
    assert_eq!(look().level.as_str(), "incomplete");
    let other = "UPDATE capsules SET hash = printf('%064d', 7) WHERE sequence = 3";
    on_a(root, other);
    assert_eq!(look().decisive().unwrap().code.as_str(), "hash", "the record of the last count is read");
}
