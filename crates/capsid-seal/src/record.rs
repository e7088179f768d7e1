//! What is sealed: one action in six sections, and its place in a chain.

use capsid_model::exact::{ExactFields, ExactJson, ExactMember, write_canonical_object};

/// The version of the format that every new record names.
pub const SPEC_VERSION: &str = "1.0";

/// One action, before it has a place in a chain.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ActionRecord {
    /// A random UUID, lowercase.
    pub id: String,
    /// `tool`, `chat`, `agent` or `system`.
    pub kind: String,
    /// The tool it comes from.
    pub domain: String,
    /// The record it belongs to.
    pub parent_id: Option<String>,
    /// What initiated the action.
    pub trigger: ExactFields,
    /// The state of the world.
    pub context: ExactFields,
    /// Why the decision was made.
    pub reasoning: ExactFields,
    /// Who or what approved it.
    pub authority: ExactFields,
    /// What actually happened.
    pub execution: ExactFields,
    /// The result and its side effects.
    pub outcome: ExactFields,
}

/// A place in a chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChainLink {
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

impl ActionRecord {
    /// Everything that is hashed.
    pub fn content(&self, link: &ChainLink) -> ExactJson {
        let members = self.members(link).into_iter();
        ExactJson::Object(members.map(|(name, value)| (name.to_owned(), value.into())).collect())
    }

    /// The text that is hashed.
    pub fn canonical(&self, link: &ChainLink) -> String {
        let mut text = String::with_capacity(2048);
        write_canonical_object(self.members(link), &mut text);
        text
    }

    /// The sections, by name.
    pub fn sections(&self) -> [(&'static str, &ExactFields); 6] {
        [
            ("trigger", &self.trigger),
            ("context", &self.context),
            ("reasoning", &self.reasoning),
            ("authority", &self.authority),
            ("execution", &self.execution),
            ("outcome", &self.outcome),
        ]
    }

    /// All members, in code-point order.
    fn members<'a>(&'a self, link: &'a ChainLink) -> [(&'static str, ExactMember<'a>); 13] {
        let text = |text: &'a Option<String>| text.as_deref().map_or(ExactMember::Null, ExactMember::Text);
        [
            ("authority", ExactMember::Fields(&self.authority)),
            ("context", ExactMember::Fields(&self.context)),
            ("domain", ExactMember::Text(&self.domain)),
            ("execution", ExactMember::Fields(&self.execution)),
            ("id", ExactMember::Text(&self.id)),
            ("outcome", ExactMember::Fields(&self.outcome)),
            ("parent_id", text(&self.parent_id)),
            ("previous_hash", text(&link.previous_hash)),
            ("reasoning", ExactMember::Fields(&self.reasoning)),
            ("sequence", ExactMember::Number(link.sequence)),
            ("spec_version", ExactMember::Text(SPEC_VERSION)),
            ("trigger", ExactMember::Fields(&self.trigger)),
            ("type", ExactMember::Text(&self.kind)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::exact::canonical;
    use capsid_model::fields;

    #[test]
    fn the_text_is_that_of_the_content() {
        let record = ActionRecord {
            id: "a".into(),
            kind: "tool\u{1}".into(),
            trigger: fields! {"z": 1_i64, "a": "ü"},
            outcome: fields! {"f": 1e16},
            ..ActionRecord::default()
        };
        for link in [ChainLink::default(), ChainLink { sequence: 7, previous_hash: Some("00".into()) }] {
            assert_eq!(record.canonical(&link), canonical(&record.content(&link)));
        }
    }
}
