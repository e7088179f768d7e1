//! Chains on disk: one SQLite file per session, or one for many with a tenant each.
//!
//! The tables are those of `agent-capsule`, so either program goes on where the other stopped. Ours are next to
//! them, where it does not look: an index that lets no two records have one sequence number, and the key each record was sealed by.

mod adopt;
mod compact;
mod finalised;
mod head_check;
mod import;
mod open;
mod pending;
mod read;
mod read_only;
mod seal_plan;
mod sealed_keys;
mod traces;
mod write;

pub use adopt::{AdoptedRecord, checkpoint_keys, checkpoint_of};
pub use compact::{CompactOutcome, compact};
pub use finalised::FinalisedMark;
pub use head_check::OwnershipCheck;
pub use import::ImportedRecords;
pub(crate) use open::no_chain;
pub use read::{ChainReader, ChainRecords, TableFlavour};
pub use seal_plan::{PendingRecord, RecordReason};
pub use traces::expected_by_checkpoint;
pub use write::{AppendOutcome, ChainWriter};

/// The table of records, in the reference's words.
const CAPSULES: &str = "CREATE TABLE IF NOT EXISTS capsules (
    rowid_pk     INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id    TEXT,
    sequence     INTEGER NOT NULL,
    id           TEXT NOT NULL,
    previous_hash TEXT,
    hash         TEXT NOT NULL,
    signature    TEXT NOT NULL,
    signature_pq TEXT NOT NULL DEFAULT '',
    signed_at    TEXT,
    signed_by    TEXT NOT NULL DEFAULT '',
    canonical    TEXT NOT NULL,
    UNIQUE (tenant_id, sequence)
)";

/// The table's own rule does not bind where the tenant is null, which is the usual case.
const PLACES: &str =
    "CREATE UNIQUE INDEX IF NOT EXISTS capsid_place ON capsules (coalesce(tenant_id, ''), sequence)";

/// What was sealed: the key of the item that a record was made from; `open` marks an item that was not complete yet.
const KEYS: &str = "CREATE TABLE IF NOT EXISTS capsid_keys (
    tenant   TEXT NOT NULL,
    key      TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    open     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, key)
) WITHOUT ROWID";

/// Shows at once whether the last record has a key, however long the chain is.
const KEY_PLACES: &str = "CREATE INDEX IF NOT EXISTS capsid_key_place ON capsid_keys (tenant, sequence)";
