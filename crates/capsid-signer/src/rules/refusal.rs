//! Why the service does not sign.

use super::HashBytes;
use capsid_model::{Code, Problem};
use serde::{Deserialize, Serialize};

/// A refusal, as it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignerRefusal {
    /// One of `signer_fork`, `signer_malformed`, `signer_busy`, `signer_refused`, `signer_damaged`.
    pub code: String,
    pub message: String,
    /// For a fork: how many records of the chain are signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// For a fork: the hash of the last signed record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// For a busy service: when to try again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl SignerRefusal {
    fn new(code: Code, message: impl Into<String>) -> Self {
        let (code, message) = (code.as_str().to_owned(), message.into());
        Self { code, message, count: None, head: None, retry_after_ms: None }
    }

    /// The records do not extend what was signed.
    pub fn fork(count: u64, head: Option<&HashBytes>) -> Self {
        let message = format!("The records do not extend the {count} that the service signed.");
        let head = head.map(|head| capsid_seal::hash::hex(head));
        Self { count: Some(count), head, ..Self::new(Code::SignerFork, message) }
    }

    /// A text is not a record.
    pub fn malformed(reason: impl std::fmt::Display) -> Self {
        Self::new(Code::SignerMalformed, format!("The service signs records only: {reason}."))
    }

    /// A limit is used up.
    pub fn busy(limit: &str, retry_after_ms: u64) -> Self {
        let retry_after_ms = Some(retry_after_ms);
        Self { retry_after_ms, ..Self::new(Code::SignerBusy, format!("The limit of {limit} is used up.")) }
    }

    /// The request is not allowed.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(Code::SignerRefused, message)
    }

    /// The service's own files cannot be used.
    pub fn damaged(message: impl Into<String>) -> Self {
        Self::new(Code::SignerDamaged, message)
    }

    /// The same for a person.
    pub fn to_problem(&self) -> Problem {
        let codes = [
            Code::SignerFork,
            Code::SignerMalformed,
            Code::SignerBusy,
            Code::SignerRefused,
            Code::SignerDamaged,
        ];
        let code = codes.into_iter().find(|code| code.as_str() == self.code).unwrap_or(Code::SignerRefused);
        Problem::new(code, self.message.clone()).fix(match code {
            Code::SignerFork => {
                "Put the chain back from a copy. `sudo capsid trail signer restart-chain TOOL/SESSION` allows a new history, which `verify` names."
            }
            Code::SignerBusy => "Wait, then run `capsid trail signer flush`.",
            Code::SignerMalformed => "Update the program, then run `capsid trail signer flush`.",
            Code::SignerDamaged => "Put the state back with `sudo capsid trail signer restore DIR`.",
            _ => "`capsid trail signer status` says what the service knows.",
        })
    }
}

impl From<Problem> for SignerRefusal {
    fn from(problem: Problem) -> Self {
        Self::new(problem.code, problem.message)
    }
}
