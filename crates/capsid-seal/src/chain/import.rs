//! Taking in a chain that was sealed elsewhere, to the byte.

use super::open::problem;
use super::write::{ChainPosition, ChainWriter, insert_row};
use crate::hash::sha3_hex;
use crate::{RecordColumns, StoredRecord};
use capsid_model::{Code, Problem, Result};
use capsid_verdict::skim;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

/// What came of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportedRecords {
    /// Records that were here already.
    pub known: u64,
    /// Records that were added.
    pub added: u64,
}

impl ChainWriter {
    /// Adds the records of a chain that was verified. What is here must be its beginning, or nothing at all; then all
    /// of it is taken in, or nothing when anything fails. No keys are noted: what seals here next finds them out.
    pub fn import(
        &mut self,
        tenant: Option<&str>,
        records: impl Iterator<Item = Result<StoredRecord>>,
    ) -> Result<ImportedRecords> {
        let (connection, path) = self.parts_mut();
        let fail = |error: rusqlite::Error| problem("write", path, &error);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        let here: i64 = transaction
            .query_row("SELECT count(*) FROM capsules WHERE tenant_id IS ?1", [tenant], |row| row.get(0))
            .map_err(fail)?;
        let mut done = ImportedRecords::default();
        let mut previous: Option<String> = None;
        for (sequence, stored) in (0_i64..).zip(records) {
            let stored = sound(stored?, sequence, previous.as_deref())?;
            let before = previous.replace(stored.seal.hash.clone());
            match hash_at(&transaction, tenant, sequence).map_err(fail)? {
                Some(hash) if hash == stored.seal.hash => done.known += 1,
                Some(_) => return Err(differs(sequence)),
                None => {
                    let position = ChainPosition { tenant, sequence, previous: before.as_deref() };
                    let id = stored.columns.as_ref().map_or("", |columns| &columns.id);
                    insert_row(&transaction, &position, id, &stored.canonical, &stored.seal).map_err(fail)?;
                    done.added += 1;
                }
            }
        }
        if done.known < here.unsigned_abs() && done.added > 0 {
            return Err(differs(here));
        }
        transaction.commit().map_err(fail)?;
        Ok(done)
    }
}

/// The record, if its text is what was hashed and it follows the one before. It was verified before, but what is read
/// now is what counts. Its columns are what the sealed text says; a bundle keeps none.
fn sound(stored: StoredRecord, sequence: i64, previous: Option<&str>) -> Result<StoredRecord> {
    let head = skim(&stored.canonical)?;
    let follows = head.sequence == sequence.unsigned_abs() && head.previous_hash.as_deref() == previous;
    if !follows || sha3_hex(stored.canonical.as_bytes()) != stored.seal.hash {
        let message = format!("Record {sequence} is not what was sealed, so nothing was taken in.");
        return Err(Problem::new(Code::ChainBroken, message).fix("Ask for an unbroken copy."));
    }
    let columns = RecordColumns { id: head.id, sequence, previous_hash: head.previous_hash };
    Ok(StoredRecord { columns: Some(columns), ..stored })
}

fn hash_at(connection: &Connection, tenant: Option<&str>, sequence: i64) -> rusqlite::Result<Option<String>> {
    const QUERY: &str = "SELECT hash FROM capsules WHERE tenant_id IS ?1 AND sequence = ?2";
    connection.prepare_cached(QUERY)?.query_row(params![tenant, sequence], |row| row.get(0)).optional()
}

fn differs(sequence: i64) -> Problem {
    Problem::new(
        Code::InputInvalid,
        format!("Another chain of that name is here already; they differ from sequence {sequence} on."),
    )
    .fix("Import it under another session's name with --session, or into another home.")
}
