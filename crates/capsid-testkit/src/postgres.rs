//! A fresh PostgreSQL database for every test.
//!
//! `scripts/test` starts one server for all tests and names it in `CAPSID_TEST_POSTGRES`. Without that, each process
//! that asks for a database gets a server of its own, which ends with the process.
//!
//! The schema is made once for each server, in a template whose name holds the fingerprint of the migrations. A test's
//! database is a copy of its files, made and dropped over one connection that the process keeps open.

use crate::sqlite::migrate;
use capsid_store::StoreOptions;
use capsid_store::db::postgres::connect;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use tokio_postgres::SimpleQueryMessage;

/// A server that tests may fill.
pub struct TestPostgres {
    url: String,
    session: Session,
    /// Ends the server once our end of its stdin is closed, even if that is because we were killed.
    _keeper: Option<Child>,
}

/// A database of its own, dropped with this value.
#[derive(Debug)]
pub struct TestDatabase {
    /// `postgres://…`
    pub url: String,
    session: Session,
    name: String,
}

impl TestPostgres {
    /// Makes a database with the hub's schema.
    pub fn database() -> TestDatabase {
        let server = Self::shared();
        server.make_database_from(Some(server.template()))
    }

    /// Makes an empty database, for tests that bring the schema themselves.
    pub fn empty_database() -> TestDatabase {
        Self::shared().make_database()
    }

    fn shared() -> &'static Self {
        static SERVER: OnceLock<TestPostgres> = OnceLock::new();
        SERVER.get_or_init(Self::find_or_start)
    }

    fn find_or_start() -> Self {
        match std::env::var("CAPSID_TEST_POSTGRES") {
            Ok(url) => Self { session: Session::open(&url), url, _keeper: None },
            Err(_) => Self::start(),
        }
    }

    /// A separate server that is durable, as a real one is. For measuring.
    pub fn durable() -> Self {
        Self::start_with(&["durable"])
    }

    fn start() -> Self {
        Self::start_with(&[])
    }

    fn start_with(words: &[&str]) -> Self {
        let mut cleaner = Command::new(script())
            .args(words)
            // If the tests are killed as a group, the cleaner process still cleans up.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("scripts/postgres starts");
        let mut output = String::new();
        cleaner.stdout.take().unwrap().read_to_string(&mut output).unwrap();
        assert!(output.starts_with("postgres://"), "no PostgreSQL for tests: {output}");
        let url = output.trim().to_owned();
        Self { session: Session::open(&url), url, _keeper: Some(cleaner) }
    }

    /// Makes an empty database on this server.
    pub fn make_database(&self) -> TestDatabase {
        self.make_database_from(None)
    }

    fn make_database_from(&self, template: Option<&str>) -> TestDatabase {
        let name = format!("capsid_{:016x}", fastrand::u64(..));
        self.session.create(&name, template.unwrap_or("template1"));
        TestDatabase { url: with_name(&self.url, &name), session: self.session.clone(), name }
    }

    /// The name of the migrated database on this server. The first process that asks makes it, the others wait.
    fn template(&self) -> &str {
        static TEMPLATE: OnceLock<String> = OnceLock::new();
        TEMPLATE.get_or_init(|| {
            let name = format!("capsid_template_{}", &capsid_store::schema_fingerprint()[..16]);
            self.session.run(format!("SELECT pg_advisory_lock({LOCK})"));
            let there = format!("SELECT count(*) FROM pg_database WHERE datname = '{name}'");
            if self.session.number(there) == 0 {
                // Under another name until it is complete, because a process that is killed here leaves a part of it.
                let unfinished = format!("{name}_unfinished");
                self.session.run(format!("DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)"));
                self.session.create(&unfinished, "template1");
                let folder = tempfile::tempdir().unwrap();
                let url = Some(with_name(&self.url, &unfinished));
                migrate(StoreOptions { readers: 1, writers: 1, ..StoreOptions::new(folder.path(), url) });
                self.session.run(format!("ALTER DATABASE {unfinished} RENAME TO {name}"));
            }
            self.session.run(format!("SELECT pg_advisory_unlock({LOCK})"));
            name
        })
    }
}

/// The advisory lock of the process that makes the template.
const LOCK: i64 = 4702;

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let dropped = self.session.try_run(format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        // A test that fails already must not panic again while it cleans up.
        assert!(dropped.is_ok() || std::thread::panicking(), "{dropped:?}");
    }
}

/// A statement, and where its answer goes.
type Job = (String, Sender<Result<i64, String>>);

/// A connection on a thread of its own: who asks for a database may be on a thread of a runtime, which must not block.
#[derive(Debug, Clone)]
struct Session {
    jobs: Sender<Job>,
    /// Whether a copy can be made file by file, which is ten times as fast as through the log.
    copies_files: bool,
}

impl Session {
    fn open(url: &str) -> Self {
        let (jobs, waiting) = channel();
        let url = url.to_owned();
        std::thread::spawn(move || serve_session(&url, &waiting));
        let mut session = Self { jobs, copies_files: false };
        // Earlier versions support nothing else.
        session.copies_files =
            session.number("SELECT current_setting('server_version_num')::bigint".to_owned()) >= 150_000;
        session
    }

    #[track_caller]
    fn create(&self, name: &str, template: &str) {
        let strategy = if self.copies_files { "STRATEGY file_copy" } else { "" };
        self.run(format!("CREATE DATABASE {name} TEMPLATE {template} {strategy}"));
    }

    #[track_caller]
    fn run(&self, sql: String) {
        self.number(sql);
    }

    /// The number that a query gives, or 0.
    #[track_caller]
    fn number(&self, sql: String) -> i64 {
        self.try_run(sql).unwrap_or_else(|error| panic!("PostgreSQL for tests: {error}"))
    }

    fn try_run(&self, sql: String) -> Result<i64, String> {
        let (answer, answered) = channel();
        self.jobs.send((sql, answer)).map_err(|_| "its connection is closed".to_owned())?;
        answered.recv().map_err(|_| "its connection was lost".to_owned())?
    }
}

fn serve_session(url: &str, waiting: &Receiver<Job>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = runtime.block_on(connect(url)).expect("PostgreSQL for tests can be reached");
    while let Ok((sql, answer)) = waiting.recv() {
        let result = runtime.block_on(client.simple_query(&sql));
        let _nobody_waits =
            answer.send(result.map(|rows| first_number(&rows)).map_err(|error| format!("{sql}: {error:?}")));
    }
}

fn first_number(rows: &[SimpleQueryMessage]) -> i64 {
    let number = |row: &SimpleQueryMessage| match row {
        SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
        _ => None,
    };
    rows.iter().find_map(number).unwrap_or(0)
}

fn script() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres")
}

/// The URL of another database of the same server.
fn with_name(url: &str, name: &str) -> String {
    let (base, options) = url.split_once('?').map_or((url, None), |(base, options)| (base, Some(options)));
    let (scheme, rest) = base.split_once("://").expect("a URL");
    let host = rest.split('/').next().unwrap_or_default();
    let options = options.map_or_else(String::new, |options| format!("?{options}"));
    format!("{scheme}://{host}/{name}{options}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_database_is_a_new_one_and_goes_away() {
        let (one, two) = (TestPostgres::database(), TestPostgres::database());
        assert_ne!(one.url, two.url);
        let made = one.url.clone();
        drop(one);
        let gone = Command::new("psql").args([&made, "-c", "select 1"]).output().unwrap();
        assert!(!gone.status.success());
        let there = Command::new("psql").args([&two.url, "-c", "select 1"]).output().unwrap();
        assert!(there.status.success(), "{}", String::from_utf8_lossy(&there.stderr));
    }

    #[test]
    fn a_database_has_the_schema_and_is_apart_from_the_next() {
        let (one, two) = (TestPostgres::database(), TestPostgres::database());
        let psql = |url: &str, sql: &str| {
            let output = Command::new("psql").args([url, "-Atc", sql]).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        psql(&one.url, "INSERT INTO meta (key, value) VALUES ('here', 'yes')");
        assert_eq!(psql(&one.url, "SELECT value FROM meta WHERE key = 'here'"), "yes");
        assert_eq!(psql(&two.url, "SELECT count(*) FROM meta WHERE key = 'here'"), "0");
        let empty = TestPostgres::empty_database();
        assert_eq!(psql(&empty.url, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "0");
    }

    #[test]
    fn a_url_keeps_its_host_and_options() {
        assert_eq!(with_name("postgres://u:p@h:1/a?host=/x", "b"), "postgres://u:p@h:1/b?host=/x");
        assert_eq!(with_name("postgresql://h", "b"), "postgresql://h/b");
    }
}
