//! Goal 10: publishes, searches and questions to the graph at once. With `CAPSID_SOAK` it takes an hour instead of a minute.

use crate::hub::{Server, bundles, load};
use crate::measure::median;
use crate::report::Row;
use crate::{Result, hub_data};
use serde_json::json;
use std::path::Path;
use std::process::Command;

/// How often each is done in a second.
const PUBLISHES: usize = 100;
const SEARCHES: usize = 20;
const QUERIES: usize = 5;
/// The load is cut into windows, of which the first warms the hub up and the early ones are compared with the last ones.
const WINDOWS: usize = 10;
const EARLY: std::ops::Range<usize> = 1..4;
const LATE: std::ops::Range<usize> = 7..10;
/// How much more than early ones late latencies and late memory may be. The hub gets more assets meanwhile.
const MAX_SLOWER: f64 = 1.5;
const MAX_LARGER: f64 = 1.1;

/// What one window gave.
struct Window {
    /// The p99 of publishes, searches and queries, in milliseconds.
    p99: [f64; 3],
    megabytes: f64,
}

pub fn run() -> Result<Vec<Row>> {
    let is_soak = std::env::var_os("CAPSID_SOAK").is_some();
    let seconds = if is_soak { 360 } else { 6 };
    let assets = hub_data::wanted();
    let data = hub_data::copy(assets)?;
    let hub = Server::hub(data.path(), None)?;
    hub.wait_for_index()?;
    let windows: Vec<Window> =
        (0..WINDOWS).map(|number| run_window(&hub, number, seconds)).collect::<Result<_>>()?;
    let lasted = seconds * WINDOWS;
    let of = |range: std::ops::Range<usize>, part: &dyn Fn(&Window) -> f64| {
        median(windows[range].iter().map(part).collect())
    };
    let mut rows = Vec::new();
    for (at, what) in ["publishes", "searches", "questions to the graph"].into_iter().enumerate() {
        let (early, late) = (of(EARLY, &|window| window.p99[at]), of(LATE, &|window| window.p99[at]));
        rows.push(Row {
            goal: "10",
            work: format!("p99 of {what} at the end of {lasted} s of mixed load, {assets} assets"),
            ours: late,
            peer: Some(early),
            unit: "ms",
            wanted: "<= 1.5x that at the beginning",
            met: Some(late <= MAX_SLOWER * early),
            note: match at {
                0 => format!(
                    "{PUBLISHES} publishes, {SEARCHES} searches and {QUERIES} questions a second. The other figure is that of \
                     the beginning."
                ),
                _ => String::new(),
            },
        });
    }
    let (early, late) = (of(EARLY, &|window| window.megabytes), of(LATE, &|window| window.megabytes));
    rows.push(Row {
        goal: "10",
        work: format!("memory at the end of {lasted} s of mixed load, {assets} assets"),
        ours: late,
        peer: Some(early),
        unit: "MB",
        wanted: "<= 1.1x that at the beginning, over an hour",
        // In a minute, caches fill.
        met: is_soak.then_some(late <= MAX_LARGER * early),
        note: "`make soak PART=mixed` takes an hour.".to_owned(),
    });
    hub.wait_for_index()?;
    rows.push(checked(data.path())?);
    Ok(rows)
}

fn run_window(hub: &Server, number: usize, seconds: usize) -> Result<Window> {
    let first = 20_000_000 + number * 1_000_000;
    let publishes: Vec<Vec<u8>> =
        (first..first + PUBLISHES * seconds).map(|n| bundles::publish(n as u64)).collect();
    let rare = (0..200).map(|n| bundles::rare(n * 7));
    let signals = bundles::COMMON.into_iter().map(str::to_owned).chain(rare);
    let searches: Vec<Vec<u8>> = signals
        .map(|signal| bundles::get(&format!("/a2a/assets/search?signals={signal}&limit=20")))
        .collect();
    let queries: Vec<Vec<u8>> = bundles::COMMON
        .iter()
        .map(|signal| {
            bundles::post("/kg/query", &json!({"sender_id": "node_0", "query": signal, "limit": 10}))
        })
        .collect();
    let p99 = std::thread::scope(|scope| {
        let loads =
            [(&publishes, PUBLISHES), (&searches, SEARCHES), (&queries, QUERIES)].map(|(requests, rate)| {
                scope.spawn(move || {
                    let done = load::run_paced(&hub.address, requests, 8, rate * seconds, Some(rate as f64));
                    done.map(|outcome| outcome.percentile(0.99)).map_err(|error| error.to_string())
                })
            });
        loads.map(|load| load.join().unwrap_or_else(|_| Err("a client panicked".to_owned())))
    });
    let [publishes, searches, queries] = p99;
    Ok(Window { p99: [publishes?, searches?, queries?], megabytes: hub.resident()? })
}

/// Whether everything in the database is what it should be.
fn checked(data: &Path) -> Result<Row> {
    let mut fsck = Command::new(std::env::current_exe()?.with_file_name("capsid"));
    let output = fsck.args(["hub", "fsck", "--json", "--data"]).arg(data).output()?;
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let total = report["total"].as_f64().ok_or_else(|| format!("`fsck` did not end: {report}"))?;
    Ok(Row {
        goal: "10",
        work: "what `capsid hub fsck` finds afterwards".to_owned(),
        ours: total,
        peer: None,
        unit: "",
        wanted: "nothing",
        met: Some(output.status.success()),
        note: if total > 0.0 { format!("{}", report["counts"]) } else { String::new() },
    })
}
