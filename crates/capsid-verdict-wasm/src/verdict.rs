//! The verdict on what was read, as the page asks for it.

use capsid_verdict::bundle::{BundleIndex, BundleReading, META, ReadChain};
use capsid_verdict::claim::ChainClaim;
use capsid_verdict::evidence::ChainPlace;
use capsid_verdict::home::HomeTraces;
use capsid_verdict::{DataPlace, KeySet, Require, SignerPolicy, TrailVerdict, evaluate};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What the page knows beside the records, and what it asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct VerdictQuestion {
    /// What is required of the signers, and whether the reader wrote it out.
    require: String,
    is_explicit: bool,
    /// Ask about this chain alone, and the meta-chain.
    only: Option<String>,
    /// Chains without a file, and chains that cannot be read.
    missing: Vec<String>,
    unreadable: BTreeMap<String, String>,
    /// The hash of the last record at each length that is wanted, by chain.
    at: BTreeMap<String, BTreeMap<u64, String>>,
    /// Positions where the claimed time goes back, by chain. The page has the calendar for it.
    time_breaks: BTreeMap<String, Vec<u64>>,
    noted: Vec<(u64, String)>,
    unlisted: Vec<String>,
    /// Other files that cannot be read, and why.
    unreadable_files: Vec<(String, String)>,
}

pub(crate) fn answer(
    question: VerdictQuestion,
    reading: &BundleReading,
    home: Option<&HomeTraces>,
    keys: &KeySet,
) -> Value {
    let policy = policy(&question);
    let mut reading = reading.clone();
    reading.noted = question.noted;
    reading.unlisted = question.unlisted;
    reading.unreadable = question.unreadable_files;
    reading.place = ChainPlace::Bundle;
    let mut put = |id: String, chain: ReadChain| match id.as_str() {
        META => reading.meta = Some(chain),
        _ => drop(reading.chains.insert(id, chain)),
    };
    question.missing.into_iter().for_each(|id| put(id, ReadChain::Missing));
    question.unreadable.into_iter().for_each(|(id, why)| put(id, ReadChain::Unreadable(why)));
    let mut time_breaks = question.time_breaks;
    for (id, at) in question.at {
        let chain = if id == META { reading.meta.as_mut() } else { reading.chains.get_mut(&id) };
        if let Some(ReadChain::Checked(chain)) = chain {
            chain.at = at;
            chain.time_breaks = time_breaks.remove(&id).unwrap_or_default();
        }
    }
    let only = question.only.as_deref();
    let Some(home) = home else {
        return to_value(&evaluate(&reading.evidence(keys, &policy, only), &policy));
    };
    let [own, imported] = [DataPlace::Home, DataPlace::Imported].map(|place| match policy.is_explicit {
        true => policy,
        false => SignerPolicy::for_place(place, keys.has_pinned()),
    });
    to_value(&home.evaluate(&reading, &own, &imported, only))
}

fn policy(question: &VerdictQuestion) -> SignerPolicy {
    let words = [Require::Own, Require::Pinned, Require::Known, Require::Any];
    let require = words.into_iter().find(|one| one.as_str() == question.require).unwrap_or(Require::Any);
    match question.is_explicit {
        true => SignerPolicy::explicit(require),
        false => SignerPolicy::implied(require),
    }
}

fn to_value(verdict: &TrailVerdict) -> Value {
    let findings = verdict.findings.iter().map(|one| {
        json!({
            "code": one.code.as_str(), "level": one.level.as_str(), "chain": one.chain,
            "position": one.position, "message": one.message, "fix": one.fix,
        })
    });
    let chains = verdict.chains.iter().map(|chain| {
        json!({
            "name": chain.name, "level": chain.level.as_str(), "dimensions": chain.dimensions,
            "broken_at": chain.broken_at,
        })
    });
    json!({
        "level": verdict.level.as_str(),
        "exit": verdict.exit_code(false),
        "require": verdict.policy.require.as_str(),
        "dimensions": verdict.dimensions,
        "findings": Value::from_iter(findings),
        "chains": Value::from_iter(chains),
    })
}

/// An index in the words of the page.
pub(crate) fn index_to_value(index: &BundleIndex) -> Value {
    let chains = index.chains.iter().map(|chain| {
        json!({
            "id": chain.id, "isPlain": chain.is_plain(), "tool": chain.tool, "session": chain.session,
            "title": chain.title, "claim": claim_to_value(&chain.claim),
        })
    });
    let faults =
        index.faults.iter().map(|fault| json!({ "code": fault.code.as_str(), "message": fault.message }));
    json!({
        "generatedAt": index.generated_at,
        "chains": Value::from_iter(chains),
        "meta": index.meta.as_ref().map(claim_to_value),
        "keys": index.keys.iter().map(|key| key.hex()).collect::<Vec<_>>(),
        "faults": Value::from_iter(faults),
    })
}

fn claim_to_value(claim: &ChainClaim) -> Value {
    json!({
        "length": claim.length, "head": claim.head_hash, "genesis": claim.genesis_hash,
        "hashesOk": claim.all_hashes_ok, "signedBy": claim.signed_by,
        "startedAt": claim.started_at, "endedAt": claim.ended_at,
    })
}
