//! A backup that is taken while bundles are published holds what was acknowledged before, and comes back whole into
//! either database.

use crate::common::{Bundle, On, START, TestHub, both};
use capsid_model::time::Time;
use capsid_store::backup::dump;
use capsid_store::{Store, StoreOptions, backup, fsck};
use capsid_testkit::postgres::TestPostgres;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

const DELAY: Time = Time(START.0 + 1000);

fn options(hub: &TestHub) -> StoreOptions {
    StoreOptions::new(&hub.hub.config.data, hub.hub.config.database.clone())
}

pub fn back_up(hub: &TestHub, out: &Path) {
    backup::backup(&options(hub), out, DELAY, Box::new(|_, _| {})).unwrap();
}

/// What a store holds, once it was looked over.
fn dump_of(options: &StoreOptions) -> String {
    let store = Store::open(options, DELAY).unwrap();
    let report = store.read_now(|tx| fsck::check(tx, &mut |_, _, _| {})).unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
    store.read_now(dump::dump).unwrap()
}

#[test]
fn a_backup_of_either_database_restores_into_either() {
    both(|hub| {
        hub.fill(80);
        hub.post("/a2a/validator/stake", &serde_json::json!({"sender_id": "node_0"})).expect(200);
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("hub.backup");
        back_up(hub, &out);
        let database = TestPostgres::empty_database();
        let targets = [
            StoreOptions::new(folder.path().join("restored"), None),
            StoreOptions::new(folder.path(), Some(database.url.clone())),
        ];
        for target in targets {
            backup::restore(&out, &target, DELAY, Box::new(|_, _| {})).unwrap();
            assert_eq!(dump_of(&target), hub.dump());
            let again = backup::restore(&out, &target, DELAY, Box::new(|_, _| {})).unwrap_err();
            assert!(again.message.contains("already holds a hub"), "{again}");
            assert_eq!(dump_of(&target), hub.dump(), "a refusal changes nothing");
        }
    });
}

#[test]
fn numbers_go_on_after_those_that_were_given_out() {
    both(|hub| {
        hub.fill(2);
        let store = &hub.hub.store;
        store
            .write_now(|tx| {
                for n in 0..5 {
                    tx.run(
                        "INSERT INTO events (node_id, kind, payload, created_at, expires_at) VALUES ('n', 'k', '{}', $1, 9)",
                        capsid_store::params![n],
                    )?;
                }
                tx.run("DELETE FROM events", &[])
            })
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("hub.backup");
        back_up(hub, &out);
        let database = TestPostgres::empty_database();
        let targets = [
            StoreOptions::new(folder.path().join("restored"), None),
            StoreOptions::new(folder.path(), Some(database.url.clone())),
        ];
        for target in targets {
            backup::restore(&out, &target, DELAY, Box::new(|_, _| {})).unwrap();
            let store = Store::open(&target, DELAY).unwrap();
            let next = store
                .write_now(|tx| {
                    tx.count(
                        "INSERT INTO events (node_id, kind, payload, created_at, expires_at)
                         VALUES ('n', 'k', '{}', 1, 9) RETURNING seq",
                        &[],
                    )
                })
                .unwrap();
            assert_eq!(next, 6);
        }
    });
}

#[test]
fn a_backup_under_load_holds_every_bundle_that_was_acknowledged_before() {
    both(|hub| {
        hub.fill(10);
        let folder = tempfile::tempdir().unwrap();
        let acknowledged = AtomicU64::new(10);
        let (before, out) = std::thread::scope(|scope| {
            let publisher = scope.spawn(|| {
                for n in 10..60 {
                    hub.publish("node_load", &Bundle::new(n)).expect(200);
                    acknowledged.fetch_add(1, Ordering::SeqCst);
                }
            });
            while acknowledged.load(Ordering::SeqCst) < 20 {
                std::thread::yield_now();
            }
            let before = acknowledged.load(Ordering::SeqCst);
            let out = folder.path().join("hub.backup");
            back_up(hub, &out);
            let meanwhile = acknowledged.load(Ordering::SeqCst);
            println!("{} bundles were published during the backup", meanwhile - before);
            publisher.join().unwrap();
            (before, out)
        });
        let target = StoreOptions::new(folder.path().join("restored"), None);
        backup::restore(&out, &target, DELAY, Box::new(|_, _| {})).unwrap();
        let dump = dump_of(&target);
        for n in 0..before {
            let id = Bundle::new(n).capsule_id().trim_start_matches("sha256:").to_owned();
            assert!(dump.contains(&format!("asset_id={id}")), "bundle {n} is not in the backup");
        }
        let counted = dump.lines().find_map(|line| line.strip_prefix("bundles: ")).unwrap().to_owned();
        let held: u64 = counted.trim_end_matches(" rows").parse().unwrap();
        assert!((before..=60).contains(&held), "{held} bundles");
    });
}

#[test]
fn a_backup_never_writes_over_anything_and_only_its_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    both(|hub| {
        hub.fill(1);
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("hub.backup");
        std::fs::write(&out, "mine").unwrap();
        let refused = backup::backup(&options(hub), &out, DELAY, Box::new(|_, _| {})).unwrap_err();
        assert!(refused.message.contains("is there already"), "{refused}");
        assert_eq!(std::fs::read_to_string(&out).unwrap(), "mine");
        std::fs::remove_file(&out).unwrap();
        back_up(hub, &out);
        assert_eq!(out.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let left: Vec<_> =
            folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["hub.backup"], "nothing else is left behind");
    });
}

#[test]
fn what_is_no_backup_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let target = StoreOptions::new(folder.path().join("restored"), None);
    let (missing, text) = (folder.path().join("none"), folder.path().join("text"));
    std::fs::write(&text, "This is not a database, however long it is. ".repeat(100)).unwrap();
    let other = folder.path().join("other.db");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE a (b)").unwrap();
    for (path, code) in [(missing, "file_not_found"), (text, "store_damaged"), (other, "store_damaged")] {
        let refused = backup::restore(&path, &target, DELAY, Box::new(|_, _| {})).unwrap_err();
        assert_eq!(refused.code.as_str(), code, "{refused}");
        assert!(!target.file().exists());
    }
    let empty = TestHub::start(On::Sqlite, |_| {});
    let nowhere = StoreOptions::new(folder.path().join("nowhere"), None);
    let refused =
        backup::backup(&nowhere, &folder.path().join("out"), DELAY, Box::new(|_, _| {})).unwrap_err();
    assert_eq!(refused.code.as_str(), "file_not_found");
    drop(empty);
}
