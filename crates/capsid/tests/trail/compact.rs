//! Smaller files with the same records.

use super::*;
use capsid_seal::StoredRecord;
use capsid_seal::chain::ChainReader;
use rusqlite::Connection;
use std::path::Path;

fn records(path: &Path) -> Vec<StoredRecord> {
    ChainReader::open(path).unwrap().records(None).map(Result::unwrap).collect()
}

fn page_size(path: &Path) -> u32 {
    Connection::open(path).unwrap().query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap()
}

/// Rewrites a chain with the pages of older versions.
fn with_small_pages(path: &Path) {
    let database = Connection::open(path).unwrap();
    database.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA page_size = 4096; VACUUM").unwrap();
    // Pages that nothing uses any more.
    database
        .execute_batch(
            "CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(400000)); DROP TABLE filler",
        )
        .unwrap();
    drop(database);
    assert_eq!(page_size(path), 4096);
}

#[test]
fn compact_makes_files_smaller_and_changes_no_record() {
    let desk = sealed(40);
    let chain = desk.chain(SESSION);
    assert_eq!(page_size(&chain), 8_192, "a new chain has larger pages");
    with_small_pages(&chain);
    let (before, bytes) = (records(&chain), std::fs::read(&chain).unwrap());

    let tried = desk.expect(0, &["trail", "compact", "--all", "--dry-run", "--json"]).json();
    assert_eq!(std::fs::read(&chain).unwrap(), bytes, "a dry run changes nothing");
    let ran = desk.expect(0, &["trail", "compact", "--all", "--json"]).json();
    assert_eq!(ran["gained"], tried["gained"]);
    let gained = ran["gained"].as_u64().unwrap();
    assert!(gained > 0 && gained <= bytes.len() as u64, "{ran}");
    assert_eq!(page_size(&chain), 16_384);
    assert_eq!(records(&chain), before);
    desk.expect(0, &["trail", "verify", "--signatures"]);
    desk.expect(0, &["trail", "verify-meta", "--deep"]);

    // The keys of what was sealed are still there: nothing is sealed twice.
    desk.transcript(SESSION, 41);
    let sealed = ["trail", "seal", "--tool", "claude-code", "--session", SESSION, "--finalize", "--json"];
    assert_eq!(desk.expect(0, &sealed).json()["appended"], 3);
    assert_eq!(desk.expect(0, &["trail", "compact", SESSION, "--json"]).json()["gained"], 0);
    let mut left: Vec<String> = std::fs::read_dir(chain.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, [format!("{SESSION}.checkpoint.json"), format!("{SESSION}.db")], "no copy is left");
}

#[test]
fn compact_leaves_a_chain_alone_that_somebody_writes_to() {
    let desk = sealed(40);
    let chain = desk.chain(SESSION);
    with_small_pages(&chain);
    let writer = Connection::open(&chain).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let ran = desk.expect(1, &["trail", "compact", SESSION]);
    assert!(ran.stderr.contains("left alone:"), "{ran}");
    drop(writer);
    assert_eq!(page_size(&chain), 4096);
    desk.expect(0, &["trail", "compact", SESSION]);
    assert_eq!(page_size(&chain), 16_384);
}

#[test]
fn compact_takes_own_chains_only() {
    let desk = sealed(1);
    let copy = desk.home().join("copy.db");
    std::fs::copy(desk.chain(SESSION), &copy).unwrap();
    let ran = desk.expect(2, &["trail", "compact", "copy.db"]);
    assert!(ran.stderr.contains("no chain of your own trail"), "{ran}");
    desk.expect(2, &["trail", "compact"]);
}
