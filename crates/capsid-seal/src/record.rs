//! What is sealed: one action in six sections, and its place in a chain.

use capsid_model::exact::{Fields, Json};
use capsid_model::fields;

/// The version of the format that every new record names.
pub const SPEC_VERSION: &str = "1.0";

/// One action, before it has a place in a chain.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    /// A random UUID, lowercase.
    pub id: String,
    /// `tool`, `chat`, `agent` or `system`.
    pub kind: String,
    /// The tool it comes from.
    pub domain: String,
    /// The record it belongs to.
    pub parent_id: Option<String>,
    /// What initiated the action.
    pub trigger: Fields,
    /// The state of the world.
    pub context: Fields,
    /// Why the decision was made.
    pub reasoning: Fields,
    /// Who or what approved it.
    pub authority: Fields,
    /// What actually happened.
    pub execution: Fields,
    /// The result and its side effects.
    pub outcome: Fields,
}

/// A place in a chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link {
    /// The position, from 0.
    pub sequence: u64,
    /// The hash of the record before it; none at the first.
    pub previous_hash: Option<String>,
}

/// A UUID, version 4, of random bits.
pub fn uuid(random: u128) -> String {
    let bits = (random & !(0xf << 76) & !(0b11 << 62)) | (0x4 << 76) | (0b10 << 62);
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

impl Record {
    /// Everything that is hashed.
    pub fn content(&self, link: &Link) -> Json {
        let fields = fields! {
            "id": self.id.as_str(),
            "type": self.kind.as_str(),
            "domain": self.domain.as_str(),
            "parent_id": self.parent_id.as_deref(),
            "sequence": link.sequence,
            "previous_hash": link.previous_hash.as_deref(),
            "spec_version": SPEC_VERSION,
            "trigger": self.trigger.clone(),
            "context": self.context.clone(),
            "reasoning": self.reasoning.clone(),
            "authority": self.authority.clone(),
            "execution": self.execution.clone(),
            "outcome": self.outcome.clone(),
        };
        Json::Object(fields)
    }
}
