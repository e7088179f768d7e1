//! What the records of a meta-chain say: lengths and heads of conversations, and rotations of keys.

use crate::key_set::KeySet;
use crate::public_key::PublicKey;
use capsid_model::Value;
use std::collections::BTreeMap;

/// What the good records of a meta-chain say, in their order.
#[derive(Debug, Clone, Default)]
pub struct MetaLog {
    facts: Vec<(u64, MetaFact)>,
}

/// What one record says.
#[derive(Debug, Clone)]
enum MetaFact {
    Heads(Vec<RecordedHead>),
    Rotation(Box<StatedRotation>),
}

/// A key that gave way to another, as the third says.
#[derive(Debug, Clone)]
struct StatedRotation {
    old: PublicKey,
    new: PublicKey,
    signer: String,
}

/// A conversation as it was when it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedHead {
    /// The agent.
    pub tool: String,
    /// The session.
    pub session: String,
    /// How many records it had.
    pub count: u64,
    /// The hash of the last one.
    pub head: String,
    /// Whether it went on: it is in the list of conversations that were open then.
    pub is_open: bool,
}

/// How many records of each conversation a retired key may have signed; of one that is not named, none.
pub type RetiredLimits = BTreeMap<(String, String), u64>;

impl MetaLog {
    /// Takes `outcome.result` of the record at a position, and the key that signed the record.
    pub fn push(&mut self, position: u64, result: &Value, signer: Option<&str>) {
        let fact = match result["kind"].as_str() {
            Some("conversation_seal") => {
                let seal = head(
                    [&result["tool"], &result["session_id"], &result["capsule_count"]],
                    &result["head_hash"],
                );
                let open = result["open"].as_array().map(Vec::as_slice).unwrap_or_default();
                let open = open.iter().filter_map(|one| head([&one[0], &one[1], &one[2]], &one[3]));
                let open = open.map(|one| RecordedHead { is_open: true, ..one });
                MetaFact::Heads(seal.into_iter().chain(open).collect())
            }
            Some("key_rotation") => {
                let key = |name: &str| PublicKey::from_hex(result[name].as_str()?).ok();
                let keys = key("old_public_key").zip(key("new_public_key")).zip(signer);
                let Some(((old, new), signer)) = keys else { return };
                MetaFact::Rotation(Box::new(StatedRotation { old, new, signer: signer.to_owned() }))
            }
            _ => return,
        };
        self.facts.push((position, fact));
    }

    /// What is said of conversations by the records before a position.
    pub fn heads(&self, good: u64) -> impl Iterator<Item = &RecordedHead> {
        let heads = self.facts.iter().filter(move |(position, _)| *position < good);
        heads.flat_map(|(_, fact)| match fact {
            MetaFact::Heads(heads) => heads.as_slice(),
            MetaFact::Rotation(_) => &[],
        })
    }

    /// The keys that were retired by the records before a position, by fingerprint, with what they may have signed. The
    /// first rotation of a key counts: a thief of it can seal others behind it.
    pub fn retired(&self, good: u64, keys: &KeySet) -> BTreeMap<String, RetiredLimits> {
        let mut limits = RetiredLimits::new();
        let mut retired = BTreeMap::new();
        for (position, fact) in self.facts.iter().filter(|(position, _)| *position < good) {
            match fact {
                MetaFact::Heads(heads) => {
                    for one in heads {
                        let limit = limits.entry((one.tool.clone(), one.session.clone())).or_default();
                        *limit = one.count.max(*limit);
                    }
                }
                MetaFact::Rotation(rotation) if rotation.can_retire(keys) => {
                    let mut limits = limits.clone();
                    limits.insert((super::META.to_owned(), super::META.to_owned()), position + 1);
                    retired.entry(rotation.old.fingerprint()).or_insert(limits);
                }
                MetaFact::Rotation(_) => {}
            }
        }
        retired
    }
}

impl StatedRotation {
    /// A key names its successor. Where it is not there any more the successor does, if it is trusted no less: else a
    /// stranger could retire a key.
    fn can_retire(&self, keys: &KeySet) -> bool {
        let Self { old, new, signer } = self;
        let trust = |key: &PublicKey| keys.iter().find(|one| one.key == *key).map(|one| one.origin);
        *signer == old.hex() || (*signer == new.hex() && trust(new) >= trust(old))
    }
}

fn head([tool, session, count]: [&Value; 3], head: &Value) -> Option<RecordedHead> {
    Some(RecordedHead {
        tool: tool.as_str()?.to_owned(),
        session: session.as_str()?.to_owned(),
        count: count.as_u64()?,
        head: head.as_str()?.to_owned(),
        is_open: false,
    })
}
