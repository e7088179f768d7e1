//! The hub's storage.
//!
//! [`Store`] opens a database and runs operations in it, each in a transaction of its own: `read` and `write` take a
//! closure over [`tx::Tx`]. The modules hold the operations; each is written once, in SQL that both databases
//! understand, so that they cannot come to differ. An acknowledged write is on the disk.

pub mod accounts;
pub mod admin;
pub mod announcements;
pub mod assets;
pub mod assignments;
pub mod audit;
pub mod backup;
pub mod bounties;
pub mod bundles;
pub mod claims;
pub mod decisions;
pub mod deliveries;
pub mod dump;
pub mod earnings;
pub mod embeddings;
pub mod environments;
pub mod events;
pub mod facets;
pub mod figures;
pub mod fsck;
pub mod graph;
pub mod graph_use;
pub mod id;
pub mod jobs;
pub mod ledger;
pub mod lifecycle;
pub mod limits;
pub mod lineage;
pub mod listing;
pub mod mailbox;
pub mod meaning;
pub mod memory;
pub mod messages;
pub mod meta;
mod migrate;
pub mod nodes;
pub mod notices;
mod postgres;
mod private;
pub mod promotion;
pub mod report_list;
pub mod reports;
pub mod reputation_days;
pub mod reviews;
pub mod rewards;
pub mod roster;
pub mod sales;
pub mod scoring;
pub mod search;
pub mod services;
mod signals;
pub mod skills;
mod sqlite;
pub mod stakes;
mod store;
pub mod strikes;
pub mod swarm;
mod tables;
mod task;
pub mod tasks;
pub mod tx;
pub mod usage;
pub mod use_days;
pub mod votes;
pub mod webhooks;
pub mod workers;

pub use migrate::fingerprint as schema_fingerprint;
pub use store::{Options, Store};

use capsid_model::problem::{Code, Problem};

/// The database does not hold what it should.
pub(crate) fn damaged(message: impl Into<String>) -> Problem {
    Problem::new(Code::StoreDamaged, message).fix("Run `capsid hub fsck` and restore a backup.")
}
