//! Goal 6: the last event id, flat however long the log, and full scans in little memory, also above 512 MiB.

use crate::measure::{interleaved, seconds};
use crate::report::Row;
use crate::{Result, child, peer};
use capsid_engine::store::events::EventLog;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

/// The first argument of the child that scans a log and tells its peak memory.
pub const SCAN: &str = "--scan";

/// The first stamp of the generated ids.
const FIRST: u64 = 1_770_000_000_000;
const SIZES: [u64; 3] = [10_000, 100_000, 1_000_000];
/// About 400 bytes each: above the longest string that Node can hold.
const BEYOND: u64 = 1_500_000;
const REPEATS: usize = 100;

pub fn run() -> Result<Vec<Row>> {
    let home = tempfile::tempdir()?;
    let folder = home.path().join("assets/gep");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("events.jsonl");

    let mut rows = Vec::new();
    let mut times = Vec::new();
    for size in SIZES {
        write_log(&path, size)?;
        let (ours, theirs) = last_id(&path, home.path(), size)?;
        times.push(ours);
        rows.push(Row {
            goal: "6",
            work: format!("last event id at {size} events"),
            ours: ours * 1000.0,
            peer: Some(theirs * 1000.0),
            unit: "ms",
            wanted: "<= 1 ms, flat",
            met: Some(ours <= 0.001 && ours <= times[0] * 3.0),
            note: String::new(),
        });
    }
    rows.push(memory(&path, home.path(), SIZES[2])?);
    write_log(&path, BEYOND)?;
    rows.push(beyond(&path, home.path())?);
    Ok(rows)
}

fn last_id(path: &Path, home: &Path, size: u64) -> Result<(f64, f64)> {
    let expected = id(size - 1);
    let log = EventLog::at(path);
    let [ours, theirs] = interleaved([
        Box::new(|| {
            let time = seconds(|| {
                for _ in 0..REPEATS {
                    check(log.last_id()?.as_deref() == Some(&expected), "the last id is wrong")?;
                }
                Ok(())
            })?;
            Ok(time / REPEATS as f64)
        }),
        Box::new(|| peer::number(&peer::script("evolver_events.cjs", home, &["last"])?, "seconds")),
    ])?;
    Ok((ours, theirs))
}

fn memory(path: &Path, home: &Path, size: u64) -> Result<Row> {
    let ours = child::run(SCAN, path)?;
    check(ours.count == size, "a scan missed events")?;
    let theirs = peer::script("evolver_events.cjs", home, &["all"])?;
    Ok(Row {
        goal: "6",
        work: format!("peak memory of a full scan of {size} events"),
        ours: ours.megabytes,
        peer: Some(peer::number(&theirs, "megabytes")?),
        unit: "MB",
        wanted: "<= 32 MB",
        met: Some(ours.megabytes <= 32.0),
        note: format!("Node: evolver's readAllEvents, which returned {} of them.", theirs["count"]),
    })
}

fn beyond(path: &Path, home: &Path) -> Result<Row> {
    let bytes = std::fs::metadata(path)?.len();
    check(bytes > 512 << 20, "the log should be above 512 MiB")?;
    let last = EventLog::at(path).last_id()?;
    let child::Told { count, megabytes, .. } = child::run(SCAN, path)?;
    let right = last == Some(id(BEYOND - 1)) && count == BEYOND;
    let theirs = peer::script("evolver_events.cjs", home, &["all"]);
    let counted = theirs.map_or("no answer".to_owned(), |result| result["count"].to_string());
    Ok(Row {
        goal: "6",
        work: format!("the same on a log of {} MiB", bytes >> 20),
        ours: megabytes,
        peer: None,
        unit: "MB",
        wanted: "right id and count",
        met: Some(right),
        note: format!("We count {count} of {BEYOND} events; evolver's readAllEvents: {counted}."),
    })
}

/// What the child does: it counts the events.
pub fn scan(path: &Path) -> Result<(u64, f64)> {
    let mut count = 0_u64;
    let time = seconds(|| {
        Ok(EventLog::at(path).each(|_, _| {
            count += 1;
            ControlFlow::Continue(())
        })?)
    })?;
    Ok((count, time))
}

fn write_log(path: &Path, events: u64) -> Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
    for at in 0..events {
        writeln!(
            file,
            r#"{{"type":"EvolutionEvent","schema_version":"1.5.0","id":"{}","parent":"{}","intent":"repair","signals":["log_error","perf_bottleneck"],"genes_used":["gene_gep_repair_from_errors"],"mutation_id":"mut_{at}","blast_radius":{{"files":1,"lines":{}}},"outcome":{{"status":"success","score":0.85}},"capsule_id":null,"env_fingerprint":{{"platform":"linux","arch":"x64"}},"meta":{{"signal_key":"log_error|perf_bottleneck"}}}}"#,
            id(at),
            id(at.saturating_sub(1)),
            at % 90,
        )?;
    }
    file.flush()?;
    Ok(())
}

fn id(at: u64) -> String {
    format!("evt_{}", FIRST + at)
}

fn check(holds: bool, complaint: &str) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(complaint.into()),
    }
}
