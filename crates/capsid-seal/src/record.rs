//! What is sealed: one action in six sections, and its place in a chain.

use capsid_model::exact::{Fields, Json, Member, write_canonical_object};

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
        let members = self.members(link).into_iter();
        Json::Object(members.map(|(name, value)| (name.to_owned(), value.into())).collect())
    }

    /// The text that is hashed.
    pub fn canonical(&self, link: &Link) -> String {
        let mut text = String::with_capacity(2048);
        write_canonical_object(self.members(link), &mut text);
        text
    }

    /// The sections, by name.
    pub fn sections(&self) -> [(&'static str, &Fields); 6] {
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
    fn members<'a>(&'a self, link: &'a Link) -> [(&'static str, Member<'a>); 13] {
        let text = |text: &'a Option<String>| text.as_deref().map_or(Member::Null, Member::Text);
        [
            ("authority", Member::Fields(&self.authority)),
            ("context", Member::Fields(&self.context)),
            ("domain", Member::Text(&self.domain)),
            ("execution", Member::Fields(&self.execution)),
            ("id", Member::Text(&self.id)),
            ("outcome", Member::Fields(&self.outcome)),
            ("parent_id", text(&self.parent_id)),
            ("previous_hash", text(&link.previous_hash)),
            ("reasoning", Member::Fields(&self.reasoning)),
            ("sequence", Member::Number(link.sequence)),
            ("spec_version", Member::Text(SPEC_VERSION)),
            ("trigger", Member::Fields(&self.trigger)),
            ("type", Member::Text(&self.kind)),
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
        let record = Record {
            id: "a".into(),
            kind: "tool\u{1}".into(),
            trigger: fields! {"z": 1_i64, "a": "ü"},
            outcome: fields! {"f": 1e16},
            ..Record::default()
        };
        for link in [Link::default(), Link { sequence: 7, previous_hash: Some("00".into()) }] {
            assert_eq!(record.canonical(&link), canonical(&record.content(&link)));
        }
    }
}
