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
const READS: usize = 10_000;
const ASSETS: u64 = 30_000;

pub fn run() -> Result<Vec<Row>> {
    let data = hub_data::filled(ASSETS)?;
    let hub = Server::hub(&data, None)?;
    let capsule = |n: u64| bundles::payload(n)["assets"][1]["asset_id"].clone();
    let fetches: Vec<Vec<u8>> = (0..500)
        .map(|n| bundles::message("fetch", "node_reader", n, &json!({"asset_ids": [capsule(n)]})))
        .collect();
    let searches: Vec<Vec<u8>> = (0..500)
        .map(|n| bundles::get(&format!("/a2a/assets/search?signals={}&limit=5", bundles::rare(n))))
        .collect();
    Ok(vec![
        compare("fetch an asset by its id", &hub, &fetches)?,
        compare("search by a signal", &hub, &searches)?,
    ])
}

fn compare(what: &str, hub: &Server, requests: &[Vec<u8>]) -> Result<Row> {
    let answer = load::ask(&hub.address, &requests[0])?;
    let file = tempfile::NamedTempFile::new_in(sealed::data()?)?;
    std::fs::write(file.path(), &answer)?;
    let bare = Server::bare(file.path())?;
    let read = |server: &Server| Ok(load::run(&server.address, requests, CONNECTIONS, READS)?.seconds);
    read(hub)?;
    let [ours, floor] = interleaved([Box::new(|| read(hub)), Box::new(|| read(&bare))])?;
    let (ours, floor) = (READS as f64 / ours, READS as f64 / floor);
    Ok(Row {
        goal: 9,
        work: format!("{what}, SQLite, {CONNECTIONS} connections"),
        ours,
        peer: Some(floor),
        unit: "/s",
        wanted: ">= 60 % of the floor",
        met: Some(ours >= 0.6 * floor),
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
