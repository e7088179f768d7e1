//! A fresh PostgreSQL database for every test.
//!
//! `scripts/test` starts one server for all tests and names it in `CAPSID_TEST_POSTGRES`. Without that, each process
//! that asks for a database gets a server of its own, which ends with the process.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// A server that tests may fill.
pub struct Postgres {
    url: String,
    /// Ends the server once our end of its stdin is closed, even if that is because we were killed.
    _keeper: Option<Child>,
}

/// An empty database, dropped with this value.
#[derive(Debug)]
pub struct TestDatabase {
    /// `postgres://…`
    pub url: String,
    server: String,
    name: String,
}

impl Postgres {
    /// Makes an empty database.
    pub fn database() -> TestDatabase {
        static SERVER: OnceLock<Postgres> = OnceLock::new();
        SERVER.get_or_init(Self::find_or_start).make_database()
    }

    fn find_or_start() -> Self {
        match std::env::var("CAPSID_TEST_POSTGRES") {
            Ok(url) => Self { url, _keeper: None },
            Err(_) => Self::start(),
        }
    }

    /// A server of one's own that keeps what it acknowledged, as a real one does. For measuring.
    pub fn durable() -> Self {
        Self::start_with(&["durable"])
    }

    fn start() -> Self {
        Self::start_with(&[])
    }

    fn start_with(words: &[&str]) -> Self {
        let mut keeper = Command::new(script())
            .args(words)
            // Whoever kills the tests as a group leaves the keeper to clean up.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("scripts/postgres starts");
        let mut said = String::new();
        keeper.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.starts_with("postgres://"), "no PostgreSQL for tests: {said}");
        Self { url: said.trim().to_owned(), _keeper: Some(keeper) }
    }

    /// Makes an empty database on this server.
    pub fn make_database(&self) -> TestDatabase {
        let name = format!("capsid_{:016x}", fastrand::u64(..));
        run("createdb", &self.url, &[&name]);
        TestDatabase { url: with_name(&self.url, &name), server: self.url.clone(), name }
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        run("dropdb", &self.server, &["--if-exists", "--force", &self.name]);
    }
}

fn script() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres")
}

/// The URL of another database of the same server.
fn with_name(url: &str, name: &str) -> String {
    let (place, options) = url.split_once('?').map_or((url, None), |(place, options)| (place, Some(options)));
    let (scheme, rest) = place.split_once("://").expect("a URL");
    let host = rest.split('/').next().unwrap_or_default();
    let options = options.map_or_else(String::new, |options| format!("?{options}"));
    format!("{scheme}://{host}/{name}{options}")
}

/// Where a program of the newest PostgreSQL is. What Debian has on the path chooses among versions first, which takes
/// longer than the work.
fn installed(program: &str) -> std::path::PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions.max_by_key(|version| version.file_name().to_string_lossy().parse::<u32>().ok());
    let path = newest.map(|version| version.path().join("bin").join(program));
    path.filter(|path| path.exists()).unwrap_or_else(|| program.into())
}

#[track_caller]
fn run(program: &str, server: &str, args: &[&str]) {
    let mut command = Command::new(installed(program));
    command.arg(format!("--maintenance-db={server}")).args(args);
    let ran =
        command.output().unwrap_or_else(|error| panic!("{program}: {error}. Run `scripts/setup test`."));
    let said = String::from_utf8_lossy(&ran.stderr);
    // A test that fails already must not panic again while it cleans up.
    assert!(ran.status.success() || std::thread::panicking(), "{program} {args:?}: {said}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_database_is_a_new_one_and_goes_away() {
        let (one, two) = (Postgres::database(), Postgres::database());
        assert_ne!(one.url, two.url);
        let made = one.url.clone();
        drop(one);
        let gone = Command::new("psql").args([&made, "-c", "select 1"]).output().unwrap();
        assert!(!gone.status.success());
        let there = Command::new("psql").args([&two.url, "-c", "select 1"]).output().unwrap();
        assert!(there.status.success(), "{}", String::from_utf8_lossy(&there.stderr));
    }

    #[test]
    fn a_url_keeps_its_host_and_options() {
        assert_eq!(with_name("postgres://u:p@h:1/a?host=/x", "b"), "postgres://u:p@h:1/b?host=/x");
        assert_eq!(with_name("postgresql://h", "b"), "postgresql://h/b");
    }
}
