//! Goal 8: ranked search over many assets while 100 bundles a second are published.

use crate::hub::{Server, bundles, load};
use crate::report::Row;
use crate::{Result, hub_data};

/// How long each kind of search lasts, and how many there are in a second at most.
const SECONDS: f64 = 10.0;
const SEARCHES: f64 = 250.0;
const PUBLISHES: f64 = 100.0;

pub fn run() -> Result<Vec<Row>> {
    let assets = hub_data::wanted();
    let data = hub_data::copy(assets)?;
    let hub = Server::hub(data.path(), None)?;
    hub.wait_for_index()?;
    let common: Vec<Vec<u8>> = bundles::COMMON.iter().map(|signal| search(signal)).collect();
    let rare: Vec<Vec<u8>> = (0..500).map(|n| search(&bundles::rare(n * 7))).collect();
    let meant: Vec<Vec<u8>> = MEANT.iter().map(|words| by_meaning(words)).collect();
    let kinds: [(&str, &[Vec<u8>], &'static str, f64); 3] = [
        ("a common signal", &common, "p99 <= 20 ms", 20.0),
        ("a rare signal", &rare, "p99 <= 2 ms", 2.0),
        ("meaning, in common words", &meant, "p99 <= 20 ms", 20.0),
    ];
    let mut rows = Vec::new();
    // New bundles each time, for what is known already costs less.
    for (first, (what, searches, wanted, limit)) in (10_000_000..).step_by(1_000_000).zip(kinds) {
        rows.push(under_load(&hub, assets, first, what, searches, wanted, limit)?);
    }
    Ok(rows)
}

/// Questions whose words stand in many bundles: among the signals of one of ten, and in the texts of every other one.
const MEANT: [&str; 4] = [
    "requests+time+out+under+load",
    "connection+was+refused+by+the+server",
    "the+process+uses+more+and+more+memory",
    "a+test+fails+now+and+then",
];

fn by_meaning(words: &str) -> Vec<u8> {
    bundles::get(&format!("/a2a/assets/semantic-search?q={words}&limit=20"))
}

fn search(signal: &str) -> Vec<u8> {
    bundles::get(&format!("/a2a/assets/search?signals={signal}&limit=20"))
}

fn under_load(
    hub: &Server,
    assets: u64,
    first: u64,
    what: &str,
    searches: &[Vec<u8>],
    wanted: &'static str,
    limit: f64,
) -> Result<Row> {
    let bundles: Vec<Vec<u8>> = (first..first + 3000).map(bundles::publish).collect();
    let most = load::count_for(&hub.address, searches, 1, SECONDS)?;
    let count = most.min((SEARCHES * SECONDS) as usize);
    let (address, stop) = (hub.address.clone(), std::sync::atomic::AtomicBool::new(false));
    let (searched, published) = std::thread::scope(|scope| {
        let publisher = scope.spawn(|| -> std::result::Result<usize, String> {
            let mut done = 0;
            for second in bundles.chunks(PUBLISHES as usize) {
                if stop.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
                let sent = load::run_paced(&address, second, 4, second.len(), Some(PUBLISHES));
                done += sent.map_err(|error| error.to_string())?.latencies.len();
            }
            Ok(done)
        });
        let searched = load::run_paced(&hub.address, searches, 1, count, Some(SEARCHES));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        (searched, publisher.join())
    });
    let (searched, published) = (searched?, published.map_err(|_| "the publisher panicked")??);
    let (p50, p99) = (searched.percentile(0.5), searched.percentile(0.99));
    Ok(Row {
        goal: "8a",
        work: format!("search {assets} assets by {what}, p99"),
        ours: p99,
        peer: None,
        unit: "ms",
        wanted,
        met: Some(p99 <= limit),
        note: format!(
            "p50 {p50:.2} ms, {count} searches over HTTP for 20 assets, one at a time, while {published} bundles were \
             published at 100 a second. CAPSID_BENCH_ASSETS=1000000 measures a million."
        ),
    })
}
