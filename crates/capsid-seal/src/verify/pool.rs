//! Reading, checking on every core, and judging in order, with a bounded number of records in memory.

use super::{ChainVerdict, VerifyOptions};
use crate::keys::KeySet;
use crate::stored::StoredRecord;
use capsid_model::{Code, Problem, Result};
use capsid_verdict::ChainFold;
use capsid_verdict::record::{CheckedRecord, SourceEntry, check, glance};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// A chunk ends at this many bytes, however few records that is.
const CHUNK_BYTES: usize = 1 << 20;
/// Enough that passing a chunk costs nothing compared with checking it.
const CHUNK: usize = 64;
/// The equation of a batch gets cheaper per signature as the batch grows, up to about here.
const BATCH_CHUNK: usize = 512;

/// Verifies a stream of records.
pub(super) fn run(
    records: impl Iterator<Item = Result<StoredRecord>>,
    options: &VerifyOptions,
    keys: &KeySet,
) -> Result<ChainVerdict> {
    let mut reader =
        ChunkReader { records, chunk: if options.batch { BATCH_CHUNK } else { CHUNK }, stopped: None };
    let mut chain = ChainFold::new(options);
    let first = reader.next_chunk();
    let second = reader.next_chunk();
    if second.is_empty() {
        // Not worth a thread.
        check(&first, options, keys).into_iter().for_each(|checked| chain.push(checked));
    } else {
        let chunks = [first, second]
            .into_iter()
            .chain(std::iter::from_fn(|| Some(reader.next_chunk()).filter(|chunk| !chunk.is_empty())));
        start_workers(chunks, options, keys, &mut chain)?;
    }
    match reader.stopped {
        Some(problem) if !chain.is_broken() => Err(problem),
        Some(problem) => {
            chain.push_note(format!("Reading stopped behind the break: {}", problem.message));
            Ok(chain.verdict())
        }
        None => Ok(chain.verdict()),
    }
}

/// Cuts the stream into chunks, and remembers why it could not be read further.
struct ChunkReader<I> {
    records: I,
    chunk: usize,
    stopped: Option<Problem>,
}

impl<I: Iterator<Item = Result<StoredRecord>>> ChunkReader<I> {
    fn next_chunk(&mut self) -> Vec<SourceEntry> {
        let mut chunk = Vec::new();
        let mut bytes = 0;
        while self.stopped.is_none() && chunk.len() < self.chunk && bytes < CHUNK_BYTES {
            match self.records.next().map(SourceEntry::new) {
                Some(Ok(entry)) => {
                    bytes += entry.size();
                    chunk.push(entry);
                }
                Some(Err(problem)) => self.stopped = Some(problem),
                None => break,
            }
        }
        chunk
    }
}

type VerifyJob = (u64, Vec<SourceEntry>);
type VerifyDone = (u64, Vec<CheckedRecord>);

/// The reader stays on this thread, for a database's rows cannot leave it.
fn start_workers(
    chunks: impl Iterator<Item = Vec<SourceEntry>>,
    options: &VerifyOptions,
    keys: &KeySet,
    chain: &mut ChainFold<'_>,
) -> Result<()> {
    let threads = options.threads();
    let broken = AtomicBool::new(false);
    let (jobs, waiting) = channel();
    let waiting = Mutex::new(waiting);
    let (finished, results) = channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (waiting, finished, broken) = (&waiting, finished.clone(), &broken);
            scope.spawn(move || work(waiting, &finished, broken, options, keys));
        }
        drop(finished);
        let mut order = OrderedChunks { chain, broken: &broken, next: 0, early: BTreeMap::new() };
        for (number, chunk) in (0..).zip(chunks) {
            send(&jobs, (number, chunk))?;
            // Enough ahead that no thread waits, and no more.
            while number + 1 - order.next > 3 * threads as u64 {
                order.accept_chunk(results.recv().map_err(|_| lost())?);
            }
        }
        drop(jobs);
        results.iter().for_each(|done| order.accept_chunk(done));
        Ok(())
    })
}

fn send(jobs: &Sender<VerifyJob>, job: VerifyJob) -> Result<()> {
    jobs.send(job).map_err(|_| lost())
}

fn lost() -> Problem {
    Problem::new(Code::Internal, "A verifying thread ended early.")
}

fn work(
    waiting: &Mutex<Receiver<VerifyJob>>,
    finished: &Sender<VerifyDone>,
    broken: &AtomicBool,
    options: &VerifyOptions,
    keys: &KeySet,
) {
    loop {
        let Ok(Ok((number, chunk))) = waiting.lock().map(|jobs| jobs.recv()) else { return };
        let checked = match broken.load(Ordering::Relaxed) {
            true => chunk.iter().map(glance).collect(),
            false => check(&chunk, options, keys),
        };
        if finished.send((number, checked)).is_err() {
            return;
        }
    }
}

/// Hands chunks to the chain in the order they were read.
struct OrderedChunks<'a, 'b> {
    chain: &'a mut ChainFold<'b>,
    broken: &'a AtomicBool,
    next: u64,
    early: BTreeMap<u64, Vec<CheckedRecord>>,
}

impl OrderedChunks<'_, '_> {
    fn accept_chunk(&mut self, (number, checked): VerifyDone) {
        self.early.insert(number, checked);
        while let Some(checked) = self.early.remove(&self.next) {
            checked.into_iter().for_each(|record| self.chain.push(record));
            self.next += 1;
        }
        if self.chain.is_broken() {
            self.broken.store(true, Ordering::Relaxed);
        }
    }
}
