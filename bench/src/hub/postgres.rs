//! A database on a PostgreSQL server of its own: the floor of its publishes, and what the server tells of itself.

use crate::Result;
use capsid_store::db::postgres;
use capsid_testkit::postgres::{TestDatabase, TestPostgres};

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
            let client = connect(self.url()).await?;
            let counts = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8,
                    (SELECT sum(xact_commit)::float8 FROM pg_stat_database)";
            let row = client.query_one(counts, &[]).await?;
            Ok((row.try_get(0)?, row.try_get(1)?))
        })
    }

    /// Inserts rows of so many bytes from several clients, one commit each.
    pub fn insert_singly(&self, rows: usize, bytes: usize) -> Result<()> {
        block_on(async {
            let table = "CREATE TABLE IF NOT EXISTS floor (seq BIGSERIAL PRIMARY KEY, body TEXT NOT NULL)";
            connect(&self.floor.url).await?.batch_execute(table).await?;
            let mut clients = tokio::task::JoinSet::new();
            for _ in 0..FLOOR_CLIENTS {
                let client = connect(&self.floor.url).await?;
                clients.spawn(async move {
                    let body = "x".repeat(bytes);
                    let insert = client.prepare("INSERT INTO floor (body) VALUES ($1)").await?;
                    for _ in 0..rows / FLOOR_CLIENTS {
                        client.execute(&insert, &[&body]).await?;
                    }
                    Ok::<_, tokio_postgres::Error>(())
                });
            }
            while let Some(done) = clients.join_next().await {
                done??;
            }
            Ok(())
        })
    }
}

async fn connect(url: &str) -> Result<tokio_postgres::Client> {
    Ok(postgres::connect(url).await.map_err(|problem| problem.to_string())?)
}

fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}
