#![doc = include_str!("../README.md")]
// A tool for developers: it spawns the programs it compares and writes its own scratch files.
#![allow(clippy::disallowed_methods)]

mod asset_verify;
mod child;
mod cold_start;
mod cycle;
mod events;
mod generated_repo;
mod hub;
mod hub_data;
mod hub_graph;
mod hub_memory;
mod hub_mixed;
mod hub_publish;
mod hub_reads;
mod hub_search;
mod learning;
mod measure;
mod peer;
mod performance_page;
mod report;
mod results;
mod seal_append;
mod seal_verify;
mod sealed;
mod select;
mod sybil;

use report::Row;
use results::Results;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Any failure ends the bench with its message.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A bench gives rows of the table.
type Bench = fn() -> Result<Vec<Row>>;

const BENCHES: &[(&str, Bench)] = &[
    ("seal-verify", seal_verify::run),
    ("seal-append", seal_append::run),
    ("asset-verify", asset_verify::run),
    ("select", select::run),
    ("events", events::run),
    ("cold-start", cold_start::run),
    ("cycle", cycle::run),
    ("hub-publish", hub_publish::run),
    ("hub-search", hub_search::run),
    ("hub-reads", hub_reads::run),
    ("hub-memory", hub_memory::run),
    ("hub-mixed", hub_mixed::run),
    ("hub-graph", hub_graph::run),
    (learning::NAME, learning::run_all),
];

/// What a child of this program does.
const CHILDREN: &[(&str, child::Work)] = &[
    (events::SCAN, events::scan),
    (seal_verify::STRICT, seal_verify::verify_strict),
    (seal_verify::BATCH, seal_verify::verify_in_batches),
    (seal_append::SINGLY, seal_append::append_singly),
    (seal_append::FROM_STREAM, seal_append::append_from_stream),
    (seal_append::IN_GROUPS, seal_append::append_in_groups),
];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match wanted.as_slice() {
        [name, options @ ..] if name == learning::NAME => match learning::run(options) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        [name] if name == sybil::NAME => match sybil::run() {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        [name] if name == performance_page::NAME => performance_page::run(),
        [name, path] if name == hub_reads::BARE => hub_reads::serve_bare(path.as_ref()),
        [name, path] if name.starts_with("--") => work(name, path),
        names => run(names),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn work(wanted: &str, path: &str) -> Result<()> {
    let found = CHILDREN.iter().find(|(name, _)| *name == wanted);
    let (_, work) = found.ok_or_else(|| format!("no work `{wanted}`"))?;
    child::work_and_tell(*work, path)
}

fn run(wanted: &[String]) -> Result<()> {
    let is_known = |name: &String| BENCHES.iter().any(|(known, _)| known == name);
    if let Some(unknown) = wanted.iter().find(|name| !is_known(name)) {
        let names: Vec<&str> = BENCHES.iter().map(|(name, _)| *name).collect();
        return Err(format!("no bench `{unknown}`; there are {}", names.join(", ")).into());
    }
    let path = root().join("bench/results.json");
    let (mut results, mut all, mut failed) = (Results::of_here(&path)?, Vec::new(), Vec::new());
    for (name, bench) in BENCHES {
        if !wanted.is_empty() && wanted.iter().all(|each| each != name) {
            continue;
        }
        eprintln!("bench: {name} ...");
        let began = Instant::now();
        match bench() {
            Ok(rows) => {
                results.put(name, began.elapsed().as_secs_f64(), &rows);
                // At once, so that nothing is lost when the run is ended early.
                results.save(&path)?;
                all.extend(rows);
            }
            Err(error) => {
                eprintln!("bench: {name}: {error}");
                failed.push(*name);
            }
        }
    }
    report::print(&all);
    if !failed.is_empty() {
        return Err(format!("{} did not come to an end", failed.join(", ")).into());
    }
    let missed = all.iter().filter(|row| row.met == Some(false)).count();
    match std::env::var_os("CAPSID_SOAK") {
        Some(_) if missed > 0 => Err(format!("{missed} goals were missed").into()),
        _ => Ok(()),
    }
}

/// The workspace.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
