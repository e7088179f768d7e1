//! Goal 1: verifying a chain of 100,000 sealed records from a warm file: hash, link and signature of each.

use crate::measure::{interleaved, seconds};
use crate::report::Row;
use crate::{Result, child, peer, sealed};
use capsid_seal::keys::KeySet;
use capsid_seal::verify::{VerifyOptions, verify_database};
use capsid_seal::{PublicKey, StoredRecord};
use ed25519_dalek::{Signature, VerifyingKey, verify_batch};
use sha3::{Digest, Sha3_256};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The first arguments of the children that verify a chain and tell their peak memory.
pub const STRICT: &str = "--verify-strict";
pub const BATCH: &str = "--verify-batch";

const RECORDS: u64 = 100_000;
/// The peer's rate does not depend on the length, and sealing its chain is slow.
const PEER_RECORDS: u64 = 2_000;
/// How many signatures the floor checks at once.
const TOGETHER: usize = 1024;

pub fn run() -> Result<Vec<Row>> {
    let path = sealed::chain(RECORDS)?;
    let peer_home = peer_chain()?;
    let facts: Vec<Facts> = sealed::load(&path)?.into_iter().map(Facts::of).collect::<Result<_>>()?;
    let bytes = facts.iter().map(|facts| facts.text.len()).sum::<usize>() / facts.len();

    let [strict, batch, strict_floor, batch_floor, theirs] = interleaved([
        Box::new(|| Ok(child::run(STRICT, &path)?.seconds)),
        Box::new(|| Ok(child::run(BATCH, &path)?.seconds)),
        Box::new(|| seconds(|| on_every_core(&facts, 64, holds_strictly))),
        Box::new(|| seconds(|| on_every_core(&facts, TOGETHER, hold_together))),
        Box::new(|| peer::number(&peer_verify(&peer_home)?, "seconds")),
    ])?;
    let [strict, batch, strict_floor, batch_floor] =
        [strict, batch, strict_floor, batch_floor].map(|time| RECORDS as f64 / time);
    let theirs = PEER_RECORDS as f64 / theirs;

    let row = |how: &str, ours: f64, other: f64, wanted: &'static str, times: f64, note: String| Row {
        goal: "1",
        work: format!("verify 100k sealed records, {how}"),
        ours,
        peer: Some(other),
        unit: "/s",
        wanted,
        met: Some(ours >= times * other),
        note,
    };
    let mut rows = vec![
        row(
            "strictly, against the floor",
            strict,
            strict_floor,
            ">= 85 % of the floor",
            0.85,
            format!(
                "From a warm file, in a process of its own, on every core, {bytes} bytes of text each. Floor: SHA3-256 and one strict \
                 verification of each, also on every core, with everything in memory and decoded."
            ),
        ),
        row(
            "strictly, against Python",
            strict,
            theirs,
            ">= 10x",
            10.0,
            format!(
                "Python: CapsuleChain.verify of qp-capsule 1.5.4 with signatures, on a chain of {PEER_RECORDS} such \
                 records of its own in SQLite, after a warm pass."
            ),
        ),
        row(
            "in batches, against the floor",
            batch,
            batch_floor,
            ">= 60 % of the floor",
            0.6,
            format!("Floor: SHA3-256 of each and one equation for {TOGETHER} signatures."),
        ),
        row("in batches, against Python", batch, theirs, ">= 20x", 20.0, String::new()),
    ];
    drop(facts);
    rows.extend(memory(&path, &peer_home)?);
    Ok(rows)
}

fn memory(path: &Path, peer_home: &Path) -> Result<[Row; 2]> {
    let theirs = peer::number(&peer_verify(peer_home)?, "megabytes")?;
    let row = |how: &str, child: &str, note: String| -> Result<Row> {
        Ok(Row {
            goal: "1",
            work: format!("peak memory of verifying 100k sealed records, {how}"),
            ours: child::run(child, path)?.megabytes,
            peer: Some(theirs),
            unit: "MB",
            wanted: "",
            met: None,
            note,
        })
    };
    let note = format!("Python held {PEER_RECORDS} records; its memory grows with them, ours does not.");
    Ok([row("strictly", STRICT, note)?, row("in batches", BATCH, String::new())?])
}

/// Verifies a chain as it is on disk, every signature on its own.
pub fn verify_strict(path: &Path) -> Result<(u64, f64)> {
    Ok((RECORDS, seconds(|| verify_file(path, false))?))
}

/// The same, with many signatures at once.
pub fn verify_in_batches(path: &Path) -> Result<(u64, f64)> {
    Ok((RECORDS, seconds(|| verify_file(path, true))?))
}

fn verify_file(path: &Path, batch: bool) -> Result<()> {
    let options = VerifyOptions { signatures: true, batch, ..VerifyOptions::default() };
    let keys = KeySet::from_key(sealed::sealer().public());
    let verdict = verify_database(path, None, &options, &keys, &mut ())?;
    match verdict.failure {
        None if verdict.verified == RECORDS => Ok(()),
        None => Err(format!("only {} of {RECORDS} records verified", verdict.verified).into()),
        Some(failure) => Err(failure.message.into()),
    }
}

/// The peer's own chain, made when it is not there yet.
fn peer_chain() -> Result<PathBuf> {
    let home = sealed::data()?.join(format!("qp-capsule-{PEER_RECORDS}"));
    if !home.exists() {
        eprintln!("bench: letting qp-capsule seal {PEER_RECORDS} records, once ...");
        let fresh = tempfile::tempdir_in(sealed::data()?)?;
        let folder = fresh.path().to_string_lossy().into_owned();
        peer::python_script("capsule_seal.py", fresh.path(), &[&folder, &PEER_RECORDS.to_string()])?;
        std::fs::rename(fresh.keep(), &home)?;
    }
    Ok(home)
}

fn peer_verify(home: &Path) -> Result<serde_json::Value> {
    peer::python_script("capsule_verify.py", home, &[&home.to_string_lossy(), &PEER_RECORDS.to_string()])
}

/// What the floor works on: nothing is left to read or decode.
struct Facts {
    text: String,
    hash: [u8; 32],
    hash_text: String,
    signature: Signature,
    key: VerifyingKey,
}

impl Facts {
    fn of(stored: StoredRecord) -> Result<Self> {
        let hash: [u8; 32] = capsid_seal::hash::unhex(&stored.seal.hash).ok_or("the hash is no hex")?;
        let signature: [u8; 64] =
            capsid_seal::hash::unhex(&stored.seal.signature).ok_or("the signature is no hex")?;
        Ok(Self {
            text: stored.canonical,
            hash,
            hash_text: stored.seal.hash,
            signature: Signature::from_bytes(&signature),
            key: key(&sealed::sealer().public())?,
        })
    }

    fn hash_holds(&self) -> bool {
        Sha3_256::digest(self.text.as_bytes()).as_slice() == self.hash
    }
}

fn key(public: &PublicKey) -> Result<VerifyingKey> {
    let bytes: [u8; 32] = capsid_seal::hash::unhex(&public.hex()).ok_or("the key is no hex")?;
    Ok(VerifyingKey::from_bytes(&bytes)?)
}

fn holds_strictly(chunk: &[Facts]) -> bool {
    chunk.iter().all(|facts| {
        facts.hash_holds() && facts.key.verify_strict(facts.hash_text.as_bytes(), &facts.signature).is_ok()
    })
}

fn hold_together(chunk: &[Facts]) -> bool {
    let texts: Vec<&[u8]> = chunk.iter().map(|facts| facts.hash_text.as_bytes()).collect();
    let signatures: Vec<Signature> = chunk.iter().map(|facts| facts.signature).collect();
    let keys: Vec<VerifyingKey> = chunk.iter().map(|facts| facts.key).collect();
    chunk.iter().all(Facts::hash_holds) && verify_batch(&texts, &signatures, &keys).is_ok()
}

/// Every core takes the next chunk until none is left.
fn on_every_core(facts: &[Facts], size: usize, holds: fn(&[Facts]) -> bool) -> Result<()> {
    let chunks: Vec<&[Facts]> = facts.chunks(size).collect();
    let (next, all_hold) = (AtomicUsize::new(0), AtomicBool::new(true));
    let take = || {
        while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
            all_hold.fetch_and(holds(chunk), Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(take);
        }
    });
    match all_hold.into_inner() {
        true => Ok(()),
        false => Err("the floor refused a record".into()),
    }
}
