//! `capsid hub load`: many bundles from a file into a hub that does not run.

use super::HubLocation;
use crate::output::progress::ProgressLine;
use crate::output::{self, BAD, GOOD, NAME, paint};
use capsid_hub::error::ApiError;
use capsid_hub::ops::assets::publish::load::{
    LINE_LIMIT, LoadLineReader, line_too_long, load_options, refusal,
};
use capsid_hub::random::SystemRandom;
use capsid_model::text::inert;
use capsid_model::{Clock, Code, Problem, Result, SystemClock, Value, json};
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::bulk_load::{self, LoadOutcome, on_all_cores};
use capsid_store::{Store, StoreOptions};
use clap::Args;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Load the starter pack, or many bundles from a file, with every check of a publish.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub load starter                             24 solutions for common errors, tested on this machine
  capsid node export --protocol --out shared.jsonl    messages, which name their sender
  capsid hub load shared.jsonl
  capsid hub load bundles.jsonl --node node_4f1c      bundles that do not say who published them
  capsid hub load - < shared.jsonl

`starter` is the pack that comes with Capsid; the hub may run meanwhile. Its node is `node_starter`. This machine runs each
entry without its change and with it, in the sandbox, and reports what it saw; the usual rule promotes what was reproduced. Loading
it permits its commands (node, python3, bash, cargo, go), for this pack alone. An entry whose program is missing stays a candidate.
A file of this name is `./starter`.

Each line of a file is a bundle, `{\"assets\":[gene, capsule, event]}` with an optional `sender_id`, or a publish message; other messages are
passed over. Ids, schema, commands and safety are checked as for a publish, on all cores; rate limits and quotas do not count. A line
that is refused is named on stderr with its number and code, everything else is stored, and the command exits with 1.

What is there already is left as it is, so a load that was cut off is continued by running it again. On SQLite the hub must not
run. On PostgreSQL it may, and brings what was loaded into its index by itself. `capsid hub fsck` checks the result.")]
pub struct HubLoadArgs {
    /// `starter`, or a file with one bundle or message a line; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The node that published the bundles that do not say so themselves.
    #[arg(long, value_name = "NODE")]
    node: Option<String>,

    #[command(flatten)]
    location: HubLocation,
}

/// The pack that comes with the program, in the place of a file.
const STARTER: &str = "starter";

/// Runs the command.
pub fn run(arguments: &HubLoadArgs) -> Result<u8> {
    if arguments.file == Path::new(STARTER) {
        if arguments.node.is_some() {
            return Err(Problem::new(Code::UsageError, "The starter pack has a node of its own.")
                .fix("Leave `--node` out."));
        }
        return super::starter::load(&arguments.location);
    }
    let config = arguments.location.load(Vec::new())?.config;
    let now = SystemClock.now();
    let reader = LoadLineReader::new(&config, arguments.node.clone(), Arc::new(SystemRandom), now)
        .map_err(|error| Problem::new(Code::InputInvalid, error.problem).fix(error.fix))?;
    let source = LineSource::open(&arguments.file)?;
    let store = Store::open(&store_options(config.data.clone(), config.database.clone()), now)?;
    store.set_trust(config.trust());
    let tally = Mutex::new(LoadTally::default());
    let (bytes, failure) = (Arc::clone(&source.bytes), Arc::clone(&source.failure));
    let mut progress = ProgressLine::new("loading");
    let size = source.size;
    let (reader, tally_so_far) = (&reader, &tally);
    std::thread::scope(|scope| {
        let read = |(line, content): NumberedLine| (line, content.and_then(|bytes| reader.read(line, bytes)));
        let lines = on_all_cores(scope, source, read);
        let items = lines.filter_map(|(line, item)| {
            lock(tally_so_far).lines += 1;
            item.unwrap_or_else(|error| {
                lock(tally_so_far).refuse(line, &error);
                None
            })
        });
        bulk_load::load_bundles(&store, items, load_options(&config), now, &mut |outcomes| {
            lock(tally_so_far).add(outcomes);
            progress.update("bytes", bytes.load(Ordering::Relaxed), size);
        })
    })?;
    if let Some(problem) = lock(&failure).take() {
        return Err(problem);
    }
    let stored = lock(&tally).stored();
    let mut progress = ProgressLine::new("indexing");
    bulk_load::update_index(&store, now, &mut |indexed| progress.update("assets", indexed, 3 * stored))?;
    drop(progress);
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    tally.print();
    Ok(u8::from(!tally.refused.is_empty()))
}

/// On SQLite nobody else may have the file. Hubs on PostgreSQL have an index each, which they keep themselves.
fn store_options(data: PathBuf, database: Option<String>) -> StoreOptions {
    let exclusive = database.is_none();
    StoreOptions { exclusive, readers: 1, writers: 1, ..StoreOptions::new(data, database) }
}

type NumberedLine = (u64, std::result::Result<Vec<u8>, ApiError>);

/// The lines of a file that are not empty, with their numbers. What ends it early is in `failure`.
struct LineSource {
    path: PathBuf,
    file: Box<dyn BufRead + Send>,
    line: u64,
    /// How many bytes the file has, and how many of them were read.
    size: u64,
    bytes: Arc<AtomicU64>,
    failure: Arc<Mutex<Option<Problem>>>,
}

impl LineSource {
    fn open(path: &Path) -> Result<Self> {
        let (size, file): (u64, Box<dyn Read + Send>) = if path == Path::new("-") {
            (0, Box::new(std::io::stdin()))
        } else {
            let file = std::fs::File::open(path).map_err(|error| Problem::io("read", path, &error))?;
            let size = file.metadata().map_or(0, |data| data.len());
            (size, Box::new(file))
        };
        let file = Box::new(BufReader::with_capacity(1 << 20, file));
        let (bytes, failure) = (Arc::default(), Arc::default());
        Ok(Self { path: path.to_owned(), file, line: 0, size, bytes, failure })
    }

    /// The next line without its end; nothing at the end of the file.
    fn next_line(&mut self) -> std::io::Result<Option<std::result::Result<Vec<u8>, ApiError>>> {
        let mut line = Vec::new();
        let limit = LINE_LIMIT as u64 + 2;
        let mut read = self.file.by_ref().take(limit).read_until(b'\n', &mut line)? as u64;
        if read == 0 {
            return Ok(None);
        }
        let is_whole = line.last() == Some(&b'\n') || read < limit;
        if !is_whole {
            read += self.file.skip_until(b'\n')? as u64;
        }
        self.bytes.fetch_add(read, Ordering::Relaxed);
        while line.last().is_some_and(u8::is_ascii_whitespace) {
            line.pop();
        }
        Ok(Some(if is_whole && line.len() <= LINE_LIMIT { Ok(line) } else { Err(line_too_long()) }))
    }
}

impl Iterator for LineSource {
    type Item = NumberedLine;

    fn next(&mut self) -> Option<NumberedLine> {
        loop {
            self.line += 1;
            match self.next_line() {
                Ok(Some(Ok(line))) if line.is_empty() => {}
                Ok(Some(line)) => return Some((self.line, line)),
                Ok(None) => return None,
                Err(error) => {
                    *lock(&self.failure) = Some(Problem::io("read", &self.path, &error));
                    return None;
                }
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What became of all lines.
#[derive(Debug, Default)]
struct LoadTally {
    lines: u64,
    by_status: BTreeMap<&'static str, u64>,
    already_there: u64,
    refused: BTreeMap<u64, Value>,
}

impl LoadTally {
    fn add(&mut self, outcomes: &[(u64, LoadOutcome)]) {
        for (line, outcome) in outcomes {
            match outcome {
                LoadOutcome::Stored(status) => *self.by_status.entry(status.as_str()).or_default() += 1,
                LoadOutcome::AlreadyThere => self.already_there += 1,
                refused => {
                    if let Some(error) = refusal(*refused) {
                        self.refuse(*line, &error);
                    }
                }
            }
        }
    }

    fn refuse(&mut self, line: u64, error: &ApiError) {
        let code = error.code.as_str();
        let label = paint(BAD.bold(), format_args!("line {line}: error[{code}]"));
        output::talk(format_args!("{label}: {}", inert(&error.problem)));
        output::talk(format_args!("  {} {}", paint(NAME, "fix:"), inert(&error.fix)));
        let told = json!({"line": line, "code": code, "message": error.problem, "fix": error.fix});
        self.refused.insert(line, told);
    }

    fn stored(&self) -> u64 {
        self.by_status.values().sum()
    }

    /// Messages that publish nothing.
    fn passed_over(&self) -> u64 {
        self.lines - self.stored() - self.already_there - self.refused.len() as u64
    }

    fn print(&self) {
        if output::is_json() {
            output::document(&json!({
                "ok": self.refused.is_empty(), "lines": self.lines, "stored": self.stored(), "statuses": self.by_status,
                "already_there": self.already_there, "passed_over": self.passed_over(),
                "refused": self.refused.values().collect::<Vec<_>>(),
            }));
            return;
        }
        let candidate = AssetStatus::Candidate.as_str();
        let held = self.by_status.iter().filter(|(status, _)| **status != candidate);
        let held: String = held.map(|(status, count)| format!(", {count} of them {status}")).collect();
        output::line(format_args!(
            "{} {} bundles{held}; {} were there already, {} messages were passed over, {} lines refused",
            paint(GOOD, "loaded"),
            self.stored(),
            self.already_there,
            self.passed_over(),
            self.refused.len()
        ));
    }
}
