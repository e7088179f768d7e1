//! The index follows the database on both databases: whatever happens to it, it comes to the same state.

use capsid_model::time::Time;
use capsid_rules::graph::ingest;
use capsid_store::graph::{self, IngestOutcome, MAX_TOLD};
use capsid_store::work::tasks;
use capsid_store::work::tasks::NewTask;
use capsid_store::{Store, StoreOptions, params};
use capsid_testkit::postgres::TestPostgres;
use serde_json::json;

const NOW: Time = Time(1_767_225_600_000);

fn both(test: impl Fn(&StoreOptions)) {
    let folder = tempfile::tempdir().unwrap();
    test(&StoreOptions::new(folder.path().join("sqlite"), None));
    let database = TestPostgres::database();
    test(&StoreOptions::new(folder.path().join("postgres"), Some(database.url.clone())));
}

fn open(options: &StoreOptions) -> Store {
    Store::open(options, NOW).unwrap()
}

fn task(store: &Store, n: usize) {
    let task = NewTask {
        task_id: format!("task_{n}"),
        asker: "user:u".to_owned(),
        title: format!("Repair the upload number {n}"),
        signals: format!("upload_failed,signal_{n}"),
        expires_at: NOW.0 + 1_000_000,
        ..NewTask::default()
    };
    store.write_now(move |tx| tasks::add(tx, &task, NOW)).unwrap();
}

fn ingest_tool(store: &Store, n: usize) {
    let body = json!({"entities": [{"name": format!("Tool {n}"), "entity_type": "tool", "properties": {"since": n}}]});
    let told = ingest::read(body.as_object().unwrap()).unwrap();
    let done = store.write_now(move |tx| graph::ingest(tx, "user:u1", &told, MAX_TOLD, NOW)).unwrap();
    assert!(matches!(done, IngestOutcome::Done(_)), "{done:?}");
}

fn followed(store: &Store) -> String {
    store.follow_all(NOW).unwrap();
    store.read_now(graph::dump).unwrap()
}

#[test]
fn an_index_goes_on_where_it_was_and_a_new_one_comes_to_the_same() {
    both(|options| {
        let store = open(options);
        (0..3).for_each(|n| task(&store, n));
        ingest_tool(&store, 1);
        assert!(store.index_lag().unwrap().waiting > 0);
        store.follow_step(NOW).unwrap();
        drop(store);
        let store = open(options);
        ingest_tool(&store, 2);
        task(&store, 3);
        let all = followed(&store);
        assert_eq!(store.index_lag().unwrap().waiting, 0);
        assert!(all.contains("key=\"tool 2\"") && all.contains("key=\"signal_3\""), "{all}");
        drop(store);
        std::fs::remove_file(options.data.join("index.db")).unwrap();
        for end in ["-wal", "-shm"] {
            let _gone = std::fs::remove_file(options.data.join(format!("index.db{end}")));
        }
        assert_eq!(followed(&open(options)), all);
    });
}

#[test]
fn an_index_that_is_newer_than_its_database_is_made_again() {
    both(|options| {
        let store = open(options);
        ingest_tool(&store, 1);
        let before = followed(&store);
        ingest_tool(&store, 2);
        assert_ne!(followed(&store), before);
        // What a restored backup of that moment holds.
        store
            .write_now(|tx| {
                tx.run("DELETE FROM ingested_notes WHERE key = 'tool 2'", params![])?;
                tx.run("DELETE FROM changes WHERE seq = (SELECT MAX(seq) FROM changes)", params![])
            })
            .unwrap();
        assert_eq!(followed(&store), before);
    });
}

#[test]
fn an_index_that_was_away_for_longer_than_changes_are_kept_is_made_again() {
    both(|options| {
        let store = open(options);
        ingest_tool(&store, 1);
        followed(&store);
        ingest_tool(&store, 2);
        ingest_tool(&store, 3);
        let much_later = Time(NOW.0 + 2 * 86_400_000);
        let gone = store.write_now(move |tx| graph::changes::forget_old(tx, much_later)).unwrap();
        assert_eq!(gone, 2, "the last one stays");
        let all = followed(&store);
        assert!(all.contains("tool 1") && all.contains("tool 2") && all.contains("tool 3"), "{all}");
    });
}

#[test]
fn a_transaction_that_ends_after_later_ones_is_followed_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let database = TestPostgres::database();
    let store = open(&StoreOptions::new(folder.path(), Some(database.url.clone())));
    // The number of a transaction that is still open is missing.
    store
        .write_now(|tx| tx.run("SELECT nextval(pg_get_serial_sequence('tasks', 'seq'))", params![]))
        .unwrap();
    task(&store, 2);
    followed(&store);
    store
        .write_now(|tx| {
            tx.run(
                "INSERT INTO tasks (seq, task_id, asker, title, body, signals, status, amount, min_reputation,
                    allowed_models, created_at, expires_at)
                 VALUES (1, 'task_late', 'user:u', 'Late', '', 'came_late', 'open', 0, 0, '[]', 1, 2)",
                params![],
            )
        })
        .unwrap();
    assert!(followed(&store).contains("key=\"came_late\""));
}
