//! The verifier's verdict on a bundle, as data.

use super::bundle::Case;
use capsid_model::{Value, json};
use capsid_seal::bundle::ChainFacts;
use capsid_seal::keys::{KeyOrigin, KeySet};
use capsid_seal::meta::compare_bundled;
use capsid_seal::sources::{ChainSource, ChainSources, open_any};
use capsid_seal::verify::{ChainVerdict, VerifyOptions, verify};
use std::path::Path;

pub fn of_all(cases: Vec<Case>) -> Value {
    cases.into_iter().map(|case| verdict(&case)).collect()
}

fn verdict(case: &Case) -> Value {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in &case.files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let files: serde_json::Map<String, Value> =
        case.files.iter().map(|(name, text)| (name.clone(), json!(text))).collect();
    let pinned: Vec<String> = case.pinned.iter().map(|key| key.hex()).collect();
    json!({
        "name": case.name,
        "own": case.own.map(|key| key.hex()),
        "pinned": pinned,
        "files": files,
        "verdict": judge(case, folder.path()),
    })
}

fn judge(case: &Case, folder: &Path) -> Value {
    let sources = match open_any(folder) {
        Ok(sources) => sources,
        Err(problem) => return json!({ "error": problem.code.as_str() }),
    };
    let mut keys = KeySet::default();
    sources.keys.iter().for_each(|key| keys.add(*key, KeyOrigin::Bundled));
    case.own.iter().for_each(|key| keys.add(*key, KeyOrigin::Own));
    case.pinned.iter().for_each(|key| keys.add(*key, KeyOrigin::Pinned));
    let trusted: Vec<Value> = keys.iter().map(|one| json!([one.key.hex(), one.origin.as_str()])).collect();
    let (meta, chains): (Vec<_>, Vec<_>) = sources.chains.iter().partition(|chain| chain.is_meta);
    json!({
        "keys": trusted,
        "refused_keys": sources.refused_keys.len(),
        "contradictions": sources.contradictions,
        "chains": chains.iter().map(|chain| chain_verdict(chain, &keys)).collect::<Vec<_>>(),
        "meta": meta.first().map(|chain| chain_verdict(chain, &keys)),
        "conversations": meta.first().map(|meta| conversations(folder, meta, &sources, &keys)),
    })
}

fn check(
    chain: &ChainSource,
    keys: &KeySet,
    signatures: bool,
) -> capsid_model::Result<(ChainVerdict, ChainFacts)> {
    let mut facts = ChainFacts::default();
    let records = chain.records()?.inspect(|stored| {
        if let Ok(stored) = stored {
            facts.record(&stored.seal);
        }
    });
    let verdict =
        verify(records, &VerifyOptions { signatures, threads: 1, ..VerifyOptions::default() }, keys)?;
    Ok((verdict, facts))
}

fn chain_verdict(chain: &ChainSource, keys: &KeySet) -> Value {
    let (verdict, facts) = match check(chain, keys, true) {
        Ok(found) => found,
        Err(problem) => return json!({ "error": problem.code.as_str() }),
    };
    let signers: Vec<Value> =
        verdict.signers.iter().map(|(name, one)| json!([name, one.count, one.trust_label()])).collect();
    let claim = chain.claim.as_ref().filter(|_| verdict.valid);
    json!({
        "valid": verdict.valid,
        "verified": verdict.verified,
        "total": verdict.total,
        "broken_at": verdict.broken_at,
        "class": verdict.failure.as_ref().map(|failure| failure.class.as_str()),
        "message": verdict.failure.map(|failure| failure.message),
        "head": verdict.head,
        "signers": signers,
        "contradiction": claim.and_then(|claim| claim.contradicted_by(&facts)),
    })
}

/// Each conversation against the part of the meta-chain that holds. One that is broken inside is altered whatever its
/// end says, and a chain without a record is unsealed.
fn conversations(folder: &Path, meta: &ChainSource, sources: &ChainSources, keys: &KeySet) -> Vec<Value> {
    let good = check(meta, keys, true).map_or(0, |(verdict, _)| verdict.verified);
    keep_only(folder, meta, usize::try_from(good).unwrap());
    let compared = compare_bundled(sources).unwrap();
    let is_broken = |chain: &ChainSource| !check(chain, keys, false).is_ok_and(|(verdict, _)| verdict.valid);
    let chains = || sources.chains.iter().filter(|chain| !chain.is_meta && !chain.is_missing());
    let mut rows = Vec::new();
    for one in &compared {
        let chain = chains().find(|chain| chain.path() == one.path);
        let state = if chain.is_some_and(is_broken) { "altered" } else { one.status.as_str() };
        rows.push(json!([one.tool, one.session, state, one.recorded.as_ref().map(|(count, _)| count)]));
    }
    for chain in chains().filter(|chain| !compared.iter().any(|one| one.path == chain.path())) {
        rows.push(json!([chain.tool, chain.session, "unsealed", null]));
    }
    rows
}

/// Cuts the meta-chain's file behind its last good record.
fn keep_only(folder: &Path, meta: &ChainSource, good: usize) {
    if meta.is_missing() {
        return;
    }
    let records: Vec<_> = meta.records().unwrap().take(good).map(|stored| stored.unwrap()).collect();
    let text = capsid_model::exact::spaced(&super::bundle::list(&records));
    std::fs::write(folder.join("meta.json"), text).unwrap();
}
