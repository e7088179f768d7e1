//! What was made stays, moves with a backup, and is made anew for another model and never compared with it.

use super::endpoint::{Endpoint, Mood};
use super::{HOUR, MINUTE, SAYING, near, nearest, publish, rows, start, state, work, work_all};
use crate::common::{On, START, TestHub};
use capsid_model::time::Time;
use capsid_store::backup::dump;
use capsid_store::{Store, StoreOptions, backup};
use capsid_testkit::postgres::TestPostgres;

const SAID: &str = "Capsule that stays here. signal_1";

fn each(test: impl Fn(TestHub, &Endpoint)) {
    for on in [On::Sqlite, On::Postgres] {
        println!("on {on:?}");
        let endpoint = Endpoint::start(64);
        test(start(on, &endpoint, |_| {}), &endpoint);
    }
}

#[test]
fn a_hub_that_starts_again_knows_what_was_made() {
    each(|hub, endpoint| {
        let bundle = publish(&hub, 1, "stays here");
        for n in 2..30 {
            publish(&hub, n, &format!("does number {n}"));
        }
        work_all(&hub);
        let found = near(&hub, SAID);
        endpoint.asked();
        let hub = hub.restart();
        assert!(!work(&hub));
        assert_eq!(near(&hub, SAID), found);
        assert_eq!(nearest(&hub, SAID), bundle.capsule_id());
        let asked = endpoint.asked();
        assert!(asked.len() == 1 && asked[0].texts == [SAID], "only the question is asked: {asked:?}");
        assert_eq!((state(&hub).embedded, state(&hub).dims), (29 * SAYING as i64, Some(64)));
    });
}

#[test]
fn another_model_makes_everything_anew_and_is_never_compared_with_the_old() {
    each(|hub, endpoint| {
        let bundle = publish(&hub, 1, "stays here");
        publish(&hub, 2, "stays too");
        work_all(&hub);
        assert_eq!(nearest(&hub, SAID), bundle.capsule_id());
        let hub = hub.restart_with(|config| config.search.embeddings_model = "letters".to_owned());
        endpoint.asked();
        assert!(near(&hub, SAID).is_empty());
        assert!(endpoint.asked().is_empty(), "there is nothing to compare it with");
        assert_eq!((state(&hub).embedded, state(&hub).lacking, state(&hub).dims), (0, 6, None));
        // The old ones stay until the new ones are there.
        endpoint.is(Mood::Status(500));
        assert!(work(&hub));
        assert_eq!((rows(&hub, "words"), rows(&hub, "letters")), ((4, 2), (0, 0)));
        endpoint.is(Mood::Well);
        hub.clock.advance(MINUTE);
        work_all(&hub);
        assert_eq!((rows(&hub, "words"), rows(&hub, "letters")), ((0, 0), (4, 2)));
        assert_eq!(nearest(&hub, SAID), bundle.capsule_id());
        assert!(endpoint.asked().iter().all(|asked| asked.model == "letters"));
        // And back again.
        let hub = hub.restart_with(|config| config.search.embeddings_model = "words".to_owned());
        work_all(&hub);
        assert_eq!((rows(&hub, "words"), rows(&hub, "letters")), ((4, 2), (0, 0)));
        assert_eq!(nearest(&hub, SAID), bundle.capsule_id());
    });
}

#[test]
fn vectors_of_another_length_are_refused_until_the_operator_wants_them() {
    each(|hub, endpoint| {
        let bundle = publish(&hub, 1, "stays here");
        work_all(&hub);
        endpoint.gives(128);
        publish(&hub, 2, "comes later");
        assert!(work(&hub));
        assert_eq!(state(&hub).last_error, Some("wrong_dimensions"));
        assert!(near(&hub, SAID).is_empty());
        assert_eq!((rows(&hub, "words").0, state(&hub).dims), (SAYING as i64, Some(64)));
        let hub = hub.restart_with(|config| config.search.embeddings_dimensions = 128);
        assert!(near(&hub, SAID).is_empty());
        work_all(&hub);
        assert_eq!((rows(&hub, "words"), state(&hub).dims), ((2 * SAYING as i64, 2), Some(128)));
        assert_eq!(nearest(&hub, SAID), bundle.capsule_id());
        let of_old =
            hub.hub.store.read_now(|tx| tx.count("SELECT COUNT(*) FROM embeddings WHERE dims = 64", &[]));
        assert_eq!(of_old.unwrap(), 0);
        // Other vectors than the operator wants are refused from the start.
        let hub = hub.restart_with(|config| config.search.embeddings_dimensions = 96);
        assert!(work(&hub));
        assert_eq!(state(&hub).last_error, Some("wrong_dimensions"));
        assert_eq!(rows(&hub, "words").0, 2 * SAYING as i64);
    });
}

#[test]
fn a_backup_holds_them_and_restores_into_either_database() {
    each(|hub, _| {
        publish(&hub, 1, "stays here");
        work_all(&hub);
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("hub.backup");
        let later = Time(START.0 + HOUR);
        let options = StoreOptions::new(&hub.hub.config.data, hub.hub.config.database.clone());
        backup::backup(&options, &out, later, Box::new(|_, _| {})).unwrap();
        let database = TestPostgres::empty_database();
        for target in [
            StoreOptions::new(folder.path().join("restored"), None),
            StoreOptions::new(folder.path(), Some(database.url.clone())),
        ] {
            backup::restore(&out, &target, later, Box::new(|_, _| {})).unwrap();
            let dumped = Store::open(&target, later).unwrap().read_now(dump::dump).unwrap();
            assert!(dumped.contains("embeddings: 3 rows"), "{dumped}");
            assert_eq!(dumped, hub.dump());
        }
    });
}
