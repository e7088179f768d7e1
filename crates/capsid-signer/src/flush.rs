//! Signing what waits, and telling a restored service what it signed.

use crate::client::{SignerClient, load_heads};
use crate::rules::record_text::RecordText;
use crate::rules::statement::HeadsStatement;
use crate::service_signer::ServiceSigner;
use crate::trust_root::SignerTrust;
use capsid_model::{Problem, Result};
use capsid_seal::chain::{ChainReader, ChainWriter};
use capsid_seal::sources::{ChainSource, open_any};
use capsid_seal::{PublicKey, StoredRecord, TrailHome};
use std::path::PathBuf;

/// At most so many records, and about so many bytes, are sent at once.
const GROUP: usize = 1000;
const GROUP_BYTES: usize = 24 << 20;

/// What came of it.
#[derive(Debug, Default)]
pub struct FlushOutcome {
    pub signed: u64,
    /// Records that still wait.
    pub waiting: u64,
    /// Records that the service knows again.
    pub caught_up: u64,
    /// Chains that could not be signed, with the reason.
    pub failed: Vec<(String, Problem)>,
}

/// Records that wait, by file and tenant. The meta-chain comes last.
pub fn list_pending(home: &TrailHome) -> Result<Vec<(PathBuf, Option<String>, u64)>> {
    let mut files: Vec<PathBuf> = Vec::new();
    for path in home.chain_paths() {
        let chains = open_any(&path)?.chains;
        files.extend(chains.iter().map(|chain| chain.path().to_owned()));
    }
    files.dedup();
    let mut pending = Vec::new();
    for file in files {
        // What cannot be read is named by `verify`.
        let Ok(reader) = ChainReader::open(&file) else { continue };
        for (tenant, count) in reader.list_pending()? {
            pending.push((file.clone(), tenant, count));
        }
    }
    Ok(pending)
}

/// Signs what waits in a home.
pub fn flush_home(home: &TrailHome, trust: &SignerTrust) -> Result<FlushOutcome> {
    let mut client = SignerClient::connect(&trust.socket)?;
    let mut outcome = FlushOutcome::default();
    let heads = load_heads(trust)?;
    for path in home.chain_paths() {
        for chain in open_any(&path)?.chains {
            match catch_up(&mut client, &chain, &heads, trust) {
                Ok(count) => outcome.caught_up += count,
                Err(problem) => outcome.failed.push((chain.label.clone(), problem)),
            }
        }
    }
    // The service serves few connections of one user.
    drop(client);
    let signer = ServiceSigner::new(trust.clone())?;
    for (file, tenant, count) in list_pending(home)? {
        let signed =
            ChainWriter::open(&file).and_then(|mut writer| writer.sign_pending(tenant.as_deref(), &signer));
        match signed {
            Ok(waiting) => {
                outcome.waiting += waiting;
                outcome.signed += count.saturating_sub(waiting);
            }
            Err(problem) => {
                outcome.waiting += count;
                outcome.failed.push((file.display().to_string(), problem));
            }
        }
    }
    Ok(outcome)
}

/// A service that was restored from a copy knows less than it signed. Records with its signature are sent again.
fn catch_up(
    client: &mut SignerClient,
    chain: &ChainSource,
    heads: &HeadsStatement,
    trust: &SignerTrust,
) -> Result<u64> {
    let Some(first) = chain.records()?.next().transpose()? else { return Ok(0) };
    let Ok(name) = RecordText::parse(&first.canonical).map(|text| text.chain) else { return Ok(0) };
    let known = heads.chains.iter().find(|stated| stated.chain == name).map_or(0, |stated| stated.head.count);
    let key = trust.current_key()?;
    let mut group = CatchUpGroup::default();
    let mut sent = 0;
    for stored in chain.records_from(known)? {
        let stored = stored?;
        if !is_signed_by(&stored, &key) {
            break;
        }
        if group.is_full() {
            sent += group.send(client)?;
        }
        group.push(stored);
    }
    Ok(sent + group.send(client)?)
}

fn is_signed_by(stored: &StoredRecord, key: &PublicKey) -> bool {
    key.fingerprint() == stored.seal.signed_by && key.verifies(&stored.seal.hash, &stored.seal.signature)
}

#[derive(Default)]
struct CatchUpGroup {
    records: Vec<StoredRecord>,
    bytes: usize,
}

impl CatchUpGroup {
    fn is_full(&self) -> bool {
        self.records.len() >= GROUP || self.bytes >= GROUP_BYTES
    }

    fn push(&mut self, stored: StoredRecord) {
        self.bytes += stored.canonical.len();
        self.records.push(stored);
    }

    fn send(&mut self, client: &mut SignerClient) -> Result<u64> {
        let records = std::mem::take(self).records;
        if records.is_empty() {
            return Ok(0);
        }
        let texts: Vec<&str> = records.iter().map(|stored| stored.canonical.as_str()).collect();
        let signatures = records.iter().map(|stored| stored.seal.signature.clone()).collect();
        client.catch_up(&texts, signatures).map(|()| records.len() as u64)
    }
}
