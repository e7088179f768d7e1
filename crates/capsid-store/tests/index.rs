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
fn however_much_is_followed_at_once_the_index_comes_to_the_same() {
    both(|options| {
        let store = open(options);
        let change = |n: usize| {
            task(&store, n);
            ingest_tool(&store, n % 5);
            let relation = json!({"relations": [{"source_name": format!("Tool {}", n % 5), "source_type": "tool",
                "target_name": "upload_failed", "target_type": "signal", "type": "breaks", "confidence": 0.5}]});
            let told = ingest::read(relation.as_object().unwrap()).unwrap();
            let who = format!("user:u{}", n % 3);
            store.write_now(move |tx| graph::ingest(tx, &who, &told, MAX_TOLD, NOW)).unwrap();
            if n % 4 == 3 {
                let everything = graph::ForgetSelection::Everything;
                store.write_now(move |tx| graph::forget_statements(tx, "user:u1", &everything, NOW)).unwrap();
            }
        };
        // What is named by relations must be in the index when they are told.
        task(&store, 99);
        (0..5).for_each(|n| ingest_tool(&store, n));
        followed(&store);
        let sizes = [1, 7, 2_000];
        for n in 0..24 {
            change(n);
            store.follow_graph_part(sizes[n % 3], NOW).unwrap();
        }
        let all = followed(&store);
        assert!(all.contains("kind=\"breaks\""), "{all}");
        for most in sizes {
            store.reset_index().unwrap();
            while store.follow_graph_part(most, NOW).unwrap() {}
            assert_eq!(store.read_now(graph::dump).unwrap(), all, "{most} at once");
        }
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
