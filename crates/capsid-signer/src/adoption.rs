//! Taking over a home: what its own keys sealed so far is handed to the service, as it is now.

use crate::client::SignerClient;
use crate::head_witness::HeadWitness;
use crate::home_evidence::collect_signed_home;
use crate::rules::record_text::RecordText;
use crate::rules::signer_chain::SignerChain;
use crate::trust_root::SignerTrust;
use crate::trusted_keys::add_service_keys;
use crate::wire::AdoptedHead;
use capsid_model::{Code, Problem, Result};
use capsid_seal::TrailHome;
use capsid_seal::chain::ChainReader;
use capsid_seal::evidence::{CollectOptions, CollectedChain, CollectedEvidence};
use capsid_seal::sources::{ChainSource, open_any};
use capsid_verdict::{Finding, FindingCode, Require, SignerPolicy, TrailVerdict, VerdictLevel};

/// All chains of a home with their lengths and heads. The home must be valid as its own, as a whole: what is handed over
/// cannot be found wrong later.
pub fn collect_heads(home: &TrailHome, trust: &SignerTrust) -> Result<Vec<AdoptedHead>> {
    let found = collect_own_home(home, trust)?;
    let verdict = found.evaluate(&SignerPolicy::implied(Require::Own));
    match first_obstacle(&verdict) {
        Some(finding) => Err(refusal(finding)),
        None => found.chains.iter().filter_map(|chain| head_of(chain).transpose()).collect(),
    }
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

/// The home with all its traces, and what the service states already. The keys of the home are not limited to what was
/// handed over before: this is what hands more over.
fn collect_own_home(home: &TrailHome, trust: &SignerTrust) -> Result<CollectedEvidence> {
    let mut keys = capsid_seal::keys::load_home(home.root());
    add_service_keys(&mut keys, trust)?;
    let witness = HeadWitness::ask(trust.clone())?;
    let options = CollectOptions::default();
    collect_signed_home(Some(&witness), home, &keys, &options, true)
}

/// The first finding that keeps the home from being handed over. Records that wait are signed afterwards, a chain without
/// records has no head, and a home of before there were traces has none.
fn first_obstacle(verdict: &TrailVerdict) -> Option<&Finding> {
    let is_harmless =
        |code| matches!(code, FindingCode::Pending | FindingCode::Empty | FindingCode::MetaAbsent);
    verdict.findings.iter().find(|one| one.level > VerdictLevel::Valid && !is_harmless(one.code))
}

fn refusal(finding: &Finding) -> Problem {
    let place = finding.chain.as_ref().map(|chain| format!("{chain}: ")).unwrap_or_default();
    let message = format!("The home is not handed over. {place}{}", finding.message);
    let fix = finding.fix.as_deref().unwrap_or("`capsid trail verify` says more.");
    Problem::new(Code::ChainBroken, message).fix(fix)
}

fn head_of(chain: &CollectedChain) -> Result<Option<AdoptedHead>> {
    let Some((count, head)) = chain.records.as_ref().and_then(|one| Some((one.length, one.head.clone()?)))
    else {
        return Ok(None);
    };
    let Some(first) = chain.source.records()?.next().transpose()? else { return Ok(None) };
    let name = chain_name(&chain.source, &first.canonical)?;
    Ok(Some(AdoptedHead { chain: name, count, head }))
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
