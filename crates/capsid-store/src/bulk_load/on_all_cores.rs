//! Work on all cores whose results keep their order.

use std::collections::BTreeMap;
use std::iter::Flatten;
use std::num::NonZero;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;

/// How many items a core takes at once.
const CHUNK: usize = 64;
/// How many chunks wait, for a core or for whoever takes the results, for each core.
const WAITING: usize = 4;

type Chunk<T> = (u64, Vec<T>);

/// Does the same work on all cores. The results come in the order of the items. No more items are taken than can be worked
/// on, so they may come from a file of any size. It ends early when nobody takes the results any more.
pub fn on_all_cores<'s, T, R>(
    scope: &'s Scope<'s, '_>,
    items: impl Iterator<Item = T> + Send + 's,
    work: impl Fn(T) -> R + Send + Sync + 's,
) -> Flatten<OrderedChunks<R>>
where
    T: Send + 's,
    R: Send + 's,
{
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let (chunks, waiting) = sync_channel(cores * WAITING);
    let (done, results) = sync_channel(cores * WAITING);
    scope.spawn(move || feed(items, &chunks));
    let (waiting, work) = (Arc::new(Mutex::new(waiting)), Arc::new(work));
    for _ in 0..cores {
        let (waiting, done, work) = (Arc::clone(&waiting), done.clone(), Arc::clone(&work));
        scope.spawn(move || work_on(&waiting, &done, &*work));
    }
    OrderedChunks { results, early: BTreeMap::new(), next: 0 }.flatten()
}

fn feed<T>(items: impl Iterator<Item = T>, chunks: &SyncSender<Chunk<T>>) {
    let mut items = items.fuse();
    for number in 0.. {
        let chunk: Vec<T> = items.by_ref().take(CHUNK).collect();
        if chunk.is_empty() || chunks.send((number, chunk)).is_err() {
            return;
        }
    }
}

fn work_on<T, R>(waiting: &Mutex<Receiver<Chunk<T>>>, done: &SyncSender<Chunk<R>>, work: &impl Fn(T) -> R) {
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, chunk)) = next else { return };
        if done.send((number, chunk.into_iter().map(work).collect())).is_err() {
            return;
        }
    }
}

/// Chunks of results, put back in their order.
pub struct OrderedChunks<R> {
    results: Receiver<Chunk<R>>,
    /// Chunks that were done before the one that is due.
    early: BTreeMap<u64, Vec<R>>,
    next: u64,
}

impl<R> Iterator for OrderedChunks<R> {
    type Item = Vec<R>;

    fn next(&mut self) -> Option<Vec<R>> {
        loop {
            if let Some(chunk) = self.early.remove(&self.next) {
                self.next += 1;
                return Some(chunk);
            }
            let (number, chunk) = self.results.recv().ok()?;
            self.early.insert(number, chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::on_all_cores;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let slow_at_first = |n: u64| {
            if n < 200 {
                std::thread::sleep(std::time::Duration::from_micros(200 - n));
            }
            n * 2
        };
        let results: Vec<u64> =
            std::thread::scope(|scope| on_all_cores(scope, 0..10_000, slow_at_first).collect());
        assert_eq!(results, (0..10_000).map(|n| n * 2).collect::<Vec<u64>>());
    }

    #[test]
    fn an_endless_source_ends_when_nobody_takes_the_results() {
        let taken: Vec<u64> =
            std::thread::scope(|scope| on_all_cores(scope, 0.., |n: u64| n).take(1_000).collect());
        assert_eq!(taken.len(), 1_000);
    }
}
