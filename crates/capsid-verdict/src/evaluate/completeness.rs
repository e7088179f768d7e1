//! Whether everything is there that something says was there.

use super::finding;
use crate::evidence::{ChainEvidence, ChainPlace, Expectation, ExpectationSource, VerdictEvidence};
use crate::finding::{Finding, FindingCode};
use crate::level::VerdictLevel;
use crate::policy::SignerPolicy;
use std::collections::BTreeMap;

/// The name of the meta-chain.
const META: &str = "meta";

/// What is missing, differs, grew or is not recorded.
pub(super) fn findings(evidence: &VerdictEvidence, policy: &SignerPolicy) -> Vec<Finding> {
    let (allowed, refused): (Vec<&Expectation>, Vec<&Expectation>) =
        evidence.expectations.iter().partition(|one| is_allowed(one, policy));
    let mut by_chain: BTreeMap<&str, Vec<&Expectation>> = BTreeMap::new();
    for expectation in &allowed {
        by_chain.entry(&expectation.chain).or_default().push(expectation);
    }
    let mut findings: Vec<Finding> = refused.into_iter().map(statement_invalid).collect();
    for (name, expectations) in &by_chain {
        let chain = evidence.chains.iter().find(|chain| chain.name == *name);
        let is_unreadable = evidence.unreadable.iter().any(|one| one.chain == *name);
        match chain {
            Some(chain) => findings.extend(compare(chain, expectations)),
            None if is_unreadable => {}
            None => findings.extend(absent(name, expectations)),
        }
    }
    let has_meta = evidence.chains.iter().any(|chain| chain.is_meta);
    let has_lengths = allowed.iter().any(|one| says_length(one));
    for chain in evidence.chains.iter().filter(|chain| !chain.is_meta) {
        if chain.total == 0 {
            findings.push(about(
                chain,
                finding(FindingCode::Empty, VerdictLevel::Unverified, "The chain has no records."),
            ));
            continue;
        }
        let known = by_chain.get(chain.name.as_str()).map_or(&[][..], Vec::as_slice);
        findings.extend(unrecorded(chain, known, has_meta || has_lengths));
    }
    if !has_meta && !has_lengths && !evidence.chains.is_empty() {
        findings.push(finding(
            FindingCode::MetaAbsent,
            VerdictLevel::Unverified,
            "Nothing here says how long the chains were. A cut end would not show.",
        ));
    }
    findings
}

/// A statement counts if its signer meets the requirement.
fn is_allowed(expectation: &Expectation, policy: &SignerPolicy) -> bool {
    match &expectation.source {
        ExpectationSource::HeadStatement(signer) => policy.require.allows(signer.origin),
        _ => true,
    }
}

fn statement_invalid(expectation: &Expectation) -> Finding {
    let chain = &expectation.chain;
    let message =
        format!("The head statement of {chain} is not signed by a key that this verification allows.");
    Finding {
        chain: Some(chain.clone()),
        ..finding(FindingCode::StatementInvalid, VerdictLevel::Invalid, message)
    }
}

/// An index says how long a chain is today, and nothing about what it was.
fn says_length(expectation: &Expectation) -> bool {
    expectation.source != ExpectationSource::Index
}

fn about(chain: &ChainEvidence, finding: Finding) -> Finding {
    Finding { chain: Some(chain.name.clone()), ..finding }
}

/// A chain that is there, against all that is said of it. The worst two facts are enough: one end, one difference.
fn compare(chain: &ChainEvidence, expectations: &[&Expectation]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut push = |one: Finding| {
        if !findings.iter().any(|known| known.code == one.code) {
            findings.push(about(chain, one));
        }
    };
    let mut longest_recorded = None;
    // The longest first: what it says is the whole of the loss.
    let mut longest: Vec<&&Expectation> = expectations.iter().collect();
    longest.sort_by_key(|one| std::cmp::Reverse(one.count));
    for expectation in longest {
        if chain.total < expectation.count || expectation.source == ExpectationSource::Import {
            push(cut(chain, expectation));
        }
    }
    for expectation in expectations {
        let Expectation { source, count, head, .. } = expectation;
        if matches!(source, ExpectationSource::MetaEntry) {
            longest_recorded = longest_recorded.max(Some(*count));
        }
        // Behind a break nothing is compared: the break is told already.
        let here = chain.at.get(count);
        if let (Some(head), true) = (head, *count > 0 && *count <= chain.good())
            && here != Some(head)
        {
            push(differs(chain, expectation));
        }
    }
    if let Some(recorded) = longest_recorded.filter(|recorded| chain.total > *recorded && !chain.is_meta)
        && findings.is_empty()
    {
        let message =
            format!("{} grew by {} records since it was recorded.", chain.name, chain.total - recorded);
        findings.push(about(chain, finding(FindingCode::Grown, VerdictLevel::Valid, message)));
    }
    findings
}

fn cut(chain: &ChainEvidence, expectation: &Expectation) -> Finding {
    let (there, count, phrase) = (chain.total, expectation.count, expectation.source.phrase());
    let (code, message) = match (&expectation.source, chain.is_meta) {
        (ExpectationSource::PinnedHead, _) => (
            FindingCode::PinnedHeadMissing,
            format!("The meta-chain has {there} records; you noted {count}."),
        ),
        (_, true) => {
            (FindingCode::MetaTruncated, format!("The meta-chain has {there} records; {phrase} {count}."))
        }
        (ExpectationSource::Import, false) => (
            FindingCode::Truncated,
            format!("{} has {there} records, and was incomplete when it was imported.", chain.name),
        ),
        _ => (FindingCode::Truncated, format!("{} has {there} records; {phrase} {count}.", chain.name)),
    };
    Finding {
        position: Some(there),
        fix: Some("Restore the chain from a copy.".to_owned()),
        ..finding(code, VerdictLevel::Incomplete, message)
    }
}

fn differs(chain: &ChainEvidence, expectation: &Expectation) -> Finding {
    let position = expectation.count.saturating_sub(1);
    let name = &chain.name;
    let (code, message) = match &expectation.source {
        ExpectationSource::PinnedHead => (
            FindingCode::PinnedHeadDiffers,
            format!("Record {position} of the meta-chain is not the one that you noted."),
        ),
        ExpectationSource::HeadStatement(signer) => (
            FindingCode::Forked,
            format!(
                "Record {position} of {name} is not the one that {} signed in a statement.",
                signer.fingerprint
            ),
        ),
        source => (
            FindingCode::Altered,
            format!("{name} differs from what {} at record {position}.", source.phrase()),
        ),
    };
    Finding { position: Some(position), ..finding(code, VerdictLevel::Invalid, message) }
}

fn absent(name: &str, expectations: &[&Expectation]) -> Option<Finding> {
    // A chain that an index lists was handed over without its file.
    let expectation = expectations.iter().max_by_key(|one| (!says_length(one) && name != META, one.count))?;
    let (phrase, count) = (expectation.source.phrase(), expectation.count);
    let (code, message) = match (&expectation.source, name) {
        (ExpectationSource::PinnedHead, _) => {
            (FindingCode::PinnedHeadMissing, format!("The meta-chain has 0 records; you noted {count}."))
        }
        (_, META) => (FindingCode::MetaMissing, format!("The meta-chain is gone; {phrase} {count} records.")),
        (ExpectationSource::Index, _) => {
            (FindingCode::ChainMissing, format!("index.json lists {name}; its file is not there."))
        }
        _ => (FindingCode::ConversationMissing, format!("{name} is gone; {phrase} {count} records.")),
    };
    Some(Finding {
        chain: Some(name.to_owned()),
        position: Some(0),
        fix: Some("Restore it from a copy.".to_owned()),
        ..finding(code, VerdictLevel::Incomplete, message)
    })
}

/// A chain that no entry of a meta-chain names.
fn unrecorded(chain: &ChainEvidence, known: &[&Expectation], has_lengths: bool) -> Option<Finding> {
    let is_recorded = known
        .iter()
        .any(|one| matches!(one.source, ExpectationSource::MetaEntry | ExpectationSource::FinalisedMark));
    let is_stated = known.iter().any(|one| matches!(one.source, ExpectationSource::HeadStatement(_)));
    let name = &chain.name;
    let (code, level, message) = match chain.place {
        _ if is_recorded => return None,
        ChainPlace::Home => (FindingCode::Open, VerdictLevel::Valid, format!("{name} is not finalised yet.")),
        ChainPlace::Bundle if has_lengths && !is_stated => (
            FindingCode::Unrecorded,
            VerdictLevel::Unverified,
            format!("The meta-chain does not know {name}."),
        ),
        _ => return None,
    };
    Some(about(chain, finding(code, level, message)))
}
