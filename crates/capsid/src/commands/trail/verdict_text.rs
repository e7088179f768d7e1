//! A verdict as text and as JSON.

use super::verdicts::VerdictRequest;
use super::verify::VerifyResults;
use crate::output::{self, BAD, DIM, GOOD, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::{Value, json};
use capsid_seal::evidence::{CollectedChain, META};
use capsid_seal::sources::SourceKind;
use capsid_seal::verdict::{ChainLevel, Finding, FindingCode, TrailVerdict, VerdictLevel};
use capsid_seal::verify::ChainVerdict;
use std::collections::BTreeSet;

/// The mark of a level. The word is always there; a colour is never the only sign.
pub(super) fn mark(level: VerdictLevel) -> String {
    match level {
        VerdictLevel::Valid => paint(GOOD, "[OK]"),
        VerdictLevel::Unverified => paint(WARN, "[UNVERIFIED]"),
        VerdictLevel::Incomplete => paint(BAD, "[INCOMPLETE]"),
        VerdictLevel::Invalid => paint(BAD, "[BROKEN]"),
        VerdictLevel::Unreadable => paint(BAD, "[UNREADABLE]"),
    }
}

/// A chain whose records were read, with its level.
struct JudgedChain<'a> {
    chain: &'a CollectedChain,
    records: &'a ChainVerdict,
    level: &'a ChainLevel,
    /// The first finding of the worst level about it.
    decisive: Option<&'a Finding>,
}

fn judged(results: &VerifyResults) -> Vec<JudgedChain<'_>> {
    let Some(verdict) = &results.verdict else { return Vec::new() };
    let found = results.chains.iter().filter_map(|chain| {
        let level = verdict.chains.iter().find(|one| one.name == chain.name)?;
        let records = chain.records.as_ref()?;
        let decisive = verdict.findings_about(&chain.name).find(|one| one.level == level.level);
        Some(JudgedChain {
            chain,
            records,
            level,
            decisive: decisive.filter(|_| level.level != VerdictLevel::Valid),
        })
    });
    found.collect()
}

impl JudgedChain<'_> {
    fn is_good(&self) -> bool {
        self.level.level.is_good()
    }

    fn broken_at(&self) -> Option<u64> {
        (!self.is_good()).then(|| self.level.broken_at.unwrap_or(self.records.length))
    }

    /// What is wrong, in the words of the reference tool where it has any.
    fn error(&self) -> Option<String> {
        let decisive = self.decisive.filter(|_| !self.is_good())?;
        let failure = self.records.failure.as_ref();
        let of_record = failure.filter(|_| self.records.broken_at == decisive.position);
        Some(of_record.map_or_else(|| decisive.message.clone(), |failure| failure.message.clone()))
    }

    fn class(&self) -> Option<&str> {
        let decisive = self.decisive.filter(|_| !self.is_good())?;
        // What breaks the meta-chain is a record like any other.
        match (decisive.code, &self.records.failure) {
            (FindingCode::MetaInvalid, Some(failure)) => Some(failure.class.as_str()),
            (code, _) => Some(code.as_str()),
        }
    }

    fn to_json(&self) -> Value {
        let records = self.records;
        let signers: Vec<Value> = records
            .signers
            .iter()
            .map(|(name, signer)| json!({"fingerprint": name, "count": signer.count, "standing": signer.trust_label()}))
            .collect();
        json!({
            "chain": self.chain.source.label,
            "name": self.chain.name,
            "tool": self.chain.source.tool,
            "session": self.chain.source.session,
            "level": self.level.level.as_str(),
            "dimensions": self.level.dimensions,
            "valid": self.is_good(),
            "verified": records.verified,
            "total": records.total,
            "broken_at": self.broken_at(),
            "class": self.class(),
            "error": self.error(),
            "head": records.head,
            "signers": signers,
            "notes": records.notes,
        })
    }
}

/// One line for each chain, and what was found about it.
pub(super) fn print_chains(results: &VerifyResults) {
    let Some(verdict) = &results.verdict else { return };
    for one in judged(results) {
        let label = inert_line(&one.chain.source.label);
        let ChainVerdict { verified, total, head, .. } = one.records;
        let mark = mark(one.level.level);
        if one.level.level == VerdictLevel::Invalid {
            let at = one.broken_at().unwrap_or(*verified);
            let error = inert_line(&one.error().unwrap_or_default());
            output::line(format_args!(
                "{mark} {label}: {verified}/{total} verified (broken at seq {at}: {error})"
            ));
        } else {
            let head = head.as_deref().map_or("genesis", |head| &head[..16.min(head.len())]);
            output::line(format_args!("{mark} {label}: {verified}/{total} verified (head {head})"));
        }
        for (fingerprint, signer) in &one.records.signers {
            let (fingerprint, trust) = (inert_line(fingerprint), signer.trust_label());
            output::line(format_args!("  {} signed by {fingerprint} ({trust})", signer.count));
        }
        for finding in verdict.findings_about(&one.chain.name).filter(|one| one.level != VerdictLevel::Valid)
        {
            output::line(format_args!("  {}: {}", finding.code.as_str(), inert_line(&finding.message)));
        }
        for finding in verdict.findings_about(&one.chain.name).filter(|one| is_worth_a_note(one)) {
            output::talk(format_args!("  {} {}", paint(DIM, "note:"), inert_line(&finding.message)));
        }
    }
}

/// A chain that goes on is the usual case.
fn is_worth_a_note(finding: &Finding) -> bool {
    finding.level == VerdictLevel::Valid && !matches!(finding.code, FindingCode::Open | FindingCode::Grown)
}

/// What was found about no chain that is there.
pub(super) fn print_findings(results: &VerifyResults) {
    let Some(verdict) = &results.verdict else { return };
    let shown: BTreeSet<&str> = judged(results).iter().map(|one| one.chain.name.as_str()).collect();
    let is_shown = |finding: &Finding| finding.chain.as_deref().is_some_and(|name| shown.contains(name));
    for finding in verdict.findings.iter().filter(|one| one.level != VerdictLevel::Valid && !is_shown(one)) {
        let (code, message) = (finding.code.as_str(), inert_line(&finding.message));
        output::line(format_args!("{} {code}: {message}", mark(finding.level)));
    }
    let fixes: BTreeSet<&str> = verdict
        .findings
        .iter()
        .filter(|one| one.level != VerdictLevel::Valid)
        .filter_map(|one| one.fix.as_deref())
        .collect();
    for fix in fixes {
        output::talk(format_args!("{} {}", paint(DIM, "fix:"), inert_line(fix)));
    }
}

/// The last lines: sums, and what to ask for next time.
pub(super) fn conclude(results: &VerifyResults, request: &VerdictRequest<'_>) {
    let judged = judged(results);
    match judged.as_slice() {
        [] if results.chains.is_empty() => output::line("no chains here: nothing was verified"),
        [] => {}
        [only] => print_checkpoint(only),
        several => {
            let broken = several.iter().filter(|one| !one.is_good()).count();
            let records: u64 = several.iter().map(|one| one.records.verified).sum();
            output::talk(format_args!(
                "{} chain(s), {records} record(s) verified, {broken} broken",
                several.len()
            ));
        }
    }
    if let Some(verdict) = results.verdict.as_ref().filter(|one| one.level != VerdictLevel::Valid) {
        let (level, require) = (verdict.level, verdict.policy.require.as_str());
        output::talk(format_args!("{} {level}, requires {require}", mark(level)));
    }
    if request.options.skip_signatures && !judged.is_empty() {
        output::talk(format_args!("{} signatures were not checked", paint(DIM, "note:")));
    }
}

fn print_checkpoint(only: &JudgedChain<'_>) {
    let is_alone =
        matches!(only.chain.source.kind, SourceKind::Database | SourceKind::Documents | SourceKind::Json);
    let last = only.records.length.checked_sub(1).zip(only.records.head.as_deref());
    if let Some((sequence, hash)) = last.filter(|_| is_alone && only.is_good() && only.chain.name != META) {
        output::talk(format_args!("{} --after-record {sequence}:{hash}", paint(DIM, "next time:")));
    }
}

/// One object that reads the same for one chain and for many.
pub(super) fn to_json(results: &VerifyResults) -> Value {
    let judged = judged(results);
    let first_bad = judged.iter().find(|one| !one.is_good());
    let mut unreadable: Vec<Value> = Vec::new();
    let mut cannot_read = None;
    let unread =
        results.chains.iter().filter_map(|one| Some((one.source.label.as_str(), one.problem.as_ref()?)));
    for (label, problem) in
        unread.chain(results.unopened.iter().map(|(label, problem)| (label.as_str(), problem)))
    {
        unreadable.push(json!({"chain": label, "code": problem.code.as_str(), "message": problem.message}));
        cannot_read = cannot_read.or(Some(problem.message.clone()));
    }
    let verdict = results.verdict.as_ref();
    let decisive = verdict.and_then(TrailVerdict::decisive).filter(|one| !one.level.is_good());
    let error = first_bad.and_then(JudgedChain::error);
    let level = match verdict {
        Some(verdict) if results.unopened.is_empty() => verdict.level,
        Some(verdict) => verdict.level.max(VerdictLevel::Unreadable),
        None => VerdictLevel::Unreadable,
    };
    let findings = |is_wanted: &dyn Fn(&Finding) -> bool| -> Vec<Value> {
        let all = verdict.map_or(&[][..], |verdict| verdict.findings.as_slice());
        all.iter().filter(|one| is_wanted(one)).map(|one| json!(one)).collect()
    };
    let not_checked = verdict.map_or(&[][..], |verdict| verdict.findings.as_slice());
    let not_checked = not_checked.iter().filter(|one| one.code == FindingCode::NotChecked);
    json!({
        "level": level.as_str(),
        "valid": level.is_good(),
        "require": verdict.map(|verdict| {
            json!({"value": verdict.policy.require.as_str(), "explicit": verdict.policy.is_explicit})
        }),
        "dimensions": verdict.map(|verdict| verdict.dimensions),
        "findings": findings(&|_| true),
        "verified": judged.iter().map(|one| one.records.verified).sum::<u64>(),
        "total": judged.iter().map(|one| one.records.total).sum::<u64>(),
        "broken_at": first_bad.and_then(JudgedChain::broken_at).or(decisive.and_then(|one| one.position)),
        "error": error.or(decisive.map(|one| one.message.clone())).or(cannot_read),
        "chains": judged.iter().map(JudgedChain::to_json).collect::<Vec<_>>(),
        "unreadable": unreadable,
        "signer": results.witness.as_ref().map(super::signer::witness_json),
        "not_checked": not_checked.map(|one| one.message.clone()).collect::<Vec<_>>(),
    })
}
