//! Reading changes no byte, in whatever state a writer left a database.

use super::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Every file below a folder: its bytes, and when it was changed.
fn tree(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(tree(&path));
        } else {
            let changed = path.metadata().unwrap().modified().unwrap();
            files.insert(path.clone(), (std::fs::read(&path).unwrap(), changed));
        }
    }
    files
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

/// Copies a database in the middle of what a writer does, as a killed writer leaves it.
fn leave_state(chain: &Path, statements: &str, suffixes: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work.db");
    std::fs::copy(chain, &work).unwrap();
    let database = rusqlite::Connection::open(&work).unwrap();
    database.execute_batch(statements).unwrap();
    std::fs::copy(&work, chain).unwrap();
    for suffix in suffixes {
        std::fs::copy(beside(&work, suffix), beside(chain, suffix)).unwrap();
        assert!(beside(chain, suffix).metadata().unwrap().len() > 0, "{suffix}");
    }
}

const HALF_A_TRANSACTION: &str = "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 5; BEGIN IMMEDIATE;
    UPDATE capsules SET canonical = canonical || ' '; CREATE TABLE padding (bytes BLOB);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
    INSERT INTO padding SELECT randomblob(4000) FROM n;";
const LOGGED: &str =
    "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE padding (bytes BLOB);";

#[test]
fn verify_list_inspect_and_export_change_no_byte() {
    type State = (&'static str, fn(&Path));
    let states: [State; 6] = [
        ("rollback mode", |chain| leave_state(chain, "PRAGMA journal_mode = DELETE", &[])),
        ("rollback mode, half a transaction", |chain| leave_state(chain, HALF_A_TRANSACTION, &["-journal"])),
        ("write-ahead mode", |_| {}),
        ("write-ahead mode, log and index left", |chain| leave_state(chain, LOGGED, &["-wal", "-shm"])),
        ("write-ahead mode, log without index", |chain| leave_state(chain, LOGGED, &["-wal"])),
        ("write-ahead mode, an empty log", |chain| std::fs::write(beside(chain, "-wal"), "").unwrap()),
    ];
    for (name, prepare) in states {
        let desk = sealed(2);
        prepare(&desk.chain(SESSION));
        let before = tree(&desk.trail());
        let verdict = desk.expect(0, &["trail", "verify", "--json"]).json();
        assert_eq!(
            (&verdict["level"], &verdict["total"]),
            (&"valid".into(), &7.into()),
            "{name}: {verdict:#}"
        );
        let codes: Vec<&str> =
            verdict["findings"].as_array().unwrap().iter().filter_map(|one| one["code"].as_str()).collect();
        assert_eq!(codes.contains(&"recovered_copy"), name.contains("half"), "{name}: {codes:?}");
        desk.expect(0, &["trail", "list"]);
        desk.expect(0, &["trail", "inspect", SESSION]);
        desk.expect(0, &["trail", "export", "--out", "bundle"]);
        assert!(tree(&desk.trail()) == before, "{name}: something was written");
    }
}

#[test]
fn a_reader_beside_a_live_writer_sees_what_was_committed_and_changes_nothing() {
    let desk = sealed(2);
    let chain = desk.chain(SESSION);
    let writer = rusqlite::Connection::open(&chain).unwrap();
    writer.execute_batch(LOGGED).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE; DELETE FROM capsules").unwrap();
    let files = [chain.clone(), beside(&chain, "-wal")];
    let bytes = || files.clone().map(|file| std::fs::read(file).unwrap());
    let before = bytes();
    let verdict = desk.expect(0, &["trail", "verify", chain.to_str().unwrap(), "--json"]).json();
    assert_eq!(verdict["chains"][0]["verified"], 6);
    assert!(bytes() == before);
    writer.execute_batch("ROLLBACK").unwrap();
}
