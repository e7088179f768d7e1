//! Reads that may be a second old, from a standby.

use capsid_model::problem::Problem;
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::{Store, StoreOptions, params};
use capsid_testkit::postgres_pair::PostgresPair;
use capsid_testkit::wait::until;
use std::time::Duration;
use tokio::runtime::Runtime;

const LIMIT: Duration = Duration::from_secs(60);

struct Reader {
    store: Store,
    runtime: Runtime,
}

impl Reader {
    fn is_on_standby(&self) -> bool {
        let ask = |tx: &mut dyn Tx| tx.query_one::<bool>("SELECT pg_is_in_recovery()", params![]);
        self.runtime.block_on(self.store.read_replica::<_, Problem, _>(ask)).unwrap()
    }

    fn find(&self, key: &'static str) -> Option<String> {
        let ask = move |tx: &mut dyn Tx| {
            tx.query_first::<String>("SELECT value FROM meta WHERE key = $1", params![key])
        };
        self.runtime.block_on(self.store.find_replicated::<_, Problem, _>(ask)).unwrap()
    }

    fn insert(&self, key: &'static str, is_durable: bool) {
        let insert = move |tx: &mut dyn Tx| {
            if !is_durable {
                // Otherwise it would wait for the standby.
                tx.run("SET LOCAL synchronous_commit = local", params![])?;
            }
            tx.run("INSERT INTO meta (key, value) VALUES ($1, 'there')", params![key])
        };
        self.store.write_now(insert).unwrap();
    }
}

#[test]
fn reads_go_to_a_standby_as_long_as_it_is_close_to_the_primary() {
    let mut pair = PostgresPair::start();
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions {
        read_database: Some(
            pair.url.replace("target_session_attrs=read-write", "target_session_attrs=read-only"),
        ),
        ..StoreOptions::new(folder.path(), Some(pair.url.clone()))
    };
    let reader = Reader {
        store: Store::open(&options, Time(1)).unwrap(),
        runtime: tokio::runtime::Builder::new_current_thread().build().unwrap(),
    };
    until("the standby serves reads", LIMIT, || reader.is_on_standby());
    reader.insert("first", true);
    assert_eq!(reader.find("first").as_deref(), Some("there"));
    assert_eq!(reader.find("never"), None);

    pair.cut_standby_off();
    reader.insert("second", false);
    assert_eq!(reader.find("second").as_deref(), Some("there"), "what a standby lacks, the primary has");
    until("the primary serves reads", LIMIT, || !reader.is_on_standby());

    pair.mend_standby();
    until("the standby serves reads again", LIMIT, || reader.is_on_standby());

    // The standby becomes the primary: nothing is left to be its copy.
    pair.kill_primary();
    pair.promote_standby();
    reader.insert("third", true);
    assert_eq!(reader.find("third").as_deref(), Some("there"));
    assert!(!reader.is_on_standby());
}

#[test]
fn without_a_standby_the_primary_answers() {
    let database = capsid_testkit::postgres::TestPostgres::database();
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new(folder.path(), Some(database.url.clone()));
    let reader = Reader {
        store: Store::open(&options, Time(1)).unwrap(),
        runtime: tokio::runtime::Builder::new_current_thread().build().unwrap(),
    };
    assert!(!reader.is_on_standby());
    reader.insert("key", true);
    assert_eq!(reader.find("key").as_deref(), Some("there"));
}
