//! Goal 3: publishing over HTTP with 64 connections; every id is verified, and everything is on the disk before the reply.

use crate::hub::{Server, bundles, load};
use crate::measure::{ROUNDS, interleaved, seconds};
use crate::report::Row;
use crate::{Result, sealed};
use capsid_store::db::postgres;
use capsid_testkit::postgres::TestPostgres;
use std::path::Path;

const CONNECTIONS: usize = 64;
const BUNDLES: usize = 3000;
const FLOOR_ROWS: usize = 2000;
/// About what one asset takes.
const ROW_BYTES: usize = 1500;
const FLOOR_CLIENTS: usize = 16;

pub fn run() -> Result<Vec<Row>> {
    let mut rows = sqlite()?;
    rows.extend(postgres()?);
    Ok(rows)
}

fn sqlite() -> Result<Vec<Row>> {
    let folder = tempfile::tempdir_in(sealed::data()?)?;
    let hub = Server::hub(&folder.path().join("hub"), None)?;
    let floor = folder.path().join("floor.db");
    let (ours, other, p99) = compare(&hub, || single_commits(&floor))?;
    Ok(vec![
        Row {
            goal: 3,
            work: "publish over HTTP, SQLite, 64 connections".to_owned(),
            ours,
            peer: Some(other),
            unit: "/s",
            wanted: ">= 3x the floor",
            met: Some(ours >= 3.0 * other),
            note: format!(
                "Bundles of three assets, about 4 KB. Floor: rows of {ROW_BYTES} bytes in SQLite, WAL and FULL, one \
                 commit each, on the same disk. The clients share the machine with the hub."
            ),
        },
        latency("SQLite", p99),
    ])
}

fn postgres() -> Result<Vec<Row>> {
    let server = TestPostgres::durable();
    let (database, floor) = (server.make_database(), server.make_database());
    let folder = tempfile::tempdir_in(sealed::data()?)?;
    let hub = Server::hub(folder.path(), Some(&database.url))?;
    let (ours, other, p99) = compare(&hub, || synchronous_inserts(&floor.url))?;
    Ok(vec![
        Row {
            goal: 3,
            work: "publish over HTTP, PostgreSQL, 64 connections".to_owned(),
            ours,
            peer: Some(other),
            unit: "/s",
            wanted: ">= 80 % of the floor",
            met: Some(ours >= 0.8 * other),
            note: format!(
                "Floor: {FLOOR_CLIENTS} clients that insert rows of {ROW_BYTES} bytes, one commit each, synchronous."
            ),
        },
        latency("PostgreSQL", p99),
    ])
}

fn latency(database: &str, p99: f64) -> Row {
    Row {
        goal: 3,
        work: format!("the same, p99 of the replies, {database}"),
        ours: p99,
        peer: None,
        unit: "ms",
        wanted: "<= 25 ms",
        met: Some(p99 <= 25.0),
        note: String::new(),
    }
}

/// Our rate, the floor's, and the latency that 99 of 100 replies did not exceed.
fn compare(hub: &Server, mut floor: impl FnMut() -> Result<()>) -> Result<(f64, f64, f64)> {
    let rounds = ROUNDS + 1;
    let requests: Vec<Vec<u8>> = (0..(rounds * BUNDLES) as u64).map(bundles::publish).collect();
    let mut turns = requests.chunks(BUNDLES);
    let mut latencies = Vec::new();
    let mut publish = |kept: &mut Vec<f64>| -> Result<f64> {
        let outcome = load::run(&hub.address, turns.next().ok_or("no bundles left")?, CONNECTIONS, BUNDLES)?;
        kept.extend(outcome.latencies);
        Ok(outcome.seconds)
    };
    publish(&mut Vec::new())?;
    let [ours, other] =
        interleaved([Box::new(|| publish(&mut latencies)), Box::new(|| seconds(&mut floor))])?;
    latencies.sort_by(f64::total_cmp);
    let p99 = load::percentile(&latencies, 0.99);
    Ok((BUNDLES as f64 / ours, FLOOR_ROWS as f64 / other, p99))
}

fn single_commits(path: &Path) -> Result<()> {
    let connection = rusqlite::Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE IF NOT EXISTS floor (seq INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;",
    )?;
    let mut insert = connection.prepare("INSERT INTO floor (body) VALUES (?1)")?;
    let body = "x".repeat(ROW_BYTES);
    for _ in 0..FLOOR_ROWS {
        insert.execute([&body])?;
    }
    Ok(())
}

fn synchronous_inserts(url: &str) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let first = postgres::connect(url).await.map_err(|problem| problem.to_string())?;
        first
            .batch_execute("CREATE TABLE IF NOT EXISTS floor (seq BIGSERIAL PRIMARY KEY, body TEXT NOT NULL)")
            .await?;
        let mut clients = tokio::task::JoinSet::new();
        for _ in 0..FLOOR_CLIENTS {
            let client = postgres::connect(url).await.map_err(|problem| problem.to_string())?;
            clients.spawn(async move {
                let body = "x".repeat(ROW_BYTES);
                let failed = |error: tokio_postgres::Error| error.to_string();
                let insert = client.prepare("INSERT INTO floor (body) VALUES ($1)").await.map_err(failed)?;
                for _ in 0..FLOOR_ROWS / FLOOR_CLIENTS {
                    client.execute(&insert, &[&body]).await.map_err(failed)?;
                }
                Ok::<_, String>(())
            });
        }
        while let Some(done) = clients.join_next().await {
            done??;
        }
        Ok(())
    })
}
