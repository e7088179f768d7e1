//! What an agent does to a trail with the rights of its account.

use capsid_seal::hash::sha3_hex;
use capsid_seal::{SigningKey, verify::skim};
use rusqlite::{Connection, params};
use std::path::Path;

/// A record as the database has it.
struct RowText {
    sequence: i64,
    canonical: String,
}

fn rows(connection: &Connection) -> Vec<RowText> {
    let mut query = connection.prepare("SELECT sequence, canonical FROM capsules ORDER BY sequence").unwrap();
    let rows =
        query.query_map([], |row| Ok(RowText { sequence: row.get(0)?, canonical: row.get(1)? })).unwrap();
    rows.map(Result::unwrap).collect()
}

/// The statements that give a chain another history and sign it with a key, one for each record from `first` on. They
/// are executed one by one, so that an attack can stop after each.
pub fn rewrite(database: &Path, first: i64, key: &SigningKey, from: &str, to: &str) -> Vec<RewrittenRow> {
    let connection = Connection::open(database).unwrap();
    let mut previous: Option<String> = None;
    let mut rewritten = Vec::new();
    for row in rows(&connection) {
        let stored = skim(&row.canonical).unwrap();
        let mut text = row.canonical.clone();
        if row.sequence >= first {
            text = text.replace(from, to);
            if let (Some(old), Some(new)) = (&stored.previous_hash, &previous) {
                text = text.replace(old, new);
            }
        }
        let hash = sha3_hex(text.as_bytes());
        if text != row.canonical {
            let (signature, signed_by) = (key.sign(&hash), key.public().fingerprint());
            let previous = previous.clone();
            rewritten.push(RewrittenRow {
                sequence: row.sequence,
                text,
                previous,
                hash: hash.clone(),
                signature,
                signed_by,
            });
        }
        previous = Some(hash);
    }
    assert!(!rewritten.is_empty(), "the attack changes nothing");
    rewritten
}

pub struct RewrittenRow {
    sequence: i64,
    text: String,
    previous: Option<String>,
    hash: String,
    signature: String,
    signed_by: String,
}

impl RewrittenRow {
    pub fn write(&self, database: &Path) {
        const UPDATE: &str = "UPDATE capsules SET canonical = ?2, previous_hash = ?3, hash = ?4, signature = ?5, \
                              signed_by = ?6 WHERE sequence = ?1";
        let Self { sequence, text, previous, hash, signature, signed_by } = self;
        let row = params![sequence, text, previous, hash, signature, signed_by];
        assert_eq!(Connection::open(database).unwrap().execute(UPDATE, row).unwrap(), 1);
    }
}

/// Cuts the end of a chain and every trace of it in its own file.
pub fn cut(database: &Path, count: i64) {
    let connection = Connection::open(database).unwrap();
    connection.execute("DELETE FROM capsules WHERE sequence >= ?1", [count]).unwrap();
    connection.execute("DELETE FROM capsid_keys WHERE sequence >= ?1", [count]).unwrap();
    // A home of before there were marks has no such table.
    let _ = connection.execute("DELETE FROM capsid_finalised", []);
}

/// How many records a chain has.
pub fn count(database: &Path) -> i64 {
    let connection = Connection::open(database).unwrap();
    connection.query_row("SELECT count(*) FROM capsules", [], |row| row.get(0)).unwrap()
}
