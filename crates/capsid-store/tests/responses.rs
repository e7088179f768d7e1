//! Stored responses: what a repeated message gets.

use capsid_model::problem::Code;
use capsid_model::time::Time;
use capsid_store::system::responses::{
    self, KEPT_MS, MessageKey, MessageLookup, StoredResponse, find_response, save_response,
};
use capsid_store::{Store, StoreOptions};
use capsid_testkit::postgres::TestPostgres;

const NOW: Time = Time(1_767_225_600_000);

fn both(test: impl Fn(&Store)) {
    let folder = tempfile::tempdir().unwrap();
    test(&Store::open(&StoreOptions::new(folder.path(), None), NOW).unwrap());
    let database = TestPostgres::empty_database();
    test(&Store::open(&StoreOptions::new(folder.path(), Some(database.url.clone())), NOW).unwrap());
}

fn key(message_id: &str) -> MessageKey {
    MessageKey::new("node_a", "/a2a/report", message_id, "{}")
}

fn save(store: &Store, message_id: &'static str, response: StoredResponse, now: Time) {
    assert!(store.write_now(move |tx| save_response(tx, &key(message_id), 200, &response, now)).unwrap());
}

fn find(store: &Store, message_id: &'static str) -> MessageLookup {
    store.read_now(move |tx| find_response(tx, &key(message_id), NOW)).unwrap()
}

#[test]
fn a_response_comes_back_as_it_was_and_takes_less_room() {
    both(|store| {
        let body = StoredResponse::Body("{\"é\":\"the same words again, \"}".repeat(50));
        let facts = StoredResponse::Facts(vec![0, 255, 7]);
        save(store, "body", body.clone(), NOW);
        save(store, "facts", facts.clone(), NOW);
        assert_eq!(find(store, "body"), MessageLookup::Answered { status: 200, response: body });
        assert_eq!(find(store, "facts"), MessageLookup::Answered { status: 200, response: facts });
        assert_eq!(find(store, "other"), MessageLookup::New);
        let bytes = store.read_now(|tx| tx.count("SELECT MAX(length(response)) FROM responses", &[]));
        assert!(bytes.unwrap() < 200);
        let other = MessageKey::new("node_a", "/a2a/report", "body", "{\"another\":\"body\"}");
        let found = store.read_now(move |tx| find_response(tx, &other, NOW)).unwrap();
        assert_eq!(found, MessageLookup::Other);
    });
}

#[test]
fn the_response_of_an_older_version_is_given_as_it_is() {
    both(|store| {
        save(store, "old", StoredResponse::Facts(Vec::new()), NOW);
        let change = "UPDATE responses SET answer = '{\"old\":1}', response = NULL";
        store.write_now(move |tx| tx.run(change, &[])).unwrap();
        let response = StoredResponse::Body("{\"old\":1}".to_owned());
        assert_eq!(find(store, "old"), MessageLookup::Answered { status: 200, response });
    });
}

#[test]
fn a_response_of_no_known_form_is_damage() {
    both(|store| {
        save(store, "a", StoredResponse::Facts(Vec::new()), NOW);
        for damage in [
            "UPDATE responses SET response = NULL",
            "UPDATE responses SET response = key",
            "UPDATE responses SET response = substr(body_hash, 1, 0)",
        ] {
            store.write_now(move |tx| tx.run(damage, &[])).unwrap();
            let found = store.read_now(move |tx| find_response(tx, &key("a"), NOW));
            assert_eq!(found.unwrap_err().code, Code::StoreDamaged, "{damage}");
        }
    });
}

#[test]
fn responses_are_forgotten_after_a_day_and_an_id_can_be_used_again() {
    both(|store| {
        let response = || StoredResponse::Body("{}".to_owned());
        let long_ago = Time(NOW.0 - KEPT_MS - 1);
        save(store, "old", response(), long_ago);
        save(store, "older", response(), long_ago);
        save(store, "new", response(), NOW);
        assert_eq!(find(store, "old"), MessageLookup::New);
        save(store, "old", response(), NOW);
        assert_eq!(store.write_now(|tx| responses::forget_old(tx, NOW)).unwrap(), 1);
        let left = store.read_now(|tx| tx.count("SELECT COUNT(*) FROM responses", &[])).unwrap();
        assert_eq!(left, 2);
    });
}
