//! Writes that wait together are committed together, and one that fails is undone alone.

use capsid_model::problem::{Code, Problem};
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::system::meta;
use capsid_store::{Store, StoreOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// A store whose writer can be held, so that what is written meanwhile becomes one group.
struct HeldStore {
    store: Arc<Store>,
    runtime: Runtime,
    _folder: tempfile::TempDir,
}

impl HeldStore {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(&StoreOptions::new(folder.path(), None), Time(0)).unwrap());
        Self { store, runtime: Runtime::new().unwrap(), _folder: folder }
    }

    /// Keeps the writer busy until something is sent.
    fn hold(&self) -> Sender<()> {
        let ((go, wait), (began, begins)) = (channel::<()>(), channel());
        let store = Arc::clone(&self.store);
        self.runtime.spawn(async move {
            let held = store.write::<_, Problem, _>(move |_| {
                let _ = began.send(());
                let _ = wait.recv();
                Ok(())
            });
            held.await.unwrap();
        });
        begins.recv().unwrap();
        go
    }

    /// Queues a write, and gives how often it was run.
    fn write(
        &self,
        op: impl Fn(&mut dyn Tx) -> Result<(), Problem> + Send + 'static,
    ) -> (JoinHandle<Result<(), Problem>>, Arc<AtomicUsize>) {
        let runs = Arc::<AtomicUsize>::default();
        let (store, counted) = (Arc::clone(&self.store), Arc::clone(&runs));
        let (queued, is_queued) = channel();
        let task = self.runtime.spawn(async move {
            let mut written = Box::pin(store.write(move |tx| {
                counted.fetch_add(1, Ordering::SeqCst);
                op(tx)
            }));
            // The first poll queues it.
            std::future::poll_fn(|context| {
                let polled = written.as_mut().poll(context);
                let _ = queued.send(());
                polled
            })
            .await
        });
        is_queued.recv().unwrap();
        (task, runs)
    }

    fn ends(&self, (task, runs): (JoinHandle<Result<(), Problem>>, Arc<AtomicUsize>)) -> (bool, usize) {
        let ended = self.runtime.block_on(task).unwrap();
        (ended.is_ok(), runs.load(Ordering::SeqCst))
    }

    fn keys(&self) -> Vec<String> {
        self.store.read_now(|tx| tx.query_all("SELECT key FROM meta ORDER BY key", &[])).unwrap()
    }
}

fn set(key: &'static str) -> impl Fn(&mut dyn Tx) -> Result<(), Problem> + Send {
    move |tx| meta::get_or_set(tx, key, "1").map(drop)
}

fn refused() -> Problem {
    Problem::new(Code::InputInvalid, "No.")
}

#[test]
fn a_write_that_fails_after_a_change_undoes_itself_alone() {
    let held = HeldStore::open();
    let go = held.hold();
    let before = held.write(set("before"));
    let refusal = held.write(|_| Err(refused()));
    let half = held.write(|tx| {
        meta::get_or_set(tx, "half", "1")?;
        Err(refused())
    });
    let panicking = held.write(|tx| {
        meta::get_or_set(tx, "panic", "1")?;
        panic!("a bug")
    });
    let after = held.write(set("after"));
    go.send(()).unwrap();
    assert_eq!(held.ends(refusal), (false, 1), "what changed nothing is not run again");
    assert_eq!(held.ends(half), (false, 2), "all that had begun is run again, each by itself");
    assert_eq!(held.ends(before), (true, 2));
    assert_eq!(held.ends(panicking), (false, 1));
    assert_eq!(held.ends(after), (true, 1));
    assert_eq!(held.keys(), ["after", "before"]);
}

#[test]
fn writes_that_all_succeed_are_run_once() {
    let held = HeldStore::open();
    let go = held.hold();
    let writes = ["a", "b", "c"].map(|key| held.write(set(key)));
    go.send(()).unwrap();
    for write in writes {
        assert_eq!(held.ends(write), (true, 1));
    }
    assert_eq!(held.keys(), ["a", "b", "c"]);
}

#[test]
fn a_write_that_makes_the_accounts_uneven_undoes_itself_alone() {
    let held = HeldStore::open();
    let go = held.hold();
    let before = held.write(set("before"));
    let uneven = held.write(|tx| tx.run("UPDATE ledger_sum SET value = 7", &[]).map(drop));
    let after = held.write(set("after"));
    go.send(()).unwrap();
    assert_eq!(held.ends(before), (true, 2));
    assert_eq!(held.ends(uneven), (false, 2));
    assert_eq!(held.ends(after), (true, 1));
    assert_eq!(held.keys(), ["after", "before"]);
}

#[test]
fn a_lone_writer_does_not_wait_for_others() {
    let held = HeldStore::open();
    let began = Instant::now();
    for _ in 0..20 {
        held.store.write_now(|_| Ok(())).unwrap();
    }
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_new_file_has_pages_of_8_kb() {
    let held = HeldStore::open();
    assert_eq!(held.store.read_now(|tx| tx.count("PRAGMA page_size", &[])).unwrap(), 8192);
}
