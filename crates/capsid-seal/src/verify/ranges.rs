//! Verifying a database on every core: each thread reads its own ranges of positions with its own connection, and no
//! text is copied out of a row.

use super::{ChainVerdict, VerifyOptions};
use crate::RecordSeal;
use crate::chain::ChainReader;
use crate::keys::KeySet;
use capsid_model::{Problem, Result};
use capsid_verdict::ChainFold;
use capsid_verdict::record::{CheckedRecord, RecordChecker, glance_at};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// How many positions a thread takes at once.
const RANGE: u64 = 128;
/// The equation of a batch gets cheaper per signature as the batch grows, up to about here.
const BATCH_RANGE: u64 = 1024;
/// A shorter chain is not worth more connections.
const FEWEST: u64 = 512;
/// How many ranges each thread may be ahead of the one that puts them in order.
const AHEAD: usize = 4;

/// Sees the seals of the records, in the order of the chain.
pub trait SealObserver {
    /// Forgets what it saw: the chain is read again from where it began.
    fn restart(&mut self);

    /// The seal of the next record, without its signatures.
    fn see(&mut self, seal: &RecordSeal);
}

/// Nobody.
impl SealObserver for () {
    fn restart(&mut self) {}

    fn see(&mut self, _seal: &RecordSeal) {}
}

/// One range of positions, checked.
struct CheckedRange {
    records: Vec<CheckedRecord>,
    /// The hash, the claimed time and the signer of each.
    seals: Vec<RecordSeal>,
}

/// How the positions are cut into ranges.
#[derive(Debug, Clone, Copy)]
struct RangePlan {
    first: i64,
    end: i64,
    size: u64,
    count: u64,
}

impl RangePlan {
    fn bounds(self, number: u64) -> (i64, i64) {
        let start = self.first.saturating_add_unsigned(number.saturating_mul(self.size));
        (start, start.saturating_add_unsigned(self.size).min(self.end))
    }
}

/// Why a range was not checked.
enum RangeFault {
    /// There are more records than positions, so the range could be of any length.
    Crowded,
    Problem(Problem),
}

/// Verifies the chain of a database in ranges. None if it has to be read from its beginning to its end instead: it is
/// short, or its positions are not those of a whole chain.
pub(super) fn run(
    path: &Path,
    tenant: Option<&str>,
    options: &VerifyOptions,
    keys: &KeySet,
    observer: &mut dyn SealObserver,
) -> Result<Option<ChainVerdict>> {
    let reader = ChainReader::open(path)?;
    let threads = options.threads();
    let Some(plan) = plan(&reader, tenant, options)?.filter(|_| threads > 1 && !reader.is_copy()) else {
        return Ok(None);
    };
    let mut readers = vec![reader];
    for _ in 1..threads {
        readers.push(ChainReader::open(path)?);
    }
    let (next, is_broken) = (AtomicU64::new(0), AtomicBool::new(false));
    let mut fold = ChainFold::new(options);
    // A thread never waits for one that is behind it by more than this, so all of them have room for what they do.
    let (send, results) = sync_channel(threads * AHEAD);
    let turn = Turnstile::new((threads * AHEAD) as u64);
    std::thread::scope(|scope| {
        for reader in readers {
            let worker =
                RangeWorker { reader, tenant, plan, options, keys, next: &next, is_broken: &is_broken };
            let (send, turn) = (send.clone(), &turn);
            scope.spawn(move || worker.work(&send, turn));
        }
        drop(send);
        let folded = fold_in_order(&results, plan.count, &mut fold, &is_broken, &turn, observer);
        // Whoever still waits for its turn finds the door open and the channel closed.
        turn.open();
        drop(results);
        folded
    })
    .map(|is_whole| is_whole.then(|| fold.verdict()))
}

/// Where to begin and end, if the positions are about as many as the records.
fn plan(reader: &ChainReader, tenant: Option<&str>, options: &VerifyOptions) -> Result<Option<RangePlan>> {
    let Some((least, last, count)) = reader.extent(tenant)? else { return Ok(None) };
    let first = match &options.since {
        Some(checkpoint) => i64::try_from(checkpoint.sequence).unwrap_or(i64::MAX),
        None => least,
    };
    let Some(end) = last.checked_add(1).filter(|end| *end > first) else { return Ok(None) };
    let positions = end.abs_diff(first);
    if count < FEWEST || positions < FEWEST || positions > count.saturating_mul(2) {
        return Ok(None);
    }
    let size = if options.batch { BATCH_RANGE } else { RANGE };
    Ok(Some(RangePlan { first, end, size, count: positions.div_ceil(size) }))
}

/// Keeps threads from running ahead of the order without bound.
struct Turnstile {
    ahead: u64,
    done: Mutex<u64>,
    moved: std::sync::Condvar,
}

impl Turnstile {
    fn new(ahead: u64) -> Self {
        Self { ahead, done: Mutex::new(0), moved: std::sync::Condvar::new() }
    }

    /// Waits until a range is near enough to those that are in order.
    fn wait(&self, number: u64) {
        let Ok(done) = self.done.lock() else { return };
        // A lock that a panic poisoned lets everybody through.
        drop(self.moved.wait_while(done, |done| number >= done.saturating_add(self.ahead)));
    }

    fn advance(&self, done: u64) {
        if let Ok(mut current) = self.done.lock() {
            *current = done.max(*current);
        }
        self.moved.notify_all();
    }

    fn open(&self) {
        self.advance(u64::MAX);
    }
}

type NumberedRange = (u64, Result<CheckedRange, RangeFault>);

/// Takes the ranges in their order. False if one of them was too crowded.
fn fold_in_order(
    results: &Receiver<NumberedRange>,
    count: u64,
    fold: &mut ChainFold<'_>,
    is_broken: &AtomicBool,
    turn: &Turnstile,
    observer: &mut dyn SealObserver,
) -> Result<bool> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    while next < count {
        let Ok((number, range)) = results.recv() else { return Ok(false) };
        early.insert(number, range);
        while let Some(range) = early.remove(&next) {
            match range {
                Err(RangeFault::Crowded) => return Ok(false),
                Err(RangeFault::Problem(problem)) if !fold.is_broken() => return Err(problem),
                Err(RangeFault::Problem(problem)) => {
                    fold.push_note(format!("Reading stopped behind the break: {}", problem.message));
                    return Ok(true);
                }
                Ok(CheckedRange { records, seals }) => {
                    seals.iter().for_each(|seal| observer.see(seal));
                    records.into_iter().for_each(|record| fold.push(record));
                }
            }
            next += 1;
            turn.advance(next);
        }
        if fold.is_broken() {
            is_broken.store(true, Ordering::Relaxed);
        }
    }
    Ok(true)
}

/// What one thread needs.
struct RangeWorker<'a> {
    reader: ChainReader,
    tenant: Option<&'a str>,
    plan: RangePlan,
    options: &'a VerifyOptions,
    keys: &'a KeySet,
    next: &'a AtomicU64,
    is_broken: &'a AtomicBool,
}

impl RangeWorker<'_> {
    fn work(&self, send: &SyncSender<NumberedRange>, turn: &Turnstile) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.plan.count {
                return;
            }
            turn.wait(number);
            if send.send((number, self.check(number))).is_err() {
                return;
            }
        }
    }

    fn check(&self, number: u64) -> Result<CheckedRange, RangeFault> {
        let (first, end) = self.plan.bounds(number);
        let most = usize::try_from(self.plan.size).unwrap_or(usize::MAX).saturating_add(1);
        let mut checker = RecordChecker::new(self.options, self.keys);
        let (mut seals, mut behind) = (Vec::new(), Vec::new());
        let is_broken = self.is_broken.load(Ordering::Relaxed);
        let visited = self.reader.visit(self.tenant, (first, end), most, &mut |record| {
            seals.push(RecordSeal {
                hash: record.hash.to_owned(),
                signed_at: record.signed_at.map(str::to_owned),
                signed_by: record.signed_by.to_owned(),
                ..RecordSeal::default()
            });
            match is_broken {
                true => behind.push(glance_at(record)),
                false => checker.push(record),
            }
        });
        match visited {
            Ok(visited) if visited >= most => Err(RangeFault::Crowded),
            Ok(_) => {
                let mut records = checker.finish();
                records.append(&mut behind);
                Ok(CheckedRange { records, seals })
            }
            Err(problem) => Err(RangeFault::Problem(problem)),
        }
    }
}
