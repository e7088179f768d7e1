//! What came of each dimension.

use crate::evidence::{ChainEvidence, VerdictEvidence};
use crate::finding::{Finding, FindingCode};
use crate::level::{Dimension, Dimensions, VerdictLevel};

/// The dimensions of one chain, or of all of them.
pub(super) fn summarise(
    findings: &[&Finding],
    evidence: &VerdictEvidence,
    chain: Option<&ChainEvidence>,
) -> Dimensions {
    let has = |code: FindingCode| findings.iter().any(|one| one.code == code);
    let failed = |dimension: Dimension| {
        findings.iter().any(|one| one.dimension == dimension && one.level == VerdictLevel::Invalid)
    };
    let checked = |dimension| if failed(dimension) { "failed" } else { "ok" };
    let chains = || chain.map_or(evidence.chains.as_slice(), std::slice::from_ref).iter();
    let signatures = chains().all(|one| one.has_checked_signatures || one.total == 0);
    let has_meta = evidence.chains.iter().any(|one| one.is_meta);
    Dimensions {
        content: match () {
            () if failed(Dimension::Content) || has(FindingCode::MetaInvalid) => "failed",
            () if has(FindingCode::NotChecked) && signatures => "not_checked",
            () => "ok",
        },
        link: checked(Dimension::Link),
        signature: match () {
            () if has(FindingCode::Signature) || has(FindingCode::SignaturePq) => "failed",
            () if has(FindingCode::UnknownSigner) => "no_key",
            () if !signatures || has(FindingCode::Pending) => "not_checked",
            () => "ok",
        },
        signer: match () {
            () if failed(Dimension::Signer) => "not_met",
            () if has(FindingCode::BundledSigner) || has(FindingCode::UnknownSigner) || !signatures => {
                "not_vouched"
            }
            () => "met",
        },
        claims: if evidence.has_claims { checked(Dimension::Claims) } else { "absent" },
        meta: if has_meta { checked(Dimension::Meta) } else { "absent" },
        completeness: completeness(findings),
        time: "claimed",
    }
}

fn completeness(findings: &[&Finding]) -> &'static str {
    let has = |code: FindingCode| findings.iter().any(|one| one.code == code);
    let lacks = findings.iter().any(|one| {
        one.dimension == Dimension::Completeness
            && matches!(one.level, VerdictLevel::Incomplete | VerdictLevel::Invalid)
    });
    match () {
        () if lacks => "incomplete",
        () if has(FindingCode::MetaAbsent) || has(FindingCode::Unrecorded) || has(FindingCode::Empty) => {
            "unknown"
        }
        () if has(FindingCode::Open) => "open",
        () if has(FindingCode::Grown) => "grown",
        () => "complete",
    }
}
