//! Ids that stay the same however often a chain is exported, so that a receiver recognises a span.

use capsid_model::hash::hex;
use sha3::{Digest, Sha3_256};

/// What the ids of a conversation begin from.
const DOMAIN: &str = "capsid-trace/v1";

/// The ids of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TraceIds {
    /// 16 bytes as hex.
    pub trace: String,
    /// 8 bytes as hex: the span of the whole conversation.
    pub root: String,
}

impl TraceIds {
    /// The ids of a session: the first 16 and the next 8 bytes of one hash.
    pub fn derive(tool: &str, session: &str) -> Self {
        let digest = Sha3_256::digest([DOMAIN, tool, session].join("\0").as_bytes());
        Self { trace: hex(&digest[..16]), root: hex(&digest[16..24]) }
    }
}

/// The id of a record's span: the first 8 bytes of its hash. Of a broken record, whose hash may be any text, they are
/// hashed once more.
pub(super) fn span_id(hash: &str) -> String {
    let is_hex = hash.len() == 64 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    match hash.get(..16).filter(|id| is_hex && *id != "0000000000000000") {
        Some(id) => id.to_owned(),
        None => hex(&Sha3_256::digest(hash.as_bytes())[..8]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_depend_on_tool_and_session_and_not_on_where_one_ends() {
        let ids = TraceIds::derive("codex", "a");
        assert_eq!((ids.trace.len(), ids.root.len()), (32, 16));
        assert_eq!(ids, TraceIds::derive("codex", "a"));
        assert_ne!(TraceIds::derive("codex", "b"), ids);
        assert_ne!(TraceIds::derive("code", "xa"), ids);
    }

    #[test]
    fn a_span_id_is_never_empty_or_zero() {
        let hash = format!("0123456789abcdef{}", "0".repeat(48));
        assert_eq!(span_id(&hash), "0123456789abcdef");
        for odd in ["", "xyz", &"0".repeat(64), &"A".repeat(64)] {
            let id = span_id(odd);
            assert!(id.len() == 16 && id != "0000000000000000", "{odd}: {id}");
        }
    }
}
