//! The last record of a chain, before another one is added: sound, in its place, and signed by the chain's owner.

use super::adopt::ChainHead;
use super::finalised::marks;
use super::open::problem;
use crate::keys::{KeyOrigin, KeySet};
use crate::{RecordColumns, RecordSeal, StoredRecord};
use capsid_model::{Code, Problem, Result};
use capsid_verdict::record::{CheckedRecord, SourceEntry, check};
use capsid_verdict::verify::{VerifyFailureClass, VerifyOptions};
use rusqlite::{Connection, params};
use std::fmt::Debug;
use std::path::Path;

/// Says who may have signed the last record of a chain that goes on.
pub trait OwnershipCheck: Debug + Send + Sync {
    /// The keys, each with where it came from.
    fn keys(&self) -> &KeySet;

    /// Whether the key that seals now may go on sealing.
    fn check_signer(&self) -> Result<()>;

    /// How many records of the chain a retired key may have signed; none where nothing says.
    fn limit(&self, fingerprint: &str) -> Result<Option<u64>>;
}

/// Nothing is built on a last record that is not what was sealed, does not follow the one before it, or is somebody
/// else's; nor on a chain that lost what its marks name.
pub(super) fn check_head(
    path: &Path,
    connection: &Connection,
    tenant: Option<&str>,
    owner: Option<&dyn OwnershipCheck>,
) -> Result<()> {
    let rows = last_two(connection, tenant).map_err(|error| problem("read", path, &error))?;
    let mut rows = rows.into_iter();
    let Some(LastRow { sequence, previous, stored }) = rows.next() else { return Ok(()) };
    let expected = rows
        .next()
        .map_or((0, None), |before| (before.sequence.saturating_add(1), Some(before.stored.seal.hash)));
    let is_in_place = expected == (sequence, previous) && sequence < i64::MAX;
    let options = VerifyOptions { signatures: owner.is_some(), ..VerifyOptions::default() };
    let none = KeySet::default();
    let keys = owner.map_or(&none, OwnershipCheck::keys);
    let entry = [SourceEntry::Record(Box::new(stored))];
    let checked = check(&entry, &options, keys).pop();
    let Some(checked) = checked.filter(|checked| is_in_place && checked.content.is_none()) else {
        return Err(broken(path, sequence, "is not what was sealed"));
    };
    check_marks(path, connection, tenant, sequence)?;
    match owner {
        Some(owner) => check_signer(path, &checked, sequence, owner),
        None => Ok(()),
    }
}

fn check_signer(
    path: &Path,
    checked: &CheckedRecord,
    sequence: i64,
    owner: &dyn OwnershipCheck,
) -> Result<()> {
    match &checked.signed {
        Some(Err(fault)) if fault.class == VerifyFailureClass::UnknownSigner => {
            Err(not_own(path, sequence, &checked.signed_by, "unknown"))
        }
        Some(Ok(valid)) => {
            let (fingerprint, origin) = (valid.by.key.fingerprint(), valid.by.origin);
            let is_own = match origin {
                KeyOrigin::Own => true,
                KeyOrigin::Retired => {
                    owner.limit(&fingerprint)?.is_none_or(|limit| sequence.unsigned_abs() < limit)
                }
                _ => false,
            };
            if is_own { Ok(()) } else { Err(not_own(path, sequence, &fingerprint, origin.as_str())) }
        }
        _ => Err(broken(path, sequence, "has a signature that does not hold")),
    }
}

/// The chain must be at least as long as its last mark says, and have the record there that it names.
fn check_marks(path: &Path, connection: &Connection, tenant: Option<&str>, last: i64) -> Result<()> {
    const HASH: &str = "SELECT count(*) FROM capsules WHERE tenant_id IS ?1 AND sequence = ?2 AND hash = ?3";
    let fail = |error: rusqlite::Error| problem("read", path, &error);
    let marks = marks(connection, tenant).map_err(fail)?;
    let Some(mark) = marks.iter().max_by_key(|mark| mark.count).filter(|mark| mark.count > 0) else {
        return Ok(());
    };
    if mark.count > last.unsigned_abs() + 1 {
        return Err(cut(path, last + 1, mark.count));
    }
    let position = i64::try_from(mark.count - 1).unwrap_or(i64::MAX);
    let there: i64 =
        connection.query_row(HASH, params![tenant, position, mark.head], |row| row.get(0)).map_err(fail)?;
    if there > 0 { Ok(()) } else { Err(broken(path, position, "is not the one that was finalised")) }
}

struct LastRow {
    sequence: i64,
    previous: Option<String>,
    stored: StoredRecord,
}

fn last_two(connection: &Connection, tenant: Option<&str>) -> rusqlite::Result<Vec<LastRow>> {
    const QUERY: &str = "SELECT sequence, id, previous_hash, hash, signature, signature_pq, signed_by, canonical \
                         FROM capsules WHERE tenant_id IS ?1 ORDER BY sequence DESC, rowid_pk DESC LIMIT 2";
    let mut query = connection.prepare_cached(QUERY)?;
    let stored = |row: &rusqlite::Row<'_>| {
        let (sequence, previous): (i64, Option<String>) = (row.get(0)?, row.get(2)?);
        let columns = RecordColumns { sequence, id: row.get(1)?, previous_hash: previous.clone() };
        let seal = RecordSeal {
            hash: row.get(3)?,
            signature: row.get(4)?,
            signature_pq: row.get(5)?,
            signed_at: None,
            signed_by: row.get(6)?,
        };
        let stored = StoredRecord { canonical: row.get(7)?, seal, columns: Some(columns) };
        Ok(LastRow { sequence, previous, stored })
    };
    query.query_map([tenant], stored)?.collect()
}

/// The chain has fewer records than something next to it names.
pub(super) fn refuse_shorter(path: &Path, keyed: Option<i64>, head: Option<&ChainHead>) -> Result<()> {
    let last = head.map(|head| head.sequence);
    match keyed {
        Some(keyed) if Some(keyed) > last => {
            Err(cut(path, last.map_or(0, |last| last + 1), keyed.unsigned_abs() + 1))
        }
        _ => Ok(()),
    }
}

fn cut(path: &Path, there: i64, sealed: u64) -> Problem {
    let message = format!(
        "The chain in `{}` was cut: {there} records are there, and at least {sealed} were sealed.",
        path.display()
    );
    Problem::new(Code::ChainBroken, message)
        .fix("Restore the file from a copy, or move it aside and seal the session again.")
}

fn broken(path: &Path, sequence: i64, what: &str) -> Problem {
    let message = format!("Record {sequence} of the chain in `{}` {what}.", path.display());
    Problem::new(Code::ChainBroken, format!("{message} Nothing is added to a broken chain.")).fix(
        "See what broke with `capsid trail verify`, restore the file from a copy or move it aside, and seal again.",
    )
}

fn not_own(path: &Path, sequence: i64, signer: &str, origin: &str) -> Problem {
    let signer = capsid_model::text::inert_line(signer);
    let message = format!(
        "Record {sequence} of the chain in `{}` is signed by `{signer}` ({origin}), which is no key of this home. \
         Nothing is added to it.",
        path.display()
    );
    Problem::new(Code::ChainNotOwn, message)
        .fix("`capsid trail migrate` moves chains of others to imported/; then seal again.")
}
