//! Redacts secrets before sealing, and puts a commitment in their place.
//!
//! Nothing can be removed from a sealed record, so secrets are redacted before. In their place the record holds a
//! commitment to each: the hash of a salt and the value. The salt comes from the private key, so that nobody without
//! the key can try values against the commitment, and the owner can prove a value later without having stored it.

use capsid_model::exact::{ExactFields, ExactJson};
use capsid_model::fields;
use capsid_model::hash::hex;
use capsid_model::redact::{RedactProfile, redact_exact};
use capsid_seal::ActionRecord;
use sha3::{Digest, Sha3_256};

/// The member of the environment that holds the commitments.
pub const MEMBER: &str = "redactions";

/// The name of the commitment scheme in the record.
pub const SCHEME: &str = "sha3-256(salt + value)";

/// Makes the salt of the n-th redacted value of a record.
pub type SaltGenerator<'a> = &'a dyn Fn(&str, usize) -> String;

/// Takes secrets out of every section and commits to them in the environment.
pub fn redact(record: &mut ActionRecord, salts: SaltGenerator<'_>) {
    let id = record.id.clone();
    let mut redacted: Vec<ExactJson> = Vec::new();
    for (name, section) in sections(record) {
        let mut value = ExactJson::Object(std::mem::take(section));
        redact_exact(&mut value, RedactProfile::Secrets, &format!("/{name}"), &mut |pointer, value| {
            let commitment = commit(&salts(&id, redacted.len()), value);
            redacted.push(ExactJson::Object(fields! {"path": pointer, "commitment": commitment}));
        });
        if let ExactJson::Object(fields) = value {
            *section = fields;
        }
    }
    if redacted.is_empty() {
        return;
    }
    let redaction = fields! {"profile": "seal", "scheme": SCHEME, "values": redacted};
    if let Some(ExactJson::Object(environment)) = record.context.get_mut("environment") {
        environment.insert(MEMBER.to_owned(), ExactJson::Object(redaction));
    }
}

/// The commitment to a value.
pub fn commit(salt: &str, value: &str) -> String {
    let mut hash = Sha3_256::new();
    hash.update(salt.as_bytes());
    hash.update(value.as_bytes());
    hex(&hash.finalize())
}

/// The commitments of a sealed record: where each value was, and the commitment to it.
pub fn commitments(content: &ExactJson) -> Vec<(&str, &str)> {
    let values = content.at(&["context", "environment", MEMBER, "values"]).and_then(ExactJson::as_array);
    let pair = |value| Some((ExactJson::text(value, "path")?, ExactJson::text(value, "commitment")?));
    values.unwrap_or_default().iter().filter_map(pair).collect()
}

fn sections(record: &mut ActionRecord) -> [(&'static str, &mut ExactFields); 6] {
    [
        ("trigger", &mut record.trigger),
        ("context", &mut record.context),
        ("reasoning", &mut record.reasoning),
        ("authority", &mut record.authority),
        ("execution", &mut record.execution),
        ("outcome", &mut record.outcome),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(request: &str) -> ActionRecord {
        ActionRecord {
            id: "r1".to_owned(),
            trigger: fields! {"request": request},
            context: fields! {"environment": fields! {"cwd": "/home/ada/shop"}},
            ..ActionRecord::default()
        }
    }

    fn salts(id: &str, index: usize) -> String {
        format!("{id}-{index}")
    }

    #[test]
    fn a_secret_leaves_a_commitment_that_only_its_salt_opens() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let mut record = record(&format!("push with {token}"));
        redact(&mut record, &salts);
        assert_eq!(record.trigger.get("request"), Some(&ExactJson::from("push with [REDACTED]")));
        let content = record.content(&capsid_seal::ChainLink::default());
        assert_eq!(commitments(&content), [("/trigger/request", commit("r1-0", &token).as_str())]);
        assert_ne!(commit("r1-1", &token), commit("r1-0", &token));
    }

    #[test]
    fn a_record_without_secrets_is_not_touched() {
        let mut clean = record("look into /home/ada/shop, mail ada@corp.io");
        let before = clean.clone();
        redact(&mut clean, &salts);
        assert_eq!(clean, before);
    }
}
