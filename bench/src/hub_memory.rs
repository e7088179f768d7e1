//! Goal 10: memory of a hub that waits, of one with many assets, and whether it grows under load.

use crate::hub::{Server, bundles, load};
use crate::report::Row;
use crate::{Result, hub_data, sealed};
use std::time::Duration;

/// How long searches warm the hub up, and how long they then go on.
const WARM_SECONDS: f64 = 8.0;
const LOAD_SECONDS: f64 = 20.0;
const CONNECTIONS: usize = 32;

pub fn run() -> Result<Vec<Row>> {
    let folder = tempfile::tempdir_in(sealed::data()?)?;
    let idle = Server::hub(folder.path(), None)?;
    load::ask(&idle.address, &bundles::get("/health"))?;
    std::thread::sleep(Duration::from_secs(1));
    let waiting = idle.resident()?;
    drop(idle);

    let assets = hub_data::wanted();
    let data = hub_data::copy(assets)?;
    let hub = Server::hub(data.path(), None)?;
    hub.wait_for_index()?;
    let mut searches: Vec<Vec<u8>> = (0..2000)
        .map(|n| bundles::get(&format!("/a2a/assets/search?signals={}", bundles::rare(n * 3))))
        .collect();
    searches.extend(
        bundles::COMMON.iter().map(|signal| bundles::get(&format!("/a2a/assets/search?signals={signal}"))),
    );
    let warm = load::count_for(&hub.address, &searches, CONNECTIONS, WARM_SECONDS)?;
    load::run(&hub.address, &searches, CONNECTIONS, warm)?;
    let before = hub.resident()?;
    let count = load::count_for(&hub.address, &searches, CONNECTIONS, LOAD_SECONDS)?;
    load::run(&hub.address, &searches, CONNECTIONS, count)?;
    let after = hub.resident()?;
    let row = |work: String, ours: f64, wanted: &'static str, limit: Option<f64>, note: String| Row {
        goal: "10",
        work,
        ours,
        peer: None,
        unit: "MB",
        wanted,
        met: limit.map(|limit| ours <= limit),
        note,
    };
    Ok(vec![
        row("memory of a hub that waits".to_owned(), waiting, "<= 60 MB", Some(60.0), String::new()),
        row(
            format!("memory with {assets} assets under load"),
            after,
            "<= 400 MB",
            Some(400.0),
            "CAPSID_BENCH_ASSETS=1000000 measures a million.".to_owned(),
        ),
        row(
            format!("growth over {count} searches"),
            (after - before).max(0.0),
            "none",
            Some(4.0),
            format!(
                "After {warm} that warm it up. Below 4 MB is taken for none; an hour of load is for `make soak PART=mixed`."
            ),
        ),
    ])
}
