//! What the local viewer shows of a home: its chains as a bundle, and the traces that their records are compared with.

use super::key_limits::KeyLimits;
use crate::commands::trail::chains::own_keys;
use crate::commands::trail::export::ExportedChains;
use crate::commands::trail::signer::{ask_witness, key_of_service};
use capsid_model::{Code, Problem, Result, Value};
use capsid_seal::bundle::{BundlePlan, UnreadablePolicy};
use capsid_seal::evidence::{
    CollectOptions, CollectedChain, CollectedEvidence, META, collect_home, collect_imported,
};
use capsid_seal::keys::{KeySet, file};
use capsid_seal::sources::ChainSource;
use capsid_seal::verdict::FindingCode;
use capsid_seal::verdict::evidence::Expectation;
use capsid_seal::verdict::home::{HomeChain, HomeChains, HomeTraces};
use capsid_seal::{PublicKey, TrailHome};
use capsid_signer::head_witness::HeadWitness;
use std::collections::BTreeMap;

/// A home at one moment.
pub(super) struct HomeView {
    /// The chains.
    pub plan: BundlePlan,
    /// The document of everything else that `capsid trail verify` looks at: the page makes the same verdict with it.
    pub traces: Value,
}

impl HomeView {
    /// Reads it. The traces come first: a record that is sealed meanwhile is one more, never one that is missing.
    pub fn read(home: &TrailHome) -> Result<Self> {
        let keys = own_keys(home);
        let witness = ask_witness(home)?;
        let expectations = witness.as_ref().map(HeadWitness::expectations).unwrap_or_default();
        let own = collect(home, &keys, expectations)?;
        let imported = collect_imported(home, &keys, &without_signatures())?;
        let sources = own.chains.iter().chain(&imported.chains).map(|chain| chain.source.clone());
        let own_key = key_of_home(home).ok().flatten();
        let collected = ExportedChains::collect(home, sources.collect(), own_key);
        let plan = collected.plan(UnreadablePolicy::Shown);
        let limits = KeyLimits::read(&own, &keys, witness.as_ref());
        let mut traces = HomeTraces {
            own: trace(own, &plan, &limits.by_chain),
            imported: trace(imported, &plan, &BTreeMap::new()),
        };
        traces.own.notes.extend(limits.notes);
        let traces = serde_json::to_value(traces).map_err(|problem| {
            Problem::new(Code::Internal, format!("The traces of the home cannot be written: {problem}."))
        })?;
        Ok(Self { plan, traces })
    }
}

/// The key that signs in a home now: that of the service, where it signs there.
pub(super) fn key_of_home(home: &TrailHome) -> Result<Option<PublicKey>> {
    match key_of_service(home)? {
        Some(key) => Ok(Some(key)),
        None => Ok(file::load(&home.key())?.map(|key| key.public())),
    }
}

/// The page checks signatures.
fn without_signatures() -> CollectOptions {
    CollectOptions { skip_signatures: true, ..CollectOptions::default() }
}

/// Of a home that is gone a witness still knows what was in it.
fn collect(home: &TrailHome, keys: &KeySet, expectations: Vec<Expectation>) -> Result<CollectedEvidence> {
    if home.root().is_dir() {
        let options = CollectOptions { expectations, ..without_signatures() };
        return collect_home(home, keys, &options);
    }
    let mut found = CollectedEvidence::default();
    found.evidence.expectations = expectations;
    Ok(found)
}

fn trace(
    found: CollectedEvidence,
    plan: &BundlePlan,
    limits: &BTreeMap<String, BTreeMap<String, u64>>,
) -> HomeChains {
    let mut evidence = found.evidence;
    // The page has the times of all records.
    evidence.notes.retain(|note| note.code != FindingCode::TimeOrder);
    let pending =
        |name: &str| evidence.chains.iter().find(|chain| chain.name == name).map(|chain| chain.pending);
    let chains = found.chains.iter().map(|CollectedChain { name, source, .. }| HomeChain {
        id: plan.chains().find(|(_, chain)| is_same(chain, source)).map(|(id, _)| id.to_owned()),
        is_meta: name == META,
        pending: pending(name).unwrap_or_default(),
        limits: limits.get(name).cloned().unwrap_or_default(),
        name: name.clone(),
    });
    HomeChains {
        chains: chains.collect(),
        expectations: evidence.expectations,
        claims: evidence.claims,
        notes: evidence.notes,
        unreadable: evidence.unreadable,
    }
}

fn is_same(one: &ChainSource, other: &ChainSource) -> bool {
    one.path() == other.path() && one.tenant == other.tenant && one.is_meta == other.is_meta
}
