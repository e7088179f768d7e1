//! Goal 2: sealing records and adding them to a chain, each group on the disk before the next.

use crate::measure::{Side, interleaved, seconds};
use crate::report::Row;
use crate::{Result, child, peer, sealed};
use capsid_seal::Stored;
use capsid_seal::chain::ChainWriter;
use rusqlite::{Connection, params};
use std::path::Path;

/// The first argument of the child that appends and tells its peak memory.
pub const APPEND: &str = "--append";

const SINGLES: usize = 1_000;
const GROUPED: usize = 10_000;
const GROUP: usize = 100;
const PEER_RECORDS: usize = 100;

/// The plainest table that holds what we store: no index, no keys, no rules.
const FLOOR: &str = "CREATE TABLE floor (sequence INTEGER PRIMARY KEY, id TEXT, previous_hash TEXT, hash TEXT, \
                     signature TEXT, signature_pq TEXT, signed_at TEXT, signed_by TEXT, canonical TEXT)";
const FLOOR_ROW: &str = "INSERT INTO floor VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

pub fn run() -> Result<Vec<Row>> {
    let rows = rows()?;
    let [single, group, single_floor, group_floor, theirs] = interleaved([
        ours(SINGLES, 1),
        ours(GROUPED, GROUP),
        floor(&rows[..SINGLES], 1),
        floor(&rows, GROUP),
        Box::new(|| peer::number(&peer_seals()?, "seconds")),
    ])?;
    let [single, single_floor] = [single, single_floor].map(|time| SINGLES as f64 / time);
    let [group, group_floor] = [group, group_floor].map(|time| GROUPED as f64 / time);
    let theirs = PEER_RECORDS as f64 / theirs;

    let row = |how: &str, ours: f64, other: f64, wanted: &'static str, times: f64, note: &str| Row {
        goal: 2,
        work: format!("seal and append durably, {how}"),
        ours,
        peer: Some(other),
        unit: "/s",
        wanted,
        met: Some(ours >= times * other),
        note: note.to_owned(),
    };
    let floor = "Floor: the same rows, sealed before, into one SQLite table without any index, in write-ahead mode \
                 with synchronous FULL, on the same disk.";
    let python = "Python: CapsuleChain.seal_and_store of qp-capsule 1.5.4 into SQLite on the same disk, one commit \
                  each; it has no groups.";
    Ok(vec![
        row("one by one, against the floor", single, single_floor, ">= 80 % of the floor", 0.8, floor),
        row("one by one, against Python", single, theirs, ">= 20x", 20.0, python),
        row("in groups of 100, against the floor", group, group_floor, ">= 70 % of the floor", 0.7, ""),
        row("in groups of 100, against Python", group, theirs, ">= 20x", 20.0, ""),
        memory()?,
    ])
}

fn memory() -> Result<Row> {
    let folder = tempfile::tempdir_in(sealed::data()?)?;
    let (count, ours) = child::run(APPEND, &folder.path().join("chain.db"))?;
    check_count(count, GROUPED)?;
    Ok(Row {
        goal: 2,
        work: "peak memory of sealing and appending 10k records".to_owned(),
        ours,
        peer: Some(peer::number(&peer_seals()?, "megabytes")?),
        unit: "MB",
        wanted: "",
        met: None,
        note: format!("Python sealed {PEER_RECORDS} records."),
    })
}

/// What the child does.
pub fn append_in_groups(path: &Path) -> Result<u64> {
    let (mut writer, sealer) = (ChainWriter::open(path)?, sealed::sealer());
    let mut appended = 0;
    for first in (0..GROUPED).step_by(GROUP) {
        let items = (first..first + GROUP).map(|at| sealed::pending(at as u64));
        appended += sealed::append(&mut writer, &sealer, items)?;
    }
    Ok(appended)
}

/// A new chain each round; what is to be sealed is there before.
fn ours(count: usize, group: usize) -> Side<'static> {
    Box::new(move || {
        let folder = tempfile::tempdir_in(sealed::data()?)?;
        let mut writer = ChainWriter::open(&folder.path().join("chain.db"))?;
        let sealer = sealed::sealer();
        let items: Vec<_> = (0..count).map(|at| sealed::pending(at as u64)).collect();
        let groups: Vec<_> = items.chunks(group).map(<[_]>::to_vec).collect();
        seconds(|| {
            let mut appended = 0;
            for group in groups {
                appended += sealed::append(&mut writer, &sealer, group)?;
            }
            check_count(appended, count)
        })
    })
}

fn floor(rows: &[Stored], group: usize) -> Side<'_> {
    Box::new(move || {
        let folder = tempfile::tempdir_in(sealed::data()?)?;
        let mut database = Connection::open(folder.path().join("floor.db"))?;
        database.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        database.pragma_update(None, "synchronous", "FULL")?;
        database.execute_batch(FLOOR)?;
        seconds(|| rows.chunks(group).try_for_each(|group| insert(&mut database, group)))
    })
}

fn insert(database: &mut Connection, group: &[Stored]) -> Result<()> {
    let transaction = database.transaction()?;
    for Stored { canonical, seal, columns } in group {
        let columns = columns.as_ref().ok_or("a record without columns")?;
        transaction.prepare_cached(FLOOR_ROW)?.execute(params![
            columns.sequence,
            columns.id,
            columns.previous_hash,
            seal.hash,
            seal.signature,
            seal.signature_pq,
            seal.signed_at,
            seal.signed_by,
            canonical
        ])?;
    }
    Ok(transaction.commit()?)
}

/// The rows of the floor are those that we store.
fn rows() -> Result<Vec<Stored>> {
    let folder = tempfile::tempdir_in(sealed::data()?)?;
    let path = folder.path().join("chain.db");
    append_in_groups(&path)?;
    sealed::load(&path)
}

fn peer_seals() -> Result<serde_json::Value> {
    let home = tempfile::tempdir_in(sealed::data()?)?;
    let folder = home.path().to_string_lossy().into_owned();
    let result = peer::python_script("capsule_seal.py", home.path(), &[&folder, &PEER_RECORDS.to_string()])?;
    check_count(peer::number(&result, "count")? as u64, PEER_RECORDS)?;
    Ok(result)
}

fn check_count(sealed: u64, wanted: usize) -> Result<()> {
    match sealed == wanted as u64 {
        true => Ok(()),
        false => Err(format!("only {sealed} of {wanted} records were sealed").into()),
    }
}
