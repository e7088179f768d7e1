//! Taking over a home: what its own keys sealed so far is handed to the service, as it is now.

use crate::client::SignerClient;
use crate::rules::record_text::RecordText;
use crate::rules::signer_chain::SignerChain;
use crate::trust_root::SignerTrust;
use crate::trusted_keys::add_service_keys;
use crate::wire::AdoptedHead;
use capsid_model::{Code, Problem, Result};
use capsid_seal::TrailHome;
use capsid_seal::chain::ChainReader;
use capsid_seal::keys::KeyOrigin;
use capsid_seal::sources::{ChainSource, open_any};
use capsid_seal::verify::{VerifyOptions, verify};
use capsid_verdict::KeySet;

/// All chains of a home with their lengths and heads. Each must verify, and be signed by the home's own keys.
pub fn collect_heads(home: &TrailHome, trust: &SignerTrust) -> Result<Vec<AdoptedHead>> {
    let mut keys = capsid_seal::keys::load_home(home.root());
    let mut own = keys.clone();
    add_service_keys(&mut own, trust)?;
    own.iter().for_each(|trusted| keys.add(trusted.key, trusted.origin));
    let mut heads = Vec::new();
    for path in home.chain_paths() {
        for chain in open_any(&path)?.chains {
            heads.extend(head_of(&chain, &keys)?);
        }
    }
    Ok(heads)
}

/// Hands them over.
pub fn adopt_home(home: &TrailHome, trust: &SignerTrust) -> Result<Vec<AdoptedHead>> {
    let heads = collect_heads(home, trust)?;
    SignerClient::connect(&trust.socket)?.adopt(&heads)?;
    Ok(heads)
}

/// Whether a home holds records that nobody handed over.
pub fn has_records(home: &TrailHome) -> Result<bool> {
    for path in home.chain_paths() {
        for chain in open_any(&path)?.chains {
            if ChainReader::open(chain.path())?.count(chain.tenant.as_deref())? > 0 {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn head_of(chain: &ChainSource, keys: &KeySet) -> Result<Option<AdoptedHead>> {
    let Some(first) = chain.records()?.next().transpose()? else { return Ok(None) };
    let name = chain_name(chain, &first.canonical)?;
    let options = VerifyOptions { signatures: true, ..VerifyOptions::default() };
    let verdict = verify(chain.records()?, &options, keys)?;
    let refused = |reason: &str| {
        let message = format!("`{}` is not taken over: {reason}.", chain.label);
        Err(Problem::new(Code::ChainBroken, message)
            .fix("`capsid trail verify` says more; `capsid trail migrate` moves chains of others away."))
    };
    if let Some(failure) = &verdict.failure {
        return refused(&failure.message);
    }
    let is_own = |origin: Option<KeyOrigin>| matches!(origin, Some(KeyOrigin::Own | KeyOrigin::Retired));
    if let Some(run) = verdict.runs.iter().find(|run| !is_own(run.origin)) {
        return refused(&format!("record {} is signed by {}, no key of this home", run.first, run.signer));
    }
    let count = verdict.length;
    Ok(verdict.head.map(|head| AdoptedHead { chain: name, count, head }))
}

/// What the records themselves state; the path must say the same.
fn chain_name(chain: &ChainSource, first: &str) -> Result<SignerChain> {
    let stated = RecordText::parse(first).map_err(|refusal| refusal.to_problem())?.chain;
    let is_same = chain.is_meta
        || (chain.tool.as_ref().is_none_or(|tool| *tool == stated.domain)
            && chain.session.as_ref().is_none_or(|session| *session == stated.session));
    match is_same {
        true => Ok(stated),
        false => {
            let message =
                format!("The records in `{}` are of {}/{}.", chain.label, stated.domain, stated.session);
            Err(Problem::new(Code::ChainBroken, message).fix("Move the file to where it belongs, or away."))
        }
    }
}
