//! Evidence in, verdict out. Nothing here reads, waits or panics.
//!
//! The first bad position of a chain wins, and at one position the first failing step: content, columns, link,
//! signature, requirement. What follows adds findings and never takes one away: claims, the meta-chain, completeness.

mod completeness;
mod dimensions;
mod signers;

use crate::evidence::{ChainEvidence, VerdictEvidence};
use crate::finding::{Finding, FindingCode};
use crate::level::VerdictLevel;
use crate::policy::{Require, SignerPolicy};
use crate::verdict::{ChainLevel, TrailVerdict};

/// The verdict on all evidence, under a requirement.
pub fn evaluate(evidence: &VerdictEvidence, policy: &SignerPolicy) -> TrailVerdict {
    let mut findings = Vec::new();
    for chain in &evidence.chains {
        findings.extend(record_findings(chain, policy));
    }
    findings.extend(evidence.claims.iter().map(|claim| {
        let level = match claim.code {
            FindingCode::KeyRefused | FindingCode::UnlistedFile => VerdictLevel::Unverified,
            _ => VerdictLevel::Invalid,
        };
        Finding { chain: claim.chain.clone(), ..finding(claim.code, level, claim.message.clone()) }
    }));
    findings.extend(completeness::findings(evidence, policy));
    findings.extend(notes(evidence));
    findings.extend(evidence.unreadable.iter().map(|one| Finding {
        chain: Some(one.chain.clone()),
        fix: one.fix.clone(),
        ..finding(one.code, VerdictLevel::Unreadable, one.message.clone())
    }));
    sort(&mut findings, evidence);
    let level = worst(findings.iter());
    let chains = evidence.chains.iter().map(|chain| chain_level(chain, evidence, &findings)).collect();
    let is_requirement_met = !policy.is_explicit || !findings.iter().any(|one| misses_requirement(one.code));
    let all: Vec<&Finding> = findings.iter().collect();
    let dimensions = dimensions::summarise(&all, evidence, None);
    TrailVerdict { level, policy: *policy, dimensions, findings, chains, is_requirement_met }
}

/// The worst level first, and within a level what an earlier step found. The meta-chain's own records come after claims.
fn sort(findings: &mut [Finding], evidence: &VerdictEvidence) {
    const META_STEP: u8 = 9;
    let is_meta = |name: &str| evidence.chains.iter().any(|chain| chain.is_meta && chain.name == name);
    findings.sort_by_cached_key(|one| {
        let step = one.code.step();
        let is_late =
            step < META_STEP && one.code.is_of_a_record() && one.chain.as_deref().is_some_and(is_meta);
        (std::cmp::Reverse(one.level), if is_late { META_STEP } else { step })
    });
}

/// The position of the first record that the requirement refuses or that is broken itself.
pub(crate) fn first_refused(chain: &ChainEvidence, policy: &SignerPolicy) -> Option<u64> {
    let refused = signers::findings(chain, policy).0.and_then(|one| one.position);
    let fault = chain.fault.as_ref().map(|fault| fault.position);
    refused.into_iter().chain(fault).min()
}

/// Whether an explicit requirement cannot be met while this stands.
fn misses_requirement(code: FindingCode) -> bool {
    matches!(
        code,
        FindingCode::Pending
            | FindingCode::UnknownSigner
            | FindingCode::SignerNotAllowed
            | FindingCode::RetiredKey
            | FindingCode::StatementInvalid
    )
}

fn worst<'a>(findings: impl Iterator<Item = &'a Finding>) -> VerdictLevel {
    findings.map(|finding| finding.level).max().unwrap_or_default()
}

/// A finding about no chain in particular.
pub(super) fn finding(code: FindingCode, level: VerdictLevel, message: impl Into<String>) -> Finding {
    Finding {
        code,
        level,
        dimension: code.dimension(),
        chain: None,
        position: None,
        message: message.into(),
        fix: None,
    }
}

fn record_findings(chain: &ChainEvidence, policy: &SignerPolicy) -> Vec<Finding> {
    let fault = chain.fault.as_ref().map(|fault| {
        let level = match fault.code {
            FindingCode::UnknownSigner if policy.tolerates_unknown_signers() => VerdictLevel::Unverified,
            _ => VerdictLevel::Invalid,
        };
        let message = fault_sentence(fault.code, fault.position, &fault.detail);
        let is_foreign = fault.code == FindingCode::UnknownSigner && policy.require == Require::Own;
        let fix =
            is_foreign.then(|| "`capsid trail migrate` moves chains of others to imported/.".to_owned());
        let one = Finding { position: Some(fault.position), fix, ..finding(fault.code, level, message) };
        if chain.is_meta && level == VerdictLevel::Invalid { of_meta(one) } else { one }
    });
    let (refused, open) = signers::findings(chain, policy);
    let refused = refused.map(|one| if chain.is_meta { of_meta(one) } else { one });
    // What a stranger signed before the break comes first; behind a break nothing is believed.
    let first_bad = match (fault, refused) {
        (Some(fault), Some(refused)) if refused.position < fault.position => vec![refused],
        (Some(fault), _) => vec![fault],
        (None, refused) => refused.into_iter().collect(),
    };
    let all = first_bad.into_iter().chain(open);
    all.map(|one| Finding { chain: Some(chain.name.clone()), ..one }).collect()
}

/// What is wrong with a record of the meta-chain breaks the meta-chain.
fn of_meta(one: Finding) -> Finding {
    let at = one.position.unwrap_or_default();
    let message = format!("The meta-chain is broken at {at}: {}.", one.code.as_str());
    Finding {
        position: one.position,
        fix: one.fix,
        ..finding(FindingCode::MetaInvalid, VerdictLevel::Invalid, message)
    }
}

fn fault_sentence(code: FindingCode, at: u64, detail: &str) -> String {
    match code {
        FindingCode::Hash => format!("Record {at}: the text is not the one that was sealed."),
        FindingCode::Malformed => format!("Record {at} is not a sealed record: {detail}."),
        FindingCode::Column => format!("Record {at}: {detail}."),
        FindingCode::Missing => format!("Record {at} is missing; a later one follows."),
        FindingCode::Link if at == 0 => "Record 0 is the first and links to another.".to_owned(),
        FindingCode::Link => format!("Record {at} does not follow record {}.", at - 1),
        FindingCode::Signature => format!("Record {at}: the signature does not hold for the key it names."),
        FindingCode::SignaturePq => format!("Record {at}: the post-quantum signature does not hold."),
        _ => format!("Record {at}: {detail}."),
    }
}

fn notes(evidence: &VerdictEvidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for chain in &evidence.chains {
        if chain.pending > 0 {
            let message = format!("{} records of {} are not signed yet.", chain.pending, chain.name);
            findings.push(Finding {
                chain: Some(chain.name.clone()),
                fix: Some("Run `capsid trail signer flush`.".to_owned()),
                ..finding(FindingCode::Pending, VerdictLevel::Unverified, message)
            });
        }
        if chain.post_quantum_unchecked > 0 {
            let message = format!(
                "Not checked: {} post-quantum signatures, for there is no key for them.",
                chain.post_quantum_unchecked
            );
            findings.push(Finding {
                chain: Some(chain.name.clone()),
                ..finding(FindingCode::NotChecked, VerdictLevel::Unverified, message)
            });
        }
    }
    findings.extend(evidence.not_checked.iter().map(|what| {
        finding(FindingCode::NotChecked, VerdictLevel::Unverified, format!("Not checked: {what}."))
    }));
    findings.extend(evidence.notes.iter().map(|note| {
        let level = match note.code {
            FindingCode::StatementInvalid => VerdictLevel::Invalid,
            FindingCode::SignerUnreachable => VerdictLevel::Incomplete,
            _ => VerdictLevel::Valid,
        };
        Finding {
            chain: Some(note.chain.clone()).filter(|chain| !chain.is_empty()),
            position: note.position,
            ..finding(note.code, level, note.message.clone())
        }
    }));
    findings
}

fn chain_level(chain: &ChainEvidence, evidence: &VerdictEvidence, findings: &[Finding]) -> ChainLevel {
    let about: Vec<&Finding> =
        findings.iter().filter(|one| one.chain.as_deref() == Some(&chain.name)).collect();
    let level = worst(about.iter().copied());
    let decisive = about.iter().find(|one| one.level == level && level != VerdictLevel::Valid);
    ChainLevel {
        name: chain.name.clone(),
        level,
        dimensions: dimensions::summarise(&about, evidence, Some(chain)),
        class: decisive.map(|one| one.code),
        broken_at: decisive.filter(|_| !level.is_good()).and_then(|one| one.position),
    }
}
