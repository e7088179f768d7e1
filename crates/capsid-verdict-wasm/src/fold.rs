//! The rows of a chain in their order, and the verdict on all chains.

use capsid_verdict::evidence::{
    ChainEvidence, ChainPlace, ClaimFault, Expectation, ExpectationSource, UnreadableChain, VerdictEvidence,
};
use capsid_verdict::record::{CheckedRecord, RecordFault, ValidSignature, fault};
use capsid_verdict::verify::{ChainVerdict, VerifyFailureClass, VerifyOptions};
use capsid_verdict::{
    ChainFold, FindingCode, KeySet, RecordHead, Require, SignerPolicy, TrailVerdict, evaluate,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static STOPPING: LazyLock<VerifyOptions> =
    LazyLock::new(|| VerifyOptions { signatures: true, ..VerifyOptions::default() });
/// Behind a record whose signer nobody knows, the rest is checked too: it may be worse.
static PASSING: LazyLock<VerifyOptions> = LazyLock::new(|| VerifyOptions {
    signatures: true,
    passes_unknown_signers: true,
    ..VerifyOptions::default()
});

/// The fold over one chain, twice: up to the first record of a signer nobody knows, and on behind it.
pub(crate) struct RowFold {
    stopping: ChainFold<'static>,
    passing: ChainFold<'static>,
}

impl RowFold {
    pub(crate) fn begin() -> Self {
        Self { stopping: ChainFold::new(&STOPPING), passing: ChainFold::new(&PASSING) }
    }

    /// Takes the checks of the next record, as a row holds them.
    pub(crate) fn push(&mut self, row: &FoldRow<'_>, keys: &KeySet) {
        self.stopping.push(to_checked(row, keys));
        self.passing.push(to_checked(row, keys));
    }

    /// What the records come to, in the words of the page, and the evidence for the verdict.
    pub(crate) fn end(self) -> (Value, ChainEvidence) {
        let evidence = ChainEvidence::from_records(
            String::new(),
            ChainPlace::Bundle,
            false,
            &self.passing.verdict(),
            true,
        );
        (to_value(&self.stopping.verdict()), evidence)
    }
}

impl std::fmt::Debug for RowFold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RowFold")
    }
}

/// The part of a row that is folded. The facets are skipped: a chain has many of them.
#[derive(Deserialize)]
pub(crate) struct FoldRow<'a>(IgnoredAny, IgnoredAny, #[serde(borrow)] RowChecks<'a>, IgnoredAny);

#[derive(Deserialize)]
struct RowChecks<'a>(
    Option<u64>,
    #[serde(borrow)] Option<Cow<'a, str>>,
    #[serde(borrow)] Cow<'a, str>,
    Value,
    Value,
    #[serde(borrow)] Cow<'a, str>,
    IgnoredAny,
);

fn to_checked(row: &FoldRow<'_>, keys: &KeySet) -> CheckedRecord {
    let RowChecks(sequence, previous, hash, content, signed, signed_by, _) = &row.2;
    let content = to_fault(content);
    let head = sequence.filter(|_| content.is_none()).map(|sequence| RecordHead {
        id: String::new(),
        sequence,
        previous_hash: previous.as_deref().map(str::to_owned),
    });
    // A key is named by all of its digits, so no other can be meant.
    let by = signed[1].as_str().filter(|_| signed[0].is_null());
    let by = by.and_then(|hex| keys.candidates(hex).into_iter().next());
    let signed = match (by, to_fault(signed)) {
        (Some(by), _) => Ok(ValidSignature { by, epoch: None, pq_unchecked: signed[3] == true }),
        (None, Some(fault)) => Err(fault),
        (None, None) => Err(fault(VerifyFailureClass::Signature, "signature invalid")),
    };
    CheckedRecord {
        head,
        hash: hash.clone().into_owned(),
        signed: content.is_none().then_some(signed),
        content,
        signed_by: signed_by.clone().into_owned(),
    }
}

fn to_fault(value: &Value) -> Option<RecordFault> {
    let class = value[0].as_str()?;
    let classes = [
        VerifyFailureClass::Hash,
        VerifyFailureClass::Link,
        VerifyFailureClass::Signature,
        VerifyFailureClass::UnknownSigner,
        VerifyFailureClass::Malformed,
    ];
    let class =
        classes.into_iter().find(|one| one.as_str() == class).unwrap_or(VerifyFailureClass::Malformed);
    Some(fault(class, text(&value[1])))
}

fn to_value(verdict: &ChainVerdict) -> Value {
    let signers: BTreeMap<&str, Value> = verdict
        .signers
        .iter()
        .map(|(name, signer)| (name.as_str(), json!([signer.count, signer.trust_label()])))
        .collect();
    json!({
        "verified": verdict.verified,
        "total": verdict.total,
        "broken_at": verdict.broken_at,
        "failure": verdict.failure.as_ref().map(|failure| json!([failure.class.as_str(), failure.message])),
        "signers": signers,
        "notes": verdict.notes,
    })
}

/// The verdict on the chains that were folded, as the page asks for it.
pub(crate) fn evaluate_chains(asked: &Value, folded: &BTreeMap<String, ChainEvidence>) -> Value {
    let chains = list(&asked["chains"]).filter_map(|chain| {
        let mut evidence = folded.get(chain["id"].as_str()?)?.clone();
        evidence.name = text(&chain["name"]);
        evidence.is_meta = chain["is_meta"] == true;
        evidence.at =
            list(&chain["at"]).map(|at| (at[0].as_u64().unwrap_or_default(), text(&at[1]))).collect();
        evidence.place = if chain["is_home"] == true { ChainPlace::Home } else { ChainPlace::Bundle };
        Some(evidence)
    });
    let evidence = VerdictEvidence {
        chains: chains.collect(),
        has_claims: true,
        claims: list(&asked["claims"]).map(to_claim).collect(),
        expectations: list(&asked["expectations"]).filter_map(to_expectation).collect(),
        unreadable: list(&asked["unreadable"])
            .map(|one| UnreadableChain {
                chain: text(&one[0]),
                code: FindingCode::Unreadable,
                message: text(&one[1]),
                fix: None,
            })
            .collect(),
        ..VerdictEvidence::default()
    };
    let require = match asked["require"].as_str() {
        Some("own") => Require::Own,
        Some("pinned") => Require::Pinned,
        _ => Require::Any,
    };
    verdict_to_value(&evaluate(&evidence, &SignerPolicy::implied(require)))
}

fn to_claim(value: &Value) -> ClaimFault {
    let code = FindingCode::ALL.iter().find(|code| value[0] == code.as_str());
    ClaimFault {
        code: code.copied().unwrap_or(FindingCode::Contradiction),
        chain: value[1].as_str().map(str::to_owned),
        message: text(&value[2]),
    }
}

fn to_expectation(value: &Value) -> Option<Expectation> {
    let source = match value[0].as_str()? {
        "index" => ExpectationSource::Index,
        "pinned_head" => ExpectationSource::PinnedHead,
        _ => ExpectationSource::MetaEntry,
    };
    Some(Expectation {
        source,
        chain: text(&value[1]),
        count: value[2].as_u64()?,
        head: value[3].as_str().map(str::to_owned),
    })
}

fn verdict_to_value(verdict: &TrailVerdict) -> Value {
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
        "require": verdict.policy.require.as_str(),
        "dimensions": verdict.dimensions,
        "findings": Value::from_iter(findings),
        "chains": Value::from_iter(chains),
    })
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().map(Vec::as_slice).unwrap_or_default().iter()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
