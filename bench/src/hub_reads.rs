//! Goal 9: reading over HTTP, against a bare route that returns the same bytes.

use crate::hub::{Server, bundles, load};
use crate::measure::interleaved;
use crate::report::Row;
use crate::{Result, hub_data, sealed};
use serde_json::json;
use std::path::Path;

/// The first argument of the child that serves the floor.
pub const BARE: &str = "--bare-route";

const CONNECTIONS: usize = 32;
/// How long a turn takes, and how many searches for something new it has.
const SECONDS: f64 = 2.0;
const NEW_SEARCHES: usize = 1500;
const ASSETS: u64 = 30_000;

pub fn run() -> Result<Vec<Row>> {
    let data = hub_data::copy(ASSETS)?;
    let hub = Server::hub(data.path(), None)?;
    hub.wait_for_index()?;
    let capsule = |n: u64| bundles::payload(n)["assets"][1]["asset_id"].clone();
    let fetches: Vec<Vec<u8>> = (0..500)
        .map(|n| bundles::message("fetch", "node_reader", n, &json!({"asset_ids": [capsule(n)]})))
        .collect();
    let repeated: Vec<Vec<u8>> = (0..500).map(|n| search(n, 0)).collect();
    let count = |requests: &[Vec<u8>]| load::count_for(&hub.address, requests, CONNECTIONS, SECONDS);
    let (fetched, searched) = (count(&fetches)?, count(&repeated)?);
    Ok(vec![
        compare("9a", "fetch an asset by its id", &hub, fetched, ">= 60 % of the floor", 0.6, |_| {
            fetches.clone()
        })?,
        compare(
            "9b",
            "search by a signal, the first time",
            &hub,
            NEW_SEARCHES,
            ">= 10 % of the floor",
            0.1,
            |turn| (0..NEW_SEARCHES as u64).map(|n| search(n + 500, turn)).collect(),
        )?,
        compare("9b", "search by a signal, repeated", &hub, searched, ">= 60 % of the floor", 0.6, |_| {
            repeated.clone()
        })?,
    ])
}

/// A search that finds the three assets of one bundle. In another turn it is another question with the same answer.
fn search(n: u64, turn: usize) -> Vec<u8> {
    bundles::get(&format!("/a2a/assets/search?signals={}&limit={}", bundles::rare(n), 5 + turn))
}

fn compare(
    goal: &'static str,
    what: &str,
    hub: &Server,
    count: usize,
    wanted: &'static str,
    share: f64,
    requests: impl Fn(usize) -> Vec<Vec<u8>>,
) -> Result<Row> {
    let first = requests(1);
    let answer = load::ask(&hub.address, &first[0])?;
    let file = tempfile::NamedTempFile::new_in(sealed::data()?)?;
    std::fs::write(file.path(), &answer)?;
    let bare = Server::bare(file.path())?;
    let read = |server: &Server, requests: &[Vec<u8>], count: usize| -> Result<f64> {
        Ok(load::run(&server.address, requests, CONNECTIONS, count)?.seconds)
    };
    read(hub, &first, count)?;
    let bare_count = load::count_for(&bare.address, &first, CONNECTIONS, SECONDS)?;
    let mut turn = 1;
    let [ours, floor] = interleaved([
        Box::new(|| {
            turn += 1;
            read(hub, &requests(turn), count)
        }),
        Box::new(|| read(&bare, &first, bare_count)),
    ])?;
    let (ours, floor) = (count as f64 / ours, bare_count as f64 / floor);
    Ok(Row {
        goal,
        work: format!("{what}, {ASSETS} assets, SQLite, {CONNECTIONS} connections"),
        ours,
        peer: Some(floor),
        unit: "/s",
        wanted,
        met: Some(ours >= share * floor),
        note: format!(
            "{} bytes of answer. Floor: an axum route that does nothing but return them.",
            answer.len()
        ),
    })
}

/// Serves the bytes of a file at every path until it is killed.
pub fn serve_bare(path: &Path) -> Result<()> {
    let bytes = axum::body::Bytes::from(std::fs::read(path)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("listening on http://{}", listener.local_addr()?);
        let answer = move |_request: axum::body::Bytes| {
            let bytes = bytes.clone();
            async move { ([("content-type", "application/json")], bytes) }
        };
        Ok(axum::serve(listener, axum::Router::new().fallback(answer)).await?)
    })
}
