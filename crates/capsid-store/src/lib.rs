//! The hub's storage.
//!
//! [`Store`] opens a database and runs operations in it, each in a transaction of its own: `read` and `write` take a
//! closure over [`tx::Tx`]. The modules hold the operations; each is written once, in SQL that both databases
//! understand, so that they cannot come to differ. An acknowledged write is on the disk.

pub mod accounts;
pub mod assets;
pub mod audit;
pub mod backup;
pub mod bulk_load;
pub mod db;
pub mod evaluation;
pub mod fsck;
pub mod graph;
mod index;
pub mod ledger;
pub mod memory;
pub mod nodes;
pub mod notifications;
pub mod registry;
pub mod search;
pub mod services;
pub mod skills;
mod store;
pub mod system;
pub mod work;

pub use crate::db::migrate::fingerprint as schema_fingerprint;
pub use store::{Store, StoreOptions, StoreState};

use capsid_model::problem::{Code, Problem, Result};
use capsid_model::time::Time;

impl Store {
    /// Opens the database, making or migrating it where that is asked for. Blocks. Names of a database from before get
    /// what they are compared by, which is above `store.rs`.
    pub fn open(options: &StoreOptions, now: Time) -> Result<Self> {
        let store = Self::connect(options, now)?;
        if options.migrate {
            nodes::names::fill_if_new(&store)?;
        }
        Ok(store)
    }
}

/// The database does not hold what it should.
pub(crate) fn damaged(message: impl Into<String>) -> Problem {
    Problem::new(Code::StoreDamaged, message).fix("Run `capsid hub fsck` and restore a backup.")
}
