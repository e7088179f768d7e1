//! Goal 3: publishing over HTTP with 64 connections; every id is verified, and everything is on the disk before the reply.

use crate::hub::cost::Cost;
use crate::hub::postgres::{Database, FLOOR_CLIENTS};
use crate::hub::{Server, bundles, load};
use crate::measure::{ROUNDS, interleaved, seconds};
use crate::report::Row;
use crate::{Result, hub_data, sealed};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 64;
/// What the first turn publishes. It tells how many a turn has, which is to take so long.
const FIRST_BUNDLES: usize = 300;
const TURN_SECONDS: f64 = 2.0;
const FLOOR_ROWS: usize = 2000;
/// About what one asset takes.
const ROW_BYTES: usize = 1500;
/// How long the sustained load and that at half the rate take, and how many bundles that is at most.
const SUSTAINED_SECONDS: f64 = 20.0;
const HALF_SECONDS: f64 = 10.0;
const MAX_BUNDLES: f64 = 50_000.0;
/// How often the lag is looked at.
const LAG_EVERY: Duration = Duration::from_millis(50);
/// The first bundles of what is published to a hub that has many.
const FAR: u64 = 10_000_000;

pub fn run() -> Result<Vec<Row>> {
    let mut rows = sqlite()?;
    rows.extend(postgres()?);
    Ok(rows)
}

/// What turns of publishes and of the floor gave.
struct Compared {
    /// Bundles a second.
    rate: f64,
    /// Rows a second.
    floor: f64,
    /// The latency that 99 of 100 replies did not exceed, in milliseconds.
    p99: f64,
    /// Of one publish, with all that follows from it.
    cost: Cost,
}

fn sqlite() -> Result<Vec<Row>> {
    let folder = tempfile::tempdir_in(sealed::data()?)?;
    let hub = Server::hub(&folder.path().join("hub"), None)?;
    let floor = folder.path().join("floor.db");
    let compared = compare(&hub, None, || single_commits(&floor))?;
    let mut rows = throughput("SQLite", &compared, ["3a", "3a"], [3.0, 1.0]);
    rows.push(latency("3b", "SQLite", compared.p99, 25.0, "<= 25 ms"));
    rows.push(cpu("SQLite", &compared, 0.75, "<= 0.75 ms"));
    rows.push(written(&compared));
    rows.extend(sustained(&hub, compared.rate)?);
    drop(hub);
    rows.push(with_many_assets(&compared)?);
    Ok(rows)
}

fn postgres() -> Result<Vec<Row>> {
    let database = Database::start();
    let folder = tempfile::tempdir_in(sealed::data()?)?;
    let hub = Server::hub(folder.path(), Some(database.url()))?;
    let compared = compare(&hub, Some(&database), || database.insert_singly(FLOOR_ROWS, ROW_BYTES))?;
    let mut rows = throughput("PostgreSQL", &compared, ["3d", "3d"], [1.2, 0.4]);
    rows.push(latency("3d", "PostgreSQL", compared.p99, 40.0, "<= 40 ms"));
    rows.push(cpu("PostgreSQL", &compared, 0.85, "<= 0.85 ms"));
    rows.push(wal(&compared));
    Ok(rows)
}

fn throughput(database: &str, compared: &Compared, goals: [&'static str; 2], wanted: [f64; 2]) -> Vec<Row> {
    let Compared { rate, floor, .. } = *compared;
    let (what, wanted_words) = match database {
        "SQLite" => (
            format!("rows of {ROW_BYTES} bytes in SQLite, WAL and FULL, one commit each, on the same disk"),
            [">= 3x the floor", ">= 1x the floor"],
        ),
        _ => (
            format!(
                "{FLOOR_CLIENTS} clients that insert rows of {ROW_BYTES} bytes, one commit each, synchronous"
            ),
            [">= 1.2x the floor", ">= 0.4x the floor"],
        ),
    };
    let row = |at: usize, unit: &str, ours: f64, note: String| Row {
        goal: goals[at],
        work: format!("{unit} published over HTTP, {database}, {CONNECTIONS} connections"),
        ours,
        peer: Some(floor),
        unit: "/s",
        wanted: wanted_words[at],
        met: Some(ours >= wanted[at] * floor),
        note,
    };
    let note = format!(
        "Bundles of three assets, about 4 KB. Floor: {what}. The clients share the machine with the hub."
    );
    vec![row(0, "assets", 3.0 * rate, note), row(1, "bundles", rate, String::new())]
}

fn latency(goal: &'static str, database: &str, p99: f64, limit: f64, wanted: &'static str) -> Row {
    Row {
        goal,
        work: format!("the same, p99 of the replies, {database}"),
        ours: p99,
        peer: None,
        unit: "ms",
        wanted,
        met: Some(p99 <= limit),
        note: String::new(),
    }
}

/// The budget is that of the ack and that of derived data together: from outside they cannot be told apart.
fn cpu(database: &str, compared: &Compared, limit: f64, wanted: &'static str) -> Row {
    let Cost { hub, server, client, .. } = compared.cost;
    let ours = (hub + server) * 1000.0;
    Row {
        goal: "3",
        work: format!("CPU time of a publish, derived data included, {database}"),
        ours,
        peer: None,
        unit: "ms",
        wanted,
        met: Some(ours <= limit),
        note: format!(
            "Hub {:.2} ms, database server {:.2} ms; the client took {:.2} ms more.",
            hub * 1000.0,
            server * 1000.0,
            client * 1000.0
        ),
    }
}

fn written(compared: &Compared) -> Row {
    Row {
        goal: "3",
        work: "bytes that the hub gives to the disk for a publish, SQLite".to_owned(),
        ours: compared.cost.written / 1024.0,
        peer: None,
        unit: "KB",
        wanted: "-",
        met: None,
        note: "Log, checkpoints and the index together; tests hold the budget of the log alone.".to_owned(),
    }
}

fn wal(compared: &Compared) -> Row {
    let ours = compared.cost.wal / 1024.0;
    Row {
        goal: "3",
        work: "log that the server writes for a publish, PostgreSQL".to_owned(),
        ours,
        peer: None,
        unit: "KB",
        wanted: "<= 10 KB",
        met: Some(ours <= 10.0),
        note: format!("{:.2} commits a publish.", compared.cost.commits),
    }
}

/// Turns of publishes and of the floor. The index comes to its end before the floor has its turn.
fn compare(
    hub: &Server,
    database: Option<&Database>,
    mut floor: impl FnMut() -> Result<()>,
) -> Result<Compared> {
    let began = Instant::now();
    load::run(&hub.address, &publishes(0, FIRST_BUNDLES), CONNECTIONS, FIRST_BUNDLES)?;
    hub.wait_for_index()?;
    let rate = FIRST_BUNDLES as f64 / began.elapsed().as_secs_f64();
    let count = (rate * TURN_SECONDS).max(FIRST_BUNDLES as f64) as usize;
    let requests = publishes(FIRST_BUNDLES as u64, ROUNDS * count);
    let mut turns = requests.chunks(count);
    let (mut latencies, mut costs) = (Vec::new(), Vec::new());
    let mut publish = || -> Result<f64> {
        let before = Cost::now(hub, database)?;
        let outcome = load::run(&hub.address, turns.next().ok_or("no bundles left")?, CONNECTIONS, count)?;
        hub.wait_for_index()?;
        costs.push(Cost::now(hub, database)?.since(&before, count));
        latencies.extend(outcome.latencies);
        Ok(outcome.seconds)
    };
    let [ours, other] = interleaved([Box::new(&mut publish), Box::new(|| seconds(&mut floor))])?;
    latencies.sort_by(f64::total_cmp);
    Ok(Compared {
        rate: count as f64 / ours,
        floor: FLOOR_ROWS as f64 / other,
        p99: load::percentile(&latencies, 0.99),
        cost: Cost::mean(&costs),
    })
}

fn publishes(first: u64, count: usize) -> Vec<Vec<u8>> {
    (first..).take(count).map(bundles::publish).collect()
}

/// Whether what follows from publishes keeps up with them.
fn sustained(hub: &Server, rate: f64) -> Result<[Row; 2]> {
    let count = (rate * SUSTAINED_SECONDS).min(MAX_BUNDLES) as usize;
    let requests = publishes(1_000_000, count);
    let begun = Instant::now();
    let published = load::run(&hub.address, &requests, CONNECTIONS, count)?;
    hub.wait_for_index()?;
    let applied = count as f64 / begun.elapsed().as_secs_f64();
    let half = (rate * HALF_SECONDS / 2.0) as usize;
    let (lag, samples) = lag_during(hub, &publishes(2_000_000, half), rate / 2.0)?;
    Ok([
        Row {
            goal: "3c",
            work: format!("{count} bundles at full load until all derived data is applied, SQLite"),
            ours: applied,
            peer: Some(rate),
            unit: "/s",
            wanted: ">= 0.5x the rate of 3a",
            met: Some(applied >= 0.5 * rate),
            note: format!("The replies took {:.1} s. The other figure is the rate of 3a.", published.seconds),
        },
        Row {
            goal: "3c",
            work: "lag of derived data at half of that load, p99, SQLite".to_owned(),
            ours: lag,
            peer: None,
            unit: "s",
            wanted: "<= 1 s",
            met: Some(lag <= 1.0),
            note: format!(
                "How long the oldest asset had waited, looked at {samples} times in {HALF_SECONDS} s."
            ),
        },
    ])
}

/// The lag that 99 of 100 looks did not exceed, in seconds, and how often it was looked at.
fn lag_during(hub: &Server, requests: &[Vec<u8>], rate: f64) -> Result<(f64, usize)> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| -> std::result::Result<Vec<f64>, String> {
            let mut lags = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                lags.push(hub.index_lag().map_err(|error| error.to_string())?.1);
                std::thread::sleep(LAG_EVERY);
            }
            Ok(lags)
        });
        let published = load::run_paced(&hub.address, requests, CONNECTIONS, requests.len(), Some(rate));
        stop.store(true, Ordering::Relaxed);
        let mut lags = watcher.join().map_err(|_| "the thread that watches the lag panicked")??;
        published?;
        lags.sort_by(f64::total_cmp);
        Ok((load::percentile(&lags, 0.99), lags.len()))
    })
}

fn with_many_assets(without: &Compared) -> Result<Row> {
    let assets = hub_data::wanted();
    let data = hub_data::copy(assets)?;
    let hub = Server::hub(data.path(), None)?;
    hub.wait_for_index()?;
    load::run(&hub.address, &publishes(FAR, FIRST_BUNDLES), CONNECTIONS, FIRST_BUNDLES)?;
    hub.wait_for_index()?;
    let count = ((without.rate * 2.0 * TURN_SECONDS) as usize).max(FIRST_BUNDLES);
    let many = publishes(FAR + FIRST_BUNDLES as u64, count);
    let p99 = load::run(&hub.address, &many, CONNECTIONS, count)?.percentile(0.99);
    Ok(Row {
        goal: "3e",
        work: format!("p99 of the replies where {assets} assets are, SQLite"),
        ours: p99,
        peer: Some(without.p99),
        unit: "ms",
        wanted: "<= 2x that where none are",
        met: Some(p99 <= 2.0 * without.p99),
        note: "The other figure is that of 3b. CAPSID_BENCH_ASSETS=1000000 measures a million.".to_owned(),
    })
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
