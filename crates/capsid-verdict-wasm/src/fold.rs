//! The rows of a chain in their order.

use capsid_verdict::bundle::{CheckedChain, MetaLog};
use capsid_verdict::claim::{ChainClaim, ChainFacts};
use capsid_verdict::record::{CheckedRecord, RecordFault, ValidSignature, fault};
use capsid_verdict::stored::RecordSeal;
use capsid_verdict::verify::{ChainVerdict, VerifyFailureClass, VerifyOptions};
use capsid_verdict::{ChainFold, KeySet, RecordHead};
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
    facts: ChainFacts,
    log: MetaLog,
    sealed: Option<(String, String)>,
}

impl RowFold {
    pub(crate) fn begin() -> Self {
        Self {
            stopping: ChainFold::new(&STOPPING),
            passing: ChainFold::new(&PASSING),
            facts: ChainFacts::default(),
            log: MetaLog::default(),
            sealed: None,
        }
    }

    /// Takes the checks of the next record, as a row holds them.
    pub(crate) fn push(&mut self, row: &FoldRow<'_>, keys: &KeySet) {
        let FoldRow(_, _, checks, facets) = row;
        let position = self.facts.length;
        self.stopping.push(to_checked(checks, keys));
        self.passing.push(to_checked(checks, keys));
        self.facts.record(&RecordSeal {
            hash: checks.2.clone().into_owned(),
            signed_at: checks.6.as_deref().map(str::to_owned),
            signed_by: checks.5.clone().into_owned(),
            ..RecordSeal::default()
        });
        let said = &facets.11;
        if position == 0 {
            let name = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
            self.sealed = name(&said[0]).zip(name(&said[1]));
        }
        if said[2].is_object() {
            let signer = checks.4[1].as_str().filter(|_| checks.4[0].is_null());
            self.log.push(position, &said[2], signer);
        }
    }

    /// What the records come to, in the words of the page, the evidence for the verdict, and what a meta-chain says.
    pub(crate) fn end(
        self,
        claim: Option<&ChainClaim>,
        header: ChainClaim,
    ) -> (Value, CheckedChain, MetaLog) {
        let mismatch = claim.and_then(|claim| claim.contradicted_by(&self.facts));
        let told = to_value(&self.stopping.verdict(), mismatch.as_deref());
        let chain = CheckedChain {
            records: self.passing.verdict(),
            facts: self.facts,
            header,
            sealed: self.sealed,
            at: BTreeMap::new(),
            time_breaks: Vec::new(),
        };
        (told, chain, self.log)
    }
}

impl std::fmt::Debug for RowFold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RowFold")
    }
}

/// The part of a row that is folded. Most facets are skipped.
#[derive(Deserialize)]
pub(crate) struct FoldRow<'a>(IgnoredAny, IgnoredAny, #[serde(borrow)] RowChecks<'a>, FoldFacets);

#[derive(Deserialize)]
struct RowChecks<'a>(
    Option<u64>,
    #[serde(borrow)] Option<Cow<'a, str>>,
    #[serde(borrow)] Cow<'a, str>,
    Value,
    Value,
    #[serde(borrow)] Cow<'a, str>,
    #[serde(borrow)] Option<Cow<'a, str>>,
);

/// The last of them says whose conversation it is.
#[derive(Deserialize)]
struct FoldFacets(
    IgnoredAny,
    IgnoredAny,
    IgnoredAny,
    IgnoredAny,
    IgnoredAny,
    IgnoredAny,
    IgnoredAny,
    IgnoredAny,
    IgnoredAny,
    IgnoredAny,
    IgnoredAny,
    Value,
);

fn to_checked(checks: &RowChecks<'_>, keys: &KeySet) -> CheckedRecord {
    let RowChecks(sequence, previous, hash, content, signed, signed_by, _) = checks;
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
    Some(fault(class, value[1].as_str().unwrap_or_default()))
}

fn to_value(verdict: &ChainVerdict, mismatch: Option<&str>) -> Value {
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
        "contradiction": mismatch,
    })
}
