//! Verifying a database in ranges, each on a thread and a connection of its own, comes to the same as reading it from
//! its beginning to its end.

use crate::store::{self, sealer};
use capsid_seal::RecordSeal;
use capsid_seal::chain::ChainReader;
use capsid_seal::keys::KeySet;
use capsid_seal::verify::{
    ChainVerdict, SealObserver, VerifiedCheckpoint, VerifyOptions, verify, verify_database,
};
use capsid_testkit::rounds::{rounds, seeded_rng};
use fastrand::Rng;
use rusqlite::Connection;
use std::path::Path;

const RECORDS: usize = 700;

#[derive(Default)]
struct SeenHashes(Vec<String>);

impl SealObserver for SeenHashes {
    fn restart(&mut self) {
        self.0.clear();
    }

    fn see(&mut self, seal: &RecordSeal) {
        self.0.push(seal.hash.clone());
    }
}

fn in_order(path: &Path, options: &VerifyOptions) -> (ChainVerdict, Vec<String>) {
    let reader = ChainReader::open(path).unwrap();
    let mut seen = Vec::new();
    let first = options.since.as_ref().map_or(0, |since| since.sequence);
    let records = reader
        .records_from(None, first)
        .inspect(|stored| seen.push(stored.as_ref().unwrap().seal.hash.clone()));
    let verdict = verify(records, options, &KeySet::from_key(sealer().public())).unwrap();
    (verdict, seen)
}

fn in_ranges(path: &Path, options: &VerifyOptions) -> (ChainVerdict, Vec<String>) {
    let mut seen = SeenHashes::default();
    let keys = KeySet::from_key(sealer().public());
    let verdict = verify_database(path, None, options, &keys, &mut seen).unwrap();
    (verdict, seen.0)
}

/// Something that a tamperer does to the table.
fn tamper(database: &Connection, random: &mut Rng) -> String {
    let at = random.usize(..RECORDS);
    let other = random.usize(..RECORDS);
    let statements = [
        format!("UPDATE capsules SET canonical = canonical || ' ' WHERE sequence = {at}"),
        format!("UPDATE capsules SET signature = '' WHERE sequence = {at}"),
        format!("UPDATE capsules SET signed_by = 'ffffffffffffffff' WHERE sequence = {at}"),
        format!("UPDATE capsules SET previous_hash = NULL WHERE sequence = {at}"),
        format!("DELETE FROM capsules WHERE sequence = {at}"),
        format!("DELETE FROM capsules WHERE sequence > {at}"),
        format!("UPDATE capsules SET sequence = {at}.5 WHERE sequence = {other}"),
        format!("UPDATE capsules SET sequence = 'x{at}' WHERE sequence = {other}"),
        format!("UPDATE capsules SET sequence = -1 - sequence WHERE sequence = {at}"),
        format!("UPDATE capsules SET sequence = 9000000000000000000 WHERE sequence = {at}"),
        // As many as a range holds, at one place, so that the range is crowded.
        format!(
            "DROP INDEX capsid_place; UPDATE capsules SET sequence = {at} WHERE sequence BETWEEN {at} AND {at} + 400"
        ),
        format!("DROP INDEX capsid_place; UPDATE capsules SET sequence = {at} WHERE sequence = {other}"),
    ];
    let statement = statements[random.usize(..statements.len())].clone();
    database.execute_batch(&statement).unwrap();
    statement
}

#[test]
fn ranges_on_several_threads_come_to_the_verdict_of_reading_in_order() {
    let folder = capsid_testkit::disk::tempdir();
    let (whole, path) = (folder.path().join("whole.db"), folder.path().join("chain.db"));
    store::chain(&whole, RECORDS);
    let mut random = seeded_rng();
    for round in 0..rounds(9, 300) {
        std::fs::copy(&whole, &path).unwrap();
        let database = Connection::open(&path).unwrap();
        let done = if round == 0 { String::new() } else { tamper(&database, &mut random) };
        drop(database);
        let sequence = random.u64(1..RECORDS as u64);
        let hash = store::all(&whole, None)[sequence as usize].seal.hash.clone();
        let since = random.bool().then_some(VerifiedCheckpoint { sequence, hash }).filter(|_| round > 0);
        let options = VerifyOptions {
            signatures: round == 0 || random.bool(),
            batch: random.bool(),
            since,
            threads: random.usize(1..5),
            passes_unknown_signers: random.bool(),
            watch: [1, 300, RECORDS as u64].into(),
        };
        assert_eq!(in_ranges(&path, &options), in_order(&path, &options), "{done:?} with {options:?}");
        if round == 0 {
            assert_eq!(in_ranges(&path, &options).0.verified, RECORDS as u64);
        }
    }
}
