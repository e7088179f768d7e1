//! Goal 2: sealing records and adding them to a chain, each group on the disk before the next.

use crate::measure::{Side, interleaved, seconds};
use crate::report::Row;
use crate::{Result, child, peer, sealed};
use capsid_seal::StoredRecord;
use capsid_seal::chain::ChainWriter;
use rusqlite::{Connection, params};
use std::path::Path;

/// The first arguments of the children that append and tell their peak memory.
pub const SINGLY: &str = "--append-singly";
pub const IN_GROUPS: &str = "--append-in-groups";
pub const FROM_STREAM: &str = "--append-from-stream";

const SINGLES: usize = 1_000;
const GROUPED: usize = 10_000;
const GROUP: usize = 100;
const PEER_RECORDS: usize = 100;
const CHAIN: &str = "chain.db";

/// The plainest table that holds what we store: no index, no keys, no rules.
const FLOOR: &str = "CREATE TABLE floor (sequence INTEGER PRIMARY KEY, id TEXT, previous_hash TEXT, hash TEXT, \
                     signature TEXT, signature_pq TEXT, signed_at TEXT, signed_by TEXT, canonical TEXT)";
const FLOOR_ROW: &str = "INSERT INTO floor VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

pub fn run() -> Result<Vec<Row>> {
    let (rows, page_size) = rows()?;
    let [single, group, single_floor, group_floor, small_pages, middle_pages, theirs] = interleaved([
        ours(SINGLY),
        ours(IN_GROUPS),
        floor(&rows[..SINGLES], 1, page_size),
        floor(&rows, GROUP, page_size),
        floor(&rows[..SINGLES], 1, 4 << 10),
        floor(&rows[..SINGLES], 1, 8 << 10),
        Box::new(|| peer::number(&peer_seals()?, "seconds")),
    ])?;
    let [single, single_floor, small_pages, middle_pages] =
        [single, single_floor, small_pages, middle_pages].map(|time| SINGLES as f64 / time);
    let [group, group_floor] = [group, group_floor].map(|time| GROUPED as f64 / time);
    let theirs = PEER_RECORDS as f64 / theirs;

    let row = |how: &str, ours: f64, other: f64, wanted: &'static str, times: f64, note: &str| Row {
        goal: "2",
        work: format!("seal and append durably, {how}"),
        ours,
        peer: Some(other),
        unit: "/s",
        wanted,
        met: Some(ours >= times * other),
        note: note.to_owned(),
    };
    // Larger pages make files smaller and single writes slower: this is what to weigh.
    let floor = format!(
        "Floor: the same rows, sealed before, into one SQLite table without any index, in write-ahead mode with \
         synchronous FULL and pages of the same size ({} KB), on the same disk. It signs nothing. With pages of 4 KB it \
         takes {small_pages:.0}/s, with 8 KB {middle_pages:.0}/s.",
        page_size >> 10
    );
    let python = "Python: CapsuleChain.seal_and_store of qp-capsule 1.5.4 into SQLite on the same disk, one commit \
                  each; it has no groups.";
    Ok(vec![
        row("one by one, against the floor", single, single_floor, ">= 80 % of the floor", 0.8, &floor),
        row("one by one, against Python", single, theirs, ">= 20x", 20.0, python),
        row("in groups of 100, against the floor", group, group_floor, ">= 70 % of the floor", 0.7, ""),
        row("in groups of 100, against Python", group, theirs, ">= 20x", 20.0, ""),
        memory()?,
    ])
}

fn memory() -> Result<Row> {
    let folder = tempfile::tempdir_in(sealed::data()?)?;
    Ok(Row {
        goal: "2",
        work: "peak memory of sealing and appending 10k records".to_owned(),
        ours: child::run(FROM_STREAM, folder.path())?.megabytes,
        peer: Some(peer::number(&peer_seals()?, "megabytes")?),
        unit: "MB",
        wanted: "",
        met: None,
        note: format!(
            "Each record is made when its turn comes. Python made and sealed {PEER_RECORDS} records."
        ),
    })
}

/// What the children do: a new chain each time, and what is to be sealed is there before.
pub fn append_singly(folder: &Path) -> Result<(u64, f64)> {
    append(folder, SINGLES, 1)
}

pub fn append_in_groups(folder: &Path) -> Result<(u64, f64)> {
    append(folder, GROUPED, GROUP)
}

/// This one is about memory, so each record is made when its turn comes.
pub fn append_from_stream(folder: &Path) -> Result<(u64, f64)> {
    let mut writer = ChainWriter::open(&folder.join(CHAIN))?.signing_with(sealed::sealer());
    let records = (0..GROUPED as u64).map(sealed::pending);
    let mut appended = 0;
    let time = seconds(|| {
        appended = sealed::append(&mut writer, &sealed::sealer(), records)?;
        check_count(appended, GROUPED)
    })?;
    Ok((appended, time))
}

fn append(folder: &Path, count: usize, group: usize) -> Result<(u64, f64)> {
    let mut writer = ChainWriter::open(&folder.join(CHAIN))?.signing_with(sealed::sealer());
    let sealer = sealed::sealer();
    let groups: Vec<Vec<_>> = (0..count)
        .step_by(group)
        .map(|first| (first..first + group).map(|at| sealed::pending(at as u64)).collect())
        .collect();
    let mut appended = 0;
    let time = seconds(|| {
        for group in groups {
            appended += sealed::append(&mut writer, &sealer, group)?;
        }
        check_count(appended, count)
    })?;
    Ok((appended, time))
}

fn ours(name: &'static str) -> Side<'static> {
    Box::new(move || {
        let folder = tempfile::tempdir_in(sealed::data()?)?;
        Ok(child::run(name, folder.path())?.seconds)
    })
}

/// The floor with pages of the same size as a chain's.
fn floor(rows: &[StoredRecord], group: usize, page_size: u32) -> Side<'_> {
    Box::new(move || {
        let folder = tempfile::tempdir_in(sealed::data()?)?;
        let mut database = Connection::open(folder.path().join("floor.db"))?;
        database.pragma_update(None, "page_size", page_size)?;
        database.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        database.pragma_update(None, "synchronous", "FULL")?;
        database.execute_batch(FLOOR)?;
        seconds(|| rows.chunks(group).try_for_each(|group| insert(&mut database, group)))
    })
}

fn insert(database: &mut Connection, group: &[StoredRecord]) -> Result<()> {
    let transaction = database.transaction()?;
    for StoredRecord { canonical, seal, columns } in group {
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
fn rows() -> Result<(Vec<StoredRecord>, u32)> {
    let folder = tempfile::tempdir_in(sealed::data()?)?;
    append_in_groups(folder.path())?;
    let chain = folder.path().join(CHAIN);
    let page_size = Connection::open(&chain)?.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    Ok((sealed::load(&chain)?, page_size))
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
