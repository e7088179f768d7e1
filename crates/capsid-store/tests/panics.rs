//! A bug in one operation is that operation's trouble alone.

use capsid_model::problem::{Code, Problem};
use capsid_model::time::Time;
use capsid_store::system::meta;
use capsid_store::{Store, StoreOptions};

#[test]
fn an_operation_that_panics_is_undone_and_the_next_one_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&StoreOptions::new(folder.path(), None), Time(0)).unwrap();
    let failed: Result<(), Problem> = store.write_now(|tx| {
        meta::get_or_set(tx, "half", "done")?;
        panic!("a bug")
    });
    assert_eq!(failed.unwrap_err().code, Code::Internal);
    assert_eq!(
        store.write_now(|tx| meta::get_or_set(tx, "half", "nothing was kept")).unwrap(),
        "nothing was kept"
    );
    let failed: Result<(), Problem> = store.read_now(|_| panic!("a bug"));
    assert_eq!(failed.unwrap_err().code, Code::Internal);
    assert_eq!(store.read_now(|tx| tx.count("SELECT COUNT(*) FROM nodes", &[])).unwrap(), 0);
}

/// An error that cannot be made of a problem, as one that logs to a full disk once could not.
#[derive(Debug)]
struct LoudError;

impl From<Problem> for LoudError {
    fn from(problem: Problem) -> Self {
        assert!(problem.code == Code::StoreBusy, "a bug");
        Self
    }
}

#[test]
fn an_error_that_panics_does_not_end_the_thread_that_writes() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&StoreOptions::new(folder.path(), None), Time(0)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let uneven = store.write::<u64, LoudError, _>(|tx| {
        tx.run("UPDATE ledger_sum SET value = 7", &[]).map_err(|_| LoudError)
    });
    assert!(runtime.block_on(uneven).is_err());
    assert_eq!(store.write_now(|tx| meta::get_or_set(tx, "key", "kept")).unwrap(), "kept");
}
