//! Taking in a chain that was sealed elsewhere, to the byte.

use super::open::problem;
use super::write::{ChainWriter, insert_row};
use crate::verify::skim;
use crate::{Columns, Stored};
use capsid_model::{Code, Problem, Result};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

/// What came of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Imported {
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
        records: impl Iterator<Item = Result<Stored>>,
    ) -> Result<Imported> {
        let (connection, path) = self.parts_mut();
        let fail = |error: rusqlite::Error| problem("write", path, &error);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        let here: i64 = transaction
            .query_row("SELECT count(*) FROM capsules WHERE tenant_id IS ?1", [tenant], |row| row.get(0))
            .map_err(fail)?;
        let mut done = Imported::default();
        for (sequence, stored) in (0_i64..).zip(records) {
            let stored = with_columns(stored?)?;
            match hash_at(&transaction, tenant, sequence).map_err(fail)? {
                Some(hash) if hash == stored.seal.hash => done.known += 1,
                Some(_) => return Err(differs(sequence)),
                None => {
                    insert_row(&transaction, tenant, sequence, stored).map_err(fail)?;
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

/// A bundle keeps no columns; the sealed text says what they are.
fn with_columns(stored: Stored) -> Result<Stored> {
    if stored.columns.is_some() {
        return Ok(stored);
    }
    let head = skim(&stored.canonical)?;
    let sequence = i64::try_from(head.sequence).unwrap_or(i64::MAX);
    let columns = Columns { id: head.id, sequence, previous_hash: head.previous_hash };
    Ok(Stored { columns: Some(columns), ..stored })
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
