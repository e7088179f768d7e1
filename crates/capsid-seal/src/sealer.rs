//! Sealing: canonical text, hash, signature.

use crate::hash::sha3_hex;
use crate::record::{ActionRecord, ChainLink};
use crate::record_signer::RecordSigner;
use crate::sign::{PublicKey, SigningKey};
use crate::stored::{RecordColumns, RecordSeal, StoredRecord};
use capsid_model::exact::{ExactFields, ExactJson};
use capsid_model::{Code, Problem, Result};
use std::sync::Arc;

/// Seals records with one key.
#[derive(Debug, Clone)]
pub struct Sealer {
    key: SigningKey,
    /// Part of every seal.
    fingerprint: String,
    /// Signs instead of the key, which then makes salts only.
    service: Option<Arc<dyn RecordSigner>>,
    /// Keys of a service that signed here before.
    former: Vec<PublicKey>,
    #[cfg(feature = "pq")]
    pq: Option<crate::pq::PqSigningKey>,
}

impl Sealer {
    /// A sealer that signs with this key.
    pub fn new(key: SigningKey) -> Self {
        Self {
            fingerprint: key.public().fingerprint(),
            key,
            service: None,
            former: Vec::new(),
            #[cfg(feature = "pq")]
            pq: None,
        }
    }

    /// A sealer whose records a service signs. `redaction` makes the salts of redacted values and signs nothing.
    pub fn with_service(service: Arc<dyn RecordSigner>, redaction: SigningKey) -> Self {
        let fingerprint = service.public().fingerprint();
        Self { fingerprint, service: Some(service), ..Self::new(redaction) }
    }

    /// What a service signed before goes on to count as this home's own.
    #[must_use]
    pub fn after_service(self, former: Vec<PublicKey>) -> Self {
        Self { former, ..self }
    }

    /// The service that signs, if one does.
    pub fn service(&self) -> Option<&Arc<dyn RecordSigner>> {
        self.service.as_ref()
    }

    /// Also signs against quantum computers.
    #[cfg(feature = "pq")]
    #[must_use]
    pub fn with_pq(self, key: crate::pq::PqSigningKey) -> Self {
        Self { pq: Some(key), ..self }
    }

    /// The key that verifies what this sealer seals.
    pub fn public(&self) -> PublicKey {
        self.service.as_ref().map_or_else(|| self.key.public(), |service| service.public())
    }

    /// The keys that verify what was sealed so far, oldest first: a service may have had others before.
    pub fn own_keys(&self) -> Vec<PublicKey> {
        let mut keys = self.former.clone();
        match &self.service {
            Some(service) => keys.extend(service.keys()),
            None => keys.push(self.key.public()),
        }
        keys
    }

    pub(crate) fn key(&self) -> &SigningKey {
        &self.key
    }

    /// Seals a record at its place in a chain. `signed_at` is text such as [`python_iso`] gives.
    pub fn seal(&self, record: &ActionRecord, link: &ChainLink, signed_at: &str) -> Result<StoredRecord> {
        let mut stored = self.prepare(record, link, signed_at)?;
        self.sign(&mut stored.seal)?;
        Ok(stored)
    }

    /// All of the seal but the signatures, which take the most time and do not depend on each other.
    pub fn prepare(&self, record: &ActionRecord, link: &ChainLink, signed_at: &str) -> Result<StoredRecord> {
        refuse_non_finite(record)?;
        let canonical = match float_typed(&record.reasoning) {
            None => record.canonical(link),
            Some(reasoning) => ActionRecord { reasoning, ..record.clone() }.canonical(link),
        };
        let seal = RecordSeal {
            hash: sha3_hex(canonical.as_bytes()),
            signed_at: Some(signed_at.to_owned()),
            signed_by: self.fingerprint.clone(),
            ..RecordSeal::default()
        };
        Ok(StoredRecord { canonical, seal, columns: Some(columns(record, link)?) })
    }

    /// Adds the signatures. A service signs records only as they go into a chain.
    pub fn sign(&self, seal: &mut RecordSeal) -> Result<()> {
        if self.service.is_some() {
            return Err(Problem::new(Code::Internal, "A service signs records of a chain, not single ones."));
        }
        seal.signature = self.key.sign(&seal.hash);
        seal.signature_pq = self.sign_pq(&seal.hash)?;
        Ok(())
    }

    #[cfg(feature = "pq")]
    fn sign_pq(&self, hash: &str) -> Result<String> {
        self.pq.as_ref().map_or(Ok(String::new()), |key| key.sign(hash))
    }

    #[cfg(not(feature = "pq"))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)]
    fn sign_pq(&self, _hash: &str) -> Result<String> {
        Ok(String::new())
    }
}

fn columns(record: &ActionRecord, link: &ChainLink) -> Result<RecordColumns> {
    let sequence = i64::try_from(link.sequence)
        .map_err(|_| refused(&record.id, "would have a position beyond what a database can count"))?;
    Ok(RecordColumns { id: record.id.clone(), sequence, previous_hash: link.previous_hash.clone() })
}

/// The two fields that the format declares as floats print with a point even when integral; nothing where they need no
/// change, which is nearly always.
fn float_typed(reasoning: &ExactFields) -> Option<ExactFields> {
    if !has_integral_float(reasoning) {
        return None;
    }
    let mut reasoning = reasoning.clone();
    if let Some(confidence) = reasoning.get_mut("confidence") {
        to_float(confidence);
    }
    if let Some(ExactJson::Array(options)) = reasoning.get_mut("options") {
        for option in options {
            if let ExactJson::Object(option) = option
                && let Some(feasibility) = option.get_mut("feasibility")
            {
                to_float(feasibility);
            }
        }
    }
    Some(reasoning)
}

fn has_integral_float(reasoning: &ExactFields) -> bool {
    let is_integral = |value: Option<&ExactJson>| matches!(value, Some(ExactJson::Int(_)));
    let options = reasoning.get("options").and_then(ExactJson::as_array).unwrap_or_default();
    let feasibility = |option: &ExactJson| match option {
        ExactJson::Object(option) => is_integral(option.get("feasibility")),
        _ => false,
    };
    is_integral(reasoning.get("confidence")) || options.iter().any(feasibility)
}

fn to_float(value: &mut ExactJson) {
    if let (ExactJson::Int(_), Some(number)) = (&*value, value.as_f64()) {
        *value = ExactJson::Float(number);
    }
}

/// JSON has no text for them, and the tools that print one anyway disagree.
fn refuse_non_finite(record: &ActionRecord) -> Result<()> {
    let refusal = record.sections().into_iter().find_map(|(name, fields)| {
        let (member, value) = fields.iter().find(|(_, value)| !value.is_sealable())?;
        let below = value.unsealable().filter(|path| !path.is_empty());
        Some(
            [Some(name.to_owned()), Some(member.clone()), below]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("/"),
        )
    });
    match refusal {
        None => Ok(()),
        Some(path) => {
            Err(refused(&record.id, &format!("holds a number that is infinite or none at `{path}`")))
        }
    }
}

fn refused(id: &str, reason: &str) -> Problem {
    Problem::new(Code::SealRefused, format!("The record `{id}` {reason}, so it was not sealed."))
        .fix("Give the value as text, or leave it out.")
}

/// A moment in microseconds since the epoch as Python's `datetime.now(UTC).isoformat()` prints it:
/// six decimals unless they are all zero, and `+00:00`.
pub fn python_iso(micros: i64) -> String {
    let moment = jiff::Timestamp::from_microsecond(micros).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let text = match moment.as_microsecond() % 1_000_000 {
        0 => format!("{moment:.0}"),
        _ => format!("{moment:.6}"),
    };
    format!("{}+00:00", text.trim_end_matches('Z'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::fields;

    fn sealer() -> Sealer {
        Sealer::new(SigningKey::from_seed(&std::array::from_fn(|i| i as u8)))
    }

    #[test]
    fn moments_read_as_python_prints_them() {
        let noon = 1_770_477_654_000_000;
        assert_eq!(python_iso(noon), "2026-02-07T15:20:54+00:00");
        assert_eq!(python_iso(noon + 500_000), "2026-02-07T15:20:54.500000+00:00");
        assert_eq!(python_iso(noon + 7), "2026-02-07T15:20:54.000007+00:00");
        assert_eq!(python_iso(-1), "1969-12-31T23:59:59.999999+00:00");
        assert_eq!(python_iso(i64::MAX), "1970-01-01T00:00:00+00:00");
    }

    #[test]
    fn the_seal_covers_the_text_and_the_columns_repeat_it() {
        let record = ActionRecord { id: "a".into(), kind: "tool".into(), ..ActionRecord::default() };
        let link = ChainLink { sequence: 1, previous_hash: Some("0".repeat(64)) };
        let stored = sealer().seal(&record, &link, "2026-02-07T15:20:54+00:00").unwrap();
        assert_eq!(stored.seal.hash, sha3_hex(stored.canonical.as_bytes()));
        assert_eq!(stored.seal.signature, sealer().key.sign(&stored.seal.hash));
        assert_eq!(stored.seal.signed_by, "03a107bff3ce10be");
        assert_eq!(stored.seal.signature_pq, "");
        let columns = stored.columns.unwrap();
        assert_eq!((columns.id.as_str(), columns.sequence), ("a", 1));
        assert_eq!(columns.previous_hash, link.previous_hash);
        let beyond = ChainLink { sequence: u64::MAX, previous_hash: None };
        assert_eq!(sealer().seal(&record, &beyond, "").unwrap_err().code, Code::SealRefused);
    }

    #[test]
    fn the_two_float_fields_print_with_a_point_and_no_other_does() {
        let option = ExactJson::Object(fields! { "feasibility": 1_i64, "rank": 1_i64 });
        let reasoning = fields! { "confidence": 0_i64, "options": vec![option], "depth": 2_i64 };
        let record = ActionRecord { reasoning, ..ActionRecord::default() };
        let text = sealer().seal(&record, &ChainLink::default(), "").unwrap().canonical;
        let expected = r#""reasoning":{"confidence":0.0,"depth":2,"options":[{"feasibility":1.0,"rank":1}]}"#;
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn numbers_that_json_has_no_text_for_are_refused() {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let outcome = fields! { "metrics": vec![ExactJson::Object(fields! { "x": number })] };
            let record = ActionRecord { id: "odd".into(), outcome, ..ActionRecord::default() };
            let problem = sealer().seal(&record, &ChainLink::default(), "").unwrap_err();
            assert_eq!(problem.code, Code::SealRefused);
            assert!(problem.message.contains("`odd`"), "{}", problem.message);
            assert!(problem.message.contains("`outcome/metrics/0/x`"), "{}", problem.message);
        }
    }
}
