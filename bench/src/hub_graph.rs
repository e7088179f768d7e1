//! The knowledge graph: how fast it takes what it is told, and how soon it answers, on both databases.

use crate::hub::{Server, bundles, load};
use crate::report::Row;
use crate::{Result, sealed};
use capsid_testkit::postgres::TestPostgres;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// How many items one call tells.
const ITEMS: usize = 1000;
/// How many relations begin at each thing.
const RELATIONS: usize = 5;
/// One teller may tell 100,000 items.
const EACH_TELLS: usize = 90_000;
const QUERIES: usize = 1000;
/// The floor has one row for each item.
const ROW: &str = "x";

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
    measured(&hub, things, "SQLite", Some(floor))
}

fn on_postgres(things: usize) -> Result<Vec<Row>> {
    let server = TestPostgres::durable();
    let database = server.make_database();
    let folder = tempfile::tempdir_in(sealed::data()?)?;
    let hub = Server::hub(folder.path(), Some(&database.url))?;
    measured(&hub, things, "PostgreSQL", None)
}

fn measured(hub: &Server, things: usize, database: &str, floor: Option<f64>) -> Result<Vec<Row>> {
    let rate = tell_all(hub, things)?;
    let queries: Vec<Vec<u8>> = (0..200).map(|n| query(n * 37)).collect();
    load::run(&hub.address, &queries, 1, 100)?;
    let asked = load::run(&hub.address, &queries, 1, QUERIES)?;
    let drawings: Vec<Vec<u8>> = (0..200).map(|n| drawing(n * 41)).collect();
    let drawn = load::run(&hub.address, &drawings, 1, QUERIES / 4)?;
    let size = format!("{things} things and {} relations", things * RELATIONS);
    let note = |outcome: &load::Outcome, what: &str| {
        format!("p50 {:.2} ms; {what}, one at a time, over HTTP.", outcome.percentile(0.5))
    };
    let row = |work: String, ours: f64, unit: &'static str, note: String| Row {
        goal: 8,
        work,
        ours,
        peer: None,
        unit,
        wanted: "-",
        met: None,
        note,
    };
    let ingest = format!(
        "{ITEMS} items a call, one call at a time, on the disk before the reply. Floor: as many rows of one byte in a plain \
         table of SQLite, WAL and FULL, {ITEMS} to a commit."
    );
    Ok(vec![
        Row { peer: floor, ..row(format!("ingest {size}, {database}"), rate, "/s", ingest) },
        row(
            format!("query {size}, p99, {database}"),
            asked.percentile(0.99),
            "ms",
            note(&asked, "three words, ten hits with their paths"),
        ),
        row(
            format!("draw a part of {size}, p99, {database}"),
            drawn.percentile(0.99),
            "ms",
            note(&drawn, "around the hits of two words, laid out"),
        ),
    ])
}

/// Tells everything; gives the items a second.
fn tell_all(hub: &Server, things: usize) -> Result<f64> {
    let items = things * (1 + RELATIONS);
    let per_call = ITEMS / (1 + RELATIONS);
    let tellers = items.div_ceil(EACH_TELLS);
    for teller in 0..tellers {
        load::ask(&hub.address, &bundles::message("hello", &node(teller), teller as u64, &json!({})))?;
    }
    let begun = Instant::now();
    for (call, first) in (0..things).step_by(per_call).enumerate() {
        let some = first..(first + per_call).min(things);
        let teller = call * per_call * (1 + RELATIONS) / EACH_TELLS;
        let body = json!({
            "sender_id": node(teller.min(tellers - 1)),
            "entities": some.clone().map(thing).collect::<Vec<_>>(),
            "relations": some.flat_map(relations).collect::<Vec<_>>(),
        });
        let answer: Value = serde_json::from_slice(&load::ask(&hub.address, &post("/kg/ingest", &body))?)?;
        if answer["ingested"]["entities"].is_null() {
            return Err(format!("the hub did not take it: {answer}").into());
        }
    }
    Ok(items as f64 / begun.elapsed().as_secs_f64())
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
    post("/kg/query", &json!({"sender_id": node(0), "query": words, "limit": 10}))
}

fn drawing(n: usize) -> Vec<u8> {
    bundles::get(&format!("/kg/graph?q={}%20{}&limit=60", word(n), word(n / 5)))
}

fn post(path: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: hub\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    (head + &body).into_bytes()
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
