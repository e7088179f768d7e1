//! What holds of the verdict on any evidence, however odd.

use capsid_verdict::evidence::{
    ChainEvidence, ChainPlace, ClaimFault, EvidenceFault, EvidenceNote, Expectation, ExpectationSource,
    StatementSigner, UnreadableChain, VerdictEvidence,
};
use capsid_verdict::verify::SignerRun;
use capsid_verdict::{FindingCode, KeyOrigin, Require, SignerPolicy, TrailVerdict, VerdictLevel, evaluate};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just("meta"), Just("codex/a"), Just("codex/b"), Just("")].prop_map(str::to_owned)
}

fn hash() -> impl Strategy<Value = String> {
    prop_oneof![Just("0".repeat(64)), Just("1".repeat(64))]
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0_u64..6, Just(u64::MAX), Just(u64::MAX - 1)]
}

fn code() -> impl Strategy<Value = FindingCode> {
    prop::sample::select(FindingCode::ALL)
}

fn origin() -> impl Strategy<Value = KeyOrigin> {
    prop::sample::select(vec![
        KeyOrigin::Bundled,
        KeyOrigin::Known,
        KeyOrigin::Pinned,
        KeyOrigin::Retired,
        KeyOrigin::Own,
        KeyOrigin::Given,
    ])
}

fn signer_run() -> impl Strategy<Value = SignerRun> {
    (number(), number(), option::of(origin()), option::of(number()), option::of(number())).prop_map(
        |(first, count, origin, epoch, until)| SignerRun {
            first,
            count,
            signer: "0123456789abcdef".to_owned(),
            origin,
            epoch,
            until,
        },
    )
}

fn source() -> impl Strategy<Value = ExpectationSource> {
    let statement = origin().prop_map(|origin| {
        let fingerprint = "0123456789abcdef".to_owned();
        ExpectationSource::HeadStatement(StatementSigner { fingerprint, origin })
    });
    prop_oneof![
        Just(ExpectationSource::MetaEntry),
        Just(ExpectationSource::MetaOpenList),
        Just(ExpectationSource::CheckpointFile),
        Just(ExpectationSource::SealedKeys),
        Just(ExpectationSource::FinalisedMark),
        Just(ExpectationSource::PinnedHead),
        Just(ExpectationSource::Index),
        Just(ExpectationSource::Import),
        statement,
    ]
}

fn expectation() -> impl Strategy<Value = Expectation> {
    (source(), name(), number(), option::of(hash())).prop_map(|(source, chain, count, head)| Expectation {
        source,
        chain,
        count,
        head,
    })
}

fn chain() -> impl Strategy<Value = ChainEvidence> {
    let place = prop::sample::select(vec![
        ChainPlace::Home,
        ChainPlace::Imported,
        ChainPlace::Bundle,
        ChainPlace::File,
    ]);
    let fault = (code(), number()).prop_map(|(code, position)| EvidenceFault {
        code,
        position,
        detail: "why".to_owned(),
    });
    (
        (name(), place, any::<bool>(), number(), option::of(fault)),
        (vec(signer_run(), 0..3), any::<bool>(), number(), number(), btree_map(number(), hash(), 0..4)),
    )
        .prop_map(|((name, place, is_meta, total, fault), (runs, checked, pending, pq, at))| {
            ChainEvidence {
                name,
                place,
                is_meta,
                total,
                fault,
                runs,
                has_checked_signatures: checked,
                pending,
                post_quantum_unchecked: pq,
                at,
            }
        })
}

fn evidence() -> impl Strategy<Value = VerdictEvidence> {
    let claim = (code(), option::of(name())).prop_map(|(code, chain)| ClaimFault {
        code,
        chain,
        message: "claim".to_owned(),
    });
    let unreadable = (name(), code()).prop_map(|(chain, code)| UnreadableChain {
        chain,
        code,
        message: "unread".to_owned(),
        fix: None,
    });
    let note = (code(), name(), option::of(number())).prop_map(|(code, chain, position)| EvidenceNote {
        code,
        chain,
        position,
        message: "note".to_owned(),
    });
    (
        (vec(chain(), 0..4), any::<bool>(), vec(claim, 0..2), vec(expectation(), 0..5)),
        (vec(unreadable, 0..2), vec("[a-z]{0,3}", 0..2), vec(note, 0..2)),
    )
        .prop_map(|((chains, has_claims, claims, expectations), (unreadable, not_checked, notes))| {
            VerdictEvidence { chains, has_claims, claims, expectations, unreadable, not_checked, notes }
        })
}

fn policy() -> impl Strategy<Value = SignerPolicy> {
    let require = prop::sample::select(vec![
        Require::Own,
        Require::Pinned,
        Require::Known,
        Require::Any,
        Require::Given,
    ]);
    (require, any::<bool>()).prop_map(|(require, is_explicit)| SignerPolicy { require, is_explicit })
}

/// The level apart from the two findings that say no more than that nothing was expected.
fn level_of(verdict: &TrailVerdict) -> VerdictLevel {
    let findings = verdict.findings.iter();
    let counted =
        findings.filter(|one| !matches!(one.code, FindingCode::MetaAbsent | FindingCode::Unrecorded));
    counted.map(|one| one.level).max().unwrap_or_default()
}

/// Chains have names of their own.
fn distinct(mut evidence: VerdictEvidence) -> VerdictEvidence {
    let mut seen = std::collections::BTreeSet::new();
    evidence.chains.retain(|chain| seen.insert(chain.name.clone()));
    evidence
}

proptest! {
    #[test]
    fn a_verdict_comes_of_any_evidence(evidence in evidence(), policy in policy()) {
        let verdict = evaluate(&evidence, &policy);
        prop_assert_eq!(verdict.level, verdict.findings.iter().map(|one| one.level).max().unwrap_or_default());
        prop_assert!(verdict.findings.is_sorted_by_key(|one| std::cmp::Reverse(one.level)));
        prop_assert_eq!(verdict.chains.len(), evidence.chains.len());
        let status = verdict.exit_code(false);
        prop_assert_eq!(status == 0, verdict.level.is_good() && verdict.is_requirement_met);
    }

    #[test]
    fn another_expectation_never_improves_the_level(
        evidence in evidence(), policy in policy(), more in expectation()
    ) {
        let before = evaluate(&evidence, &policy);
        let mut after = evidence;
        after.expectations.push(more);
        prop_assert!(level_of(&evaluate(&after, &policy)) >= level_of(&before));
    }

    #[test]
    fn a_stricter_requirement_never_improves_the_level(evidence in evidence(), is_explicit in any::<bool>()) {
        let level = |require| evaluate(&evidence, &SignerPolicy { require, is_explicit }).level;
        let levels = [Require::Own, Require::Pinned, Require::Known, Require::Any].map(level);
        prop_assert!(levels.is_sorted_by(|strict, lax| strict >= lax), "{:?}", levels);
    }

    #[test]
    fn the_order_of_the_chains_does_not_matter(
        evidence in evidence(), policy in policy(), turn in 0_usize..4
    ) {
        let evidence = distinct(evidence);
        let mut turned = evidence.clone();
        let by = turn.min(turned.chains.len());
        turned.chains.rotate_left(by);
        let (one, other) = (evaluate(&evidence, &policy), evaluate(&turned, &policy));
        prop_assert_eq!((one.level, one.dimensions), (other.level, other.dimensions));
        let sorted = |verdict: &TrailVerdict| {
            let mut lines: Vec<String> = verdict.findings.iter().map(|one| format!("{one:?}")).collect();
            lines.sort();
            lines
        };
        prop_assert_eq!(sorted(&one), sorted(&other));
    }
}
