//! A database on a PostgreSQL server of its own: the floor of its publishes, and what the server tells of itself.

use crate::Result;
use capsid_testkit::postgres::{TestDatabase, TestPostgres};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor, Row};

/// How many clients insert at once into the floor.
pub const FLOOR_CLIENTS: usize = 16;

/// A durable server with one database for a hub and one for the floor.
pub struct Database {
    hub: TestDatabase,
    floor: TestDatabase,
    _server: TestPostgres,
}

impl Database {
    pub fn start() -> Self {
        let server = TestPostgres::durable();
        Self { hub: server.make_database(), floor: server.make_database(), _server: server }
    }

    /// The hub's database.
    pub fn url(&self) -> &str {
        &self.hub.url
    }

    /// The first process of the server, which begins all others. Its files are where its socket is.
    pub fn main_process(&self) -> Result<u32> {
        let (_, options) = self.url().split_once("host=").ok_or("the server has no socket")?;
        let folder = options.split('&').next().unwrap_or_default().replace("%2F", "/");
        let file = std::fs::read_to_string(format!("{folder}/data/postmaster.pid"))?;
        Ok(file.lines().next().unwrap_or_default().trim().parse()?)
    }

    /// How many bytes of its log the server has written, and how many transactions it has committed.
    pub fn wal_and_commits(&self) -> Result<(f64, f64)> {
        block_on(async {
            let options: PgConnectOptions = self.url().parse()?;
            let mut connection = options.connect().await?;
            let row = connection
                .fetch_one(
                    "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8,
                        (SELECT sum(xact_commit)::float8 FROM pg_stat_database)",
                )
                .await?;
            let counts = (row.try_get(0)?, row.try_get(1)?);
            connection.close().await?;
            Ok(counts)
        })
    }

    /// Inserts rows of so many bytes from several clients, one commit each.
    pub fn insert_singly(&self, rows: usize, bytes: usize) -> Result<()> {
        block_on(async {
            let options: PgConnectOptions = self.floor.url.parse()?;
            let mut first = options.connect().await?;
            first
                .execute("CREATE TABLE IF NOT EXISTS floor (seq BIGSERIAL PRIMARY KEY, body TEXT NOT NULL)")
                .await?;
            let mut clients = tokio::task::JoinSet::new();
            for _ in 0..FLOOR_CLIENTS {
                let mut connection = options.connect().await?;
                clients.spawn(async move {
                    let body = "x".repeat(bytes);
                    for _ in 0..rows / FLOOR_CLIENTS {
                        sqlx::query("INSERT INTO floor (body) VALUES ($1)")
                            .bind(&body)
                            .execute(&mut connection)
                            .await?;
                    }
                    connection.close().await
                });
            }
            while let Some(done) = clients.join_next().await {
                done??;
            }
            Ok(first.close().await?)
        })
    }
}

fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}
