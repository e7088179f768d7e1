//! The knowledge graph: how fast it takes what it is told, and how soon it answers, on both databases.

use crate::hub::postgres::Database;
use crate::hub::{Server, bundles, load};
use crate::report::Row;
use crate::{Result, sealed};
use serde_json::{Value, json};
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

/// How many items one call tells.
const ITEMS: usize = 1000;
/// How many relations begin at each thing.
const RELATIONS: usize = 5;
/// One teller may tell 100,000 items.
const EACH_TELLS: usize = 90_000;
/// How long questions are asked of each kind and size.
const SECONDS: f64 = 5.0;
/// The floor has one row for each item.
const ROW: &str = "x";

/// The size that growth is measured from.
const SMALL: usize = 20_000;

pub fn run() -> Result<Vec<Row>> {
    let things = wanted();
    let mut rows = on_sqlite(things)?;
    rows.extend(on_postgres(things)?);
    Ok(rows)
}

/// How many things the graph gets: 100,000, or `CAPSID_BENCH_THINGS`; five times as many relations.
fn wanted() -> usize {
    let set = std::env::var("CAPSID_BENCH_THINGS").ok().and_then(|text| text.parse().ok());
    set.unwrap_or(100_000)
}

fn on_sqlite(things: usize) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir_in(sealed::data()?)?;
    let hub = Server::hub(&folder.path().join("hub"), None)?;
    let floor = floor(&folder.path().join("floor.db"))?;
    measured(&hub, things, "SQLite", Some(floor), (20.0, "p99 <= 20 ms"))
}

fn on_postgres(things: usize) -> Result<Vec<Row>> {
    let database = Database::start();
    let folder = tempfile::tempdir_in(sealed::data()?)?;
    let hub = Server::hub(folder.path(), Some(database.url()))?;
    measured(&hub, things, "PostgreSQL", None, (40.0, "p99 <= 40 ms"))
}

/// How soon a graph of some size answers.
struct Answered {
    asked: load::Outcome,
    drawn: load::Outcome,
}

impl Answered {
    fn measure(hub: &Server) -> Result<Self> {
        hub.wait_for_index()?;
        let ask = |requests: &[Vec<u8>]| {
            let count = load::count_for(&hub.address, requests, 1, SECONDS)?;
            load::run(&hub.address, requests, 1, count)
        };
        let queries: Vec<Vec<u8>> = (0..200).map(|n| query(n * 37)).collect();
        let drawings: Vec<Vec<u8>> = (0..200).map(|n| drawing(n * 41)).collect();
        Ok(Self { asked: ask(&queries)?, drawn: ask(&drawings)? })
    }
}

fn measured(
    hub: &Server,
    things: usize,
    database: &str,
    floor: Option<f64>,
    (limit, wanted): (f64, &'static str),
) -> Result<Vec<Row>> {
    let small = SMALL.min(things);
    let tellers = Tellers::say_hello(hub, things)?;
    tellers.ingest(hub, 0..small)?;
    let before = Answered::measure(hub)?;
    let rate = tellers.ingest(hub, small..things)?;
    let after = Answered::measure(hub)?;
    let size = format!("{things} things and {} relations", things * RELATIONS);
    let row = |goal: &'static str, work: String, ours: f64, unit: &'static str, note: String| Row {
        goal,
        work,
        ours,
        peer: None,
        unit,
        wanted: "-",
        met: None,
        note,
    };
    let p99 = |outcome: &load::Outcome, work: String, what: &str| {
        let (p50, p99) = (outcome.percentile(0.5), outcome.percentile(0.99));
        let note = format!("p50 {p50:.2} ms; {what}, one at a time, over HTTP.");
        Row { wanted, met: Some(p99 <= limit), ..row("8b", work, p99, "ms", note) }
    };
    let growth = |before: &load::Outcome, after: &load::Outcome, work: &str| {
        let (before, after) = (before.percentile(0.5), after.percentile(0.5));
        let note =
            format!("The other figure is p50 with {small} things and {} relations.", small * RELATIONS);
        Row {
            peer: Some(before),
            wanted: "<= 2x that of the small graph",
            met: Some(after <= 2.0 * before),
            ..row("8b", format!("{work}, p50, {size}, {database}"), after, "ms", note)
        }
    };
    let ingest = format!(
        "{ITEMS} items a call, one call at a time, on the disk before the reply. Floor: as many rows of one byte in a plain \
         table of SQLite, WAL and FULL, {ITEMS} to a commit."
    );
    Ok(vec![
        Row { peer: floor, ..row("8", format!("ingest {size}, {database}"), rate, "/s", ingest) },
        p99(&after.asked, format!("query {size}, p99, {database}"), "three words, ten hits with their paths"),
        growth(&before.asked, &after.asked, "query"),
        p99(
            &after.drawn,
            format!("draw a part of {size}, p99, {database}"),
            "around the hits of two words, laid out",
        ),
        growth(&before.drawn, &after.drawn, "draw"),
    ])
}

/// The nodes that tell everything. One may tell so many items only.
struct Tellers(usize);

impl Tellers {
    fn say_hello(hub: &Server, things: usize) -> Result<Self> {
        let tellers = (things * (1 + RELATIONS)).div_ceil(EACH_TELLS) + 1;
        for teller in 0..tellers {
            load::ask(&hub.address, &bundles::message("hello", &node(teller), teller as u64, &json!({})))?;
        }
        Ok(Self(tellers))
    }

    /// Tells some things with their relations; gives the items a second.
    fn ingest(&self, hub: &Server, things: Range<usize>) -> Result<f64> {
        let items = things.len() * (1 + RELATIONS);
        let begun = Instant::now();
        let end = things.end;
        for first in things.step_by(ITEMS / (1 + RELATIONS)) {
            let some = first..(first + ITEMS / (1 + RELATIONS)).min(end);
            let teller = first * (1 + RELATIONS) / EACH_TELLS;
            let body = json!({
                "sender_id": node(teller.min(self.0 - 1)),
                "entities": some.clone().map(thing).collect::<Vec<_>>(),
                "relations": some.flat_map(relations).collect::<Vec<_>>(),
            });
            let answer: Value =
                serde_json::from_slice(&load::ask(&hub.address, &bundles::post("/kg/ingest", &body))?)?;
            if answer["ingested"]["entities"].is_null() {
                return Err(format!("the hub did not take it: {answer}").into());
            }
        }
        Ok(items as f64 / begun.elapsed().as_secs_f64())
    }
}

fn node(teller: usize) -> String {
    format!("node_teller_{teller}")
}

const WORDS: [&str; 40] = [
    "pool", "cache", "retry", "socket", "parser", "render", "queue", "index", "token", "shard", "schema",
    "thread", "buffer", "cursor", "signal", "worker", "bundle", "router", "cookie", "mirror", "ledger",
    "kernel", "driver", "filter", "lexer", "packet", "branch", "stream", "vector", "digest", "module",
    "beacon", "window", "layout", "canvas", "quota", "lease", "batch", "proxy", "fiber",
];

fn word(n: usize) -> &'static str {
    WORDS[n % WORDS.len()]
}

fn name(n: usize) -> String {
    format!("{} {} {} part {n}", word(n), word(n / 40), word(n / 1600))
}

fn thing(n: usize) -> Value {
    json!({"name": name(n), "entity_type": "component", "properties": {"size": n}})
}

/// Back to what was told before, so that both ends are known; some things are named much more often than others.
fn relations(n: usize) -> Vec<Value> {
    let other = |step: usize| {
        let spread = (n / (step + 1) + step * 7919) % (n + 1);
        if step == 0 { spread % 500.min(n + 1) } else { spread }
    };
    (0..RELATIONS)
        .filter(|step| other(*step) != n)
        .map(|step| json!({"source_name": name(n), "target_name": name(other(step)), "type": format!("needs_{step}")}))
        .collect()
}

fn query(n: usize) -> Vec<u8> {
    let words = format!("{} {} {}", word(n), word(n / 3), word(n / 7));
    bundles::post("/kg/query", &json!({"sender_id": node(0), "query": words, "limit": 10}))
}

fn drawing(n: usize) -> Vec<u8> {
    bundles::get(&format!("/kg/graph?q={}%20{}&limit=60", word(n), word(n / 5)))
}

/// Rows a second that a plain table takes.
fn floor(path: &Path) -> Result<f64> {
    let mut connection = rusqlite::Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE floor (seq INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;",
    )?;
    let (begun, calls) = (Instant::now(), 200);
    for _ in 0..calls {
        let change = connection.transaction()?;
        let mut insert = change.prepare("INSERT INTO floor (body) VALUES (?1)")?;
        for _ in 0..ITEMS {
            insert.execute([ROW])?;
        }
        drop(insert);
        change.commit()?;
    }
    Ok((calls * ITEMS) as f64 / begun.elapsed().as_secs_f64())
}
