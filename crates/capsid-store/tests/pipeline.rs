//! What the PostgreSQL driver adds to a transaction: arrays, several statements in one round trip, and going on when a connection
//! was lost.

use super::both::both;
use capsid_model::problem::{Code, Result};
use capsid_model::time::Time;
use capsid_store::db::tx::{PipelinedStatement, Tx};
use capsid_store::{Store, StoreOptions, params};
use capsid_testkit::postgres::TestPostgres;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const INSERT: &str = "INSERT INTO meta (key, value) VALUES ($1, $2)";
const COUNT: &str = "SELECT COUNT(*) FROM meta WHERE key LIKE $1";

#[test]
fn statements_that_travel_together_happen_in_their_order() {
    both(|store| {
        let counts = store
            .write_now(|tx: &mut dyn Tx| {
                let (mut before, mut after) = (Vec::new(), Vec::new());
                let (all, one, two) = (params!["p%"], params!["p1", "a"], params!["p2", "b"]);
                let mut statements = [
                    PipelinedStatement::query(COUNT, all, |count: i64| {
                        before.push(count);
                        Ok(())
                    }),
                    PipelinedStatement::run(INSERT, one),
                    PipelinedStatement::run(INSERT, two),
                    PipelinedStatement::query(COUNT, all, |count: i64| {
                        after.push(count);
                        Ok(())
                    }),
                    PipelinedStatement::run("UPDATE meta SET value = 'c' WHERE key LIKE $1", all),
                ];
                tx.pipeline(&mut statements)?;
                let changed = statements.each_ref().map(PipelinedStatement::changed);
                assert_eq!([changed[1], changed[2], changed[4]], [1, 1, 2]);
                drop(statements);
                Ok((before, after))
            })
            .unwrap();
        assert_eq!(counts, (vec![0], vec![2]));
    });
}

#[test]
fn one_that_fails_undoes_what_travelled_with_it() {
    both(|store| {
        let failed: Result<()> = store.write_now(|tx: &mut dyn Tx| {
            tx.pipeline(&mut [
                PipelinedStatement::run(INSERT, params!["q1", "a"]),
                PipelinedStatement::run(INSERT, params!["q1", "again"]),
                PipelinedStatement::run(INSERT, params!["q2", "b"]),
            ])
        });
        assert!(failed.is_err());
        let refused: Result<()> = store.write_now(|tx: &mut dyn Tx| {
            tx.pipeline(&mut [PipelinedStatement::query(COUNT, params!["q%"], |count: i64| {
                Err(capsid_model::problem::Problem::new(Code::InputInvalid, format!("{count}")))
            })])
        });
        assert_eq!(refused.unwrap_err().message, "0");
    });
}

fn on_postgres(test: impl FnOnce(&Store)) {
    let (database, folder) = (TestPostgres::database(), tempfile::tempdir().unwrap());
    let options = StoreOptions::new(folder.path(), Some(database.url.clone()));
    test(&Store::open(&StoreOptions { writers: 1, readers: 1, ..options }, Time(1)).unwrap());
}

#[test]
fn arrays_are_rows_of_a_statement() {
    on_postgres(|store| {
        let rows = store.write_now(|tx: &mut dyn Tx| {
            let (keys, values) =
                (vec![Some("a1"), Some("a2"), Some("a3")], vec![Some("x"), Some("é"), Some("")]);
            let insert = "INSERT INTO meta (key, value) SELECT * FROM unnest($1, $2)";
            assert_eq!(tx.run(insert, params![&keys, &values])?, 3);
            let wanted = vec![Some("a3"), Some("a1"), None];
            tx.query_all::<(String, String)>(
                "SELECT key, value FROM meta WHERE key = ANY($1) ORDER BY key",
                params![&wanted],
            )
        });
        let text = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(rows.unwrap(), [text("a1", "x"), text("a3", "")]);
        let others = store.read_now(|tx: &mut dyn Tx| {
            let (ints, reals) = (vec![Some(i64::MAX), None], vec![Some(0.5), Some(-1.0)]);
            let blobs: Vec<Option<&[u8]>> = vec![Some(&[0, 255]), None];
            let sql = "SELECT i, r, b FROM unnest($1, $2, $3) AS rows (i, r, b)";
            tx.query_all::<(Option<i64>, f64, Option<Vec<u8>>)>(sql, params![&ints, &reals, &blobs])
        });
        assert_eq!(others.unwrap(), [(Some(i64::MAX), 0.5, Some(vec![0, 255])), (None, -1.0, None)]);
    });
}

/// The server ends the connection, as one does that is shut down, or whose administrator is cross.
#[test]
fn an_operation_whose_connection_was_lost_before_its_commit_is_done_again() {
    on_postgres(|store| {
        let attempts = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&attempts);
        let done = store.write_now(move |tx: &mut dyn Tx| {
            tx.run(INSERT, params!["lost", "once"])?;
            if counted.fetch_add(1, Ordering::SeqCst) < 2 {
                tx.query_first::<bool>("SELECT pg_terminate_backend(pg_backend_pid())", params![])?;
            }
            Ok(())
        });
        done.unwrap();
        assert_eq!(attempts.load(Ordering::SeqCst), 3);
        assert_eq!(store.read_now(|tx| tx.count(COUNT, params!["lost"])).unwrap(), 1);
    });
}

#[test]
fn a_connection_that_the_server_closed_between_operations_is_opened_again() {
    on_postgres(|store| {
        store.write_now(|tx| tx.run(INSERT, params!["k1", "v"])).unwrap();
        let others = "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()";
        store.read_now(move |tx| tx.count(others, params![])).unwrap();
        store.write_now(|tx| tx.run(INSERT, params!["k2", "v"])).unwrap();
        assert_eq!(store.read_now(|tx| tx.count(COUNT, params!["k_"])).unwrap(), 2);
    });
}

#[test]
fn a_transaction_that_does_nothing_for_a_minute_is_ended_by_the_server() {
    on_postgres(|store| {
        let limit = store.read_now(|tx| {
            tx.query_one::<String>("SELECT current_setting('idle_in_transaction_session_timeout')", params![])
        });
        assert_eq!(limit.unwrap(), "1min");
    });
}
