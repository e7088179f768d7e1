//! The honest bundle that every manipulation starts from.
//!
//! Three chains of 6, 4 and 1 records, their meta-chain, and a statement about the head of each. The owner's first key
//! signed the first two records of the second chain and was then replaced.

use capsid_model::fields;
use capsid_seal::{ActionRecord, ChainLink, Sealer, SigningKey, StoredRecord};

/// The owner's key until the rotation.
pub fn retired_key() -> SigningKey {
    SigningKey::from_seed(&[21; 32])
}

/// The owner's key since the rotation.
pub fn current_key() -> SigningKey {
    SigningKey::from_seed(&[22; 32])
}

pub fn stranger_key() -> SigningKey {
    SigningKey::from_seed(&[23; 32])
}

/// One chain of the bundle.
#[derive(Clone)]
pub struct BaseChain {
    pub tool: &'static str,
    pub session: &'static str,
    pub records: Vec<StoredRecord>,
}

impl BaseChain {
    pub fn id(&self) -> String {
        format!("{}-{}", self.tool, self.session)
    }

    /// Seals further records; `word` tells two histories apart.
    pub fn extend(&mut self, key: &SigningKey, length: usize, word: &str) {
        for number in self.records.len()..length {
            let action = action(self.tool, self.session, number, word);
            let sealed = seal_next(&self.records, &action, key);
            self.records.push(sealed);
        }
    }

    pub fn new(tool: &'static str, session: &'static str) -> Self {
        Self { tool, session, records: Vec::new() }
    }
}

/// Seals an action behind the last record.
pub fn seal_next(records: &[StoredRecord], action: &ActionRecord, key: &SigningKey) -> StoredRecord {
    let number = records.len();
    let link = ChainLink {
        sequence: number as u64,
        previous_hash: records.last().map(|last| last.seal.hash.clone()),
    };
    Sealer::new(key.clone())
        .seal(action, &link, &format!("2026-02-07T15:{:02}:00+00:00", 10 + number))
        .unwrap()
}

fn action(tool: &str, session: &str, number: usize, word: &str) -> ActionRecord {
    ActionRecord {
        id: format!("00000000-0000-4000-8000-{number:012}"),
        kind: "tool".into(),
        domain: tool.into(),
        context: fields! { "agent_id": tool, "session_id": session },
        outcome: fields! { "status": "success", "summary": format!("{word} {number}") },
        ..ActionRecord::default()
    }
}

/// What the meta-chain says of a chain when it had so many records.
pub fn entry(number: usize, chain: &BaseChain, count: usize) -> ActionRecord {
    meta_action(
        number,
        fields! {
            "kind": "conversation_seal",
            "tool": chain.tool,
            "session_id": chain.session,
            "head_hash": chain.records[count - 1].seal.hash.clone(),
            "capsule_count": count,
        },
    )
}

/// The meta-chain's record of a rotation.
pub fn rotation(number: usize, old: &SigningKey, new: &SigningKey) -> ActionRecord {
    meta_action(
        number,
        fields! {
            "kind": "key_rotation",
            "old_public_key": old.public().hex(),
            "new_public_key": new.public().hex(),
        },
    )
}

fn meta_action(number: usize, result: capsid_model::exact::ExactFields) -> ActionRecord {
    ActionRecord {
        id: format!("00000000-0000-4000-9000-{number:012}"),
        kind: "system".into(),
        domain: "meta".into(),
        context: fields! { "agent_id": "agent-capsule", "session_id": "meta" },
        outcome: fields! { "status": "success", "summary": "recorded", "result": result },
        ..ActionRecord::default()
    }
}

pub fn chains() -> [BaseChain; 3] {
    let mut first = BaseChain::new("codex", "s1");
    first.extend(&current_key(), 6, "step");
    let mut second = BaseChain::new("claude-code", "s2");
    second.extend(&retired_key(), 2, "step");
    second.extend(&current_key(), 4, "step");
    let mut third = BaseChain::new("codex", "s3");
    third.extend(&current_key(), 1, "step");
    [first, second, third]
}

/// The meta-chain: the second chain was recorded before the rotation, the others after it.
pub fn meta() -> Vec<StoredRecord> {
    let [first, second, third] = chains();
    let mut records = Vec::new();
    let mut add = |action: ActionRecord, key: &SigningKey| records.push(seal_next(&records, &action, key));
    add(entry(0, &second, 2), &retired_key());
    add(rotation(1, &retired_key(), &current_key()), &retired_key());
    add(entry(2, &first, 4), &current_key());
    add(entry(3, &first, 6), &current_key());
    add(entry(4, &second, 4), &current_key());
    add(entry(5, &third, 1), &current_key());
    records
}

/// The text of a head statement by a home's own key.
pub fn statement(key: &SigningKey, tool: &str, session: &str, records: &[StoredRecord]) -> String {
    format!(
        "capsid-head/v1\nkey {}\nchain {tool} {session}\ncount {}\nhead {}\ntime 2026-02-07T16:00:00Z\n",
        key.public().hex(),
        records.len(),
        records.last().unwrap().seal.hash
    )
}
