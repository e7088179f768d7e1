//! What a chain is called, and what its records say that it is called.

use crate::hash::sha3_hex;
use crate::sources::ChainSource;
use capsid_model::exact::{ExactJson, parse};

/// The tool and the session that a chain's first record states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SealedName {
    pub(super) tool: String,
    pub(super) session: String,
}

impl SealedName {
    /// Reads the first record.
    pub(super) fn read(source: &ChainSource) -> Option<Self> {
        let first = source.records().ok()?.next()?.ok()?;
        Self::from_record(&first.canonical)
    }

    fn from_record(canonical: &str) -> Option<Self> {
        let content = parse(canonical).ok()?;
        let tool = content.text("domain").filter(|name| !name.is_empty())?.to_owned();
        let session = content.at(&["context", "session_id"]).and_then(ExactJson::as_str);
        let session = session.filter(|name| !name.is_empty())?.to_owned();
        Some(Self { tool, session })
    }

    /// `tool/session`.
    pub(super) fn full(&self) -> String {
        format!("{}/{}", self.tool, self.session)
    }

    /// Whether a chain of a bundle is named after it: plainly, or by a name that is safe for files and carries a hash;
    /// `-2` follows where such a name was taken.
    pub(super) fn has_bundle_id(&self, id: &str) -> bool {
        let full = format!("{}-{}", self.tool, self.session);
        let hash = format!("-{}", sha3_hex(full.as_bytes()).get(..8).unwrap_or_default());
        let counted =
            id.rsplit_once('-').filter(|(_, end)| !end.is_empty() && end.bytes().all(|c| c.is_ascii_digit()));
        let is_name = |name: &str| name == full || name.ends_with(&hash);
        is_name(id) || counted.is_some_and(|(name, _)| is_name(name))
    }

    /// Whether a file of a home is named after it. What is sealed behind a foreign chain is in `<session>+1`.
    pub(super) fn has_path(&self, tool: Option<&str>, session: Option<&str>) -> bool {
        let is_session = |name: &str| {
            name == self.session
                || name
                    .strip_prefix(self.session.as_str())
                    .and_then(|rest| rest.strip_prefix('+'))
                    .is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()))
        };
        tool.is_none_or(|tool| tool == self.tool) && session.is_none_or(is_session)
    }
}

/// `tool/session` where both are known, else what the source is called.
pub(super) fn of_source(source: &ChainSource) -> String {
    match (&source.tool, &source.session) {
        _ if source.is_meta => super::META.to_owned(),
        (Some(tool), Some(session)) => format!("{tool}/{session}"),
        _ => source.label.clone(),
    }
}

/// The name of a chain that an index lists under an id.
pub(super) fn of_listed(id: &str, tool: Option<&str>) -> String {
    let session = tool.and_then(|tool| id.strip_prefix(tool)?.strip_prefix('-'));
    match (tool, session) {
        (Some(tool), Some(session)) => format!("{tool}/{session}"),
        _ => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(tool: &str, session: &str) -> SealedName {
        SealedName { tool: tool.to_owned(), session: session.to_owned() }
    }

    #[test]
    fn a_chain_of_a_bundle_has_its_own_name_or_one_with_its_hash() {
        let plain = name("codex", "s1");
        assert!(plain.has_bundle_id("codex-s1") && plain.has_bundle_id("codex-s1-2"));
        assert!(!plain.has_bundle_id("codex-s9") && !plain.has_bundle_id("codex-s1-x"));
        let odd = name("codex", "a/b");
        let hash = &sha3_hex(b"codex-a/b")[..8];
        assert!(
            odd.has_bundle_id(&format!("codex-a_b-{hash}"))
                && odd.has_bundle_id(&format!("codex-a_b-{hash}-2"))
        );
    }

    #[test]
    fn a_file_of_a_home_has_the_name_of_its_records_or_continues_it() {
        let sealed = name("codex", "s1");
        assert!(sealed.has_path(Some("codex"), Some("s1")) && sealed.has_path(Some("codex"), Some("s1+2")));
        assert!(!sealed.has_path(Some("codex"), Some("s1+")) && !sealed.has_path(Some("codex"), Some("s12")));
        assert!(!sealed.has_path(Some("cline"), Some("s1")) && sealed.has_path(None, None));
    }

    #[test]
    fn a_listed_chain_is_named_by_its_tool_only_where_its_id_begins_with_it() {
        assert_eq!(of_listed("codex-s1", Some("codex")), "codex/s1");
        assert_eq!(of_listed("../codex-s1", Some("codex")), "../codex-s1");
        assert_eq!(of_listed("codex-s1", None), "codex-s1");
    }
}
