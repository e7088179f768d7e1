//! What the service states about a home, for a verification.

use crate::client::load_heads;
use crate::rules::statement::HeadsStatement;
use crate::trust_root::SignerTrust;
use capsid_model::{Code, Problem, Result};
use capsid_seal::PublicKey;
use capsid_seal::evidence::AdoptedCounts;
use capsid_seal::hash::hex;
use capsid_seal::keys::KeyOrigin;
use capsid_verdict::FindingCode;
use capsid_verdict::evidence::{
    EvidenceNote, Expectation, ExpectationSource, StatementSigner, VerdictEvidence,
};

/// The statement about all heads of a home's user, or why there is none.
#[derive(Debug, Clone)]
pub struct HeadWitness {
    /// Whose it is, by which keys.
    pub trust: SignerTrust,
    keys: Vec<PublicKey>,
    stated: std::result::Result<HeadsStatement, Problem>,
}

/// A history that root gave up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestartedHistory {
    pub chain: String,
    pub count: u64,
    pub head: String,
}

impl HeadWitness {
    /// Asks the service with a fresh nonce; where it is down its heads file is read.
    pub fn ask(trust: SignerTrust) -> Result<Self> {
        Ok(Self { keys: trust.keys()?, stated: load_heads(&trust), trust })
    }

    /// Whether the service itself answered, just now.
    pub fn has_answered(&self) -> bool {
        self.stated.as_ref().is_ok_and(|stated| stated.origin.nonce.is_some())
    }

    /// How many chains are stated.
    pub fn chains(&self) -> usize {
        self.stated.as_ref().map_or(0, |stated| stated.chains.len())
    }

    /// What must be there: one expectation for each chain.
    pub fn expectations(&self) -> Vec<Expectation> {
        let Ok(stated) = &self.stated else { return Vec::new() };
        let fingerprint = stated.origin.key.fingerprint();
        let expectations = stated.chains.iter().map(|one| {
            let signer = StatementSigner { fingerprint: fingerprint.clone(), origin: KeyOrigin::Own };
            Expectation {
                source: ExpectationSource::HeadStatement(signer),
                chain: one.chain.evidence_name(),
                count: one.head.count,
                head: Some(hex(&one.head.hash)),
            }
        });
        expectations.collect()
    }

    /// Histories that root gave up. `verify` names them.
    pub fn restarted(&self) -> Vec<RestartedHistory> {
        let Ok(stated) = &self.stated else { return Vec::new() };
        let restarted = stated.restarted.iter().map(|(chain, head)| RestartedHistory {
            chain: chain.evidence_name(),
            count: head.count,
            head: hex(&head.hash),
        });
        restarted.collect()
    }

    /// Adds why there is no statement, and says of each run up to where a key of the home counts: the account can read
    /// these keys, so they count for records that were handed over and for no later ones.
    pub fn apply_to(&self, evidence: &mut VerdictEvidence) {
        let stated = match &self.stated {
            Ok(stated) => stated,
            Err(problem) => {
                evidence.notes.push(note_of(problem));
                return;
            }
        };
        if let Some(adopted) = self.adopted_counts(stated) {
            for chain in &mut evidence.chains {
                adopted.limit_runs(&chain.name, &mut chain.runs);
            }
        }
    }

    /// How many records of each chain were handed over; none while the home's own key is in use, or where it is not known.
    pub fn adopted(&self) -> Option<AdoptedCounts> {
        self.stated.as_ref().ok().and_then(|stated| self.adopted_counts(stated))
    }

    fn adopted_counts(&self, stated: &HeadsStatement) -> Option<AdoptedCounts> {
        let counts = stated.chains.iter().map(|one| (one.chain.evidence_name(), one.adopted)).collect();
        self.trust.is_active.then(|| AdoptedCounts { service: self.keys.clone(), counts })
    }

    /// Adds why there is no statement to data from elsewhere, if one of its records needs it.
    pub fn note_elsewhere(&self, evidence: &mut VerdictEvidence) {
        let Err(problem) = &self.stated else { return };
        let unlimited = AdoptedCounts { service: self.keys.clone(), ..AdoptedCounts::default() };
        let mut runs = evidence.chains.iter().flat_map(|chain| &chain.runs);
        if self.trust.is_active && runs.any(|run| unlimited.concerns(run)) {
            evidence.notes.push(note_of(problem));
        }
    }
}

fn note_of(problem: &Problem) -> EvidenceNote {
    let (code, message) = match problem.code {
        Code::SignerUnreachable => (FindingCode::SignerUnreachable, problem.message.clone()),
        _ => (
            FindingCode::StatementInvalid,
            format!(
                "The statement about the heads is not one that this verification allows: {}",
                problem.message
            ),
        ),
    };
    EvidenceNote { code, chain: String::new(), position: None, message }
}
