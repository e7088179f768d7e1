//! Each row of `findings.toml` by its name: evidence that gives it, its level, its sentence and the exit status.

use crate::evidence::{NAME, SIGNER, chain, expect, head, run, sound};
use crate::table::{FindingRow, rows};
use capsid_verdict::evidence::{
    ChainPlace, ClaimFault, EvidenceFault, EvidenceNote, ExpectationSource, StatementSigner, UnreadableChain,
    VerdictEvidence,
};
use capsid_verdict::{FindingCode, KeyOrigin, Require, SignerPolicy, evaluate};

/// Spoils the evidence, and says what is required.
type Spoil = fn(&mut VerdictEvidence) -> Require;

fn check(name: &str, spoil: Spoil) {
    let row = row_of(name);
    let mut evidence = sound();
    assert_eq!(evaluate(&evidence, &SignerPolicy::implied(Require::Own)).findings, [], "the base is valid");
    let require = spoil(&mut evidence);
    let verdict = evaluate(&evidence, &SignerPolicy::implied(require));
    let found = verdict.findings.iter().find(|one| one.code.as_str() == row.code);
    let found = found.unwrap_or_else(|| panic!("{name} is not among {:?}", verdict.findings));
    assert_eq!(
        (found.level.as_str(), found.dimension.as_str()),
        (row.level.as_str(), row.dimension.as_str())
    );
    assert!(found.message == row.sentence || row.sentence.contains("the error"), "{}", found.message);
    assert_eq!(verdict.level, found.level, "nothing worse: {:?}", verdict.findings);
    let (usual, explicit) =
        row.exit.split_once(',').map_or((row.exit.as_str(), None), |(one, rest)| (one, Some(rest)));
    assert_eq!(verdict.exit_code(false).to_string(), usual);
    if explicit.is_some() {
        assert_eq!(evaluate(&evidence, &SignerPolicy::explicit(require)).exit_code(false), 1);
    }
    let strict = verdict.exit_code(true);
    assert_eq!(strict == 0, row.level == "valid", "--strict takes nothing but valid");
}

fn row_of(name: &str) -> FindingRow {
    let row = rows().into_iter().find(|row| row.test_name() == name);
    row.unwrap_or_else(|| panic!("findings.toml has no row for {name}"))
}

fn fault(evidence: &mut VerdictEvidence, code: FindingCode) -> Require {
    evidence.chains[0].fault = Some(EvidenceFault { code, position: 2, detail: "WHY".to_owned() });
    evidence.chains[0].runs = vec![run(0, 2, Some(KeyOrigin::Own))];
    Require::Own
}

fn claim(evidence: &mut VerdictEvidence, code: FindingCode, message: &str) -> Require {
    evidence.claims.push(ClaimFault { code, chain: None, message: message.to_owned() });
    Require::Own
}

fn add_note(evidence: &mut VerdictEvidence, code: FindingCode, message: &str) -> Require {
    evidence.notes.push(EvidenceNote {
        code,
        chain: NAME.to_owned(),
        position: None,
        message: message.to_owned(),
    });
    Require::Own
}

fn unread(evidence: &mut VerdictEvidence, code: FindingCode, message: &str) -> Require {
    let (chain, message) = ("codex/other".to_owned(), message.to_owned());
    evidence.unreadable.push(UnreadableChain { chain, code, message, fix: None });
    Require::Own
}

fn signed_by(evidence: &mut VerdictEvidence, origin: Option<KeyOrigin>) {
    evidence.chains[0].runs = vec![run(0, 2, Some(KeyOrigin::Own)), run(2, 2, origin)];
}

fn said(
    evidence: &mut VerdictEvidence,
    source: ExpectationSource,
    (chain, count): (&str, u64),
    head: Option<String>,
) -> Require {
    evidence.expectations.push(expect(source, chain, count, head));
    Require::Own
}

fn by_owner() -> ExpectationSource {
    ExpectationSource::HeadStatement(StatementSigner {
        fingerprint: SIGNER.to_owned(),
        origin: KeyOrigin::Own,
    })
}

macro_rules! findings {
    ($($name:ident $spoil:expr;)*) => {
        const TESTED: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { check(stringify!($name), $spoil); })*
    };
}

findings! {
    finding_hash_invalid |all| fault(all, FindingCode::Hash);
    finding_malformed_invalid |all| fault(all, FindingCode::Malformed);
    finding_column_invalid |all| fault(all, FindingCode::Column);
    finding_missing_invalid |all| fault(all, FindingCode::Missing);
    finding_link_invalid |all| fault(all, FindingCode::Link);
    finding_signature_invalid |all| fault(all, FindingCode::Signature);
    finding_signature_pq_invalid |all| fault(all, FindingCode::SignaturePq);
    finding_unknown_signer_unverified |all| { signed_by(all, None); Require::Any };
    finding_unknown_signer_invalid |all| { signed_by(all, None); Require::Own };
    finding_signer_not_allowed_invalid |all| { signed_by(all, Some(KeyOrigin::Known)); Require::Own };
    finding_retired_key_invalid |all| {
        all.chains[0].runs[0] = capsid_verdict::verify::SignerRun { until: Some(2), ..run(0, 4, Some(KeyOrigin::Retired)) };
        Require::Own
    };
    finding_bundled_signer_unverified |all| { signed_by(all, Some(KeyOrigin::Bundled)); Require::Any };
    finding_contradiction_invalid |all| claim(all, FindingCode::Contradiction, "index.json contradicts the records: WHY.");
    finding_listed_twice_invalid |all| claim(all, FindingCode::ListedTwice, "index.json lists codex-s 2 times.");
    finding_key_refused_unverified |all| claim(all, FindingCode::KeyRefused, "The name `NAME` is not the beginning of its key KEY.");
    finding_unlisted_file_unverified |all| claim(all, FindingCode::UnlistedFile, "FILE is not in index.json and was not checked.");
    finding_chain_missing_incomplete |all| said(all, ExpectationSource::Index, ("codex/gone", 6), None);
    finding_meta_invalid_invalid |all| {
        all.chains[1].fault = Some(EvidenceFault { code: FindingCode::Hash, position: 0, detail: String::new() });
        Require::Own
    };
    finding_meta_truncated_incomplete |all| said(all, ExpectationSource::CheckpointFile, ("meta", 3), None);
    finding_meta_missing_incomplete |all| {
        all.chains.truncate(1);
        said(all, ExpectationSource::CheckpointFile, ("meta", 3), None)
    };
    finding_meta_absent_unverified |all| {
        all.chains.truncate(1);
        all.expectations.clear();
        Require::Own
    };
    finding_truncated_incomplete |all| said(all, ExpectationSource::MetaEntry, (NAME, 6), Some(head(6)));
    finding_truncated_incomplete_by_statement |all| said(all, by_owner(), (NAME, 6), Some(head(6)));
    finding_conversation_missing_incomplete |all| said(all, ExpectationSource::MetaEntry, ("codex/gone", 6), None);
    finding_altered_invalid |all| {
        all.expectations[0].head = Some(head(99));
        Require::Own
    };
    finding_grown_valid |all| {
        all.expectations = vec![expect(ExpectationSource::MetaEntry, NAME, 2, Some(head(2)))];
        Require::Own
    };
    finding_open_valid |all| {
        all.expectations = vec![expect(ExpectationSource::SealedKeys, NAME, 4, None)];
        Require::Own
    };
    finding_unrecorded_unverified |all| {
        all.expectations.clear();
        all.chains[0].place = ChainPlace::Bundle;
        Require::Own
    };
    finding_pinned_head_missing_incomplete |all| said(all, ExpectationSource::PinnedHead, ("meta", 2), Some(head(2)));
    finding_pinned_head_differs_invalid |all| said(all, ExpectationSource::PinnedHead, ("meta", 1), Some(head(9)));
    finding_forked_invalid |all| said(all, by_owner(), (NAME, 4), Some(head(9)));
    finding_statement_invalid_invalid |all| {
        let fingerprint = SIGNER.to_owned();
        let stranger = StatementSigner { fingerprint, origin: KeyOrigin::Bundled };
        said(all, ExpectationSource::HeadStatement(stranger), (NAME, 4), Some(head(4)))
    };
    finding_signer_unreachable_incomplete |all| {
        add_note(all, FindingCode::SignerUnreachable, "The signing service did not answer and its heads file cannot be read.")
    };
    finding_pending_unverified |all| { all.chains[0].pending = 2; Require::Own };
    finding_not_checked_unverified |all| { all.not_checked.push("WHAT".to_owned()); Require::Own };
    finding_empty_unverified |all| {
        all.chains[0] = chain(NAME, 0);
        all.expectations.clear();
        Require::Own
    };
    finding_recovered_copy_valid |all| {
        add_note(all, FindingCode::RecoveredCopy, "A writer stopped half way. A private copy was rolled back and read.")
    };
    finding_time_order_valid |all| add_note(all, FindingCode::TimeOrder, "Record 2 claims an earlier time than record 1.");
    finding_changed_unreadable |all| unread(all, FindingCode::Changed, "`FILE` changes while it is read.");
    finding_unreadable_unreadable |all| unread(all, FindingCode::Unreadable, "It is locked.");
}

#[test]
fn every_row_has_a_test_and_every_code_a_row() {
    let rows = rows();
    let mut names: Vec<String> = rows.iter().map(FindingRow::test_name).collect();
    let mut tested = TESTED.to_vec();
    names.sort();
    tested.sort_unstable();
    assert_eq!(names, tested);
    for code in FindingCode::ALL {
        let row = rows.iter().find(|row| row.code == code.as_str());
        let row = row.unwrap_or_else(|| panic!("findings.toml lacks {}", code.as_str()));
        assert_eq!(row.dimension, code.dimension().as_str());
    }
}
