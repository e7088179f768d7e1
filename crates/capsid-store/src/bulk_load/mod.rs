//! Loading many bundles at once: to move a registry, or to fill one for a measurement.
//!
//! Bundles are written through the same function as a publish, many to a commit and without stored responses. What follows
//! from them is brought up to date once, at the end. A load that was cut off can be repeated: what is there is left alone.

mod on_all_cores;

pub use on_all_cores::on_all_cores;

use crate::accounts;
use crate::assets::id::AssetId;
use crate::db::tx::{Dialect, Tx};
use crate::evaluation::moderation::{self, CaseKind};
use crate::evaluation::owners::owner_level;
use crate::nodes::{self, NodeRow};
use crate::params;
use crate::registry::publish::{AWAITING_MODERATION, NewBundle, PublishOutcome, publish};
use crate::store::Store;
use capsid_model::problem::{Code, Problem, Result};
use capsid_model::time::Time;
use capsid_rules::assets::safety::SafetyVerdict;
use capsid_rules::evaluation::owners::OwnerLevel;
use capsid_rules::lifecycle::AssetStatus;
use std::sync::mpsc::{Receiver, sync_channel};

/// How many bundles share a commit on a server, where others wait for the rows of their nodes meanwhile.
const MAX_ON_SERVER: usize = 200;

/// How bundles are loaded.
#[derive(Debug, Clone, Copy)]
pub struct LoadOptions {
    /// How many bundles share a commit.
    pub commit_every: usize,
    /// What a node gets that is new, in milli-credits.
    pub node_grant: i64,
    /// Whether a bundle with a warning waits for a moderator when nobody knows its owner.
    pub hold_warned: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { commit_every: 5_000, node_grant: 0, hold_warned: false }
    }
}

/// A bundle that was read from a file.
#[derive(Debug, Clone)]
pub struct LoadItem {
    /// Its line.
    pub line: u64,
    /// Who published it.
    pub node_id: String,
    pub bundle: NewBundle,
}

/// What became of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadOutcome {
    /// It is stored, in this state.
    Stored(AssetStatus),
    /// It was there already.
    AlreadyThere,
    /// This asset was withdrawn and cannot come back.
    Revoked(AssetId),
    /// Another node published this capsule, which is in this state.
    OfAnother(AssetStatus),
    /// Its node, or the account that owns it, is banned.
    Banned,
}

/// What is told of each commit: what became of its bundles, by line.
pub type OnCommit<'a> = dyn FnMut(&[(u64, LoadOutcome)]) + Send + 'a;

/// Loads bundles in the order of an iterator, and tells of each commit what became of its bundles, by line. Blocks. The
/// index does not hold them before [`update_index`].
pub fn load_bundles(
    store: &Store,
    items: impl Iterator<Item = LoadItem>,
    options: LoadOptions,
    now: Time,
    on_commit: &mut OnCommit<'_>,
) -> Result<()> {
    let size = match store.dialect() {
        Dialect::Sqlite => options.commit_every,
        Dialect::Postgres => options.commit_every.min(MAX_ON_SERVER),
    };
    let mut items = items.fuse();
    // One batch is written while the next one is read.
    std::thread::scope(|scope| {
        let (batches, waiting) = sync_channel(1);
        let writer = scope.spawn(move || write_all(store, &waiting, options, now, on_commit));
        loop {
            let batch: Vec<LoadItem> = items.by_ref().take(size.max(1)).collect();
            // A writer that failed has hung up, and says why below.
            if batch.is_empty() || batches.send(batch).is_err() {
                break;
            }
        }
        drop(batches);
        writer.join().unwrap_or_else(|_| {
            Err(Problem::new(Code::Internal, "The thread that writes what is loaded ended early."))
        })
    })
}

fn write_all(
    store: &Store,
    waiting: &Receiver<Vec<LoadItem>>,
    options: LoadOptions,
    now: Time,
    on_commit: &mut OnCommit<'_>,
) -> Result<()> {
    for batch in waiting {
        let outcomes = store.write_now(move |tx| load_batch(tx, &batch, options, now))?;
        on_commit(&outcomes);
    }
    Ok(())
}

fn load_batch(
    tx: &mut dyn Tx,
    batch: &[LoadItem],
    options: LoadOptions,
    now: Time,
) -> Result<Vec<(u64, LoadOutcome)>> {
    let mut outcomes = Vec::with_capacity(batch.len());
    for item in batch {
        let outcome = match is_there(tx, item)? {
            true => LoadOutcome::AlreadyThere,
            false => load_one(tx, item, options, now)?,
        };
        outcomes.push((item.line, outcome));
    }
    Ok(outcomes)
}

/// Whether the bundle was loaded before. An event that comes later is still to be linked to it.
fn is_there(tx: &mut dyn Tx, LoadItem { node_id, bundle, .. }: &LoadItem) -> Result<bool> {
    // At most one row: the primary key.
    let has_event = tx.query_first::<bool>(
        "SELECT CASE WHEN event_id IS NULL THEN 0 ELSE 1 END FROM bundles WHERE bundle_id = $1 AND node_id = $2",
        params![&bundle.bundle_id, node_id],
    )?;
    Ok(has_event.is_some_and(|has_event| has_event || bundle.event.is_none()))
}

fn load_one(tx: &mut dyn Tx, item: &LoadItem, options: LoadOptions, now: Time) -> Result<LoadOutcome> {
    let bundle = &item.bundle;
    let node = nodes::lock_or_register(tx, &item.node_id, options.node_grant, now)?;
    if is_banned(tx, &node)? {
        return Ok(LoadOutcome::Banned);
    }
    if options.hold_warned && is_warned_stranger(tx, &node, bundle)? {
        return hold(tx, &node, bundle, now);
    }
    Ok(LoadOutcome::from_publish(&publish(tx, &node, bundle, now)?))
}

/// Stores a bundle that a moderator looks at first.
fn hold(tx: &mut dyn Tx, node: &NodeRow, bundle: &NewBundle, now: Time) -> Result<LoadOutcome> {
    let held = NewBundle {
        status: AssetStatus::Quarantined,
        reason: Some(AWAITING_MODERATION.to_owned()),
        gene_held: bundle.gene_held || bundle.gene.scanned == SafetyVerdict::Warn,
        ..bundle.clone()
    };
    let published = publish(tx, node, &held, now)?;
    if let PublishOutcome::Kept { .. } = published {
        let capsule = bundle.capsule.asset_id.to_string();
        moderation::open_case(tx, CaseKind::Warning, &capsule, &node.node_id, AWAITING_MODERATION, now)?;
    }
    Ok(LoadOutcome::from_publish(&published))
}

impl LoadOutcome {
    fn from_publish(published: &PublishOutcome) -> Self {
        match published {
            // Where the capsule is known, this linked it to another gene.
            PublishOutcome::Kept { status, .. } | PublishOutcome::Already { status, .. } => {
                Self::Stored(*status)
            }
            PublishOutcome::Revoked(id) => Self::Revoked(*id),
            PublishOutcome::OfAnother(status) => Self::OfAnother(*status),
        }
    }
}

fn is_banned(tx: &mut dyn Tx, node: &NodeRow) -> Result<bool> {
    let Some(owner) = &node.owner else { return Ok(node.status == "banned") };
    let owner = accounts::get(tx, owner)?;
    Ok(node.status == "banned" || owner.is_some_and(|owner| owner.banned_at.is_some()))
}

fn is_warned_stranger(tx: &mut dyn Tx, node: &NodeRow, bundle: &NewBundle) -> Result<bool> {
    let assets = [Some(&bundle.gene), Some(&bundle.capsule), bundle.event.as_ref()];
    let is_warned = assets.into_iter().flatten().any(|asset| asset.scanned == SafetyVerdict::Warn);
    Ok(is_warned
        && bundle.status == AssetStatus::Candidate
        && owner_level::for_node(tx, node)? < OwnerLevel::Known)
}

/// Brings what was loaded into the index. Blocks. Beside hubs on PostgreSQL each of them does its own.
pub fn update_index(store: &Store, now: Time, progress: &mut dyn FnMut(u64)) -> Result<()> {
    if store.index().is_some_and(|index| index.is_writable()) {
        let waiting = store.index_lag()?.assets;
        while store.follow_step(now)? {
            let left = store.index_lag()?.assets;
            progress(waiting.saturating_sub(left).unsigned_abs());
        }
        store.optimize_search()?;
    }
    if store.dialect() == Dialect::Postgres {
        // The planner knows nothing of so many new rows before the server gets round to it.
        store.write_now(|tx| tx.run("ANALYZE", &[]))?;
    }
    Ok(())
}
