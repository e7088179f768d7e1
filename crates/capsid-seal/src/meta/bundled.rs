//! A bundle's conversations against the meta-chain that came with them.

use super::compare::{CheckedConversation, ConversationStatus};
use super::entry::MetaEntry;
use super::verify::latest;
use crate::sources::{ChainSource, ChainSources};
use capsid_model::Result;
use capsid_model::exact::{ExactJson, parse};

/// Compares the chains of a bundle with the last record of each in its meta-chain. Nothing when it has none.
///
/// The chains themselves are to be verified apart from this: here only their ends count.
pub fn compare_bundled(sources: &ChainSources) -> Result<Vec<CheckedConversation>> {
    let Some(meta) = sources.chains.iter().find(|chain| chain.is_meta && !chain.is_missing()) else {
        return Ok(Vec::new());
    };
    let mut entries = Vec::new();
    for stored in meta.records()? {
        entries.extend(MetaEntry::parse(&stored?.canonical));
    }
    let chains: Vec<&ChainSource> =
        sources.chains.iter().filter(|chain| !chain.is_meta && !chain.is_missing()).collect();
    latest(entries.into_iter()).into_iter().map(|entry| compare(entry, &chains)).collect()
}

fn compare(entry: MetaEntry, chains: &[&ChainSource]) -> Result<CheckedConversation> {
    let chain = chains.iter().find(|chain| is_of(chain, &entry));
    let (mut present, mut at_end, mut is_another) = (0, None, false);
    for stored in chain.map(|chain| chain.records()).transpose()?.into_iter().flatten() {
        present += 1;
        let hash = match stored {
            Ok(stored) => stored.seal.hash,
            Err(problem) if present == entry.count => return Err(problem),
            Err(_) => continue,
        };
        is_another |= entry.earlier.iter().any(|(count, head)| *count == present && *head != hash);
        if present == entry.count {
            at_end = Some(hash);
        }
    }
    let status = match (chain, at_end) {
        (None, _) => ConversationStatus::Missing,
        // A chain that was cut and went on otherwise fits its last record, and not those before.
        (Some(_), _) if is_another => ConversationStatus::Altered,
        (Some(_), None) => ConversationStatus::Truncated,
        (Some(_), Some(hash)) if hash != entry.head_hash => ConversationStatus::Altered,
        (Some(_), Some(_)) if entry.earlier.iter().any(|(count, _)| *count > present) => {
            ConversationStatus::Altered
        }
        (Some(_), Some(_)) if present == entry.count => ConversationStatus::Intact,
        (Some(_), Some(_)) => ConversationStatus::Grown,
    };
    Ok(CheckedConversation {
        tool: entry.tool,
        session: entry.session,
        status,
        recorded: Some((entry.count, entry.head_hash)),
        present,
        detail: None,
        path: chain.map(|chain| chain.path().to_owned()).unwrap_or_default(),
    })
}

/// Whether a chain is of the conversation: by its name, or by what its first record says where the name was changed to
/// be that of a file.
fn is_of(chain: &ChainSource, entry: &MetaEntry) -> bool {
    if chain.tool.as_deref() == Some(&entry.tool) && chain.session.as_deref() == Some(&entry.session) {
        return true;
    }
    let first = chain.records().ok().and_then(|mut records| records.next()?.ok());
    let Some(content) = first.and_then(|stored| parse(&stored.canonical).ok()) else { return false };
    let session = content.at(&["context", "session_id"]).and_then(ExactJson::as_str);
    content.text("domain") == Some(&entry.tool) && session == Some(&entry.session)
}
