//! What the service reads of a record before it signs its hash.

use super::HashBytes;
use super::refusal::SignerRefusal;
use super::signer_chain::SignerChain;
use capsid_seal::hash::unhex;
use capsid_seal::verify::skim;
use serde::Deserialize;
use sha3::{Digest, Sha3_256};

/// A text that is a record: its hash, and what it says about its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordText {
    pub hash: HashBytes,
    pub chain: SignerChain,
    pub sequence: u64,
    pub previous: Option<HashBytes>,
}

/// A member that comes twice is an error, so no name can hide behind another.
#[derive(Deserialize)]
struct RecordNames {
    domain: String,
    context: RecordContext,
}

#[derive(Deserialize)]
struct RecordContext {
    session_id: String,
}

impl RecordText {
    /// Reads a text. What a verifier would not take for a record is not signed.
    pub fn parse(text: &str) -> Result<Self, SignerRefusal> {
        let head = skim(text).map_err(|problem| SignerRefusal::malformed(problem.message))?;
        let names: RecordNames = serde_json::from_str(text).map_err(SignerRefusal::malformed)?;
        let chain = SignerChain::new(&names.domain, &names.context.session_id)
            .ok_or_else(|| SignerRefusal::malformed("a domain or session is empty or too long"))?;
        let previous = head.previous_hash.as_deref().map(|hash| {
            unhex::<32>(hash).ok_or_else(|| SignerRefusal::malformed("`previous_hash` is not a hash"))
        });
        let hash = Sha3_256::digest(text.as_bytes()).into();
        Ok(Self { hash, chain, sequence: head.sequence, previous: previous.transpose()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_and_what_reads_two_ways_is_refused() {
        let text =
            r#"{"context":{"session_id":"s"},"domain":"codex","id":"a","previous_hash":null,"sequence":0}"#;
        let read = RecordText::parse(text).unwrap();
        assert_eq!(read.chain, SignerChain::new("codex", "s").unwrap());
        assert_eq!((read.sequence, read.previous), (0, None));
        assert_eq!(capsid_seal::hash::hex(&read.hash), capsid_seal::hash::sha3_hex(text.as_bytes()));
        for bad in [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "capsid-head/v1\nuser 1\n",
            r#"{"domain":"codex","id":"a","previous_hash":null,"sequence":0}"#,
            r#"{"context":{},"domain":"codex","id":"a","previous_hash":null,"sequence":0}"#,
            r#"{"context":{"session_id":"s"},"domain":"","id":"a","previous_hash":null,"sequence":0}"#,
            r#"{"context":{"session_id":"s"},"domain":"codex","id":"a","previous_hash":"AB","sequence":0}"#,
            r#"{"context":{"session_id":"s","session_id":"t"},"domain":"codex","id":"a","previous_hash":null,"sequence":0}"#,
            r#"{"context":{"session_id":"s"},"context":{"session_id":"t"},"domain":"codex","id":"a","previous_hash":null,"sequence":0}"#,
            r#"{"context":{"session_id":"s"},"domain":"codex","domain":"x","id":"a","previous_hash":null,"sequence":0}"#,
        ] {
            assert_eq!(RecordText::parse(bad).unwrap_err().code, "signer_malformed", "{bad}");
        }
    }
}
