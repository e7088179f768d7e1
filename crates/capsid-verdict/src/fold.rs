//! The order of records: gaps, links, and the verdict.

use crate::key_set::KeyOrigin;
use crate::public_key::PublicKey;
use crate::record::{CheckedRecord, RecordFault, fault};
use crate::verify::{ChainVerdict, Signer, SignerRun, VerifyFailure, VerifyFailureClass, VerifyOptions};
use std::collections::BTreeMap;

/// Takes checked records in their order and comes to a verdict.
pub struct ChainFold<'a> {
    options: &'a VerifyOptions,
    /// The position that the next record must have.
    expected: u64,
    /// The hash that it must link to.
    previous: Option<String>,
    verified: u64,
    total: u64,
    failure: Option<(RecordFault, u64)>,
    signers: BTreeMap<String, Signer>,
    runs: Vec<SignerRun>,
    /// The last key and its name: most records of a chain have one signer.
    last_key: Option<(PublicKey, String)>,
    watched: BTreeMap<u64, String>,
    pq_unchecked: u64,
    notes: Vec<String>,
}

impl<'a> ChainFold<'a> {
    /// Begins at the first record, or at the checkpoint of the options.
    pub fn new(options: &'a VerifyOptions) -> Self {
        Self {
            options,
            expected: options.since.as_ref().map_or(0, |checkpoint| checkpoint.sequence),
            previous: None,
            verified: 0,
            total: 0,
            failure: None,
            signers: BTreeMap::new(),
            runs: Vec::new(),
            last_key: None,
            watched: BTreeMap::new(),
            pq_unchecked: 0,
            notes: Vec::new(),
        }
    }

    /// Whether a bad record was met.
    pub fn is_broken(&self) -> bool {
        self.failure.is_some()
    }

    /// Adds a note for a reader.
    pub fn push_note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Takes the next record.
    pub fn push(&mut self, record: CheckedRecord) {
        self.total += 1;
        if self.is_broken() {
            return self.report_missing(&record);
        }
        match self.judge(&record) {
            Ok(()) => self.accept(record),
            Err(fault) => self.failure = Some((fault, self.expected)),
        }
    }

    fn judge(&mut self, record: &CheckedRecord) -> Result<(), RecordFault> {
        if let Some(fault) = &record.content {
            return Err(fault.clone());
        }
        self.check_position(record)?;
        if let Some(Err(fault)) = &record.signed {
            if fault.class == VerifyFailureClass::UnknownSigner {
                if self.options.passes_unknown_signers {
                    return Ok(());
                }
                let signer = self.signers.entry(record.signed_by.clone()).or_default();
                signer.count += 1;
            }
            return Err(fault.clone());
        }
        Ok(())
    }

    fn check_position(&self, record: &CheckedRecord) -> Result<(), RecordFault> {
        let Some(head) = &record.head else {
            return Err(fault(VerifyFailureClass::Malformed, "content is not a record"));
        };
        if head.sequence > self.expected {
            return Err(fault(VerifyFailureClass::Missing, "sequence gap"));
        }
        if head.sequence < self.expected {
            return Err(fault(VerifyFailureClass::Link, "sequence gap"));
        }
        match &self.options.since {
            Some(checkpoint) if self.verified == 0 => match record.hash == checkpoint.hash {
                true => Ok(()),
                false => Err(fault(VerifyFailureClass::Hash, "not the record of the checkpoint")),
            },
            _ if head.previous_hash == self.previous => Ok(()),
            _ if self.expected == 0 => Err(fault(VerifyFailureClass::Link, GENESIS_HAS_PREVIOUS)),
            _ => Err(fault(VerifyFailureClass::Link, "link broken")),
        }
    }

    fn accept(&mut self, record: CheckedRecord) {
        match record.signed {
            Some(Ok(signed)) => {
                self.pq_unchecked += u64::from(signed.pq_unchecked);
                let is_last = self.last_key.as_ref().is_some_and(|(key, _)| *key == signed.by.key);
                if !is_last {
                    self.last_key = Some((signed.by.key, signed.by.key.fingerprint()));
                }
                let name = self.last_key.as_ref().map(|(_, name)| name.clone()).unwrap_or_default();
                self.sign(&name, Some(signed.by.origin), signed.epoch);
            }
            Some(Err(_)) => self.sign(&record.signed_by, None, None),
            None => {}
        }
        self.verified += 1;
        self.expected = self.expected.saturating_add(1);
        if self.options.watch.contains(&self.expected) {
            self.watched.insert(self.expected, record.hash.clone());
        }
        self.previous = Some(record.hash);
    }

    /// Notes who signed the record at the expected position.
    fn sign(&mut self, name: &str, origin: Option<KeyOrigin>, epoch: Option<u64>) {
        match self.runs.last_mut() {
            Some(run) if run.signer == name && run.origin == origin => run.count += 1,
            _ => self.runs.push(SignerRun {
                first: self.expected,
                count: 1,
                signer: name.to_owned(),
                origin,
                epoch,
                until: None,
            }),
        }
        if !self.signers.contains_key(name) {
            self.signers.insert(name.to_owned(), Signer::default());
        }
        let Some(signer) = self.signers.get_mut(name) else { return };
        signer.count += 1;
        signer.origin = signer.origin.max(origin);
    }

    /// A record that is there after all, at another place, was moved and not removed.
    fn report_missing(&mut self, record: &CheckedRecord) {
        let Some((fault, at)) = &mut self.failure else { return };
        let has_head = record.head.as_ref().is_some_and(|head| head.sequence == *at);
        if fault.class == VerifyFailureClass::Missing && has_head {
            match &record.content {
                Some(wrong) => fault.clone_from(wrong),
                None => fault.class = VerifyFailureClass::Link,
            }
            self.notes.push(format!("Record {at} is there, but not at its place."));
        }
    }

    /// What the records come to.
    pub fn verdict(mut self) -> ChainVerdict {
        if self.total == 0
            && let Some(checkpoint) = &self.options.since
        {
            let ends = fault(VerifyFailureClass::Missing, "the chain ends before the checkpoint");
            self.failure = Some((ends, checkpoint.sequence));
        }
        self.closing_notes();
        ChainVerdict {
            valid: self.failure.is_none(),
            verified: self.verified,
            total: self.total,
            broken_at: self.failure.as_ref().map(|(_, at)| *at),
            failure: self
                .failure
                .map(|(fault, at)| VerifyFailure { class: fault.class, message: message(&fault, at) }),
            head: self.previous,
            length: self.expected,
            signers: self.signers,
            runs: self.runs,
            watched: self.watched,
            post_quantum_unchecked: self.pq_unchecked,
            notes: self.notes,
        }
    }

    fn closing_notes(&mut self) {
        if !self.options.signatures {
            self.notes.push("Signatures were not checked.".to_owned());
        } else if self.options.batch {
            self.notes.push(crate::verify::BATCH_NOTE.to_owned());
        }
        if self.pq_unchecked > 0 {
            let count = self.pq_unchecked;
            self.notes.push(format!("{count} post-quantum signatures were not checked: {PQ_REASON}."));
        }
    }
}

const GENESIS_HAS_PREVIOUS: &str = "genesis has previous_hash";

const PQ_REASON: &str = "there is no key for them";

/// The words of `agent-capsule` where it has any.
fn message(fault: &RecordFault, at: u64) -> String {
    match fault.what.as_str() {
        GENESIS_HAS_PREVIOUS => GENESIS_HAS_PREVIOUS.to_owned(),
        what => format!("{what} at {at}"),
    }
}
