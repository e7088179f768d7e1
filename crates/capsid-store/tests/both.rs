//! What the two databases have to do alike, below every operation.

use capsid_model::problem::{Code, Problem, Result};
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::system::meta;
use capsid_store::{Store, StoreOptions, params};
use capsid_testkit::postgres::TestPostgres;

const NOW: Time = Time(1_767_225_600_000);

pub fn both(test: impl Fn(&Store)) {
    let folder = tempfile::tempdir().unwrap();
    test(&Store::open(&StoreOptions::new(folder.path(), None), NOW).unwrap());
    let database = TestPostgres::empty_database();
    test(&Store::open(&StoreOptions::new(folder.path(), Some(database.url.clone())), NOW).unwrap());
}

#[test]
fn numbers_of_any_kind_are_read() {
    both(|store| {
        let read = store
            .read_now(|tx| {
                tx.query_one::<(i64, bool, f64, f64, i64, Option<i64>, bool)>(
                    "SELECT 1, CASE WHEN 1 = 1 THEN 1 ELSE 0 END, 2, CAST(1.5 AS DOUBLE PRECISION), COUNT(*), NULL, 1 = 1 FROM meta",
                    &[],
                )
            })
            .unwrap();
        assert_eq!(read, (1, true, 2.0, 1.5, 0, None, true));
    });
}

#[test]
fn a_write_that_fails_leaves_nothing_behind() {
    both(|store| {
        let failed: Result<()> = store.write_now(|tx| {
            meta::get_or_set(tx, "a", "1")?;
            Err(Problem::new(Code::InputInvalid, "No."))
        });
        assert_eq!(failed.unwrap_err().code, Code::InputInvalid);
        let left = store.read_now(|tx| tx.count("SELECT COUNT(*) FROM meta", &[])).unwrap();
        assert_eq!(left, 0);
        // The one after it is not harmed.
        store.write_now(|tx| meta::get_or_set(tx, "a", "2")).unwrap();
    });
}

#[test]
fn a_statement_that_fails_undoes_the_whole_operation() {
    both(|store| {
        let failed: Result<()> = store.write_now(|tx| {
            meta::get_or_set(tx, "a", "1")?;
            let _ignored = tx.run("INSERT INTO meta (key, value) VALUES ('a', '2')", &[]);
            Err(Problem::new(Code::InputInvalid, "No."))
        });
        assert!(failed.is_err());
        assert_eq!(store.read_now(|tx| tx.count("SELECT COUNT(*) FROM meta", &[])).unwrap(), 0);
    });
}

#[test]
fn texts_come_back_and_order_byte_for_byte() {
    let texts = ["", "Z", "a", "\u{e9}", "e\u{301}", "ſ", "İ", "雨", "\u{10ffff}", "\u{1b}[0m", "' -- \" \\"];
    both(|store| {
        store
            .write_now(move |tx: &mut dyn Tx| {
                for text in texts {
                    tx.run("INSERT INTO meta (key, value) VALUES ($1, $1)", params![text])?;
                }
                Ok(())
            })
            .unwrap();
        let back =
            store.read_now(|tx| tx.query_all::<String>("SELECT value FROM meta ORDER BY key", &[])).unwrap();
        let mut sorted = texts.map(str::to_owned).to_vec();
        sorted.sort_unstable();
        assert_eq!(back, sorted);
    });
}

#[test]
fn the_audit_and_the_ledger_cannot_be_changed() {
    both(|store| {
        let made = store.write_now(|tx| {
            tx.run(
                "INSERT INTO audit (at, actor, kind, subject, action) VALUES (1, 'hub', 'node', 'n', 'made')",
                &[],
            )
        });
        assert_eq!(made.unwrap(), 1);
        for change in ["UPDATE audit SET actor = 'x'", "DELETE FROM audit"] {
            assert!(store.write_now(move |tx| tx.run(change, &[])).is_err(), "{change}");
        }
    });
}

/// What a server says at the commit, by the code that it says it with.
#[test]
fn a_database_server_without_room_is_written_again_once_it_has_some() {
    let database = TestPostgres::empty_database();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&StoreOptions::new(folder.path(), Some(database.url.clone())), NOW).unwrap();
    let statements = [
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
            IF NEW.key = ''fails'' THEN RAISE EXCEPTION ''refused'' USING ERRCODE = NEW.value; END IF;
            RETURN NULL; END'",
        "CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON meta DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION refuse()",
    ];
    for statement in statements {
        store.write_now(move |tx| tx.run(statement, &[])).unwrap();
    }
    let cases = [
        ("53100", Code::DiskFull),
        ("58030", Code::IoError),
        ("XX001", Code::StoreDamaged),
        ("25006", Code::StoreUnreachable),
    ];
    for (state, code) in cases {
        let refused = store.write_now(move |tx| meta::get_or_set(tx, "fails", state)).unwrap_err();
        assert_eq!(refused.code, code, "{state}: {refused}");
        store.write_now(move |tx| meta::get_or_set(tx, state, "kept")).unwrap();
    }
    let kept = store.read_now(|tx| tx.query_all::<String>("SELECT value FROM meta ORDER BY key", &[]));
    assert_eq!(kept.unwrap(), ["kept"; 4]);
}

#[test]
fn a_second_hub_on_one_sqlite_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let first = Store::open(&StoreOptions::new(folder.path(), None), NOW).unwrap();
    let refused = Store::open(&StoreOptions::new(folder.path(), None), NOW).err().unwrap();
    assert_eq!(refused.code, Code::StoreLocked);
    assert!(refused.fix.unwrap().contains("PostgreSQL"));
    // A tool beside it is not.
    Store::open(&StoreOptions::new(folder.path(), None).shared(), NOW).unwrap();
    drop(first);
    Store::open(&StoreOptions::new(folder.path(), None), NOW).unwrap();
}
