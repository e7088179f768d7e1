//! Chains on disk: what is written, what is skipped, what is refused, and what a reader leaves behind.

use crate::store::*;
use capsid_model::Code;
use capsid_model::exact::ExactJson;
use capsid_seal::chain::{ChainReader, ChainWriter, RecordReason, checkpoint_of};
use std::path::Path;

#[test]
fn a_key_is_sealed_once_and_a_late_result_once_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chains/codex/s.db");
    let mut writer = ChainWriter::open(&path).unwrap();
    let first = writer.append(None, [pending("a", false), pending("b", true)], seal).unwrap();
    assert_eq!((first.appended, first.skipped, first.total), (2, 0, 2));
    let again = writer.append(None, [pending("a", false), pending("b", true)], seal).unwrap();
    assert_eq!((again.appended, again.skipped, again.total), (0, 2, 2));
    assert_eq!(again.head, first.head);
    let late = [pending("a", true), pending("b", false), pending("c", false), pending("c", false)];
    let third = writer.append(None, late.clone(), seal).unwrap();
    assert_eq!((third.appended, third.skipped, third.total), (2, 2, 4));
    assert_eq!(writer.append(None, late, seal).unwrap().appended, 0);
    assert_eq!(sound(&all(&path, None)), ["a", "b", "b later", "c"]);
    let reader = ChainReader::open(&path).unwrap();
    assert_eq!(reader.keys(None).unwrap(), ["a", "b", "b#late", "c"]);
    assert_eq!(reader.count(None).unwrap(), 4);
    assert_eq!(reader.head(None).unwrap().unwrap().seal.hash, third.head.unwrap());
    assert_eq!(reader.at(None, 2).unwrap().len(), 1);
}

#[test]
fn items_of_any_number_go_in_in_order_and_only_new_ones_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    chain(&path, 300);
    let mut made = 0;
    let mut writer = ChainWriter::open(&path).unwrap();
    let items = (0..700).map(|n| pending(&format!("k{n:04}"), false));
    let result = writer
        .append(None, items, |name, turn, link| {
            made += 1;
            seal(name, turn, link)
        })
        .unwrap();
    assert_eq!((result.appended, result.skipped, result.total, made), (400, 300, 700, 400));
    let names: Vec<String> = (0..700).map(|n| format!("k{n:04}")).collect();
    assert_eq!(sound(&all(&path, None)), names);
}

#[test]
fn a_record_that_cannot_be_sealed_keeps_its_group_out_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    for (count, bad) in [(3, 2), (200, 150)] {
        let path = folder.path().join(format!("{count}.db"));
        let mut writer = ChainWriter::open(&path).unwrap();
        let refuse = |name: &String, turn: RecordReason, link: &capsid_seal::ChainLink| match name
            == &format!("n{bad}")
        {
            true => Err(capsid_model::Problem::new(Code::SealRefused, "no")),
            false => seal(name, turn, link),
        };
        let items = || (0..count).map(|n| pending(&format!("n{n}"), false));
        assert_eq!(writer.append(None, items(), refuse).unwrap_err().code, Code::SealRefused);
        let expected = if count > 128 { 128 } else { 0 };
        assert_eq!(sound(&all(&path, None)).len(), expected, "whole groups only");
        assert_eq!(writer.append(None, items(), seal).unwrap().total, count);
        assert_eq!(sound(&all(&path, None)).len(), count as usize);
    }
}

#[test]
fn tenants_have_chains_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.db");
    let mut writer = ChainWriter::open(&path).unwrap();
    append(&mut writer, Some("one"), &["a", "b"]).unwrap();
    append(&mut writer, Some("two"), &["a"]).unwrap();
    append(&mut writer, None, &["a", "x"]).unwrap();
    append(&mut writer, Some("one"), &["b", "c"]).unwrap();
    let reader = ChainReader::open(&path).unwrap();
    let tenants = [None, Some("one".to_owned()), Some("two".to_owned())];
    assert_eq!(reader.tenants().unwrap(), tenants);
    assert_eq!(sound(&all(&path, Some("one"))), ["a", "b", "c"]);
    assert_eq!(sound(&all(&path, Some("two"))), ["a"]);
    assert_eq!(sound(&all(&path, None)), ["a", "x"]);
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_what_was_made() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("home/chains/codex/s.db");
    let writer = ChainWriter::open(&path).unwrap();
    writer.write_checkpoint(None, &checkpoint_of(&path)).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&checkpoint_of(&path)), 0o600);
    for part in ["home", "home/chains", "home/chains/codex"] {
        assert_eq!(mode(&folder.path().join(part)), 0o700, "{part}");
    }
    let log = folder.path().join("home/chains/codex/s.db-wal");
    assert!(!log.exists() || mode(&log) == 0o600);
}

#[test]
fn reading_creates_nothing_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.db");
    assert_eq!(ChainReader::open(&missing).unwrap_err().code, Code::FileNotFound);
    assert_eq!(ChainReader::open(folder.path()).unwrap_err().code, Code::ChainUnreadable);
    let text = folder.path().join("text.db");
    std::fs::write(&text, "SQLite format 3, they said, and it was nothing of the kind").unwrap();
    assert_eq!(ChainReader::open(&text).unwrap_err().code, Code::ChainUnreadable);
    let other = folder.path().join("other #?%.db");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    assert_eq!(ChainReader::open(&other).unwrap_err().code, Code::ChainUnreadable);
    let ours = folder.path().join("ours.db");
    chain(&ours, 3);
    let theirs = folder.path().join("theirs.db");
    reference_chain(&theirs, &["a"], false);
    let before = files_in(folder.path());
    assert_eq!(
        before,
        ["other #?%.db", "ours.db", "text.db", "theirs.db"],
        "a writer cleans up after itself"
    );
    let bytes = [std::fs::read(&ours).unwrap(), std::fs::read(&theirs).unwrap()];
    assert_eq!(sound(&all(&ours, None)).len(), 3);
    assert_eq!(sound(&all(&theirs, None)).len(), 1);
    assert_eq!(files_in(folder.path()), before);
    assert_eq!(bytes, [std::fs::read(&ours).unwrap(), std::fs::read(&theirs).unwrap()]);
}

#[test]
fn a_log_that_a_dead_writer_left_is_read_and_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let mut writer = ChainWriter::open(&path).unwrap();
    append(&mut writer, None, &["a", "b"]).unwrap();
    let dead = folder.path().join("dead");
    std::fs::create_dir(&dead).unwrap();
    for name in ["live.db", "live.db-wal"] {
        std::fs::copy(folder.path().join(name), dead.join(name)).unwrap();
    }
    let copy = dead.join("live.db");
    let before = (std::fs::read(&copy).unwrap(), std::fs::read(dead.join("live.db-wal")).unwrap());
    assert_eq!(sound(&all(&copy, None)), ["a", "b"], "what was acknowledged is there");
    assert_eq!(before, (std::fs::read(&copy).unwrap(), std::fs::read(dead.join("live.db-wal")).unwrap()));
    let mut writer = ChainWriter::open(&copy).unwrap();
    assert_eq!(append(&mut writer, None, &["a", "b", "c"]).unwrap().appended, 1);
    assert_eq!(sound(&all(&copy, None)), ["a", "b", "c"]);
}

#[test]
fn a_chain_of_the_reference_goes_on_and_nothing_is_sealed_twice() {
    let folder = tempfile::tempdir().unwrap();
    let noted = folder.path().join("noted.db");
    reference_chain(&noted, &["a", "b"], true);
    let mut writer = ChainWriter::open(&noted).unwrap();
    let result = append(&mut writer, None, &["a", "b", "c"]).unwrap();
    assert_eq!((result.appended, result.skipped, result.total), (1, 2, 3));
    writer.write_checkpoint(None, &checkpoint_of(&noted)).unwrap();
    assert_eq!(std::fs::read_to_string(checkpoint_of(&noted)).unwrap(), r#"{"done": ["a", "b", "c"]}"#);

    let key_of =
        |content: &ExactJson| content.at(&["context", "environment", "key"])?.as_str().map(str::to_owned);
    let bare = folder.path().join("bare.db");
    reference_chain(&bare, &["a", "b"], false);
    let mut writer = ChainWriter::open(&bare).unwrap().with_key_of(key_of);
    assert_eq!(append(&mut writer, None, &["a", "b", "c"]).unwrap().appended, 1);

    // The reference adds a record of its own after ours.
    let head = ChainReader::open(&bare).unwrap().head(None).unwrap().unwrap();
    let link = capsid_seal::ChainLink { sequence: 3, previous_hash: Some(head.seal.hash) };
    insert_row(
        &rusqlite::Connection::open(&bare).unwrap(),
        &seal(&"d".to_owned(), RecordReason::First, &link).unwrap(),
    );
    assert_eq!(append(&mut writer, None, &["a", "b", "c", "d", "e"]).unwrap().appended, 1);
    assert_eq!(sound(&all(&bare, None)), ["a", "b", "c", "d", "e"]);
}

#[test]
fn the_checkpoint_is_as_python_writes_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let mut writer = ChainWriter::open(&path).unwrap();
    let file = checkpoint_of(&path);
    writer.write_checkpoint(None, &file).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), r#"{"done": []}"#);
    append(&mut writer, None, &["z", "ü\"", "a🍐"]).unwrap();
    writer.write_checkpoint(None, &file).unwrap();
    let expected = r#"{"done": ["a\ud83c\udf50", "z", "\u00fc\""]}"#;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
}

#[test]
fn a_forked_chain_is_read_and_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forked.db");
    reference_chain(&path, &["a", "b"], false);
    let records = all(&path, None);
    insert_row(&rusqlite::Connection::open(&path).unwrap(), &records[1]);
    let problem = ChainWriter::open(&path).err().unwrap();
    assert_eq!(problem.code, Code::ChainBroken);
    assert!(problem.fix.is_some());
    assert_eq!(all(&path, None).len(), 3, "the twin comes through");
}

#[test]
fn nothing_is_built_on_a_broken_head() {
    let edits = [
        "UPDATE capsules SET canonical = replace(canonical, 'do b', 'do B') WHERE sequence = 1",
        "UPDATE capsules SET hash = upper(hash) WHERE sequence = 1",
        "UPDATE capsules SET id = 'other' WHERE sequence = 1",
        "UPDATE capsules SET sequence = 7 WHERE sequence = 1",
        "UPDATE capsules SET previous_hash = NULL WHERE sequence = 1",
        "UPDATE capsules SET canonical = 'x' WHERE sequence = 1",
        "DELETE FROM capsules WHERE sequence = 0",
        "UPDATE capsules SET hash = replace(hash, 'a', 'b') WHERE sequence = 0",
        "UPDATE capsules SET hash = x'00' WHERE sequence = 1",
    ];
    for edit in edits {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.db");
        append(&mut ChainWriter::open(&path).unwrap(), None, &["a", "b"]).unwrap();
        rusqlite::Connection::open(&path).unwrap().execute_batch(edit).unwrap();
        let before = all(&path, None);
        let problem = append(&mut ChainWriter::open(&path).unwrap(), None, &["c"]).unwrap_err();
        assert!([Code::ChainBroken, Code::ChainUnreadable].contains(&problem.code), "{edit}: {problem:?}");
        assert_eq!(all(&path, None), before, "{edit}");
    }
}

#[test]
fn a_document_database_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capsules.db");
    let table = "CREATE TABLE capsules (id VARCHAR(36) PRIMARY KEY, sequence INTEGER, data TEXT)";
    rusqlite::Connection::open(&path).unwrap().execute_batch(table).unwrap();
    let before = std::fs::read(&path).unwrap();
    assert_eq!(ChainWriter::open(&path).err().unwrap().code, Code::ChainUnreadable);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// The reference's own query, in its own language.
#[test]
fn python_reads_what_was_appended_to_a_reference_chain() {
    const SCRIPT: &str = "
import hashlib, sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute(
    'SELECT sequence, previous_hash, hash, canonical FROM capsules WHERE tenant_id IS ? ORDER BY sequence', (None,)).fetchall()
previous = None
for index, (sequence, link, digest, canonical) in enumerate(rows):
    assert sequence == index and link == previous, index
    assert hashlib.sha3_256(canonical.encode('utf-8')).hexdigest() == digest, index
    previous = digest
print(len(rows))
";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    match shared("vectors/sealed/home-sample/chains/codex") {
        Some(sample) => {
            copy(&sample, folder.path());
            let name = "019e2f00-1111-7222-8333-444455556666";
            std::fs::rename(folder.path().join(format!("{name}.db")), &path).unwrap();
            std::fs::rename(folder.path().join(format!("{name}.checkpoint.json")), checkpoint_of(&path))
                .unwrap();
        }
        None => reference_chain(&path, &["call_sh1", "call_sh2"], true),
    }
    let old = all(&path, None).len();
    let mut writer = ChainWriter::open(&path).unwrap();
    let result = append(&mut writer, None, &["call_sh1", "call_sh2", "new1", "new2"]).unwrap();
    assert_eq!((result.appended, result.skipped), (2, 2));
    // Both while the chain is still open here and after.
    for _ in 0..2 {
        let run = std::process::Command::new("python3").args(["-c", SCRIPT]).arg(&path).output();
        let Ok(run) = run else {
            eprintln!("skipped: there is no python3");
            return;
        };
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        assert_eq!(String::from_utf8_lossy(&run.stdout).trim(), (old + 2).to_string());
        writer = ChainWriter::open(&folder.path().join("elsewhere.db")).unwrap();
    }
    drop(writer);
    assert_eq!(all(&path, None).len(), old + 2);
}
