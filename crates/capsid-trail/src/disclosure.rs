//! Proves a value that was redacted before sealing.

use crate::redaction::{commit, commitments};
use capsid_model::exact::{ExactJson, parse};
use capsid_model::{Code, Problem, Result, Value, json};
use capsid_seal::hash::sha3_hex;
use capsid_seal::{SigningKey, StoredRecord};

/// A value, the salt that goes with it, and the place it was taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disclosure {
    pub record: String,
    /// Where the value was, as a JSON pointer into the record.
    pub path: String,
    pub salt: String,
    pub value: String,
}

impl Disclosure {
    /// Opens the commitment of a record to a value, with the key that sealed it.
    pub fn open(stored: &StoredRecord, key: &SigningKey, value: &str) -> Result<Self> {
        let content = parse(&stored.canonical)?;
        let id = content.text("id").unwrap_or_default();
        let opened = commitments(&content).into_iter().enumerate().find_map(|(index, (path, commitment))| {
            let salt = key.redaction_salt(id, index);
            (commit(&salt, value) == commitment).then(|| (path.to_owned(), salt))
        });
        let (path, salt) = opened.ok_or_else(|| mismatch("That value was not redacted in this record."))?;
        Ok(Self { record: stored.seal.hash.clone(), path, salt, value: value.to_owned() })
    }

    /// Whether a record, which was verified, committed to the value. Needs no key.
    pub fn check(&self, stored: &StoredRecord) -> Result<()> {
        if sha3_hex(stored.canonical.as_bytes()) != stored.seal.hash {
            return Err(mismatch("The record is not what was sealed."));
        }
        if stored.seal.hash != self.record {
            return Err(mismatch("The disclosure speaks of another record."));
        }
        // With a salt of any length, its end could be passed off as the beginning of the value.
        let is_salt =
            self.salt.len() == 64 && self.salt.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_salt {
            return Err(mismatch("The salt is not 64 hex digits."));
        }
        let content = parse(&stored.canonical)?;
        let made = commit(&self.salt, &self.value);
        let holds =
            commitments(&content).iter().any(|(path, commitment)| *path == self.path && *commitment == made);
        if holds { Ok(()) } else { Err(mismatch("The record did not commit to this value at this place.")) }
    }

    /// For the one it is disclosed to.
    pub fn to_json(&self) -> Value {
        json!({"record": self.record, "path": self.path, "salt": self.salt, "value": self.value})
    }

    /// From what [`Self::to_json`] gave.
    pub fn read(text: &str) -> Result<Self> {
        let document = parse(text)?;
        let member = |name: &str| {
            document.text(name).map(str::to_owned).ok_or_else(|| {
                Problem::new(Code::InputInvalid, format!("The disclosure has no text `{name}`."))
                    .fix("Give what `capsid trail disclose --json` printed.")
            })
        };
        Ok(Self {
            record: member("record")?,
            path: member("path")?,
            salt: member("salt")?,
            value: member("value")?,
        })
    }
}

/// The places that a record took values out of.
pub fn disclosable_paths(stored: &StoredRecord) -> Result<Vec<String>> {
    let content: ExactJson = parse(&stored.canonical)?;
    Ok(commitments(&content).into_iter().map(|(path, _)| path.to_owned()).collect())
}

fn mismatch(message: &str) -> Problem {
    Problem::new(Code::DisclosureMismatch, message)
        .fix("`capsid trail disclose CHAIN --seq N` lists the places; give the value to the byte.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redaction::redact;
    use capsid_model::fields;
    use capsid_seal::{ActionRecord, ChainLink, Sealer};

    #[test]
    fn only_the_value_that_was_there_can_be_proved_and_anybody_can_check_it() {
        let key = SigningKey::from_seed(&[7; 32]);
        let sealer = Sealer::new(key.clone());
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let mut record = ActionRecord {
            id: "00000000-0000-4000-8000-000000000001".to_owned(),
            trigger: fields! {"request": format!("use {token} please")},
            context: fields! {"environment": fields! {}},
            ..ActionRecord::default()
        };
        redact(&mut record, &|id, index| sealer.redaction_salt(id, index));
        let stored = sealer.seal(&record, &ChainLink::default(), "2026-06-01T00:00:00+00:00").unwrap();
        assert!(!stored.canonical.contains(&token));
        let disclosure = Disclosure::open(&stored, &key, &token).unwrap();
        assert_eq!(disclosure.path, "/trigger/request");
        disclosure.check(&stored).unwrap();
        assert_eq!(Disclosure::read(&disclosure.to_json().to_string()).unwrap(), disclosure);
        let other = Disclosure { value: "something else".to_owned(), ..disclosure };
        assert_eq!(other.check(&stored).unwrap_err().code, Code::DisclosureMismatch);
        let mut moved = Disclosure::open(&stored, &key, &token).unwrap();
        moved.value.insert(0, moved.salt.pop().unwrap());
        assert_eq!(moved.check(&stored).unwrap_err().code, Code::DisclosureMismatch);
        assert!(Disclosure::open(&stored, &SigningKey::from_seed(&[8; 32]), &token).is_err());
        assert!(Disclosure::open(&stored, &key, "something else").is_err());
    }
}
